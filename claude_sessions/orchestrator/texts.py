"""What an orchestrator and the people behind it read of a session, in the seed's words. Pure.

A message is for people; an event is for the program, and ends with the tool call that comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Kind, Notification
from claude_sessions.commands.figures import duration
from claude_sessions.state import SessionState

BLOCKS = 5
PREVIEW = 500
PROMPT = 60
PROBLEM = 200
MARKS = str.maketrans("", "", "*`_~")
NO_OUTPUT = "(no output yet)"
FAILED_TURN = "⚠️"  # how the text of a turn that failed begins

ENDINGS = {
    Kind.COMPLETED: ("✅", "completed"),
    Kind.FAILED: ("❌", "failed"),
    Kind.KILLED: ("⛔", "killed"),
}


def preview(blocks: Sequence[str]) -> str:
    return "\n".join(blocks[-BLOCKS:])[-PREVIEW:].strip()


# --- for people


def message(
    state: SessionState, told: Notification, blocks: Sequence[str], now: datetime
) -> str | None:
    """None: nothing that people are written to about."""
    match told.kind:
        case Kind.COMPLETED:
            return _completed(state, blocks)
        case Kind.FAILED | Kind.KILLED:
            return _not_completed(state, told.kind)
        case Kind.LIMIT:
            head = f"⛔ Session limit reached — {_titled(state, now)}"
            return _lines(head, _folder(state), _problem(told.text.partition("\n")[2]))
        case Kind.LONG_RUNNING:
            took = duration(state.duration(now))
            head = f"⏱️ Session {state.name} [{state.id}] running for {took}"
            return _lines(head, _folder(state), _read_hint(state))
    return None


def _completed(state: SessionState, blocks: Sequence[str]) -> str:
    head = _lines(f"✅ [{state.name}] Completed", _folder(state), f"💰 ${state.run_cost_usd:.4f}")
    words = preview(blocks).translate(MARKS).strip()
    return f"{head}\n\n{words}" if words else head


def _not_completed(state: SessionState, kind: Kind) -> str:
    icon, word = ENDINGS[kind]
    return _lines(
        f"{icon} [{state.name}] {word.capitalize()}",
        _folder(state),
        f'📝 "{one_line(state.prompt, PROMPT)}"',
        _problem(state.message),
    )


def _titled(state: SessionState, now: datetime) -> str:
    return f"{state.name} [{state.id}] ({duration(state.duration(now))})"


def _folder(state: SessionState) -> str:
    return f"📁 {state.directory}"


def _problem(text: str) -> str:
    return f"⚠️ {one_line(text, PROBLEM)}" if text.strip() else ""


# --- for the program


def event(state: SessionState, told: Notification, blocks: Sequence[str]) -> str | None:
    """None: nothing that the program is woken for."""
    who = f"Name: {state.name} | ID: {state.id}"
    words = preview(blocks) or NO_OUTPUT
    match told.kind:
        case Kind.COMPLETED | Kind.FAILED | Kind.KILLED:
            icon, word = ENDINGS[told.kind]
            head = _lines(f"{icon} Claude Code session {word}.", who, f"Status: {word}")
            return _event(head, words, _read_hint(state))
        case Kind.LIMIT:
            head = _lines("⛔ Claude Code session reached a limit.", who)
            return _event(head, told.text[:PREVIEW], _read_hint(state))
        case Kind.WAITING:
            if told.text.startswith(FAILED_TURN):
                words = told.text[:PREVIEW]
            head = f"💬 {_type(state)} is waiting for input."
            return _event(_lines(head, who, _origin(state)), words, _answer_hint(state))
        case Kind.CARD:
            head = f"💬 {_type(state)} is waiting for a decision."
            hint = _lines(_decide_hint(told), _read_hint(state))
            return _event(_lines(head, who, _origin(state)), told.text[:PREVIEW], hint)
        case Kind.NOTICE:
            head = _lines("🔔 Claude Code session needs attention.", who, _origin(state))
            return _event(head, told.text[:PREVIEW], _read_hint(state))
    return None


def _type(state: SessionState) -> str:
    return "Single-turn session" if state.spec.once else "Multi-turn session"


def _origin(state: SessionState) -> str:
    return f"Origin: {state.origin}" if state.origin else ""


def _event(head: str, words: str, hint: str) -> str:
    return f"{head}\n\n{words.strip()}\n\n{hint}"


def _read_hint(state: SessionState) -> str:
    return f'Use claude_output(session="{state.id}", full=true) to read all of it.'


def _answer_hint(state: SessionState) -> str:
    answer = f'Use claude_respond(session="{state.id}", message="...") to answer.'
    return _lines(answer, _read_hint(state))


def _decide_hint(told: Notification) -> str:
    ways = [action.line for action in told.actions if not action.needs_text]
    return f"Decide it with one of: {', '.join(ways)}" if ways else ""


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
