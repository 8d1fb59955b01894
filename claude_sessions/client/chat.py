"""The terminal chat, with the daemon elsewhere: closing it ends nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from claude_sessions.client.address import Given, locate
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.client.link import Link
from claude_sessions.console import chat_at

GREETING = "/new and a prompt starts a session, /help lists the rest, /quit leaves; sessions go on."


def chat_here(given: Given, name: str) -> None:
    if sys.stdin is None:
        raise Failed("There is no standard input to read from.", Exit.USAGE)
    asyncio.run(_chat(given, name))


async def _chat(given: Given, name: str) -> None:
    link = Link(lambda: locate(given, os.environ), name)
    await link.open()
    talk = chat_at(
        sys.stdin.fileno(),
        sys.stdout.fileno(),
        attached=link.attached,
        hear=link.hear,
        busy=list,  # nobody is interrupted by leaving
        greeting=GREETING,
    )
    talking = asyncio.create_task(talk, name="chat")
    with ended_by_signals(talking):
        ends: list[asyncio.Future[Any]] = [talking, link.over]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not talking.done():
            talking.cancel()
            await asyncio.wait([talking])
    if link.over.done():
        raise link.over.result()
    if talking.cancelled():
        raise KeyboardInterrupt
    talking.result()


@contextmanager
def ended_by_signals(task: asyncio.Task[None]) -> Iterator[None]:
    """So that the terminal gets its own ways back."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
