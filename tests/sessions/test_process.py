"""What a turn produces while nothing can be stored is kept up to a bound, and then it is ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from claude_sessions import engines as g
from claude_sessions.model import PermissionMode, SessionSpec
from claude_sessions.sessions.process import EVENTS_HELD, ClaudeProcess, Died, Item, Opening


@dataclass
class Talkative:
    """An engine and its conversation in one, which says what it is given to say."""

    events: list[g.EngineEvent]
    version: str | None = None
    commands: tuple[str, ...] = ()
    pid: int | None = None
    abandoned: int = 0
    sent: list[str] = field(default_factory=list)

    async def open(self, spec: SessionSpec, **_: object) -> Talkative:
        return self

    async def __aiter__(self) -> AsyncIterator[g.EngineEvent]:
        for event in self.events:
            yield event

    def abandon(self) -> None:
        self.abandoned += 1

    async def send(self, message: g.Message) -> None: ...
    async def interrupt(self) -> None: ...
    async def set_mode(self, mode: PermissionMode) -> None: ...
    async def set_model(self, model: str | None) -> None: ...
    async def stop_task(self, task_id: str) -> None: ...
    async def rewindable(self, message_id: str) -> tuple[str, ...]:
        return ()

    async def rewind(self, message_id: str) -> None: ...
    async def close(self) -> None: ...


async def passed_on(talk: Talkative, backlog: int) -> list[Item]:
    posted: list[Item] = []
    process = ClaudeProcess(talk, posted.append, lambda: backlog)

    async def never(_: g.Ask) -> g.Answer:
        raise AssertionError

    spec = SessionSpec(directory="/srv")
    await process.run(spec, ask=never, opening=Opening(), budget_usd=None)
    return posted[1:]


DELTA = g.TextDelta(block="b", offset=0, text="a")
WORDS = g.Text(block="b", text="a")


async def test_below_the_bound_everything_passes() -> None:
    talk = Talkative([DELTA, WORDS])
    assert await passed_on(talk, EVENTS_HELD) == [DELTA, WORDS]
    assert talk.abandoned == 0


async def test_above_it_signals_are_dropped_and_the_turn_is_ended() -> None:
    talk = Talkative([DELTA, WORDS])
    assert await passed_on(talk, EVENTS_HELD + 1) == [WORDS]
    assert talk.abandoned == 1


async def test_whatever_the_engine_raises_ends_the_run_in_the_one_way() -> None:
    class Broken(Talkative):
        async def open(self, spec: SessionSpec, **_: object) -> Talkative:
            raise KeyError("name")

    posted: list[Item] = []
    process = ClaudeProcess(Broken([]), posted.append, lambda: 0)

    async def never(_: g.Ask) -> g.Answer:
        raise AssertionError

    spec = SessionSpec(directory="/srv")
    await process.run(spec, ask=never, opening=Opening(), budget_usd=None)
    (died,) = posted
    assert isinstance(died, Died)
    assert died.while_starting
