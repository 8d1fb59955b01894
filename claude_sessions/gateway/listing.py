"""The list of all sessions as JSON: what rests is told once, and not again until it stirs."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from datetime import datetime
from operator import itemgetter
from typing import Any

import orjson

from claude_sessions.commands import ListSessions
from claude_sessions.commands.figures import duration
from claude_sessions.commands.listing import icon
from claude_sessions.commands.pool import Pool
from claude_sessions.model import Status
from claude_sessions.people import Caller
from claude_sessions.state import SessionState
from claude_sessions.storage.index import SessionRow

RUNNING = frozenset({Status.STARTING, Status.RUNNING})
AT_ONCE = 500  # rows that are read without a thread
SHOWN = 80  # characters of a prompt


class Listing:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._told: dict[str, tuple[int, bytes]] = {}  # status → the log's head, the answer
        self._rows: dict[str, tuple[int, bytes]] = {}  # session → its row's last event, its part

    async def told(self, status: str, caller: Caller) -> orjson.Fragment:
        caller.must_be(ListSessions.ROLE, ListSessions.TO)
        head, live = self._pool.log.head, self._pool.manager.live()
        known = self._told.get(status)
        if known is not None and known[0] == head and not live:
            return orjson.Fragment(known[1])
        told = await self._compose(_wanted(status), {state.id: state for state in live})
        if not live and head == self._pool.log.head:
            self._told[status] = (head, told)
        return orjson.Fragment(told)

    async def _compose(self, wanted: Collection[Status], live: dict[str, SessionState]) -> bytes:
        now = self._pool.clock.now()
        states = [state for state in live.values() if state.status in wanted]
        rows = [row for row in await self._resting(wanted) if row.id not in live]
        working = [(state.updated_at, told(state, now)) for state in states]
        resting = zip((row.updated_at for row in rows), await self._parts(rows, now), strict=True)
        newest = sorted((*working, *resting), key=itemgetter(0), reverse=True)
        parts = [part for _, part in newest]
        return b'{"sessions":[%b],"count":%d}' % (b",".join(parts), len(parts))

    async def _resting(self, wanted: Collection[Status]) -> list[SessionRow]:
        store = self._pool.log.store
        if await self._pool.log.session_count() <= AT_ONCE:
            return store.session_rows(statuses=wanted)
        return await asyncio.to_thread(store.session_rows, statuses=wanted)

    async def _parts(self, rows: Iterable[SessionRow], now: datetime) -> list[bytes]:
        parts, kept = [], self._rows
        self._rows = {}
        for row in rows:
            known = kept.get(row.id)
            if known is None or known[0] != row.last_seq:
                state = await self._pool.book.load(row.id)
                known = (row.last_seq, told(state, now))
            self._rows[row.id] = known
            parts.append(known[1])
        return parts


def _wanted(status: str) -> Collection[Status]:
    if status == "all":
        return frozenset(Status)
    return RUNNING if status == "running" else frozenset({Status(status)})


def told(state: SessionState, now: datetime) -> bytes:
    return orjson.dumps(described(state, now))


def described(state: SessionState, now: datetime) -> dict[str, Any]:
    """In the shape of the chat plugin."""
    seconds = state.duration(now if state.status.has_process else state.updated_at)
    ended = state.run_ended_at
    return {
        "id": state.id,
        "name": state.name,
        "status": state.status.value,
        "prompt": state.prompt,
        "workdir": state.spec.directory,
        "model": state.spec.model,
        "costUsd": state.cost_usd,
        "startedAt": _millis(state.run_started_at),
        "completedAt": _millis(ended) if ended is not None else None,
        "durationMs": round(seconds * 1000),
        "claudeSessionId": state.claude_id,
        "foreground": bool(state.foreground),
        "multiTurn": not state.spec.once,
        "display": display(state, seconds),
    }


def display(state: SessionState, seconds: float) -> str:
    where = "foreground" if state.foreground else "background"
    kind = "single" if state.spec.once else "multi-turn"
    lines = [f"{icon(state)} {state.name} [{state.id}] ({duration(seconds)}) — {where}, {kind}"]
    lines.append(f"   📁 {state.spec.directory}")
    lines.append(f'   📝 "{" ".join(state.prompt.split())[:SHOWN]}"')
    if state.claude_id is not None:
        lines.append(f"   🔗 Claude ID: {state.claude_id}")
    return "\n".join(lines)


def _millis(at: datetime) -> int:
    return round(at.timestamp() * 1000)
