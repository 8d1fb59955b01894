"""A session's state: a pure fold over its events.

One function serves the live object, recovery, and `state_at`. Nothing else may change a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import structlog

from claude_sessions import events as e
from claude_sessions.changes import NO_CHANGES, Changes, begun, changed
from claude_sessions.model import (
    MOVES,
    Activity,
    AskKind,
    Reason,
    SessionSpec,
    Status,
)

log = structlog.get_logger()


class IllegalMove(Exception):
    """A bug: an event that cannot happen to a session in this status."""


class MessageState(StrEnum):
    QUEUED = "queued"  # ours, may be withdrawn
    SENT = "sent"  # the CLI has it, not yet in a turn


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    id: str
    text: str
    steer: bool = False
    attachments: tuple[e.Json, ...] = ()
    state: MessageState = MessageState.QUEUED
    by: str | None = None  # who said it, at which door


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An approval or question that is open."""

    id: str
    tool_use_id: str
    kind: AskKind
    tool_name: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTask:
    id: str
    description: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    id: str
    name: str
    project: str
    spec: SessionSpec
    prompt: str
    origin: str | None
    created_at: datetime
    updated_at: datetime
    last_seq: int

    status: Status = Status.STARTING
    reason: Reason | None = None
    message: str = ""
    claude_ids: tuple[str, ...] = ()
    source: tuple[str, str | None] | None = None  # of a fork that has not begun: conversation, leaf
    transcript_bytes: int | None = None  # how much of Claude's own file is in the log
    resets_at: float | None = None  # parked: until then

    run: str | None = None
    runs: int = 1
    run_started_at: datetime
    run_ended_at: datetime | None = None
    run_cost_usd: float = 0.0
    run_cost_unknown: bool = False
    turn: str | None = None
    turn_started_at: datetime | None = None
    turns: int = 0
    cut_off: Reason | None = None  # why the last turn did not come to its end
    changes: Changes = NO_CHANGES  # of files, by the running or the last turn

    queue: tuple[QueuedMessage, ...] = ()
    taken: tuple[QueuedMessage, ...] = ()  # into the running turn
    pending: tuple[Pending, ...] = ()
    tools: tuple[str, ...] = ()
    tasks: tuple[BackgroundTask, ...] = ()

    cost_usd: float = 0.0
    cost_unknown: bool = False
    context_tokens: int = 0
    context_window: int = 0

    blocks: int = 0  # output blocks so far
    foreground: Mapping[str, int] = field(default_factory=dict)  # channel → seq it came forward
    bookmarks: Mapping[str, int] = field(default_factory=dict)  # channel → blocks seen

    @property
    def directory(self) -> str:
        return self.spec.directory

    @property
    def activity(self) -> Activity:
        if self.pending:
            return Activity.WAITING
        return Activity.WORKING if self.turn else Activity.IDLE

    @property
    def claude_id(self) -> str | None:
        return self.claude_ids[-1] if self.claude_ids else None

    @property
    def queued(self) -> tuple[QueuedMessage, ...]:
        return tuple(m for m in self.queue if m.state is MessageState.QUEUED)

    @property
    def given(self) -> tuple[QueuedMessage, ...]:
        """Written to the CLI, which has not taken them into a turn yet."""
        return tuple(m for m in self.queue if m.state is MessageState.SENT)

    @property
    def budget_left(self) -> float | None:
        if self.spec.budget_usd is None:
            return None
        return max(self.spec.budget_usd - self.cost_usd, 0.0)

    @property
    def in_line(self) -> bool:
        """It waits for a process."""
        return self.status is Status.ASLEEP and self.reason is Reason.QUEUED

    @property
    def paused(self) -> bool:
        """Whatever is said to it waits until somebody resumes it."""
        return self.status is Status.ASLEEP and self.reason is Reason.PAUSED

    @property
    def context_share(self) -> float | None:
        return self.context_tokens / self.context_window if self.context_window else None

    def duration(self, now: datetime) -> float:
        """Seconds of the latest run."""
        return ((self.run_ended_at or now) - self.run_started_at).total_seconds()


