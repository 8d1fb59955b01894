"""From the CLI's frames to engine events.

Pure and total: any frame or field it does not know passes over as a heartbeat. It remembers only
which block is being streamed and what the last request cost in context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from claude_sessions import engines as g
from claude_sessions.engines.edits import Edits
from claude_sessions.model import PermissionMode

Frame = dict[str, Any]

LOGIN_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed"})
CONTEXT_PARTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
STDOUT_TAGS = ("<local-command-stdout>", "</local-command-stdout>")
HEARTBEAT = g.Heartbeat()


class Translator:
    def __init__(self) -> None:
        self._message = ""
        self._open: dict[int, tuple[str, int]] = {}  # index → (kind, characters so far)
        self._model = ""
        self._context_tokens = 0
        self._local_output: list[str] = []
        self._leaf = ""
        self._edits = Edits()

    def feed(self, frame: Frame) -> list[g.EngineEvent]:
        """What a frame means; never raises, whatever the CLI sends."""
        try:
            return list(self._read(frame)) or [HEARTBEAT]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return [g.Notice(code="unreadable_frame", message=str(frame.get("type"))[:80])]

    def _read(self, frame: Frame) -> Iterable[g.EngineEvent]:
        match frame.get("type"):
            case "stream_event" if frame.get("parent_tool_use_id") is None:
                return self._stream(frame["event"])
            case "assistant":
                return self._assistant(frame)
            case "user":
                return self._user(frame)
            case "result":
                return [self._result(frame)]
            case "system":
                return _system(frame)
            case "command_lifecycle" if frame.get("state") == "started":
                return [g.MessageTaken(id=str(frame["command_uuid"]))]
            case "tool_progress":
                return [
                    g.ToolProgressed(
                        id=str(frame["tool_use_id"]),
                        name=str(frame.get("tool_name", "")),
                        elapsed_seconds=float(frame.get("elapsed_time_seconds", 0)),
                    )
                ]
            case "auth_status" if frame.get("error"):
                return [g.LoginNeeded(message=str(frame["error"]))]
            case "rate_limit_event":
                return _rate_limit(frame["rate_limit_info"])
        return []

    def _stream(self, event: Frame) -> Iterator[g.EngineEvent]:
        match event["type"]:
            case "message_start":
                self._message = str(event["message"]["id"])
                self._open = {}
                self._model = str(event["message"].get("model"))
                usage = event["message"].get("usage") or {}
                self._context_tokens = sum(int(usage.get(part) or 0) for part in CONTEXT_PARTS)
            case "content_block_start":
                self._open[event["index"]] = (str(event["content_block"]["type"]), 0)
            case "content_block_stop":
                self._open.pop(event["index"], None)
            case "content_block_delta":
                yield from self._delta(event["index"], event["delta"])

    def _delta(self, index: int, delta: Frame) -> Iterator[g.EngineEvent]:
        text = delta.get("text") or delta.get("thinking")
        if index not in self._open or not text:
            return
        kind, offset = self._open[index]
        self._open[index] = (kind, offset + len(text))
        yield g.TextDelta(
            block=self._block(index), offset=offset, text=text, thinking=kind == "thinking"
        )

    def _block(self, index: int) -> str:
        return f"{self._message}:{index}"

    def _assistant(self, frame: Frame) -> Iterator[g.EngineEvent]:
        message = frame["message"]
        if error := frame.get("error"):
            # The result that follows carries the text; here only the kind of trouble is news.
            if error in LOGIN_ERRORS:
                yield g.LoginNeeded(message=_plain(message["content"]))
            return
        if message.get("model") == "<synthetic>":
            self._local_output.append(_plain(message["content"]))
            return
        if frame.get("parent_tool_use_id") is None:
            self._leaf = str(frame.get("uuid") or "")
        for block in message["content"]:
            yield from self._content(block, message, frame)

    def _content(self, block: Frame, message: Frame, frame: Frame) -> Iterator[g.EngineEvent]:
        parent = frame.get("parent_tool_use_id")
        match block["type"]:
            case "text" | "thinking" as kind:
                usage = message.get("usage") or {}
                yield g.Text(
                    block=self._streamed(kind, message) or str(frame.get("uuid")),
                    text=block.get("text") or block.get("thinking") or "",
                    thinking=kind == "thinking",
                    model=message.get("model"),
                    input_tokens=int(usage.get("input_tokens") or 0),
                    output_tokens=int(usage.get("output_tokens") or 0),
                    parent=parent,
                )
            case "tool_use" | "server_tool_use":
                self._edits.called(block["id"], block["name"], block["input"])
                yield g.ToolCall(
                    id=block["id"], name=block["name"], input=block["input"], parent=parent
                )

    def _streamed(self, kind: str, message: Frame) -> str | None:
        """The open block this finished one supersedes: it arrives just before the block stops."""
        if message.get("id") != self._message:
            return None
        open_ones = [index for index, (open_kind, _) in self._open.items() if open_kind == kind]
        return self._block(open_ones[0]) if open_ones else None

    def _user(self, frame: Frame) -> Iterator[g.EngineEvent]:
        content = frame["message"]["content"]
        if isinstance(content, str):
            if content.startswith(STDOUT_TAGS[0]):
                self._local_output.append(
                    content.removeprefix(STDOUT_TAGS[0]).split(STDOUT_TAGS[1])[0]
                )
            return
        results = [block for block in content if block.get("type") == "tool_result"]
        # What is told of one result beside it cannot be told apart for several.
        told = frame.get("tool_use_result") if len(results) == 1 else None
        for block in results:
            failed = bool(block.get("is_error"))
            yield g.ToolResult(
                id=block["tool_use_id"],
                content=_plain(block.get("content")),
                is_error=failed,
                parent=frame.get("parent_tool_use_id"),
                edit=self._edits.done(block["tool_use_id"], None if failed else told, failed),
            )

    def _result(self, frame: Frame) -> g.TurnOver:
        models = frame.get("modelUsage") or {}
        since = frame.get("model_usage_since_last_result") or {}
        reason = frame.get("terminal_reason")
        local = reason is None and not frame.get("num_turns")
        output = "\n".join(self._local_output) if local else str(frame.get("result") or "")
        self._local_output = []
        return g.TurnOver(
            reason=reason or "completed",
            is_error=bool(frame.get("is_error")),
            error=_error_text(frame),
            text=output,
            cost_usd=sum(float(one.get("costUSD") or 0) for one in since.values()),
            usage=frame.get("usage") or {},
            model_usage=models,
            context_tokens=self._context_tokens,
            context_window=_window(models, self._model),
            injected=(frame.get("origin") or {}).get("kind") == "task-notification",
            local=local,
            remark=" ".join(str(frame.get("result") or "").split())[:300] if local else "",
            leaf=self._leaf,
            num_turns=int(frame.get("num_turns") or 0),
        )


def _window(models: Frame, model: str) -> int:
    """Of the model that answered last in the main thread; a subagent may have used another."""
    for name, usage in models.items():
        if model in (name, usage.get("canonicalModel")) or name.startswith(model):
            return int(usage.get("contextWindow") or 0)
    return max((int(one.get("contextWindow") or 0) for one in models.values()), default=0)


def _error_text(frame: Frame) -> str | None:
    if not frame.get("is_error"):
        return None
    errors = [str(one) for one in frame.get("errors") or () if "ede_diagnostic" not in str(one)]
    return "; ".join(errors) or str(frame.get("result") or "") or str(frame.get("subtype"))


def _plain(content: object) -> str:
    """Text of a content list; what is not text is named, not dropped."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return str(content)
    parts = []
    for block in content:
        if isinstance(block, dict):
            parts.append(str(block["text"]) if "text" in block else f"[{block.get('type')}]")
        else:
            parts.append(str(block))
    return "\n".join(parts)


