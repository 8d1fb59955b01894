"""From what the engine says to what the log keeps. Pure."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.model import PermissionMode
from claude_sessions.state import SessionState


def facts_of(event: g.EngineEvent) -> list[e.Payload]:
    match event:
        case g.Text(text=""):
            return []
        case g.Text(thinking=True):
            thought = e.AssistantThought(
                text=event.text, block=event.block, parent_tool_use_id=event.parent
            )
            return [thought]
        case g.Text():
            return [_message(event)]
        case g.ToolCall():
            return [
                e.ToolRequested(
                    tool_name=event.name,
                    tool_use_id=event.id,
                    input=event.input,
                    parent_tool_use_id=event.parent,
                )
            ]
        case g.ToolResult():
            return [_output(event)]
        case _:
            return _occurrence(event)


def _output(event: g.ToolResult) -> e.ToolOutput:
    output = e.ToolOutput(
        tool_use_id=event.id,
        content=event.content,
        is_error=event.is_error,
        parent_tool_use_id=event.parent,
    )
    if (edit := event.edit) is None:
        return output
    return replace(output, file=edit.file, patch=edit.patch, added=edit.added, removed=edit.removed)


def _message(event: g.Text) -> e.AssistantMessage:
    return e.AssistantMessage(
        text=event.text,
        block=event.block,
        model=event.model,
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
        parent_tool_use_id=event.parent,
    )


def _occurrence(event: g.EngineEvent) -> list[e.Payload]:
    match event:
        case g.TaskBegan():
            return [
                e.TaskStarted(
                    task_id=event.id,
                    description=event.description,
                    kind=event.kind,
                    tool_use_id=event.tool_use_id,
                )
            ]
        case g.TaskOver():
            return [e.TaskEnded(task_id=event.id, status=event.status, summary=event.summary)]
        case g.Compacting():
            return [e.ContextCompacting()]
        case g.Compacted():
            return [
                e.ContextCompacted(
                    trigger=event.trigger,
                    pre_tokens=event.pre_tokens,
                    post_tokens=event.post_tokens,
                )
            ]
        case g.Limited():
            limit = e.LimitReached(kind="usage", message=event.message, resets_at=event.resets_at)
            return [limit]
        case g.Notice():
            return [e.Noticed(code=event.code, message=event.message)]
    return []


def news_of(event: g.ModeSet | g.TasksListed, state: SessionState) -> list[e.Payload]:
    """Claude says how things stand: only what we did not know is a fact."""
    if isinstance(event, g.TasksListed):
        gone = [task.id for task in state.tasks if task.id not in event.ids]
        return [e.TaskEnded(task_id=task_id, status="gone") for task_id in gone]
    if state.spec.mode in (event.mode, PermissionMode.DONT_ASK):
        return []
    return [e.ModeChanged(permission_mode=event.mode)]


def login_needed(event: g.LoginNeeded) -> e.Noticed:
    from_claude = event.message.strip() or "the login has expired"
    remedy = "Run `claude` in a terminal on this machine, log in, and say it again."
    return e.Noticed(code="login", message=f"Claude is not logged in ({from_claude}). {remedy}")


def completion(over: g.TurnOver, duration_ms: int) -> e.TurnCompleted:
    return e.TurnCompleted(
        reason=over.reason,
        is_error=over.is_error,
        error=over.error,
        usage=over.usage,
        model_usage=over.model_usage,
        cost_usd=over.cost_usd,
        duration_ms=duration_ms,
        context_tokens=over.context_tokens,
        context_window=over.context_window,
        leaf=over.leaf,
        num_turns=over.num_turns,
    )


def signal_of(event: g.TextDelta | g.ToolProgressed, session: str, turn: str | None) -> e.Signal:
    if isinstance(event, g.ToolProgressed):
        return e.ToolProgress(
            session=session,
            turn=turn,
            tool_use_id=event.id,
            tool_name=event.name,
            elapsed_seconds=event.elapsed_seconds,
        )
    kind = e.ThinkingDelta if event.thinking else e.AssistantDelta
    return kind(session=session, turn=turn, block=event.block, offset=event.offset, text=event.text)
