"""The load: sessions that stream into a few chats, private ones and groups, without a pause."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bench.bridge import Bridge
from bench.product import PATIENCE
from bench.talk import Talk, ended
from tests.botapi import Chat, Message, Person

GROUPS = 2  # of every five chats


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A session in the foreground of a chat, and who speaks to it there."""

    name: str
    person: Person
    chat: Chat


class Crowd:
    """`asked` and `shown` count the answers that were begun, and those that arrived in full."""

    def __init__(self, bridge: Bridge, talk: Talk, members: Sequence[Member]) -> None:
        self.asked = 0
        self.shown = 0
        self._bridge = bridge
        self._talk = talk
        self._members = members
        self._last: dict[str, Message] = {}
        self._enough = False

    @property
    def chats(self) -> list[Chat]:
        return list({member.chat.id: member.chat for member in self._members}.values())

    async def open(self) -> None:
        for member in self._members:
            word = f"hello-{member.name}"
            await member.person.says(f"/new --fg --name {member.name} {word}", chat=member.chat)
            self._last[member.name] = await ended(member.chat, word)

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[None]:
        """Within it, everybody streams; leaving waits for the answers that have been begun."""
        async with asyncio.TaskGroup() as group:
            self._enough = False
            for number, member in enumerate(self._members):
                group.create_task(self._stream(member, number), name=f"crowd:{member.name}")
            await self._bridge.stage.asked(f"stream-{self._members[-1].name}-0")
            yield
            self._enough = True

    async def _stream(self, member: Member, number: int) -> None:
        # Evenly out of step: in step, all would end at once and none would stream for a while.
        await asyncio.sleep(self._talk.stream_seconds * number / len(self._members) / 4)
        count = 0
        while not self._enough:
            word = f"stream-{member.name}-{count}"
            self.asked += 1
            await member.person.says(word, chat=member.chat, reply_to=self._last[member.name])
            self._last[member.name] = await self._answered(member, word)
            self.shown += 1
            count += 1

    async def _answered(self, member: Member, word: str) -> Message:
        return await ended(member.chat, word, PATIENCE + 2 * self._talk.stream_seconds)


def gathered(bridge: Bridge, people: Sequence[int], sessions: int) -> list[Member]:
    """As many chats as people; of five, two are groups."""
    chats: list[tuple[Person, Chat]] = []
    for number, person_id in enumerate(people):
        person = bridge.api.person(person_id, f"Person {person_id}")
        chat = person.chat
        if number % 5 < GROUPS:
            chat = bridge.api.group(-100_000 - number, f"Team {number}", members=[person])
        chats.append((person, chat))
    return [
        Member(name=f"s{n}", person=chats[n % len(chats)][0], chat=chats[n % len(chats)][1])
        for n in range(sessions)
    ]
