"""What every channel promises, whatever it is made of."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from claude_sessions.approvals.preview import preview
from claude_sessions.channel import (
    Action,
    Card,
    Channel,
    ChannelClosed,
    Kind,
    MemoryChannel,
    Notification,
)
from claude_sessions.clock import ManualClock
from claude_sessions.console import ConsoleChannel
from claude_sessions.model import AskKind, Risk
from claude_sessions.orchestrator.channel import Orchestrator
from claude_sessions.orchestrator.roads import Roads
from tests.console.terminals import at_a_terminal, at_pipes, screen_of

PLACES = ["memory", "orchestrator", "console on a terminal", "console on a pipe"]


@pytest.fixture(params=PLACES)
async def channel(request: pytest.FixtureRequest) -> AsyncIterator[Channel]:
    if request.param == "memory":
        yield MemoryChannel("memory|1")
        return
    if request.param == "orchestrator":
        async with orchestrator() as opened:
            yield opened.channel("discord|1")
        return
    place = at_a_terminal if request.param == "console on a terminal" else at_pipes
    async with place() as person, screen_of(person) as screen:
        yield ConsoleChannel(screen)


def orchestrator() -> Orchestrator:
    clock = ManualClock()
    command = ("true",)
    env = {"PATH": os.environ["PATH"]}
    roads = Roads(message_command=command, event_command=command, env=env, clock=clock)
    return Orchestrator(roads, states=lambda _: None, blocks=lambda _: (), clock=clock)


def note(kind: Kind = Kind.NOTICE, text: str = "Hello.", **more: object) -> Notification:
    said = Notification(kind=kind, session="s1", name="fix-auth", text=text)
    return replace(said, **more)  # type: ignore[arg-type]


def card() -> Card:
    return Card(
        approval_id="a1",
        kind=AskKind.TOOL,
        tool_name="Bash",
        risk=Risk.HIGH,
        risk_reasons=(),
        directory="/web",
        preview=preview("Bash", {"command": "ls"}, "/web"),
    )


async def test_each_message_has_a_ref_of_its_own(channel: Channel) -> None:
    refs = [await channel.send(note()) for _ in range(3)]
    assert len({ref.id for ref in refs}) == 3
    assert {ref.channel for ref in refs} == {channel.id}


@pytest.mark.parametrize("kind", list(Kind))
async def test_every_kind_can_be_sent_and_edited(channel: Channel, kind: Kind) -> None:
    action = Action(label="Go", line="/fg fix-auth")
    ref = await channel.send(note(kind, actions=(action,), final=False))
    await channel.edit(ref, note(kind, text="Hello again."))


async def test_what_streams_may_be_edited_until_it_is_final(channel: Channel) -> None:
    ref = await channel.send(note(Kind.STREAM, "I", final=False))
    for text in ("I found", "I found it", "Something else"):
        await channel.edit(ref, note(Kind.STREAM, text, final=False))
    await channel.edit(ref, note(Kind.STREAM, "I found it.", final=True))


async def test_a_card_may_be_decided_twice_over(channel: Channel) -> None:
    ref = await channel.send(note(Kind.CARD, "Asks", card=card()))
    for outcome in (
        "Allowed",
        "Allowed · given to Claude",
        "Allowed · given to Claude · result seen",
    ):
        await channel.edit(ref, note(Kind.CARD, outcome, card=replace(card(), decided=outcome)))


@pytest.mark.parametrize("text", ["", "\n", "\x1b[2J\x00\ud800", "x" * 100_000, "`**[<|\n```"])
async def test_nothing_is_too_odd_to_be_sent(channel: Channel, text: str) -> None:
    for kind in (Kind.STREAM, Kind.NOTICE, Kind.CARD):
        ref = await channel.send(note(kind, text, final=False))
        await channel.edit(ref, note(kind, text + "!"))


async def test_closing_twice_is_fine(channel: Channel) -> None:
    await channel.close()
    await channel.close()


async def test_nothing_can_be_sent_after_closing(channel: Channel) -> None:
    refs = {kind: await channel.send(note(kind, final=False)) for kind in Kind}
    await channel.close()
    for kind, ref in refs.items():
        with pytest.raises(ChannelClosed):
            await channel.send(note(kind))
        with pytest.raises(ChannelClosed):
            await channel.edit(ref, note(kind))
