"""What happened while somebody was not looking, in a few lines. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum

from claude_sessions import events as e
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.figures import ago, count, money
from claude_sessions.commands.listing import ICONS, NEEDS_YOU, doing
from claude_sessions.model import Reason, Status
from claude_sessions.state import SessionState
from claude_sessions.storage.index import SessionRow

SHOWN = 10
PRESSABLE = 3
WHY = 80

Seen = SessionState | SessionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Those of one session that ended meanwhile."""

    number: int = 0
    cost_usd: float = 0.0
    cost_unknown: bool = False
    done_at: datetime | None = None  # the last that came to its end, well or not
    failed: str = ""  # why, if the last of them failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A schedule that was due and did not run."""

    name: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Meanwhile:
    """All that a digest is made of. `many`: there were more turns than were counted."""

    sessions: Sequence[Seen]
    turns: Mapping[str, Turns]
    skipped: Sequence[Skipped] = ()
    many: bool = False


class Rank(IntEnum):
    """What matters most comes first."""

    NEEDS_YOU = 0
    FAILED = 1
    DONE = 2
    WORKS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`at`: when what it tells happened; None: it is no news, only how things stand."""

    rank: Rank
    text: str
    session: str | None
    name: str
    at: datetime | None


def tallied(events: Iterable[e.Event]) -> dict[str, Turns]:
    """By session; `events` are ends of turns, oldest first."""
    found: dict[str, Turns] = {}
    for event in events:
        if event.session is not None:
            found[event.session] = _counted(found.get(event.session, Turns()), event)
    return found


def _counted(turns: Turns, event: e.Event) -> Turns:
    match event.payload:
        case e.TurnCompleted() as turn:
            failed = (turn.error or turn.reason) if turn.is_error else ""
            more = replace(turns, done_at=event.at, failed=failed)
        case e.TurnInterrupted(reason=Reason.ERROR) as turn:
            more = replace(turns, done_at=event.at, failed="it was cut off")
        case e.TurnInterrupted() as turn:
            more = replace(turns, failed="")
        case _:
            return turns
    cost = turn.cost_usd
    return replace(
        more,
        number=turns.number + 1,
        cost_usd=turns.cost_usd + (cost or 0.0),
        cost_unknown=turns.cost_unknown or cost is None,
    )


def lines_of(meanwhile: Meanwhile, since: datetime, now: datetime) -> list[Line]:
    """One a session of which there is something to say, what matters most first."""
    made = [_line(each, meanwhile.turns.get(each.id), since, now) for each in meanwhile.sessions]
    made += [_skipped(each) for each in meanwhile.skipped]
    found = [line for line in made if line is not None]
    newest = sorted(found, key=lambda line: -(line.at or since).timestamp())
    return sorted(newest, key=lambda line: line.rank)


def _line(session: Seen, turns: Turns | None, since: datetime, now: datetime) -> Line | None:
    name, ended = session.name, session.run_ended_at
    spent = _spent(turns) if turns else ""
    if session.pending:
        asked = max(each.at for each in session.pending)
        text = f"{NEEDS_YOU} {name} {doing(session, now)}{spent}"
        return _told(session, Rank.NEEDS_YOU, text, asked if asked > since else None)
    if session.status is Status.PARKED:
        text = f"{ICONS[Status.PARKED]} {name} {doing(session, now)}{spent}"
        return _told(session, Rank.FAILED, text, session.updated_at)
    if session.status.ended and ended is not None and ended > since:
        rank = Rank.FAILED if session.status is Status.FAILED else Rank.DONE
        text = f"{ICONS[session.status]} {name} {doing(session, now)}{spent}"
        # Who was stopped was stopped by somebody: nobody need be told of that by itself.
        return _told(session, rank, text, None if session.status is Status.KILLED else ended)
    if session.turn is not None and session.status.has_process:
        text = f"{ICONS[Status.RUNNING]} {name} {doing(session, now)}{spent}"
        return _told(session, Rank.WORKS, text, turns.done_at if turns else None)
    return _rests(session, turns, now) if turns else None


def _rests(session: Seen, turns: Turns, now: datetime) -> Line | None:
    """It has ended turns, and stands ready for the next."""
    if turns.done_at is None:
        return None  # somebody interrupted it, or the daemon did
    when = ago(turns.done_at, now)
    if turns.failed:
        text = f"❌ {session.name} failed {when}: {one_line(turns.failed, WHY)}{_spent(turns)}"
        return _told(session, Rank.FAILED, text, turns.done_at)
    text = f"✅ {session.name} done {when}{_spent(turns)}"
    return _told(session, Rank.DONE, text, turns.done_at)


def _told(session: Seen, rank: Rank, text: str, at: datetime | None) -> Line:
    return Line(rank=rank, text=text, session=session.id, name=session.name, at=at)


def _skipped(skipped: Skipped) -> Line:
    text = f"⏭ {skipped.name} was skipped: {one_line(skipped.reason, WHY)}"
    return Line(rank=Rank.FAILED, text=text, session=None, name=skipped.name, at=skipped.at)


def _spent(turns: Turns) -> str:
    cost = f" · {money(turns.cost_usd)}" if turns.cost_usd else ""
    unknown = "+?" if turns.cost_unknown and cost else ""
    return f" · {count(turns.number, 'turn')}{cost}{unknown}"


def is_news(
    lines: Iterable[Line],
    *,
    after: datetime,
    upto: datetime | None = None,
    but: Collection[str] = (),
) -> bool:
    """Whether something happened then that is worth telling; `but`: not of these sessions."""
    return any(
        line.at is not None
        and after < line.at
        and (upto is None or line.at <= upto)
        and line.session not in but
        for line in lines
    )


def composed(heading: str, meanwhile: Meanwhile, lines: Sequence[Line]) -> str:
    turns = meanwhile.turns.values()
    number, cost = sum(each.number for each in turns), sum(each.cost_usd for each in turns)
    facts = [heading]
    if number:
        facts.append(count(number, "turn") + (" and more" if meanwhile.many else ""))
    if cost:
        facts.append(money(cost))
    told = [line.text for line in lines[:SHOWN]]
    if len(lines) > SHOWN:
        told.append(f"… and {len(lines) - SHOWN:,} more: /sessions")
    return "\n".join([" · ".join(facts), *(told or ["Nothing happened."])])


def actions_of(lines: Sequence[Line]) -> tuple[Action, ...]:
    actions = []
    if any(line.rank is Rank.NEEDS_YOU for line in lines):
        actions.append(Action(label="Approvals", line="/approvals"))
    with_session = [line for line in lines if line.session is not None]
    actions += [
        Action(label=f"Foreground {line.name}", line=f"/fg {line.session}")
        for line in with_session[:PRESSABLE]
    ]
    return tuple(actions)
