"""Many sleeping sessions, made as the writer would have, without a process ever having run."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path

from bench.log import TURN
from bench.stage import Stage
from claude_sessions import events as e
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.model import Reason
from claude_sessions.storage import rows
from claude_sessions.storage.sqlite import Store

BATCH = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleeper:
    name: str
    directory: str
    claude_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    transcript_bytes: int | None = None

    def draft(self, payload: e.Payload) -> e.Draft:
        return e.Draft(
            payload=payload, session=self.name, project="p" * 8, run="r" * 8, turn="t" * 8
        )

    @property
    def birth(self) -> tuple[e.Payload, ...]:
        return (
            e.SessionCreated(
                project_id="p" * 8,
                name=self.name,
                directory=self.directory,
                budget_usd=5.0,
                prompt="Please look at this.",
            ),
            e.SessionStarted(claude_session_id=self.claude_id),
        )

    @property
    def rest(self) -> e.Payload:
        return e.SessionAsleep(reason=Reason.IDLE, transcript_bytes=self.transcript_bytes)


def sleepers(count: int, directory: Path) -> list[Sleeper]:
    return [Sleeper(name=f"session-{n}", directory=str(directory)) for n in range(1, count + 1)]


async def with_conversations(stage: Stage, sessions: Sequence[Sleeper]) -> list[Sleeper]:
    """Each with a file of its own as Claude writes it, copied from one real turn."""
    model = await stage.conversation()
    file = Transcripts(stage.sandbox.env).find(model)
    assert file is not None
    text = file.read_text()
    for one in sessions:
        file.with_name(f"{one.claude_id}.jsonl").write_text(text.replace(model, one.claude_id))
    return [replace(one, transcript_bytes=file.stat().st_size) for one in sessions]


def fill(path: Path, sessions: Sequence[Sleeper], events: int = 0) -> None:
    """`events`: at least so many, in turns that the sessions took at the same time."""
    drafts = lives(sessions, events)
    with Store(path, runner="runner01") as store:
        while some := list(islice(drafts, BATCH)):
            now = datetime.now(UTC)
            store.append([rows.to_facts(some, now, epoch=store.epoch, runner=store.runner)])


def lives(sessions: Sequence[Sleeper], events: int) -> Iterator[e.Draft]:
    for one in sessions:
        yield from map(one.draft, one.birth)
    spoken = max(0, events - 3 * len(sessions)) // max(1, len(sessions))
    for payload in islice(cycle(TURN), spoken):
        for one in sessions:
            yield one.draft(payload)
    for one in sessions:
        yield one.draft(one.rest)
