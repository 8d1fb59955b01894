"""Making schedules, and changing them."""

from __future__ import annotations

from typing import Any

from claude_sessions import commands as c
from claude_sessions.approvals.rules import parse_rule
from claude_sessions.commands import timetable
from claude_sessions.commands.lasting import only_admins_change_what_lasts
from claude_sessions.commands.pool import Pool, mode_for
from claude_sessions.errors import BadRequest, Forbidden
from claude_sessions.model import NAME, Role, Verdict, new_id
from claude_sessions.people import Caller
from claude_sessions.schedules.book import Schedule
from claude_sessions.schedules.when import understood, zone_of

# Documents are one file, which is read whole for every question about a rule.
LONGEST = 20_000


async def list_schedules(pool: Pool, command: c.ListSchedules, caller: Caller) -> c.Reply:
    schedules = pool.schedules.book.all()
    rows = [await _row(pool, schedule) for schedule in schedules]
    text, actions = timetable.listing(rows, pool.clock.now())
    data = {"schedules": [_data(row) for row in rows]}
    return c.Reply(text=text, data=data, actions=actions, again="/schedule")


async def _row(pool: Pool, schedule: Schedule) -> timetable.Row:
    keeper = pool.schedules
    session = schedule.last_session
    row = await pool.log.session_row(session) if session else None
    return timetable.Row(
        schedule=schedule,
        zone=schedule.in_zone(keeper.zone),
        next=schedule.next(pool.clock.now(), keeper.zone),
        starting=keeper.starting(schedule.id),
        last=await pool.book.load(row.id) if row else None,
    )


def _data(row: timetable.Row) -> dict[str, Any]:
    return {
        "id": row.schedule.id,
        "name": row.schedule.label,
        "cron": row.schedule.cron,
        "next": row.next.isoformat() if row.next else None,
        "paused": row.schedule.paused,
        "session": row.schedule.last_session,
    }


async def add(pool: Pool, command: c.AddSchedule, caller: Caller) -> c.Reply:
    order, now = command.order, pool.clock.now()
    zone = zone_of(command.zone) if command.zone else pool.schedules.zone
    when = understood(command.when, now, zone)
    _check(pool, order, caller)
    directory = pool.workdirs.resolve(order.directory)
    schedule = Schedule(
        id=new_id(),
        cron=when.cron,
        at=when.at,
        zone=command.zone,
        prompt=order.prompt,
        name=order.name,
        directory=directory,
        model=order.model,
        mode=order.mode,
        budget_usd=order.budget_usd,
        system_prompt=order.system_prompt,
        allowed_tools=order.allowed_tools,
        once=order.once,
        by=caller.name,
        role=caller.role,
        agent=caller.agent,
        origin=pool.origins.of(order.origin, caller.channel, directory),
        made_at=now,
        since=now,
    )
    await pool.schedules.book.add(schedule, str(caller))
    pool.schedules.look()
    text, actions = timetable.added(await _row(pool, schedule), now)
    return _about(schedule, text, actions=actions)


def _check(pool: Pool, order: c.Launch, caller: Caller) -> None:
    """What its launch would refuse is refused now, while somebody is there to hear it."""
    mode_for(pool, order.mode, caller)
    only_admins_change_what_lasts(order.prompt, caller)
    if order.name is not None and not NAME.fullmatch(order.name):
        raise BadRequest(f"“{order.name[:60]}” cannot be a name: lower-case letters, digits, . _ -")
    if max(len(order.prompt), len(order.system_prompt or "")) > LONGEST:
        raise BadRequest(
            f"A schedule's text may have {LONGEST:,} characters:"
            " put it in a file and name the file."
        )
    if order.allowed_tools:
        caller.must_be(Role.APPROVER, "allow tools in advance")
    for pattern in order.allowed_tools:
        parse_rule(pattern, verdict=Verdict.ALLOW)


async def pause(pool: Pool, command: c.PauseSchedule, caller: Caller) -> c.Reply:
    schedule = _own(pool, command.schedule, caller)
    if schedule.paused:
        return _about(schedule, f"{schedule.label} is paused already.")
    await pool.schedules.book.pause(schedule, str(caller))
    return _about(schedule, f"⏸ {schedule.label} is paused. /schedule resume {schedule.id}")


async def resume(pool: Pool, command: c.ResumeSchedule, caller: Caller) -> c.Reply:
    schedule = _own(pool, command.schedule, caller)
    if not schedule.paused:
        return _about(schedule, f"{schedule.label} is not paused.")
    now = pool.clock.now()
    await pool.schedules.book.resume(schedule, now, str(caller))
    pool.schedules.look()
    row = await _row(pool, pool.schedules.book.find(schedule.id))
    return _about(schedule, timetable.resumed(row, now))


async def delete(pool: Pool, command: c.DeleteSchedule, caller: Caller) -> c.Reply:
    schedule = _own(pool, command.schedule, caller)
    await pool.schedules.book.remove(schedule, str(caller))
    return _about(schedule, f"{schedule.label} is no longer scheduled.")


async def run(pool: Pool, command: c.RunSchedule, caller: Caller) -> c.Reply:
    """As whoever made it, as it would have been at its time."""
    return await pool.schedules.run_now(_own(pool, command.schedule, caller))


def _own(pool: Pool, ref: str, caller: Caller) -> Schedule:
    schedule = pool.schedules.book.find(ref)
    own = (schedule.by, schedule.agent) == (caller.name, caller.agent)
    if not own and not caller.role.covers(Role.ADMIN):
        raise Forbidden(f"{schedule.label} is {schedule.by}'s: only they or an admin may.")
    return schedule


def _about(schedule: Schedule, text: str, **more: Any) -> c.Reply:
    return c.Reply(text=text, data={"schedule": schedule.id, "name": schedule.label}, **more)
