"""Channels that are slow, broken, gone or late: each costs only itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel, MessageRef, Notification
from claude_sessions.model import Reason, Status
from tests.router.stage import HERE, PHONE, Stage, kinds, only, staged, texts
from tests.waiting import eventually


class SlowChannel(MemoryChannel):
    """Takes a message only when it is let."""

    def __init__(self, channel_id: str) -> None:
        super().__init__(channel_id)
        self.gate = asyncio.Semaphore(0)

    async def send(self, notification: Notification) -> MessageRef:
        await self.gate.acquire()
        return await super().send(notification)

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        await self.gate.acquire()
        await super().edit(ref, notification)


class BrokenChannel(MemoryChannel):
    """Cannot show one kind of thing."""

    async def send(self, notification: Notification) -> MessageRef:
        if notification.kind is Kind.WAITING:
            raise RuntimeError("no entity for that")
        return await super().send(notification)


async def test_a_slow_channel_delays_nobody(stage: Stage) -> None:
    phone = stage.channel(PHONE)
    slow = SlowChannel(HERE)
    stage.router.attach(slow)
    await stage.launch(front=(HERE, PHONE))
    await stage.put("auth", e.AssistantMessage(text="Here.", block="b1"))
    assert only(phone, Kind.STREAM).text == "Here."
    assert slow.sent == []
    for _ in range(9):
        slow.gate.release()


async def test_a_slow_channel_gets_the_newest_text_and_everything_in_order(stage: Stage) -> None:
    slow = SlowChannel(HERE)
    stage.router.attach(slow)
    await stage.launch(front=(HERE,))
    await stage.turn()
    for offset in range(50):
        await stage.say("auth", "x", offset=offset)
        await stage.pass_time(1)
    await stage.put(
        "auth",
        e.AssistantMessage(text="y" * 50, block="b1"),
        e.ToolRequested(tool_name="Bash", tool_use_id="t", input={"command": "ls"}),
        e.TurnCompleted(),
    )
    for _ in range(10):
        slow.gate.release()
    await stage.settle()
    assert kinds(slow) == [Kind.LAUNCHED, Kind.STREAM, Kind.TOOL, Kind.WAITING]
    assert (texts(slow, Kind.STREAM), slow.edits) == (["y" * 50], [])


async def test_what_one_channel_cannot_show_costs_only_that_message(stage: Stage) -> None:
    broken = BrokenChannel(HERE)
    stage.router.attach(broken)
    await stage.launch()
    await stage.turn()
    await stage.put("auth", e.TurnCompleted())
    await stage.put("auth", e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE))
    assert kinds(broken) == [Kind.LAUNCHED, Kind.COMPLETED]


async def test_a_closed_channel_is_dropped_and_may_come_back(stage: Stage) -> None:
    gone, phone = stage.channel(), stage.channel(PHONE)
    await gone.close()
    await stage.launch(front=(PHONE,))
    again = stage.channel()
    await stage.put("auth", e.AssistantMessage(text="Hi.", block="b1"), e.TurnCompleted())
    assert kinds(phone) == [Kind.STREAM, Kind.WAITING]
    assert kinds(again) == [Kind.WAITING]


async def test_a_detached_channel_hears_no_more(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch()
    await stage.router.detach(HERE)
    await stage.router.detach("nobody|1")
    await stage.put("auth", e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE))
    assert kinds(here) == [Kind.LAUNCHED]


async def test_the_same_channel_cannot_be_attached_twice(stage: Stage) -> None:
    stage.channel()
    with pytest.raises(ValueError, match="attached already"):
        stage.channel()


async def test_a_channel_attached_late_hears_what_happens_from_then_on(stage: Stage) -> None:
    await stage.launch()
    late = stage.channel()
    await stage.put("auth", e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE))
    assert kinds(late) == [Kind.COMPLETED]


async def test_a_channel_says_from_where_it_hears(stage: Stage) -> None:
    ahead = MemoryChannel(HERE)
    stage.router.attach(ahead, after=stage.log.head + 3)
    await stage.launch()  # two events
    await stage.turn()
    await stage.put("auth", e.TurnCompleted())
    assert kinds(ahead) == [Kind.WAITING]


async def test_one_that_takes_nothing_at_all_is_cut(tmp_path: Path) -> None:
    async with staged(tmp_path, waiting_bound=20) as stage:
        slow = SlowChannel(HERE)
        stage.router.attach(slow)
        await stage.launch(front=(HERE,))
        for number in range(30):
            await stage.put("auth", e.Noticed(code="informational", message=str(number)))
        slow.gate.release()
        await stage.settle()
        assert len(slow.sent) == 1
        stage.channel()  # its place is free again


async def test_leaving_delivers_what_is_on_the_way(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        slow = SlowChannel(HERE)
        stage.router.attach(slow)
        await stage.launch(front=(HERE,))
        await stage.turn()
        await stage.say("auth", "Last words")
        for _ in range(9):
            slow.gate.release()
    assert [n.text for n in slow.shown.values() if n.kind is Kind.STREAM] == ["Last words"]
    assert all(n.final for n in slow.shown.values())


async def test_events_that_many_write_at_once_arrive_in_their_order(stage: Stage) -> None:
    here = stage.channel()
    await stage.launch(front=(HERE,))
    drafts = [
        e.Draft(payload=e.Noticed(code="n", message=str(n)), session="auth") for n in range(500)
    ]
    await asyncio.gather(*(stage.log.append(draft) for draft in drafts))
    await eventually(lambda: len(texts(here, Kind.NOTICE)) == 500)
    assert texts(here, Kind.NOTICE) == [f"fix-auth: {n}" for n in range(500)]
