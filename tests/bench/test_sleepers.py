"""What the benchmarks set up is what the product would have left."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bench.census import CONVERSES, Census, counting
from bench.pool import parts, plan
from bench.sleepers import fill, sleepers, with_conversations
from bench.stage import staged
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Status


async def test_as_many_sessions_sleep_in_a_log_as_long_as_was_asked_for(tmp_path: Path) -> None:
    made = sleepers(10, tmp_path)
    fill(tmp_path / "log.db", made, events=500)
    async with EventLog(tmp_path / "log.db", runner="runner01") as log:
        assert log.head == 500
        assert await log.session_count(statuses=(Status.ASLEEP,), identified=True) == 10
        state = await log.state_at(made[3].name)
        assert (state.status, state.claude_id) == (Status.ASLEEP, made[3].claude_id)
        assert state.turns > 1
        assert state.cost_usd > 0


async def test_each_has_a_conversation_of_its_own_that_claude_goes_on_with() -> None:
    async with staged() as stage:
        one, _ = await with_conversations(stage, sleepers(2, stage.workdir))
        assert Transcripts(stage.sandbox.env).size(one.claude_id) == one.transcript_bytes
        async with stage.client(resume=one.claude_id) as client:
            await client.query("and now?")
            request = await stage.model.asked("and now?")
    assert request.session_id == one.claude_id
    assert "hello" in str(request.messages[0])


def test_every_session_is_told_its_words_in_order_however_they_are_mixed() -> None:
    messages = plan(5)
    assert [m.to for m in messages] != sorted(m.to for m in messages)
    of_one = [m for m in messages if m.to == 2]
    assert [m.answer for m in of_one] == [
        "session-2/1",
        "session-2/1 session-2/2",
        "session-2/1 session-2/2 session-2/3",
    ]
    assert [m for part in parts(messages, 4) for m in part] == messages


async def test_the_census_counts_what_converses_and_is_ours() -> None:
    census = Census()
    async with AsyncExitStack() as stack:
        for words in ((CONVERSES, "mine"), (CONVERSES, "theirs"), ("agents", "mine")):
            await stack.enter_async_context(waiting(*words))
        async with counting(census, lambda command: "mine" in command):
            pass
    assert census.most == 1


@asynccontextmanager
async def waiting(*words: str) -> AsyncIterator[None]:
    """A process with these words in its command line."""
    code = "import sys; print(1, flush=True); sys.stdin.read()"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, *words, stdin=PIPE, stdout=PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    yield
    await process.communicate(b"")
