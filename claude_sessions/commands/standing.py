"""How things stand: the doors, the pool, the versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from claude_sessions import commands as c
from claude_sessions.commands.figures import span
from claude_sessions.commands.pool import Pool
from claude_sessions.health import Report
from claude_sessions.model import Activity, Status
from claude_sessions.people import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The sessions, by what they do. Those that wait for people take nobody's place."""

    working: int
    idle: int
    waiting: int
    asleep: int
    parked: int
    in_line: int
    places: int


async def status(pool: Pool, command: c.Status, caller: Caller) -> c.Reply:
    crowd, reports = await crowd_of(pool), pool.health.reports()
    versions = await pool.health.versions()
    uptime = pool.clock.monotonic() - pool.health.started
    text = standing(crowd, reports, versions, uptime, trouble=pool.log.trouble)
    data = {
        "uptimeSeconds": int(uptime),
        "ok": pool.log.trouble is None and all(report.ok for report in reports),
        "pool": asdict(crowd),
        "doors": {report.name: dict(report.data) for report in reports},
        "versions": versions,
    }
    return c.Reply(text=text, data=data)


async def crowd_of(pool: Pool) -> Crowd:
    doing = [state.activity for state in pool.manager.live()]
    in_line = pool.manager.in_line()
    asleep = await pool.log.session_count(statuses=[Status.ASLEEP])
    return Crowd(
        working=doing.count(Activity.WORKING),
        idle=doing.count(Activity.IDLE),
        waiting=doing.count(Activity.WAITING),
        asleep=max(asleep - in_line, 0),
        parked=await pool.log.session_count(statuses=[Status.PARKED]),
        in_line=in_line,
        places=pool.health.max_sessions,
    )


def standing(
    crowd: Crowd,
    reports: Sequence[Report],
    versions: Mapping[str, str],
    uptime: float,
    *,
    trouble: str | None,
) -> str:
    well = trouble is None and all(report.ok for report in reports)
    lines = [f"{'🟢 All is well' if well else '⚠️ Not all is well'} · up {span(uptime)}"]
    if trouble is not None:
        lines.append(f"⚠️ Nothing new can be stored: {trouble}.")
    for report in reports:
        lines += report.lines
    lines += _pool(crowd)
    lines += [f"{name} {number}" for name, number in versions.items()]
    return "\n".join(lines)


def _pool(crowd: Crowd) -> list[str]:
    taken = crowd.working + crowd.idle
    rest = {
        "waiting for people": crowd.waiting,
        "in line": crowd.in_line,
        "asleep": crowd.asleep,
        "parked": crowd.parked,
    }
    return [
        f"Pool: {taken} of {crowd.places} taken",
        f"  {crowd.working} working · {crowd.idle} idle",
        *(f"  {number:,} {name}" for name, number in rest.items() if number),
    ]
