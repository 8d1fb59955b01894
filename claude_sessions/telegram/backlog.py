"""What people said while nobody was there to hear it: when it is old, they are asked first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from telegram import Message

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import count
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.gather import Part, text_of
from claude_sessions.telegram.inbox import Inbox
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import place_of

SHOWN = 10
Hear = Callable[[list[Part], bool], Awaitable[None]]


class Backlog:
    def __init__(
        self,
        *,
        inbox: Inbox,
        outbox: Outbox,
        started: datetime,
        minutes: float,
        hear: Hear,
        heeded: Callable[[Message], bool],
    ) -> None:
        """`heeded`: whether somebody who may be answered has said something in it."""
        self._inbox = inbox
        self._outbox = outbox
        self._started = started
        self._oldest = started - timedelta(minutes=minutes)
        self._hear = hear
        self._heeded = heeded
        self._held: dict[tuple[str, int], list[list[Part]]] = {}  # place, person

    async def hear(self, parts: list[Part], joins: bool) -> None:
        """At once, unless it is old."""
        message = parts[0].message
        if message.date >= self._oldest or not self._heeded(message):
            await self._hear(parts, joins)
        else:
            await self.hold(parts)

    async def hold(self, parts: list[Part]) -> None:
        await self._inbox.mark([part.update_id for part in parts], "held")
        at, person = place_of(parts[0].message), parts[0].sender
        held = self._held.setdefault((str(at), person), [])
        held.append(parts)
        await self._ask(at, person, len(held))

    async def _ask(self, at: Address, person: int, number: int) -> None:
        actions = tuple(
            Action(label=word.capitalize(), line=f"/backlog {word} {person} {at}")
            for word in ("run", "show", "drop")
        )
        them = "it" if number == 1 else "them"
        text = f"{count(number, 'message')} came while I was away. What about {them}?"
        await self._put(at, person, text, actions)

    async def _put(
        self, at: Address, person: int, text: str, actions: tuple[Action, ...] = ()
    ) -> None:
        key = f"away:{person}:{self._started.timestamp():.0f}"
        await self._outbox.put(at, key, looks.said(text, actions, ring=bool(actions)))

    async def decide(self, line: str, presser: int) -> str:
        """What is answered to a press of one of those."""
        _, word, person, place = line.split(" ")
        at, key = Address.read(place), (place, int(person))
        if presser != int(person):
            return "These are somebody else's messages: only they can say."
        held = self._held.get(key)
        if not held:
            return "That has been done already."
        if word == "show":
            await self._show(at, held)
            return ""
        del self._held[key]
        number = count(len(held), "message")
        if word == "drop":
            for parts in held:
                await self._inbox.mark([part.update_id for part in parts], "done")
            await self._put(at, int(person), f"{number} dropped.")
            return "Dropped."
        await self._put(at, int(person), f"{number} from while I was away: run now.")
        for parts in held:
            await self._hear(parts, False)
        return ""

    async def _show(self, at: Address, held: list[list[Part]]) -> None:
        lines = [
            f"{parts[0].message.date.astimezone():%H:%M}  {one_line(text_of(parts), 200)}"
            for parts in held[:SHOWN]
        ]
        if len(held) > SHOWN:
            lines.append(f"… and {len(held) - SHOWN} more")
        key = f"away:shown:{held[0][0].update_id}:{len(held)}"
        await self._outbox.put(at, key, looks.said("\n".join(lines)))
