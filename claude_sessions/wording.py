"""What people read about a session: short, its name first, one thing to do. Pure.

Everything here is plain text in which a line is a line; only what streams is Claude's Markdown.
Actions name a session by its id: a button may be pressed long after the name has gone to another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_sessions import events as e
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action, Kind
from claude_sessions.commands import replies
from claude_sessions.commands.diffs import changed, undone
from claude_sessions.commands.figures import clock, count, money
from claude_sessions.commands.listing import folder
from claude_sessions.model import Reason, Status
from claude_sessions.state import SessionState

PROMPT = 80
LAST_WORDS = 300
MENTIONED = 4  # with buttons
SEPARATOR = " · "

ENDINGS = {
    Status.COMPLETED: (Kind.COMPLETED, "✅", "is done"),
    Status.FAILED: (Kind.FAILED, "❌", "failed"),
    Status.KILLED: (Kind.KILLED, "⛔", "was stopped"),
}


def cost(usd: float, *, unknown: bool = False) -> str:
    """Empty when there is nothing to say; `+` when a part of it was never reported."""
    return money(usd) + ("+" if unknown else "") if usd else ""


def local_time(at: datetime) -> str:
    return f"{at.astimezone():%H:%M}"


def line(*parts: str) -> str:
    return SEPARATOR.join(part for part in parts if part)


def lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def last_words(text: str, limit: int = LAST_WORDS) -> str:
    """The end of what Claude said, without the marks of Markdown."""
    words = re.sub(r"(?m)^#+ |[*`~]+", "", text).strip()
    if len(words) > limit:
        _, _, words = words[-limit:].partition(" ")
        words = "…" + words
    return words


# --- a daemon begins


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    asked: str = ""
    said: str = ""  # the last of it


def homecoming(
    states: Sequence[SessionState],
    turns: Mapping[str, LastTurn],
    *,
    stopped: datetime | None,
    clean: bool,
) -> str:
    """`turns`: the last of each session, by its id."""
    how = "" if clean else "stopped without warning"
    when = f"at {local_time(stopped)}" if stopped else ""
    told = " ".join(part for part in (how, when) if part)
    head = f"I was restarted ({told})." if told else "I was restarted."
    return "\n".join([head, *(_cut_off(state, turns[state.id]) for state in states)])


def _cut_off(state: SessionState, turn: LastTurn) -> str:
    words, asked = last_words(turn.said, 200), one_line(turn.asked, PROMPT)
    queued = len(state.queued)
    if state.cut_off is None:
        head = f"{state.name} was not at work."
    elif words:
        head = f"{state.name} was in the middle of a turn; it had said:\n“{words}”"
    elif asked:
        head = f"{state.name} was in the middle of a turn; it was asked:\n“{asked}”"
    else:
        head = f"{state.name} was in the middle of a turn."
    waits = f"{count(queued, 'message')} {'is' if queued == 1 else 'are'} still queued."
    return lines(head, waits if queued else "")


def homecoming_actions(states: Sequence[SessionState]) -> tuple[Action, ...]:
    alone = len(states) == 1
    actions: list[Action] = []
    for state in states[:MENTIONED]:
        whose = "" if alone else f" {state.name}"
        actions.append(Action(label=f"Continue{whose}", line=f"/resume {state.id}"))
        actions.append(Action(label=f"Leave{whose} asleep", line=f"/sleep {state.id}"))
    return tuple(actions)


# --- a run begins


def launched(state: SessionState) -> str:
    budget = state.spec.budget_usd
    return lines(
        line(
            f"🟢 {state.name}",
            folder(state),
            state.spec.model or "",
            money(budget) if budget else "",
        ),
        one_line(state.prompt, PROMPT),
        "" if state.spec.trusted else replies.UNTRUSTED,
    )


def resumed(state: SessionState) -> str:
    return line(f"🟢 {state.name}", "resumed")


def launch_actions(state: SessionState) -> tuple[Action, ...]:
    _, actions = replies.launched(state)
    return actions


# --- a turn


def turn_over(state: SessionState, turn: e.TurnCompleted) -> str:
    """The one quiet line under a finished answer."""
    share = state.context_share
    return line(
        state.name,
        clock(turn.duration_ms / 1000),
        changed(state),
        cost(turn.cost_usd),
        f"context {share:.0%}".replace("%", " %") if share is not None else "",
    )


def turn_failed(state: SessionState, turn: e.TurnCompleted) -> str:
    head = line(
        f"⚠️ {state.name}: the turn failed",
        clock(turn.duration_ms / 1000),
        cost(turn.cost_usd),
    )
    return lines(head, turn.error or turn.reason, "Say something to go on.")


def turn_interrupted(state: SessionState, turn: e.TurnInterrupted) -> str:
    took = clock(turn.duration_ms / 1000)
    return line(f"⏹ {state.name}", "interrupted", took, changed(state))


def turn_undone(state: SessionState, payload: e.TurnUndone) -> str:
    return undone(state, payload.files, payload.kept)


def waiting(state: SessionState, turn: e.TurnCompleted, said: str) -> str:
    head = line(
        f"✅ {state.name} is done",
        clock(turn.duration_ms / 1000),
        changed(state),
        cost(turn.cost_usd),
    )
    return lines(head, last_words(said))


def waiting_actions(state: SessionState) -> tuple[Action, ...]:
    return (
        Action(label="Read", line=f"/fg {state.id}"),
        Action(label="Reply", line=f"/say {state.id} ", needs_text=True),
        *diff_action(state),
    )


def diff_action(state: SessionState) -> tuple[Action, ...]:
    return (Action(label="Diff", line=f"/diff {state.id}"),) if state.changes.files else ()


def undo_action(state: SessionState) -> tuple[Action, ...]:
    undo = Action(label="Undo turn", line=f"/undo {state.id}")
    return (undo,) if state.changes.undoable else ()


def long_running(state: SessionState, seconds: float) -> str:
    return f"⏱️ {state.name} has been working for {clock(seconds)}."


def long_running_actions(state: SessionState) -> tuple[Action, ...]:
    return (
        Action(label="Foreground", line=f"/fg {state.id}"),
        Action(label="Interrupt", line=f"/interrupt {state.id}"),
    )


def notice_actions(state: SessionState, code: str) -> tuple[Action, ...]:
    match code:
        case "stalled":
            return (
                Action(label="Interrupt", line=f"/interrupt {state.id}"),
                Action(label="Wait", line=f"/wait {state.id}"),
            )
        case "limit_over":
            return (Action(label="Go on", line=f"/resume {state.id}"),)
        case "elsewhere":
            return (
                Action(label="Try again", line=f"/resume {state.id}"),
                Action(label="Branch off", line=f"/resume --fork {state.id} ", needs_text=True),
            )
        case "still_running":
            return tuple(
                Action(label=f"Stop {task.id}", line=f"/tasks stop {state.id} {task.id}")
                for task in state.tasks[:MENTIONED]
            )
    return ()


def compacted(state: SessionState, payload: e.ContextCompacted) -> str:
    sizes = ""
    if payload.pre_tokens and payload.post_tokens:
        sizes = f"{payload.pre_tokens // 1000}k → {payload.post_tokens // 1000}k tokens"
    return line(state.name, "context compacted", sizes)


def task_started(task: e.TaskStarted) -> str:
    return f"⚙️ Background task — {one_line(task.description, 80) or task.kind or task.task_id}"


def task_ended(task: e.TaskEnded) -> str:
    return lines(f"⚙️ Background task {task.status or 'ended'}", one_line(task.summary, 200))


# --- a run ends


def ended(state: SessionState, ending: e.SessionEnded, *, by: str | None, said: str) -> str:
    """`said`: Claude's last words, for whoever has not read them."""
    _, icon, word = ENDINGS[ending.status]
    head = line(
        f"{icon} {state.name} {word}",
        clock(ending.duration_ms / 1000),
        cost(ending.cost_usd, unknown=ending.cost_unknown),
    )
    why = ending.message
    if ending.status is Status.KILLED and ending.reason is Reason.USER and by:
        why = lines(f"By {by}.", why)
    return lines(head, why, last_words(said) if ending.status is Status.COMPLETED else "")


def ended_actions(state: SessionState) -> tuple[Action, ...]:
    return (
        Action(label="Read", line=f"/output {state.id}"),
        Action(label="Go on", line=f"/resume {state.id} ", needs_text=True),
        *diff_action(state),
    )


def limit(state: SessionState, reached: e.LimitReached) -> str:
    resets = ""
    if reached.resets_at is not None:
        at = datetime.fromtimestamp(reached.resets_at).astimezone()
        resets = f"It resets at {at:%H:%M on %-d %B}; what it was asked is kept until then."
    return lines(f"⛔ {state.name} reached a limit", reached.message, resets)


def about(state: SessionState, said: str) -> str:
    return said if said.startswith(state.name) else f"{state.name}: {said}"
