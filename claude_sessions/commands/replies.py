"""What a chat is told, as plain text: short lines, the session's name first, one thing to do.

Nothing here reads a clock or a log; what is shown comes in as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action
from claude_sessions.commands.decisions import approvals, decided, rules, verdict_line
from claude_sessions.commands.figures import ago, clock, count, duration, moment, money, ordinal
from claude_sessions.commands.listing import (
    ICONS,
    LISTED,
    by_rank,
    doing,
    folder,
    full_listing,
    icon,
    listing,
    narrow_listing,
    resumable,
    session_actions,
    spent,
)
from claude_sessions.commands.stats import Metrics, metrics_data, stats, tally
from claude_sessions.commands.usage import COMMANDS, Usage
from claude_sessions.model import PermissionMode, Status
from claude_sessions.state import SessionState

__all__ = [
    "GREETING",
    "ICONS",
    "LISTED",
    "Metrics",
    "ago",
    "approvals",
    "budget",
    "by_rank",
    "clock",
    "cost",
    "decided",
    "doing",
    "duration",
    "foreground",
    "forget",
    "full_listing",
    "held",
    "help_text",
    "icon",
    "killed",
    "launched",
    "listing",
    "metrics_data",
    "models",
    "modes",
    "money",
    "narrow_listing",
    "output",
    "paused",
    "queue",
    "queued",
    "responded",
    "resumable",
    "resumed",
    "rules",
    "session_actions",
    "several",
    "stats",
    "tally",
    "tasks",
    "turns",
    "verdict_line",
]

RULE = "─" * 60
TURNS = 20
PRESSABLE = 4
MODELS = ("opus", "sonnet", "haiku", "default")
GREETING = """\
I keep Claude Code sessions at work on your machine; you drive them from here.
• /new and what you want done starts one.
• Then just type: it goes to the session in front. Reply to a message to speak to its session.
• /sessions shows who works and who needs you.
/help lists everything."""
UNTRUSTED = "New directory: its own hooks, MCP servers and CLAUDE.md are off."


def launched(
    state: SessionState,
    *,
    warnings: Sequence[str] = (),
    prompt: str | None = None,
    branch: str | None = None,
) -> tuple[str, tuple[Action, ...]]:
    spec = state.spec
    facts = [f"{icon(state)} {state.name}", folder(state, branch), spec.model or "default model"]
    if spec.budget_usd is not None:
        facts.append(money(spec.budget_usd))
    if spec.mode is not PermissionMode.DEFAULT:
        facts.append(spec.mode.value)
    if spec.once:
        facts.append("single turn")
    if state.in_line:
        facts[0] = f"⏳ {state.name} waits in line"
    lines = [" · ".join(facts), one_line(state.prompt if prompt is None else prompt, 80)]
    actions = [_action("Foreground", "fg", state), _action("Stop", "kill", state)]
    if not spec.trusted:
        lines.append(UNTRUSTED)
        actions.append(_action("Trust this project", "trust", state))
    lines += [*warnings, f"id {state.id}"]
    return "\n".join(line for line in lines if line), tuple(actions)


def resumed(state: SessionState, was: Status, prompt: str) -> str:
    before = "" if was.has_process else f" (was {was.value.replace('_', ' ')})"
    return f"▶️ {state.name} goes on{before} · {folder(state)}\n{one_line(prompt, 80)}"


def killed(state: SessionState, *, already: bool) -> str:
    if already:
        head = f"{ICONS[state.status]} {state.name} had already ended: {state.status}."
    else:
        took = f"{duration(state.duration(state.updated_at))} · {spent(state)}"
        head = f"⛔ {state.name} killed · {took}"
    return f"{head}\n/resume {state.name} picks it up again."


def paused(state: SessionState) -> str:
    waiting = f", {count(len(state.queued), 'message')} queued" if state.queued else ""
    return f"⏸ {state.name} is paused{waiting}. /resume {state.name} goes on."


def responded(state: SessionState, text: str) -> str:
    wakes = " (starting)" if state.status is Status.STARTING else ""
    return f"↩️ {state.name}{wakes}: {one_line(text, 80)}"


def queued(
    state: SessionState, message_id: str, position: int, elapsed: float
) -> tuple[str, tuple[Action, ...]]:
    if state.pending:
        busy = "It waits for a decision first: /approvals."
    else:
        busy = f"It is working, {clock(elapsed)} into a turn."
    text = f"⏳ Queued for {state.name} ({ordinal(position)}). {busy}"
    line = f"/withdraw {state.id} {message_id}"
    return text, (
        Action(label="Now, into this turn", line=f"{line} --steer"),
        Action(label="Interrupt and say", line=f"{line} --interrupt"),
        Action(label="Withdraw", line=line),
    )


def held(
    state: SessionState, message_id: str, place: int, now: datetime
) -> tuple[str, tuple[Action, ...]]:
    """It is queued in a session without a process."""
    if place:
        text = f"⏳ {state.name} waits in line for a process ({ordinal(place)})."
    elif state.resets_at is not None:
        until = moment(state.resets_at, now)
        text = f"⏸ Queued for {state.name}, parked until {until}. /resume {state.name} tries now."
    elif state.paused:
        text = f"⏸ Queued for {state.name}, which is paused. /resume {state.name} goes on."
    else:
        text = f"⏳ Queued for {state.name}."
    return text, (Action(label="Withdraw", line=f"/withdraw {state.id} {message_id}"),)


def queue(
    states: Sequence[SessionState], place: Callable[[str], int]
) -> tuple[str, tuple[Action, ...]]:
    lines: list[str] = []
    actions: list[Action] = []
    for state in states:
        waits = f" · waits in line ({ordinal(n)})" if (n := place(state.id)) else ""
        lines.append(f"{icon(state)} {state.name}{waits}")
        for number, message in enumerate(state.queued, 1):
            lines.append(f"   {number}. {one_line(message.text, 80)}")
            label = f"Withdraw {state.name} {number}"
            actions.append(Action(label=label, line=f"/withdraw {state.id} {message.id}"))
    return "\n".join(lines) or "Nothing is queued.", tuple(actions)


def turns(
    state: SessionState, prompts: Sequence[tuple[int, str]]
) -> tuple[str, tuple[Action, ...]]:
    """The last of them, with where a fork may branch off."""
    shown = prompts[-TURNS:]
    lines = [f"{number}. {one_line(prompt, 80)}" for number, prompt in shown]
    if len(prompts) > len(shown):
        lines.insert(0, f"… {len(prompts) - len(shown):,} before these")
    actions = tuple(
        Action(
            label=f"Fork after {number}",
            line=f"/resume --fork --turn {number} {state.id} ",
            needs_text=True,
        )
        for number, _ in shown[-PRESSABLE:]
    )
    return "\n".join(
        [state.name, *lines] if lines else [f"{state.name} has no turns yet."]
    ), actions


def budget(state: SessionState) -> str:
    left = state.budget_left or 0.0
    return f"{state.name} may spend {money(state.spec.budget_usd or 0)} in all, {money(left)} more."


def forget(state: SessionState) -> tuple[str, tuple[Action, ...]]:
    text = (
        f"Delete all that is kept of {state.name}? {count(state.turns, 'turn')}, "
        f"{spent(state)}. This cannot be undone. Claude's own file of the conversation stays."
    )
    return text, (Action(label="Delete it", line=f"/forget {state.id} --yes"),)


def several(ref: str, names: Sequence[str]) -> str:
    return f"“{one_line(ref, 40)}” could be {', '.join(names)}. Name one of them."


def output(state: SessionState, lines: Sequence[str], now: datetime) -> str:
    return "\n".join([_header(state, now), RULE, _blocks(lines)])


def foreground(
    state: SessionState, missed: Sequence[str], lines: Sequence[str], now: datetime
) -> str:
    """What was missed here; if nothing, the last that was said."""
    body = _blocks(lines)
    if missed:
        body = f"📋 Catchup ({count(len(missed), 'missed output')}):\n{_blocks(missed)}"
    return "\n".join([_header(state, now), RULE, body, RULE, _footer(state)])


def _header(state: SessionState, now: datetime) -> str:
    status = state.status.value.upper()
    took = duration(state.duration(now))
    return f"Session: {state.name} [{state.id}] | Status: {status} | Duration: {took}"


def _blocks(lines: Sequence[str]) -> str:
    return "\n\n".join(lines) or "(no output yet)"


def _footer(state: SessionState) -> str:
    if state.pending:
        return f"{state.name} waits for a decision: /approvals."
    if state.status.ended:
        return f"{state.name} has ended. /resume {state.name} goes on with it."
    if state.status is Status.ASLEEP:
        return f"{state.name} is asleep; what you type wakes it. /bg leaves."
    return f"What you type goes to {state.name}. /bg leaves."


def cost(state: SessionState) -> str:
    of = f" of {money(state.spec.budget_usd)}" if state.spec.budget_usd is not None else ""
    facts = [f"{state.name}: {money(state.cost_usd)}{of}", count(state.turns, "turn")]
    if state.runs > 1:
        facts.append(f"this run {money(state.run_cost_usd)}")
    if (share := state.context_share) is not None:
        facts.append(f"context {share:.0%}".replace("%", " %"))
    text = " · ".join(facts)
    if state.cost_unknown:
        text += "\nA turn was cut off: what it cost is unknown and not in the sum."
    return text


def modes(
    state: SessionState, possible: Sequence[PermissionMode]
) -> tuple[str, tuple[Action, ...]]:
    text = f"{state.name} runs in {state.spec.mode}."
    if possible:
        text += " Change it to:"
    return text, tuple(
        Action(label=mode.value, line=f"/mode {state.id} {mode}") for mode in possible
    )


def models(state: SessionState) -> tuple[str, tuple[Action, ...]]:
    now = state.spec.model or "default"
    text = f"{state.name} runs on {now}. Change it to one of these, or /model {state.name} MODEL:"
    others = [model for model in MODELS if model != now]
    return text, tuple(Action(label=m, line=f"/model {state.id} {m}") for m in others)


def tasks(states: Sequence[SessionState]) -> tuple[str, tuple[Action, ...]]:
    busy = [state for state in states if state.tasks]
    lines: list[str] = []
    actions: list[Action] = []
    for state in busy:
        lines.append(state.name)
        for task in state.tasks:
            kind = f" ({one_line(task.kind, 30)})" if task.kind else ""
            lines.append(f"   {task.id}  {one_line(task.description, 80)}{kind}")
            what = one_line(task.description, 24) or task.id
            stop = f"/tasks stop {state.id} {task.id}"
            actions.append(Action(label=f"Stop {what}", line=stop))
    return "\n".join(lines) or "Nothing runs in the background.", tuple(actions)


def help_text(topic: str | None = None) -> str:
    if topic in COMMANDS:
        return _help_on(COMMANDS[topic])
    lines = [f"/{name}: {usage.help}" for name, usage in COMMANDS.items()]
    return "\n".join(
        [
            "Plain text goes to the session you watch; //compact gives it Claude's own /compact.",
            *lines,
            "/help COMMAND says more.",
        ]
    )


def _help_on(usage: Usage) -> str:
    lines = [
        usage.help[:1].upper() + usage.help[1:],
        f"Usage: {usage.line}",
        f"Example: {usage.example}",
    ]
    if usage.aliases:
        lines.append(f"Also: {', '.join('/' + alias for alias in usage.aliases)}")
    return "\n".join(lines)


def _action(label: str, command: str, state: SessionState) -> Action:
    """By id: a button may be pressed long after the name has gone to another session."""
    return Action(label=label, line=f"/{command} {state.id}")
