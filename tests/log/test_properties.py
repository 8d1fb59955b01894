"""Whatever is appended, signalled and followed in whatever order, the log keeps its word."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions import events as e
from claude_sessions.eventlog import EventLog
from claude_sessions.feed import Feed, Item
from claude_sessions.state import SessionState, fold
from tests.log.words import DEADLINE, born, delta, log_in, said, soon

SESSIONS = ("s1", "s2", "s3")
sessions = st.sampled_from(SESSIONS)


@dataclass(frozen=True)
class Append:
    session: str | None
    count: int
    hold: bool


@dataclass(frozen=True)
class Stream:
    """Some more of the session's open block."""

    session: str
    text: str


@dataclass(frozen=True)
class Finish:
    """The block as a whole."""

    session: str


@dataclass(frozen=True)
class Follow:
    back: int  # how far behind the head it begins
    session: str | None
    signals: bool


@dataclass(frozen=True)
class Read:
    feed: int
    count: int


@dataclass(frozen=True)
class Turns:
    """The loop goes round."""

    count: int


@dataclass(frozen=True)
class Settle:
    """Until everything appended is durable."""


Step = Append | Stream | Finish | Follow | Read | Turns | Settle
steps: st.SearchStrategy[Step] = st.one_of(
    st.builds(Append, st.one_of(st.none(), sessions), st.integers(1, 4), st.booleans()),
    st.builds(Stream, sessions, st.text("abc", min_size=1, max_size=3)),
    st.builds(Finish, sessions),
    st.builds(Follow, st.integers(0, 20), st.one_of(st.none(), sessions), st.booleans()),
    st.builds(Read, st.integers(0, 5), st.integers(1, 5)),
    st.builds(Turns, st.integers(1, 5)),
    st.just(Settle()),
)


@dataclass
class Reader:
    feed: Feed
    after: int
    wants: Follow
    items: list[Item] = field(default_factory=list)

    async def read(self, count: int) -> None:
        """Up to that many; gives up where none comes soon."""
        for _ in range(count):
            reading = asyncio.ensure_future(anext(self.feed))
            for _ in range(20):
                await asyncio.sleep(0)
            reading.cancel()
            await asyncio.wait([reading])
            if reading.cancelled():
                return
            self.items.append(reading.result())

    async def finish(self) -> None:
        async with asyncio.timeout(DEADLINE):
            self.items += [item async for item in self.feed]


class Story:
    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.observed: list[e.Event] = []
        self.readers: list[Reader] = []
        self.tasks: list[asyncio.Task[list[e.Event]]] = []
        self.blocks: dict[str, str] = {}  # of each session: the open block
        self.made = 0
        log.observe(self.observed.append)

    async def play(self, step: Step) -> None:
        match step:
            case Append(session, count, hold):
                self._append(*(said("x", session) for _ in range(count)), hold=hold)
            case Stream(session, text):
                block = self.blocks.setdefault(session, self._name(session))
                name, _, so_far = block.partition("|")
                self.log.signal(delta(text, len(so_far), name, session))
                self.blocks[session] = block + text
            case Finish(session):
                if session in self.blocks:
                    name, _, text = self.blocks.pop(session).partition("|")
                    self._append(said(text, session, name), hold=True)
            case Follow(back, session, signals):
                after = max(self.log.head - back, 0)
                feed = self.log.follow(after=after, session=session, signals=signals)
                self.readers.append(Reader(await feed.__aenter__(), after, step))
            case Read(which, count):
                if which < len(self.readers):
                    await self.readers[which].read(count)
            case Turns(count):
                for _ in range(count):
                    await asyncio.sleep(0)
            case Settle():
                await soon(asyncio.gather(*self.tasks))

    async def end(self) -> None:
        for session in SESSIONS:
            await self.play(Finish(session))
        await self.play(Settle())

    def _append(self, *drafts: e.Draft, hold: bool) -> None:
        self.tasks.append(asyncio.create_task(self.log.append(*drafts, hold=hold)))

    def _name(self, session: str) -> str:
        self.made += 1
        return f"{session}-b{self.made}|"


