"""Reading a conversation as the CLI sends it: what the user said, and how far the turn has come.

The place in a turn is the number of answers after the newest prompt, taken from the messages
themselves, so that parallel, resumed and forked sessions need no memory in the model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
NOTIFICATION = re.compile(r"<task-notification>.*?</task-notification>", re.DOTALL)
STEERED = re.compile(
    r"The user sent a new message while you were working:\n(.*?)\n\nThis is how Claude Code",
    re.DOTALL,
)
PLAN_PATH = re.compile(r"/\S+/plans/[\w.-]+\.md")

INTERRUPTED = "[Request interrupted by user"
# What the CLI says to the model in a user message by itself: it starts no turn.
NOT_SAID = (
    "Output token limit hit",
    "Your response above was",
    "Your response was cut off",
    "Your tool call was malformed",
    "[Your previous response",
    "The previous response failed",
    "The turn did not end:",
    "Stop hook feedback:",
    INTERRUPTED,
    "[structured-output-enforce]",
    "<command-",
    "<local-command-",
    "This session is being continued from a previous conversation",
)
# Said after an answer with nothing in it, of which the conversation keeps no other trace.
VANISHED = (
    "[Your previous response",
    "Your response above was",
    "Output token limit hit while you were still reasoning",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    tool_use_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The newest turn of a conversation."""

    prompt: str
    answers: int
    tool_results: tuple[ToolResult, ...]
    steered: tuple[str, ...]


def newest_turn(messages: Sequence[Json]) -> Turn:
    start = max((n for n, message in enumerate(messages) if is_prompt(message)), default=0)
    turn = messages[start:]
    return Turn(
        prompt=spoken(turn[0]) if turn else "",
        answers=sum(answers_in(message) for message in turn),
        tool_results=tuple(result for message in turn[1:] for result in tool_results(message)),
        steered=tuple(text for message in turn[1:] for text in steered(message)),
    )


def is_prompt(message: Json) -> bool:
    kinds = {block.get("type") for block in blocks(message.get("content"))}
    if message["role"] != "user" or ("tool_result" in kinds and not cut_off(message)):
        return False
    return bool(spoken(message)) or "image" in kinds or "document" in kinds


def cut_off(message: Json) -> bool:
    """A tool was interrupted: what the user says next stands behind its result, in one message."""
    return any(text.startswith(INTERRUPTED) for text in texts(message.get("content")))


def spoken(message: Json) -> str:
    """What the user said last in a message, without the CLI's own additions.

    Prompts that got no answer are joined to the next one; each of them then ends in a newline.
    """
    said: list[str] = []
    for text in texts(message.get("content")):
        note = NOTIFICATION.search(text)
        words = note[0] if note else REMINDER.sub("", text)
        if not words.strip() or words.startswith(NOT_SAID):
            continue
        if said and said[-1].endswith("\n"):
            said.clear()
        said.append(words)
    return "\n".join(said).strip()


def answers_in(message: Json) -> int:
    """A message of the assistant is an answer; so is one that left nothing but the CLI's remark.

    That remark then stands behind the prompt or tool result in the same message, not alone.
    """
    if message["role"] == "assistant":
        return 1
    count = 0
    for number, text in enumerate(texts(message.get("content"), tool_result="")):
        if text.startswith(VANISHED):
            count += number > 0
        elif spoken({"content": text}):
            count = 0
    return count


def steered(message: Json) -> list[str]:
    """What the user sent while the turn was running; it comes as a system message or reminder."""
    if message["role"] == "assistant":
        return []
    return [said for text in texts(message.get("content")) for said in STEERED.findall(text)]


def tool_results(message: Json) -> Iterator[ToolResult]:
    for block in blocks(message.get("content")):
        if block.get("type") == "tool_result":
            yield ToolResult(
                tool_use_id=block["tool_use_id"],
                text="\n".join(texts(block.get("content"))),
                is_error=bool(block.get("is_error")),
            )


def plan_path(messages: Sequence[Json], system: str) -> str:
    """The file named to the model in plan mode; the newest mention counts."""
    newest_first = [text for m in reversed(messages) for text in texts(m.get("content"))]
    found = (PLAN_PATH.search(text) for text in (*newest_first, system))
    return next((path[0] for path in found if path), "")


def texts(content: object, *, tool_result: str | None = None) -> list[str]:
    """The text blocks; with `tool_result` given, that stands for each tool result."""
    found = (
        block.get("text") if block.get("type") == "text" else tool_result
        for block in blocks(content)
    )
    return [text for text in found if text is not None]


def blocks(content: object) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []
