"""Lists that a chat shows: drawn anew after a press, and what waits also when that changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.commands.chat import parse
from claude_sessions.errors import SessionsError
from claude_sessions.people import Caller
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.answers import answer
from claude_sessions.telegram.outbox import Outbox

INBOX = "/approvals"
FOLLOWED = 20  # an older one answers a press honestly, and is true after it
CALM_SECONDS = 0.5  # what is decided together changes a list once
CHANGES = e.ApprovalRequested | e.ApprovalResolved | e.InputRequested | e.InputReceived

Perform = Callable[[c.Command, Caller], Awaitable[c.Reply]]
logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What waits, as a letter shows it."""

    at: Address
    key: str
    again: str
    caller: Caller
    waiting: frozenset[str]


class Lists:
    def __init__(self, *, outbox: Outbox, clock: Clock, perform: Perform) -> None:
        self._outbox = outbox
        self._clock = clock
        self._perform = perform
        self._inboxes: dict[tuple[Address, str], Shown] = {}  # by letter, the newest last
        self._changed = asyncio.Event()

    def shown(self, at: Address, key: str, reply: c.Reply, caller: Caller) -> None:
        if not reply.again.startswith(INBOX):
            return
        for known, shown in list(self._inboxes.items()):
            if known == (at, key) or (shown.at, shown.again) == (at, reply.again):
                del self._inboxes[known]  # one that stands further up is true after a press
        if waiting := frozenset(reply.data.get("approvals", ())):
            self._inboxes[at, key] = Shown(
                at=at, key=key, again=reply.again, caller=caller, waiting=waiting
            )
            for old in list(self._inboxes)[:-FOLLOWED]:
                del self._inboxes[old]

    def see(self, event: e.Event) -> None:
        """Called with every event of the log."""
        if isinstance(event.payload, CHANGES) and self._inboxes:
            self._changed.set()

    async def run(self) -> None:
        while True:
            await self._changed.wait()
            await self._clock.sleep(CALM_SECONDS)
            self._changed.clear()
            for inbox in list(self._inboxes.values()):
                reply = await self._reply(inbox.again, inbox.caller)
                if inbox.waiting != frozenset(reply.data.get("approvals", ())):
                    await self._put(inbox.at, inbox.key, reply, inbox.caller)

    async def draw(self, at: Address, key: str, again: str, caller: Caller) -> None:
        """The letter of that key shows its list as it is now."""
        if again:
            await self._put(at, key, await self._reply(again, caller), caller)

    async def _put(self, at: Address, key: str, reply: c.Reply, caller: Caller) -> None:
        self.shown(at, key, reply, caller)
        if (content := answer(reply)) is not None:
            await self._outbox.put(at, key, content, session=reply.session)

    async def _reply(self, again: str, caller: Caller) -> c.Reply:
        try:
            return await self._perform(parse(again), caller)
        except SessionsError as error:
            return c.Reply(text=str(error), again=again)
        except Exception:
            logger.exception("telegram.list_failed")
            return c.Reply(text="This list cannot be shown now.", again=again)
