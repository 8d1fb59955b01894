"""What tools answer, in the seed's layouts; what to do next is told in tools, not in commands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.replies import RULE
from claude_sessions.gateway.listing import display
from claude_sessions.model import Status
from claude_sessions.origins import UNKNOWN
from claude_sessions.state import SessionState

SHOWN = 80  # characters of a prompt
LISTED = 40


def launched(state: SessionState, prompt: str, *, resumed: str | None = None) -> str:
    spec = state.spec
    lines = [
        _headline(state, resumed),
        f"  Name: {state.name}",
        f"  ID: {state.id}",
        f"  Dir: {spec.directory}",
        f"  Model: {spec.model or 'default'}",
        f'  Prompt: "{one_line(prompt, SHOWN)}"',
    ]
    if resumed is not None:
        lines.append(f"  Resume: {resumed}")
    turns = "single-turn" if spec.once else "multi-turn"
    lines.append(f"  Mode: {turns}, permissions {spec.mode}")
    return "\n".join([*lines, "", _hint(state)])


def _headline(state: SessionState, resumed: str | None) -> str:
    if state.in_line:
        return "Session waits in line for a process."
    return "Session launched." if resumed is None else "Session resumed."


def _hint(state: SessionState) -> str:
    name = state.name
    hint = f'Use claude_output(session="{name}") to see what it says'
    if not state.spec.once:
        hint += f', claude_respond(session="{name}", message=…) to answer it'
    return f"{hint}. {_heard(state)}"


def _heard(state: SessionState) -> str:
    if (state.origin or UNKNOWN) == UNKNOWN:
        return "No chat hears of it: look after it yourself."
    return f"People hear of it at {state.origin}."


def foreground(text: str, state: SessionState) -> str:
    """The chat's text, with another last line."""
    shown, _, _ = text.rpartition(f"\n{RULE}\n")
    return f"{shown}\n{RULE}\n{_footer(state)}"


def _footer(state: SessionState) -> str:
    name = state.name
    if state.pending:
        return f"{name} waits for a decision. A person has to make it; an agent cannot."
    if state.status.ended:
        again = f'claude_launch(resume_session_id="{name}", prompt=…)'
        return f"{name} has ended. {again} goes on with it."
    wakes = "wakes" if state.status in (Status.ASLEEP, Status.PARKED) else "answers"
    return f"claude_respond {wakes} it, claude_fg shows what comes next, claude_bg leaves it."


def responded(text: str, state: SessionState, nth: int, most: int) -> str:
    read = f'Use claude_output(session="{state.name}") to see the answer.'
    return f"{text}\n\nAuto-responds in a row: {nth} of {most}. {read}"


def killed(state: SessionState, *, already: bool) -> str:
    deed = f"had already ended: {state.status}" if already else "has been terminated"
    again = f'claude_launch(resume_session_id="{state.name}", prompt=…) picks it up again.'
    return f"Session {state.name} [{state.id}] {deed}.\n{again}"


def listing(states: Sequence[SessionState], total: int, now: datetime) -> str:
    if not states:
        return "No sessions."
    entries = [_entry(state, now) for state in states[:LISTED]]
    if total > len(entries):
        entries.append(f"… and {total - len(entries):,} more")
    return "\n\n".join(entries)


def _entry(state: SessionState, now: datetime) -> str:
    resting = not state.status.has_process
    text = display(state, state.duration(state.updated_at if resting else now))
    if state.runs > 1:
        text += f"\n   ↩️ Resumed from its run {state.runs - 1}"
    if state.pending:
        text += "\n   ⚠️ waits for a decision by a person"
    return text
