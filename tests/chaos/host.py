"""The daemon in a process of its own that may be killed: commands in, answers and deliveries out.

`python -m tests.chaos.host ROOT`. Each line is JSON. In: `{"id": 1, "line": "/sessions"}`, or
`{"id": 2, "look": true}`. Out: an answer with the same id, or `{"shown": …}`; a line is out before
anything follows from it, so that what was delivered is known even after kill -9.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson

from claude_sessions import logs
from claude_sessions.channel import MessageRef, Notification
from claude_sessions.config import make_home
from claude_sessions.daemon import Daemon, open_daemon
from claude_sessions.errors import SessionsError
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.settings import GatewaySettings, SessionSettings, Settings
from claude_sessions.stopping import first, stop_signals

CHANNEL = "chaos|owner"
OWNER = Caller(name="owner", role=Role.ADMIN, door="chaos", channel=CHANNEL)
LOG = "host.log"
MAX_SESSIONS = 3  # so few that sessions have to give way to each other all the time


def tell(fact: dict[str, Any]) -> None:
    line = orjson.dumps(fact, default=str) + b"\n"
    while line:
        line = line[os.write(1, line) :]


class ToldChannel:
    """A message counts as delivered once its line is out."""

    id = CHANNEL

    def __init__(self) -> None:
        self._count = 0

    async def send(self, notification: Notification) -> MessageRef:
        self._count += 1
        tell({"shown": _shown(notification)})
        return MessageRef(channel=self.id, id=str(self._count))

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        tell({"shown": _shown(notification)})

    async def close(self) -> None:
        pass


def _shown(notification: Notification) -> dict[str, Any]:
    card = notification.card
    return {
        "kind": notification.kind,
        "session": notification.session,
        "text": notification.text,
        "final": notification.final,
        "open": card.approval_id if card is not None and not card.decided else None,
    }


async def _orders() -> AsyncIterator[dict[str, Any]]:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        yield orjson.loads(line)


async def _look(daemon: Daemon) -> list[dict[str, Any]]:
    states = [await daemon.book.load(row.id) for row in await daemon.log.session_rows()]
    return [
        {
            "id": state.id,
            "name": state.name,
            "status": state.status,
            "busy": state.turn is not None,
            "asks": [pending.id for pending in state.pending],
            "queued": len(state.queue),
            "in_line": state.in_line,
        }
        for state in states
    ]


async def _answer(daemon: Daemon, order: dict[str, Any]) -> None:
    answer: dict[str, Any] = {"id": order["id"], "ok": True}
    try:
        if "look" in order:
            answer["data"] = await _look(daemon)
        else:
            reply = await daemon.hear(order["line"], OWNER)
            answer |= {"text": reply.text, "data": dict(reply.data), "session": reply.session}
    except SessionsError as error:
        answer |= {"ok": False, "text": str(error)}
    tell(answer)


async def _obey(daemon: Daemon) -> None:
    """Nobody waits for anybody: commands race as those of several people do."""
    async with asyncio.TaskGroup() as group:
        async for order in _orders():
            group.create_task(_answer(daemon, order), name=f"order:{order['id']}")


async def serve(root: Path) -> None:
    sessions = SessionSettings(
        default_workdir=root / "work", pass_env=("*",), max_sessions=MAX_SESSIONS
    )
    settings = Settings(sessions=sessions, gateway=GatewaySettings(enabled=False))
    home = make_home(root / "state")
    given = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with stop_signals() as told:
        async with open_daemon(settings, home, environ=given) as daemon:
            daemon.router.attach(ToldChannel())
            tell({"ready": daemon.log.head})
            await first(signals=told.wait(), orders=_obey(daemon))


if __name__ == "__main__":
    logs.configure(level="info", as_json=True, file=Path(sys.argv[1]) / LOG)
    asyncio.run(serve(Path(sys.argv[1])))
