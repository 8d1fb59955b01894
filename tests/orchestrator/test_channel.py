from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from claude_sessions.approvals.preview import preview as preview_of
from claude_sessions.channel import Card, Kind, Notification
from claude_sessions.clock import ManualClock
from claude_sessions.model import AskKind, Risk, Status
from claude_sessions.orchestrator.channel import Orchestrator, OrchestratorChannel, is_foreign
from claude_sessions.orchestrator.roads import Roads
from claude_sessions.state import SessionState
from tests.commands.test_replies import pending, session
from tests.orchestrator.counterpart import Recorder, Webhook, recorder, webhook
from tests.waiting import eventually


class Stage:
    """One session, both commands and the webhook."""

    def __init__(self, directory: Path, hook: Webhook) -> None:
        self.hook = hook
        self.messages = recorder(directory, "messages")
        self.events = recorder(directory, "events")
        self.clock = ManualClock()
        self.state: SessionState | None = session(id="abcd1234")
        self.blocks = ["All is well."]
        roads = Roads(
            message_command=[str(self.messages.path)],
            event_command=[str(self.events.path)],
            webhook_url=hook.url,
            env={"PATH": "/usr/bin:/bin"},
            clock=self.clock,
        )
        self.orchestrator = Orchestrator(
            roads, states=lambda _: self.state, blocks=lambda _: self.blocks, clock=self.clock
        )

    def channel(self, channel_id: str = "discord|acct|123") -> OrchestratorChannel:
        return self.orchestrator.channel(channel_id)

    def become(self, **changes: object) -> None:
        assert self.state is not None
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]

    def heads(self, command: Recorder) -> list[str]:
        texts = [argv[argv.index("--text") + 1] for argv in command.argv]
        return [text.partition("\n")[0] for text in texts]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with webhook() as hook:
        stage = Stage(tmp_path, hook)
        async with stage.orchestrator:
            yield stage


def told(kind: Kind, text: str = "told", asked: str = "") -> Notification:
    card = card_of(asked) if asked else None
    return Notification(kind=kind, session="abcd1234", name="fix-auth", text=text, card=card)


def card_of(approval_id: str) -> Card:
    preview = preview_of("Bash", {"command": "ls"}, "/")
    return Card(
        approval_id=approval_id,
        kind=AskKind.TOOL,
        tool_name="Bash",
        risk=Risk.LOW,
        risk_reasons=(),
        directory="/",
        preview=preview,
    )


async def nothing_held() -> None:
    await eventually(
        lambda: not any(t.get_name() == "doorbell:abcd1234" for t in asyncio.all_tasks())
    )


WAITS = "💬 Multi-turn session is waiting for input."
ASKS = "💬 Multi-turn session is waiting for a decision."


@pytest.mark.parametrize("kind", [Kind.COMPLETED, Kind.FAILED, Kind.KILLED, Kind.LIMIT])
@pytest.mark.parametrize("foreground", [True, False])
async def test_an_ending_is_a_message_and_an_event(
    stage: Stage, kind: Kind, foreground: bool
) -> None:
    await stage.channel().send(replace(told(kind), foreground=foreground))
    assert len(stage.messages.calls) == len(stage.events.calls) == 1
    assert stage.hook.calls == []


async def test_an_ending_without_an_address_goes_to_the_webhook(stage: Stage) -> None:
    await stage.channel("unknown").send(told(Kind.COMPLETED))
    ((method, path, body),) = stage.hook.calls
    assert (method, path, body["mode"]) == ("POST", "/hooks/wake", "now")
    assert body["text"].startswith("✅ Claude Code session completed.\nName: fix-auth")
    assert stage.messages.calls == stage.events.calls == []


@pytest.mark.parametrize("channel_id", ["discord|acct|123", "unknown"])
async def test_waiting_is_always_an_event(stage: Stage, channel_id: str) -> None:
    await stage.channel(channel_id).send(told(Kind.WAITING))
    assert stage.heads(stage.events) == [WAITS]
    assert not stage.messages.calls
    assert not stage.hook.calls


async def test_of_several_in_five_seconds_the_first_goes_at_once_and_the_rest_in_one(
    stage: Stage,
) -> None:
    channel = stage.channel()
    await channel.send(told(Kind.WAITING))
    stage.become(turn="t2", pending=pending(seconds=1))
    await channel.send(told(Kind.CARD, "first", asked="a1"))
    await channel.send(told(Kind.CARD, "gone", asked="a2"))  # decided meanwhile
    assert stage.heads(stage.events) == [WAITS]
    stage.clock.advance(5)
    await eventually(lambda: len(stage.events.calls) == 2)
    assert stage.heads(stage.events) == [WAITS, ASKS]
    assert "gone" not in str(stage.events.argv)


async def test_what_was_said_already_is_not_repeated_but_an_hour_later_it_is(stage: Stage) -> None:
    channel = stage.channel()
    await channel.send(told(Kind.WAITING))
    await channel.send(told(Kind.WAITING))
    stage.clock.advance(5)
    await nothing_held()
    assert len(stage.events.calls) == 1
    stage.clock.advance(3600)
    await channel.send(told(Kind.WAITING))
    assert len(stage.events.calls) == 2


async def test_an_ending_takes_the_place_of_what_was_held_back(stage: Stage) -> None:
    channel = stage.channel()
    await channel.send(told(Kind.WAITING))
    stage.blocks = ["Something else."]
    await channel.send(told(Kind.WAITING))
    stage.become(status=Status.KILLED)
    await channel.send(told(Kind.KILLED))
    stage.clock.advance(5)
    await nothing_held()
    assert stage.heads(stage.events) == [WAITS, "⛔ Claude Code session killed."]


async def test_one_session_does_not_quieten_another(stage: Stage) -> None:
    await stage.channel().send(told(Kind.WAITING))
    await stage.channel().send(replace(told(Kind.WAITING), session="other"))
    assert len(stage.events.calls) == 2


async def test_words_and_tools_and_launches_are_not_for_it(stage: Stage) -> None:
    channel = stage.channel()
    for kind in (Kind.STREAM, Kind.TOOL, Kind.LAUNCHED, Kind.CURTAIN):
        ref = await channel.send(told(kind))
        await channel.edit(ref, told(kind))
    assert not stage.messages.calls
    assert not stage.events.calls
    assert not stage.hook.calls


async def test_a_long_run_is_a_message_alone(stage: Stage) -> None:
    await stage.channel().send(told(Kind.LONG_RUNNING))
    assert len(stage.messages.calls) == 1
    assert stage.events.calls == []


async def test_what_is_about_no_session_is_an_event_as_it_is(stage: Stage) -> None:
    skipped = Notification(kind=Kind.NOTICE, session=None, name="", text="⏭ nightly was skipped")
    await stage.channel().send(skipped)
    assert stage.events.argv == [["--text", "⏭ nightly was skipped", "--mode", "now"]]


async def test_a_session_that_is_forgotten_is_still_told_of(stage: Stage) -> None:
    stage.state = None
    await stage.channel().send(told(Kind.KILLED, "⛔ fix-auth was stopped"))
    assert stage.messages.argv[0][-1] == "⛔ fix-auth was stopped"
    assert stage.heads(stage.events) == ["⛔ fix-auth was stopped"]


def test_what_the_bot_takes_and_the_terminal_are_not_its() -> None:
    taken = {"telegram|1"}.__contains__
    assert [is_foreign(i, taken) for i in ("telegram|1", "console|local")] == [False, False]
    others = ("discord|1", "unknown", "gateway", "telegram", "telegram|@me", "telegram|", "console")
    assert all(is_foreign(channel, taken) for channel in others)
