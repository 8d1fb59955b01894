"""What people said while nobody heard it, for whatever reason: when it is old, they are asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import count
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.gather import Part, text_of
from claude_sessions.telegram.inbox import Inbox
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import People
from claude_sessions.telegram.places import Places

SHOWN = 10
WAY_SECONDS = 5.0  # what the way itself takes, when dates have whole seconds
Hear = Callable[[list[Part], bool], Awaitable[None]]


class Backlog:
    def __init__(
        self,
        *,
        inbox: Inbox,
        outbox: Outbox,
        places: Places,
        minutes: float,
        people: People,
        hear: Hear,
        retake: Callable[[Part], None],
    ) -> None:
        """`retake` lets a part come once more, before whatever its person says next."""
        self._inbox = inbox
        self._outbox = outbox
        self._places = places
        self._people = people
        self._longest = minutes * 60 + WAY_SECONDS
        self._hear = hear
        self._retake = retake
        self._asked: set[int] = set()  # by the daemon before this one
        self._released: set[int] = set()  # their person wants them to be heard
        self._held: dict[tuple[str, int], list[list[Part]]] = {}  # place, person

    def ask_again(self, update_id: int) -> None:
        """It is about to be heard anew; its person has not said what should become of it."""
        self._asked.add(update_id)

    async def hear(self, parts: list[Part], joins: bool) -> None:
        """At once, unless it is old. Nobody is asked whom we do not know."""
        known = self._people.find(parts[0].message.from_user) is not None
        if known and self._waits(parts[0]):
            await self._hold(parts)
        else:
            await self._hear(parts, joins)

    def _waits(self, part: Part) -> bool:
        old = part.update_id in self._asked or part.late > self._longest
        return old and part.update_id not in self._released

    async def _hold(self, parts: list[Part]) -> None:
        await self._inbox.mark([part.update_id for part in parts], "held")
        at, person = self._places.of(parts[0].message), parts[0].sender
        held = self._held.setdefault((str(at), person), [])
        held.append(parts)
        await self._ask(at, person, held)

    async def _ask(self, at: Address, person: int, held: list[list[Part]]) -> None:
        actions = tuple(
            Action(label=word.capitalize(), line=f"/backlog {word} {person} {at}")
            for word in ("run", "show", "drop")
        )
        them = "it" if len(held) == 1 else "them"
        text = f"{count(len(held), 'message')} came while I was away. What about {them}?"
        await self._put(at, held, text, actions)

    async def _put(
        self, at: Address, held: list[list[Part]], text: str, actions: tuple[Action, ...] = ()
    ) -> None:
        """The same messages have the same question, also after a restart."""
        key = f"away:{held[0][0].update_id}:{held[0][0].message.message_id}"
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
            await self._put(at, held, f"{number} dropped.")
            return "Dropped."
        await self._put(at, held, f"{number} from while I was away: run now.")
        for part in [part for parts in held for part in parts]:
            self._released.add(part.update_id)
            self._retake(part)
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