def draft(
    state: SessionState, payload: e.Payload, *, turn: str | None = None, caller: str | None = None
) -> e.Draft:
    """A new fact about a session, in its present run and, unless told otherwise, turn."""
    return e.Draft(
        payload=payload,
        session=state.id,
        project=state.project,
        run=state.run,
        turn=turn or state.turn,
        caller=caller,
    )


def fold(state: SessionState | None, event: e.Event) -> SessionState:
    payload = event.payload
    if state is None:
        if not isinstance(payload, e.SessionCreated):
            raise IllegalMove(f"{event.type} before session.created")
        return _created(event, payload)
    changes = _changes(state, event, payload)
    return replace(state, updated_at=event.at, last_seq=event.seq, **changes)


def absorb(state: SessionState | None, event: e.Event) -> SessionState | None:
    """`fold` for whoever reads the log: one impossible event must not make a session unreadable."""
    try:
        return fold(state, event)
    except IllegalMove as error:
        log.error("state.illegal_move", seq=event.seq, session=event.session, problem=str(error))
        return state


def fold_all(events: Iterable[e.Event]) -> SessionState | None:
    state = None
    for event in events:
        state = fold(state, event)
    return state


def _created(event: e.Event, born: e.SessionCreated) -> SessionState:
    return SessionState(
        id=event.session or "",
        name=born.name,
        project=born.project_id,
        spec=SessionSpec(
            directory=born.directory,
            model=born.model,
            mode=born.permission_mode,
            budget_usd=born.budget_usd,
            system_prompt=born.system_prompt,
            allowed_tools=born.allowed_tools,
            once=born.once,
            trusted=born.trusted,
        ),
        prompt=born.prompt,
        origin=born.origin,
        created_at=event.at,
        updated_at=event.at,
        last_seq=event.seq,
        run=event.run,
        run_started_at=event.at,
    )


def _move(state: SessionState, to: Status) -> dict[str, Any]:
    if to not in MOVES[state.status]:
        raise IllegalMove(f"{state.name}: {state.status} → {to}")
    return {"status": to}


_NO_TURN: dict[str, Any] = {
    "turn": None,
    "turn_started_at": None,
    "taken": (),
    "tools": (),
    "pending": (),
}


def _changes(state: SessionState, event: e.Event, payload: e.Payload) -> dict[str, Any]:
    match payload:
        case (
            e.SessionStarted()
            | e.ConversationIdentified()
            | e.SessionResumed()
            | e.SessionForked()
            | e.SessionAsleep()
            | e.SessionQueued()
            | e.SessionWoken()
            | e.SessionParked()
            | e.SessionEnded()
        ):
            return _lifecycle(state, event, payload)
        case (
            e.UserMessage()
            | e.MessageSent()
            | e.MessageConsumed()
            | e.MessageWithdrawn()
            | e.MessageReturned()
            | e.TurnStarted()
            | e.TurnCompleted()
            | e.TurnInterrupted()
        ):
            return _conversation(state, event, payload)
        case _:
            return _particulars(state, event, payload)


