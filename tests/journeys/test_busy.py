"""A session at work: what waits for it, and what if nothing happens."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from claude_sessions.channel import Kind
from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, hang, say
from claude_sessions.events import MessageWithdrawn, UserMessage
from claude_sessions.model import Status
from tests.journeys.chat import Chat, chatting
from tests.waiting import eventually


async def test_a_turn_without_any_sign_of_life_is_reported_once_with_what_to_do(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name stuck hang")
        await model.asked("hang")
        await silence(chat, clock, until=1)
        told = await chat.shows(Kind.NOTICE, "no sign of life for 10 min")
        assert [action.label for action in told.actions] == ["Interrupt", "Wait"]
        clock.advance(60 * 60)
        assert "may take its time" in await chat.type(told.actions[1].line)
        assert chat.kinds().count(Kind.NOTICE) == 1
        await silence(chat, clock, until=2)
        assert "interrupted" in await chat.type(told.actions[0].line)
        await chat.until("stuck", lambda s: s.turn is None)


async def silence(chat: Chat, clock: ManualClock, *, until: int) -> None:
    """Minute by minute: what Claude's process still has to say of the beginning may come late."""

    def noticed() -> bool:
        clock.advance(60)
        return chat.kinds().count(Kind.NOTICE) >= until

    await eventually(noticed)


async def test_words_are_a_sign_of_life(script: Script, sandbox: Sandbox, workdir: Path) -> None:
    first, second = Gate(), Gate()
    script.on("talk", say("One ", first, "two ", second, "three."))
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --fg --name talker talk")
        await chat.shows(Kind.STREAM, "One")
        clock.advance(9 * 60)
        first.open()
        await second.reached()
        await chat.shown(lambda n: n.kind is Kind.STREAM and "two" in n.text)
        clock.advance(9 * 60)
        second.open()
        await chat.idle("talker")
        assert "no sign of life" not in str(chat.channel.sent)


async def test_what_is_queued_is_listed_can_be_withdrawn_and_survives_a_restart(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hang")
        await model.asked("hang")
        for word in ("one", "two", "three"):
            await chat.type(f"/say a {word}")
        queue = await chat.reply("/queue a")
        lines = ["🟢 a", "   1. one", "   2. two", "   3. three"]
        assert queue.text.splitlines() == lines
        assert "withdrawn" in await chat.type(queue.actions[1].line)
        assert "no longer queued" in await chat.type(queue.actions[1].line)
    async with chatting(sandbox, workdir) as chat:
        assert [m.text for m in (await chat.state("a")).queued] == ["one", "three"]
        await chat.type("/resume a")
        await chat.until("a", lambda s: s.blocks == 2 and not s.queue)
        assert model.prompts() == ["hang", "one", "three"]


async def test_a_queued_message_can_be_said_into_the_running_turn_in_one_piece(
    script: Script, model: ScriptedModel, chat: Chat, workdir: Path
) -> None:
    script.on("work", bash("while [ ! -e go ]; do :; done"), say("Done."))
    await chat.type("/new --allow Bash --name a work")
    await chat.until("a", lambda s: bool(s.tools))
    reply = await chat.reply("/say a also this")
    assert [action.label for action in reply.actions] == [
        "Now, into this turn",
        "Interrupt and say",
        "Withdraw",
    ]
    await chat.type(reply.actions[0].line)
    (workdir / "go").touch()
    state = await chat.until("a", lambda s: s.blocks == 1 and s.turn is None)
    assert "also this" in model.requests[-1].steered
    events = await chat.daemon.log.events(state.id, limit=1000)
    kinds = [type(event.payload) for event in events]
    place = kinds.index(MessageWithdrawn)
    assert kinds[place + 1] is UserMessage  # in one commit: a crash loses neither
    assert events[place].at == events[place + 1].at


async def test_a_queued_message_can_take_the_turn_s_place(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    script.on("hang", hang())
    await chat.type("/new --name a hang")
    await model.asked("hang")
    await chat.type("/say a one")
    reply = await chat.reply("/say a two")
    await chat.type(reply.actions[1].line)
    await chat.until("a", lambda s: s.blocks == 2 and not s.queue)
    assert model.prompts() == ["hang", "two", "one"]


async def test_what_steers_and_was_not_taken_in_is_not_lost_with_the_process(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hang", hang())
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name a hang")
        await model.asked("hang")
        await chat.type("/say --steer a mind the gap")
    async with chatting(sandbox, workdir) as chat:
        state = await chat.state("a")
        assert state.status is Status.ASLEEP
        assert [message.text for message in state.queued] == ["mind the gap"]
        await chat.type("/resume a")
        await chat.until("a", lambda s: s.blocks == 1 and not s.queue)
        assert model.prompts() == ["hang", "mind the gap"]


async def test_a_jump_of_the_wall_clock_rings_no_alarm(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    clock = JumpingClock()
    script.on("hang", hang())
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/new --name idle hello")
        await chat.idle("idle")
        await chat.type("/new --name busy hang")
        await model.asked("hang")
        clock.jump(30 * 24 * 3600)
        clock.advance(1)
        clock.jump(-60 * 24 * 3600)
        clock.advance(1)
        await chat.type("/say idle still there?")
        await chat.until("idle", lambda s: s.blocks == 2)
        assert (await chat.state("busy")).turn is not None
        assert Kind.NOTICE not in chat.kinds()


class JumpingClock(ManualClock):
    """Somebody sets the machine's time, or it was suspended."""

    def jump(self, seconds: float) -> None:
        self._start += timedelta(seconds=seconds)
