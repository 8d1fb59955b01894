"""The words of the script language; `script` explains them with examples."""

from collections.abc import Mapping, Sequence
from typing import Any

from claude_sessions.demo.steps import (
    Drop,
    Hang,
    Headers,
    HttpError,
    Malformed,
    Overloaded,
    Parallel,
    Part,
    Stall,
    Step,
    Stop,
    Text,
    Thinking,
    ToolUse,
    Usage,
    Words,
)

SIGNATURE = "c2NyaXB0ZWQ="
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def say(*parts: Part, pace: float | None = None, chunk: int | None = None) -> Text:
    return Text(parts=parts, pace=pace, chunk=chunk)


def think(
    *parts: Part, signature: str = SIGNATURE, pace: float | None = None, chunk: int | None = None
) -> Thinking:
    return Thinking(parts=parts, signature=signature, pace=pace, chunk=chunk)


def tool(name: str, /, **given: Any) -> ToolUse:
    return ToolUse(name=name, input=given)


def parallel(*tools: ToolUse) -> Parallel:
    return Parallel(tools=tools)


def bash(command: Words, **more: Any) -> ToolUse:
    return tool("Bash", **{"command": command, "description": "Run a command", **more})


def read(file_path: Words, **more: Any) -> ToolUse:
    return tool("Read", file_path=file_path, **more)


def write(file_path: Words, content: Words) -> ToolUse:
    return tool("Write", file_path=file_path, content=content)


def edit(file_path: Words, old: Words, new: Words, **more: Any) -> ToolUse:
    return tool("Edit", file_path=file_path, old_string=old, new_string=new, **more)


def ask(
    text: str, options: Sequence[str], *, header: str = "Choice", multi: bool = False
) -> dict[str, Any]:
    return {
        "question": text,
        "header": header,
        "options": [{"label": option, "description": f"Take {option}"} for option in options],
        "multiSelect": multi,
    }


def questions(*asked: Mapping[str, Any]) -> ToolUse:
    return tool("AskUserQuestion", questions=[dict(one) for one in asked])


def question(
    text: str, options: Sequence[str], *, header: str = "Choice", multi: bool = False
) -> ToolUse:
    return questions(ask(text, options, header=header, multi=multi))


def plan(text: Words) -> tuple[Step, ...]:
    return (write(lambda request: request.plan_path, text), tool("ExitPlanMode"))


def task(
    prompt: Words,
    *,
    description: str = "A side task",
    agent: str = "general-purpose",
    background: bool = False,
) -> ToolUse:
    return tool(
        "Task",
        description=description,
        prompt=prompt,
        subagent_type=agent,
        run_in_background=background,
    )


def usage(*, input: int = 10, output: int = 10, cache_read: int = 0, cache_write: int = 0) -> Usage:
    return Usage(input=input, output=output, cache_read=cache_read, cache_write=cache_write)


def headers(values: Mapping[str, str]) -> Headers:
    return Headers(values=values)


def stop(reason: str) -> Stop:
    return Stop(reason=reason)


def empty() -> Stop:
    return stop("end_turn")


def error(
    status: int,
    message: str = "scripted failure",
    *,
    kind: str | None = None,
    headers: Mapping[str, str] | None = None,
    times: int | None = None,
) -> HttpError:
    return HttpError(
        status=status,
        kind=kind or ERROR_TYPES.get(status, "api_error"),
        message=message,
        headers=headers or {},
        times=times,
    )


def hang(*, times: int | None = None) -> Hang:
    return Hang(times=times)


def stall(*, times: int | None = None) -> Stall:
    return Stall(times=times)


def drop(*, reset: bool = False, times: int | None = None) -> Drop:
    return Drop(reset=reset, times=times)


def malformed(*, times: int | None = None) -> Malformed:
    return Malformed(times=times)


def overloaded(*, times: int | None = None) -> Overloaded:
    return Overloaded(times=times)