def _lifecycle(state: SessionState, event: e.Event, payload: e.Payload) -> dict[str, Any]:
    match payload:
        case e.SessionStarted():
            move = {} if state.status is Status.RUNNING else _move(state, Status.RUNNING)
            return move | _identified(state, payload.claude_session_id)
        case e.ConversationIdentified():
            return _identified(state, payload.claude_session_id)
        case e.SessionForked():
            source = (payload.source, payload.source_leaf) if payload.source else None
            return {"source": source} | _identified(state, payload.claude_session_id)
        case e.SessionResumed():
            return _move(state, Status.STARTING) | {
                "reason": None,
                "message": "",
                "run": event.run,
                "runs": state.runs + 1,
                "run_started_at": event.at,
                "run_ended_at": None,
                "run_cost_usd": 0.0,
                "run_cost_unknown": False,
            }
        case e.SessionWoken():
            return _move(state, Status.STARTING) | {"reason": None, "resets_at": None}
        case e.SessionAsleep():
            again = state.in_line or payload.reason is Reason.PAUSED
            move = {} if again and state.status is Status.ASLEEP else _move(state, Status.ASLEEP)
            return move | _released(state, payload.transcript_bytes) | {"reason": payload.reason}
        case e.SessionQueued():
            move = {} if state.status is Status.ASLEEP else _move(state, Status.ASLEEP)
            rest = _released(state, payload.transcript_bytes)
            return move | rest | {"reason": Reason.QUEUED}
        case e.SessionParked():
            return (
                _move(state, Status.PARKED)
                | _released(state, payload.transcript_bytes)
                | {"reason": Reason.LIMIT, "resets_at": payload.resets_at}
            )
        case e.SessionEnded():
            return (
                _move(state, payload.status)
                | _released(state, payload.transcript_bytes)
                | {
                    "reason": payload.reason,
                    "message": payload.message,
                    "run_ended_at": event.at,
                    "cost_unknown": state.cost_unknown or payload.cost_unknown,
                }
            )
    return {}


def _released(state: SessionState, length: int | None) -> dict[str, Any]:
    """Without a process: what the CLI was given is the CLI's, what is queued stays queued."""
    return _NO_TURN | {
        "tasks": (),
        "queue": state.queued,
        "resets_at": None,
        "transcript_bytes": state.transcript_bytes if length is None else length,
    }


def _identified(state: SessionState, claude_id: str | None) -> dict[str, Any]:
    if not claude_id or claude_id == state.claude_id:
        return {}
    return {"claude_ids": (*(i for i in state.claude_ids if i != claude_id), claude_id)}


def _conversation(state: SessionState, event: e.Event, payload: e.Payload) -> dict[str, Any]:
    match payload:
        case e.UserMessage():
            message = QueuedMessage(
                id=payload.message_id,
                text=payload.text,
                steer=payload.steer,
                attachments=payload.attachments,
                by=event.caller,
            )
            queued = (message, *state.queued) if payload.front else (*state.queued, message)
            return {"queue": (*state.given, *queued)}
        case e.MessageSent():
            return {
                "queue": tuple(
                    replace(m, state=MessageState.SENT) if m.id == payload.message_id else m
                    for m in state.queue
                )
            }
        case e.MessageReturned():
            back = [m for m in (*state.given, *state.taken) if m.id == payload.message_id]
            given = (m for m in state.given if m.id != payload.message_id)
            returned = (replace(m, state=MessageState.QUEUED, steer=False) for m in back)
            return {
                "queue": (*given, *returned, *state.queued),
                "taken": tuple(m for m in state.taken if m.id != payload.message_id),
            }
        case e.MessageConsumed():
            taken = tuple(m for m in state.queue if m.id == payload.message_id)
            rest = tuple(m for m in state.queue if m.id != payload.message_id)
            return {"queue": rest, "taken": (*state.taken, *taken)}
        case e.MessageWithdrawn():
            return {"queue": tuple(m for m in state.queue if m.id != payload.message_id)}
        case e.TurnStarted():
            return {
                "turn": event.turn,
                "turn_started_at": event.at,
                "turns": state.turns + 1,
                "cut_off": None,
                "changes": begun(state.changes, event, payload),
            }
        case e.TurnCompleted():
            # A turn of Claude's own may end beside the one a person began.
            over = _NO_TURN if event.turn == state.turn else {}
            settled = {"changes": replace(state.changes, until=event.at)}
            return over | settled | _spent(state, payload.cost_usd) | _context(state, payload)
        case e.TurnInterrupted():
            settled = {"changes": replace(state.changes, until=event.at)}
            cut_off = {"cut_off": payload.reason}
            return _NO_TURN | settled | _spent(state, payload.cost_usd) | cut_off
    return {}