def _rate_limit(info: Frame) -> list[g.EngineEvent]:
    if info.get("status") != "rejected":
        return []
    kind = str(info.get("rateLimitType") or "usage").replace("_", " ")
    resets = info.get("resetsAt")
    return [
        g.Limited(
            message=f"The {kind} limit of the account is used up.",
            resets_at=float(resets) if resets is not None else None,
        )
    ]


def _system(frame: Frame) -> list[g.EngineEvent]:
    reader = SYSTEM.get(str(frame.get("subtype")))
    return list(reader(frame)) if reader else []


def _init(frame: Frame) -> Iterator[g.EngineEvent]:
    yield g.TurnBegan(
        claude_id=frame["session_id"],
    )


def _mode(name: object) -> PermissionMode | None:
    return PermissionMode(str(name)) if name in set(PermissionMode) else None


def _status(frame: Frame) -> Iterator[g.EngineEvent]:
    if frame.get("status") == "requesting":
        yield g.Asking()
    elif frame.get("status") == "compacting":
        yield g.Compacting()
    if mode := _mode(frame.get("permissionMode")):
        yield g.ModeSet(mode=mode)


def _retry(frame: Frame) -> Iterator[g.EngineEvent]:
    delay = float(frame.get("retry_delay_ms") or 0) / 1000
    what = frame.get("error_status") or frame.get("error") or "no answer"
    yield g.Notice(
        code="api_retry",
        message=f"The API answered {what}; try {frame.get('attempt')} of "
        f"{frame.get('max_retries')} in {delay:.0f} s.",
    )
    yield g.Asking()


def _compacted(frame: Frame) -> Iterator[g.EngineEvent]:
    meta = frame.get("compact_metadata") or {}
    yield g.Compacted(
        trigger=str(meta.get("trigger", "")),
        pre_tokens=int(meta.get("pre_tokens") or 0),
        post_tokens=int(meta.get("post_tokens") or 0),
    )


def _task_started(frame: Frame) -> Iterator[g.EngineEvent]:
    if frame.get("is_backgrounded") is False:
        return  # a foreground command that takes long is announced in the same way
    yield g.TaskBegan(
        id=frame["task_id"],
        description=str(frame.get("description", "")),
        kind=str(frame.get("task_type", "")),
        tool_use_id=frame.get("tool_use_id"),
    )


def _task_over(frame: Frame) -> Iterator[g.EngineEvent]:
    yield g.TaskOver(
        id=frame["task_id"],
        status=str(frame.get("status", "")),
        summary=str(frame.get("summary", "")),
    )


def _tasks(frame: Frame) -> Iterator[g.EngineEvent]:
    yield g.TasksListed(ids=tuple(str(task["task_id"]) for task in frame.get("tasks") or ()))


def _refused(frame: Frame) -> Iterator[g.EngineEvent]:
    name = frame.get("tool_name", "A tool")
    yield g.Notice(code="permission_denied", message=f"{name}: {frame.get('message') or 'refused'}")


def _informational(frame: Frame) -> Iterator[g.EngineEvent]:
    text = frame.get("content") or frame.get("message") or ""
    if text:
        yield g.Notice(code="informational", message=str(text))


SYSTEM: dict[str, Callable[[Frame], Iterator[g.EngineEvent]]] = {
    "init": _init,
    "status": _status,
    "api_retry": _retry,
    "compact_boundary": _compacted,
    "task_started": _task_started,
    "task_notification": _task_over,
    "background_tasks_changed": _tasks,
    "permission_denied": _refused,
    "informational": _informational,
}
