from __future__ import annotations

from claude_sessions import events as e
from claude_sessions.channel import Kind, MemoryChannel
from claude_sessions.model import Reason, Status
from tests.router.stage import HERE, PHONE, Stage, kinds, texts

ENDED = e.SessionEnded(
    status=Status.KILLED, reason=Reason.USER, message="", duration_ms=1000, cost_usd=0.0
)


class Workshop:
    """Makes channels, and keeps them."""

    def __init__(self) -> None:
        self.made: dict[str, MemoryChannel] = {}

    def make(self, channel_id: str) -> MemoryChannel:
        assert channel_id not in self.made
        channel = self.made[channel_id] = MemoryChannel(channel_id)
        return channel


def foreign(channel_id: str) -> bool:
    return channel_id.startswith("discord|")


async def test_a_channel_is_made_for_the_first_thing_it_is_to_hear_and_then_kept(
    stage: Stage,
) -> None:
    workshop = Workshop()
    stage.router.serve(foreign, workshop.make)
    await stage.launch(origin="discord|1")
    await stage.put("auth", ENDED)
    assert kinds(workshop.made["discord|1"]) == [Kind.LAUNCHED, Kind.KILLED]


async def test_one_that_is_not_taken_or_is_there_already_is_not_made(stage: Stage) -> None:
    workshop = Workshop()
    stage.router.serve(foreign, workshop.make)
    there = stage.channel("discord|2")
    await stage.launch("one", origin=PHONE)
    await stage.launch("two", origin="discord|2")
    await stage.launch("three", origin=None)
    assert workshop.made == {}
    assert kinds(there) == [Kind.LAUNCHED]


async def test_one_that_watches_and_one_that_made_a_schedule_are_made_too(stage: Stage) -> None:
    workshop = Workshop()
    stage.router.serve(foreign, workshop.make)
    await stage.launch(origin=HERE, front=("discord|3",))
    await stage.put("auth", ENDED)
    skipped = e.ScheduleSkipped(
        schedule_id="s1", due=0.0, reason="gone", name="nightly", origin="discord|4"
    )
    await stage.log.append(e.Draft(payload=skipped))
    await stage.settle()
    assert kinds(workshop.made["discord|3"]) == [Kind.KILLED]
    assert texts(workshop.made["discord|4"], Kind.NOTICE) == ["⏭ nightly was skipped · gone"]


async def test_what_happened_before_it_is_served_is_not_its_business(stage: Stage) -> None:
    workshop = Workshop()
    await stage.launch(origin="discord|1")
    stage.router.serve(foreign, workshop.make)
    await stage.put("auth", ENDED)
    assert kinds(workshop.made["discord|1"]) == [Kind.KILLED]