def check_places(events: list[e.Event]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    places: dict[str | None, list[int]] = defaultdict(list)
    for event in events:
        places[event.session].append(event.session_seq)
    assert set(places.pop(None, [0])) == {0}
    assert all(found == list(range(1, len(found) + 1)) for found in places.values())


def check_reader(reader: Reader, events: list[e.Event], *, whole_blocks: bool) -> None:
    got = [item for item in reader.items if isinstance(item, e.Event)]
    assert got == [
        event
        for event in events
        if event.seq > reader.after and reader.wants.session in (None, event.session)
    ]
    so_far: dict[str, str] = {}
    for item in reader.items:
        match item:
            case e.AssistantDelta(block=block, offset=offset, text=text):
                assert reader.wants.signals
                assert offset in (0, len(so_far.get(block, "")))
                so_far[block] = so_far.get(block, "")[:offset] + text
            case e.Event(payload=e.AssistantMessage(block=block, text=text)) if block in so_far:
                assert text.startswith(so_far[block])
                assert text == so_far.pop(block) or not whole_blocks
    assert not so_far or not whole_blocks


async def run(plan: list[Step], bound: int, *, whole_blocks: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with log_in(Path(directory), feed_bound=bound) as log:
            story = Story(log)
            for step in plan:
                await story.play(step)
            await story.end()
            events = log.store.events(limit=10_000)
        assert story.observed == events
        check_places(events)
        for reader in story.readers:
            await reader.finish()
            check_reader(reader, events, whole_blocks=whole_blocks)


@given(st.lists(steps, max_size=60))
@settings(max_examples=40, deadline=None)
def test_readers_get_every_event_once_and_every_block_exactly(plan: list[Step]) -> None:
    asyncio.run(run(plan, 10_000, whole_blocks=True))


@given(st.lists(steps, max_size=60), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_readers_that_fall_behind_still_get_every_event_once(plan: list[Step], bound: int) -> None:
    asyncio.run(run(plan, bound, whole_blocks=False))


facts: st.SearchStrategy[e.Payload] = st.one_of(
    st.builds(e.SessionRenamed, name=st.sampled_from(["a", "b"])),
    st.builds(e.UserMessage, message_id=st.uuids().map(str), text=st.text(max_size=20)),
    st.builds(e.AssistantMessage, text=st.text(max_size=20)),
    st.builds(e.TurnStarted),
    st.builds(e.TurnCompleted, cost_usd=st.floats(0, 2)),
    st.builds(e.ConversationIdentified, claude_session_id=st.sampled_from(["c1", "c2", "c3"])),
    st.builds(e.Foregrounded, channel=st.sampled_from(["console|1", "telegram|2"])),
)


@given(st.lists(st.tuples(facts, st.booleans()), max_size=30))
@settings(max_examples=25, deadline=None)
def test_live_state_is_the_fold_of_the_file_at_every_place(
    story: list[tuple[e.Payload, bool]],
) -> None:
    async def check() -> None:
        with tempfile.TemporaryDirectory() as directory:
            async with log_in(Path(directory)) as log:
                live: dict[int, SessionState] = {}
                state: SessionState | None = None

                def observe(event: e.Event) -> None:
                    nonlocal state
                    if event.session == "s1":
                        state = live[event.seq] = fold(state, event)

                log.observe(observe)
                await log.append(born("s1"))
                for payload, other_between in story:
                    if other_between:
                        await log.append(said("other", "s2"))
                    await log.append(e.Draft(session="s1", payload=payload))
                for seq, was in live.items():
                    assert await log.state_at("s1", seq) == was
                row = await log.session_row("s1")
                assert row is not None
                assert state is not None
                assert (row.name, row.claude_ids) == (state.name, state.claude_ids)

    asyncio.run(check())
