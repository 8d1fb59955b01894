"""Chat text becomes a command: the one place, shared by every chat door.

Whatever is typed, `parse` gives a command or raises UsageError.
"""

from __future__ import annotations

import difflib
import re

from claude_sessions.commands import Command, Talk
from claude_sessions.commands.lexer import MAX_TEXT, Line, accepted, quote, refuse_junk, shown
from claude_sessions.commands.readers import READERS
from claude_sessions.commands.usage import COMMANDS, NAMES, Usage
from claude_sessions.errors import UsageError

__all__ = ["COMMANDS", "MAX_TEXT", "Usage", "parse", "quote", "split_answers"]

HEAD = re.compile(r"/([A-Za-z0-9_-]+)(?:@\w+)?(?=\s|\Z)")  # Telegram adds the bot: /new@bot
PATH = re.compile(r"/[^\s/]+/")  # `/etc/hosts is wrong` is meant for Claude


def parse(text: str) -> Command:
    body = text.lstrip()
    if not body.strip("/").strip():
        raise UsageError("There is nothing to say in that. /help lists what I know.")
    if not body.startswith("/") or PATH.match(body):
        return Talk(text=accepted(text))
    if body.startswith("//"):
        return Talk(text=accepted(body[1:]))
    head = HEAD.match(body)
    name = NAMES.get(head[1].lower().replace("-", "_")) if head else None
    if head is None or name is None:
        raise _unknown(body)
    usage = COMMANDS[name]
    if len(body) > 2 * MAX_TEXT:  # refused before it is read: words are read slowly
        accepted(body, usage.line)
    refuse_junk(body, usage.line)
    return READERS[name](Line(body, head.end(), usage))


def split_answers(text: str, questions: int) -> tuple[str, ...]:
    """One answer a question, separated by ` ; `; the last keeps what is left over."""
    if questions < 2:
        return (text,)
    return tuple(part.strip() for part in text.split(" ; ", questions - 1))


def _unknown(body: str) -> UsageError:
    head = body.split(None, 1)[0]
    near = difflib.get_close_matches(head[1:40].lower(), NAMES, n=3)
    guess = f" Did you mean {' or '.join('/' + name for name in near)}?" if near else ""
    return UsageError(
        f"I do not know {shown(head)}.{guess} /help lists what I know;"
        " to say it to Claude, put one more / before it."
    )
