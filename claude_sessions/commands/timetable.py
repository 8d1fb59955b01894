"""What people read about schedules: when next, what, where, and how the last run went. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath
from zoneinfo import ZoneInfo

from claude_sessions import events as e
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action, Kind, Notification
from claude_sessions.commands.figures import count
from claude_sessions.commands.listing import doing, icon
from claude_sessions.schedules.book import Schedule
from claude_sessions.state import SessionState

LISTED = 40
PRESSABLE = 10  # rows with buttons
WEEK = timedelta(days=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    schedule: Schedule
    zone: ZoneInfo
    next: datetime | None
    starting: bool = False
    last: SessionState | None = None  # what its last run began


def local(at: datetime, now: datetime, zone: ZoneInfo) -> str:
    """`today 18:30`, `tomorrow 09:00`, `Mon 09:00`, `1 Dec 09:00`, `1 Dec 2027 09:00`."""
    there, today = at.astimezone(zone), now.astimezone(zone).date()
    away = there.date() - today
    days = {-1: "yesterday", 0: "today", 1: "tomorrow"}
    if away.days in days:
        day = days[away.days]
    elif abs(away) <= WEEK:
        day = f"{there:%a}"
    else:
        day = f"{there:%-d %b}" + (f" {there.year}" if there.year != today.year else "")
    return f"{day} {there:%H:%M}"


def listing(rows: Sequence[Row], now: datetime) -> tuple[str, tuple[Action, ...]]:
    """What comes next stands first; what is paused or over stands last."""
    if not rows:
        return 'Nothing is scheduled. /schedule "0 9 * * 1-5" and a prompt does it.', ()
    far = now + timedelta(days=99_999)
    ordered = sorted(rows, key=lambda row: (row.next or far, row.schedule.made_at))
    lines = [line for row in ordered[:LISTED] for line in _entry(row, now)]
    if len(ordered) > LISTED:
        lines.append(f"… and {len(ordered) - LISTED} more")
    lines.append(count(len(ordered), "schedule"))
    pressable = [_actions(row.schedule, named=True) for row in ordered[:PRESSABLE]]
    return "\n".join(lines), tuple(action for row in pressable for action in row)


def added(row: Row, now: datetime) -> tuple[str, tuple[Action, ...]]:
    schedule = row.schedule
    text = "\n".join([_head(row, now), one_line(schedule.prompt, 80), f"id {schedule.id}"])
    return text, _actions(schedule)


def resumed(row: Row, now: datetime) -> str:
    name = row.schedule.label
    if row.next is None:
        return f"{name}: its time has passed. /schedule run {row.schedule.id} runs it now."
    return f"⏰ {name} runs again: {local(row.next, now, row.zone)}."


def skipped(fact: e.ScheduleSkipped) -> Notification:
    again = Action(label="Run now", line=f"/schedule run {fact.schedule_id}")
    text = f"⏭ {fact.name} was skipped · {fact.reason}"
    return Notification(
        kind=Kind.NOTICE,
        session=None,
        name=fact.name,
        text=text,
        foreground=False,
        actions=(again,),
    )


def _entry(row: Row, now: datetime) -> list[str]:
    schedule = row.schedule
    lines = [_head(row, now), f'   📝 "{one_line(schedule.prompt, 80)}"']
    if last := _last(row, now):
        lines.append(f"   {last}")
    lines.append(f"   id {schedule.id} · by {one_line(schedule.by, 40)}")
    return lines


def _head(row: Row, now: datetime) -> str:
    schedule = row.schedule
    place = one_line(PurePath(schedule.directory).name or schedule.directory, 24)
    rhythm = one_line(schedule.cron, 60) if schedule.cron else "once"
    zone = f" ({schedule.zone})" if schedule.zone else ""
    mark = "⏸" if schedule.paused else "⏰"
    return f"{mark} {schedule.label} · {_next(row, now)}{zone} · {place} · {rhythm}"


def _next(row: Row, now: datetime) -> str:
    if row.schedule.paused:
        return "paused"
    if row.starting:
        return "starting"
    return local(row.next, now, row.zone) if row.next else "not again"


def _last(row: Row, now: datetime) -> str:
    """What became of the run that was due last."""
    schedule = row.schedule
    if schedule.last_due is None:
        return ""
    due = local(schedule.last_due, now, row.zone)
    if schedule.last_problem:
        return f"last: {due} · skipped: {one_line(schedule.last_problem, 120)}"
    if row.last is not None:
        return f"last: {due} · {row.last.name} {icon(row.last)} {doing(row.last, now)}"
    if schedule.last_session:
        return f"last: {due} · its session is gone"
    return f"last: {due} · " + ("starting" if row.starting else "did not start")


def _actions(schedule: Schedule, *, named: bool = False) -> tuple[Action, ...]:
    turn = "resume" if schedule.paused else "pause"
    words = {"run": "Run" if named else "Run now", turn: turn.capitalize(), "delete": "Delete"}
    whose = f" {schedule.label}" if named else ""
    return tuple(
        Action(
            label=label + whose,
            line=f"/schedule {verb} {schedule.id}",
            row=schedule.id if named else "",
        )
        for verb, label in words.items()
    )