def _spent(state: SessionState, cost: float | None) -> dict[str, Any]:
    if cost is None:
        return {"cost_unknown": True, "run_cost_unknown": True}
    return {"cost_usd": state.cost_usd + cost, "run_cost_usd": state.run_cost_usd + cost}


def _context(state: SessionState, payload: e.TurnCompleted) -> dict[str, Any]:
    return {
        "context_tokens": payload.context_tokens or state.context_tokens,
        "context_window": payload.context_window or state.context_window,
    }


def _particulars(state: SessionState, event: e.Event, payload: e.Payload) -> dict[str, Any]:
    match payload:
        case e.AssistantMessage(parent_tool_use_id=None):
            return {"blocks": state.blocks + 1}
        case e.TerminalMessage():
            # A turn we know nothing of: what came before it can no longer be put back alone.
            return {
                "blocks": state.blocks + 1,
                "transcript_bytes": payload.transcript_bytes,
                "changes": NO_CHANGES,
            }
        case e.ToolRequested(parent_tool_use_id=None):
            return {"tools": (*state.tools, payload.tool_use_id)}
        case e.ToolOutput(file=file) if file:
            directory = state.spec.directory
            return {"changes": changed(state.changes, event, payload, directory)}
        case e.TurnUndone():
            return {"changes": replace(state.changes, undone=True)}
        case e.ToolCompleted():
            return {"tools": tuple(t for t in state.tools if t != payload.tool_use_id)}
        case e.TaskStarted():
            task = BackgroundTask(
                id=payload.task_id, description=payload.description, kind=payload.kind
            )
            return {"tasks": (*_without_task(state, task.id), task)}
        case e.TaskEnded():
            return {"tasks": _without_task(state, payload.task_id)}
        case e.ApprovalRequested():
            return _asked(state, event, payload.kind, payload.tool_name)
        case e.InputRequested():
            return _asked(state, event, AskKind.QUESTION, "AskUserQuestion")
        case e.ApprovalResolved() | e.InputReceived():
            return {"pending": tuple(p for p in state.pending if p.id != payload.approval_id)}
        case e.SessionRenamed():
            return {"name": payload.name}
        case e.ModeChanged():
            return {"spec": replace(state.spec, mode=payload.permission_mode)}
        case e.DirectoryChanged():
            # Claude's checkpoints count from the directory: there, other files would be hit.
            return {
                "spec": replace(state.spec, directory=payload.directory),
                "changes": replace(state.changes, checkpoint=""),
            }
        case e.BudgetChanged():
            return {"spec": replace(state.spec, budget_usd=payload.budget_usd)}
        case e.ModelChanged():
            return {"spec": replace(state.spec, model=payload.model)}
        case e.Foregrounded():
            seen = {**state.bookmarks, payload.channel: state.blocks}
            front = {**state.foreground, payload.channel: event.seq}
            return {"foreground": front, "bookmarks": seen}
        case e.Backgrounded():
            rest = {c: s for c, s in state.foreground.items() if c != payload.channel}
            told = payload.position if payload.polled else state.blocks
            seen = {**state.bookmarks, payload.channel: told}
            return {"foreground": rest, "bookmarks": seen}
    return {}


def _without_task(state: SessionState, task_id: str) -> tuple[BackgroundTask, ...]:
    return tuple(t for t in state.tasks if t.id != task_id)


def _asked(state: SessionState, event: e.Event, kind: AskKind, tool_name: str) -> dict[str, Any]:
    payload = event.payload
    assert isinstance(payload, e.ApprovalRequested | e.InputRequested)
    asked = Pending(
        id=payload.approval_id,
        tool_use_id=payload.tool_use_id,
        kind=kind,
        tool_name=tool_name,
        at=event.at,
    )
    return {"pending": (*state.pending, asked)}
