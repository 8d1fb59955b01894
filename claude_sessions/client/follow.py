"""`tail -f`: what a session said last, then what it says, until it ends."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from claude_sessions import frames
from claude_sessions.channel import Card, ChannelClosed, Kind, Notification
from claude_sessions.client.address import Given, locate
from claude_sessions.client.dial import dial, why_over
from claude_sessions.client.exits import Failed
from claude_sessions.client.options import as_json
from claude_sessions.client.rpc import Rpc
from claude_sessions.client.shown import Shown
from claude_sessions.commands import Reply
from claude_sessions.commands.lexer import quote
from claude_sessions.console import ConsoleChannel, Screen
from claude_sessions.model import ENDINGS, AskKind, new_id

ENDS = frozenset({Kind.COMPLETED, Kind.FAILED, Kind.KILLED})
SILENT_SECONDS = 15.0


def follow_session(given: Given, name: str, *, lines: int, as_json: bool) -> None:
    name.encode()  # bytes that are no text cannot be asked for
    asyncio.run(_follow(given, name, lines, as_json))


class Page(Protocol):
    """Where it is read."""

    async def past(self, blocks: Iterable[str]) -> None: ...
    async def take(self, frame: frames.Frame) -> None: ...
    async def close(self) -> None: ...


class ForPeople:
    def __init__(self) -> None:
        self._screen = Screen.on(sys.stdout.fileno())
        self._channel = ConsoleChannel(self._screen)
        self._shown = Shown(self._channel)
        if self._screen.tty:
            self._screen.prompt("")  # above it, words are seen as they come

    async def past(self, blocks: Iterable[str]) -> None:
        for block in blocks:
            await self._channel.say(block)

    async def take(self, frame: frames.Frame) -> None:
        match frame:
            case frames.Sent():
                await self._shown.send(frame.ref, _only_to_be_read(frame.notification))
                if (card := frame.notification.card) is not None and not card.decided:
                    await self._channel.say(_how_to_decide(card))
            case frames.Edited():
                await self._shown.edit(frame.ref, _only_to_be_read(frame.notification))

    async def close(self) -> None:
        await self._screen.close()


def _only_to_be_read(note: Notification) -> Notification:
    """Nobody can press a number here: what can be answered stands in the text."""
    card = replace(note.card, questions=()) if note.card is not None else None
    return replace(note, card=card, actions=())


def _how_to_decide(card: Card) -> str:
    more = " --answer …" if card.kind is AskKind.QUESTION else ""
    return f"→ claude-sessions approve {card.approval_id}{more}"


class ForPrograms:
    """One JSON object a line, of what is whole."""

    async def past(self, blocks: Iterable[str]) -> None:
        for block in blocks:
            _print({"kind": Kind.STREAM.value, "text": block})

    async def take(self, frame: frames.Frame) -> None:
        if isinstance(frame, frames.Sent | frames.Edited) and _is_whole(frame.notification):
            note = frame.notification
            told = {"kind": note.kind.value, "text": note.text, "session": note.session}
            card = {"approvalId": note.card.approval_id} if note.card else {}
            _print({**told, "name": note.name, **card})

    async def close(self) -> None:
        pass


def _is_whole(note: Notification) -> bool:
    return note.final or note.kind is not Kind.STREAM


def _print(told: dict[str, Any]) -> None:
    print(as_json(told), flush=True)  # noqa: T201


async def _follow(given: Given, name: str, lines: int, as_json: bool) -> None:
    address = locate(given, os.environ)
    rpc = Rpc(address)
    connection = await dial(address, f"tail-{new_id()}", watching=True)
    page: Page = ForPrograms() if as_json else ForPeople()
    try:
        await _read_on(connection, rpc, page, name, lines)
    except ConnectionClosed as error:
        raise why_over(error) from error
    except ChannelClosed:
        pass  # nobody reads on
    finally:
        await page.close()
        await connection.close()


async def _read_on(
    connection: ClientConnection, rpc: Rpc, page: Page, name: str, lines: int
) -> None:
    front, early = await _in_front(connection, name, lines)
    asked = {"session": front.session, "lines": lines}
    told = await asyncio.to_thread(rpc.call, "claude-code.output", asked)
    if told["status"] in ENDINGS:  # perhaps before we looked: then nothing more will be said
        await page.past(told["lines"])
        return
    await page.past(front.data["lines"])
    for frame in early:
        if await _is_last(page, frame):
            return
    while not await _is_last(page, await _next(connection, rpc, front.session)):
        pass


async def _in_front(
    connection: ClientConnection, name: str, lines: int
) -> tuple[Reply, list[frames.Frame]]:
    """The answer, and what came before it."""
    line = f"/fg {quote(name)} --lines {lines}"
    await connection.send(frames.said_json(frames.Said(line=line, id=1)))
    early: list[frames.Frame] = []
    while True:
        frame = frames.read_frame(await connection.recv())
        if isinstance(frame, frames.Answer):
            if frame.error:
                raise Failed.told(frame.error, frame.reply.text)
            return frame.reply, early
        early += [frame] if frame is not None else []


async def _next(
    connection: ClientConnection, rpc: Rpc, session: str | None
) -> frames.Frame | Over | None:
    """A run that a limit ends says no more than that: so whoever hears nothing looks."""
    while True:
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                return frames.read_frame(await connection.recv())
        except TimeoutError:
            told = await asyncio.to_thread(rpc.call, "claude-code.output", {"session": session})
            if told["status"] in ENDINGS:
                return Over()


class Over:
    """It has ended without another word."""


async def _is_last(page: Page, frame: frames.Frame | Over | None) -> bool:
    if isinstance(frame, Over):
        return True
    if not isinstance(frame, frames.Sent | frames.Edited):
        return False
    await page.take(frame)
    return frame.notification.kind in ENDS
