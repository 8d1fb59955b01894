"""Claude writes down what it was told a moment after it took it in; it may be killed in between."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from claude_sessions import events as e
from claude_sessions.demo import Sandbox, Script, ScriptedModel, say
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.state import SessionState
from tests.journeys.chat import PATIENCE, Chat, chatting


async def kill_claude(chat: Chat, name: str) -> SessionState:
    state = await chat.state(name)
    began = await chat.daemon.log.tail_of(state.id, [e.SessionStarted.TYPE], 1)
    assert isinstance(began[0].payload, e.SessionStarted)
    os.kill(began[0].payload.pid or 0, signal.SIGKILL)
    return await chat.ended(name)


async def test_what_was_not_written_down_is_queued_again_and_said_after_a_resume(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("count", say("One two three four five.", pace=5))
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hello")
        await chat.idle("a")
        await chat.type("/say a count")
        (told,) = (await chat.until("a", lambda s: bool(s.taken))).taken
        state = await kill_claude(chat, "a")
        assert state.claude_id is not None
        known = Transcripts(sandbox.env).has_message(state.claude_id, told.id)
        assert [m.text for m in state.queued] == ([] if known else ["count"])
        await chat.type("/resume a and then?")
        await model.asked("and then?", timeout=PATIENCE)
        assert "count" in str(model.about("and then?")[0].messages)
