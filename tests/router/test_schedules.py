from __future__ import annotations

from claude_sessions import events as e
from claude_sessions.channel import Kind
from tests.router.stage import HERE, PHONE, Stage, texts

SKIPPED = e.ScheduleSkipped(
    schedule_id="s1", due=0.0, reason="the directory is gone", name="nightly", origin=PHONE
)


async def test_a_run_that_was_skipped_is_told_where_it_was_made_and_nowhere_else(
    stage: Stage,
) -> None:
    here, phone = stage.channel(HERE), stage.channel(PHONE)
    await stage.log.append(e.Draft(payload=SKIPPED))
    await stage.settle()
    assert texts(phone, Kind.NOTICE) == ["⏭ nightly was skipped · the directory is gone"]
    assert here.sent == []


async def test_what_was_told_already_is_not_told_again(stage: Stage) -> None:
    phone = stage.channel(PHONE)
    quiet = e.ScheduleSkipped(
        schedule_id="s1", due=0.0, reason="it still works", origin=PHONE, quiet=True
    )
    await stage.log.append(e.Draft(payload=quiet))
    await stage.log.append(e.Draft(payload=e.ScheduleFired(schedule_id="s1", due=0.0)))
    await stage.settle()
    assert phone.sent == []
