"""What a letter says when Telegram does not take it as it is. Pure."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions.telegram.letters import Content, Letter
from claude_sessions.telegram.render import joined, plain


def less_of(letter: Letter) -> Content | None:
    """What it says instead; with its buttons, as long as it may be something else that is refused.

    None: not even that is taken.
    """
    before = letter.content
    if letter.refusals > (3 if before.actions else 2):
        return None
    actions = before.actions if letter.refusals == 2 else ()
    text = plain(before.bare or _instead_of(letter))
    return Content(parts=(text,), actions=actions, ring=before.ring, bare=before.bare)


def without_file(content: Content) -> Content:
    *parts, last = content.parts
    told = joined(last, plain("(Its file could not be sent.)"))
    return replace(content, parts=(*parts, told), file=None)


def _instead_of(letter: Letter) -> str:
    if letter.content.file is not None and not letter.content.parts:
        return f"{letter.content.file.name} could not be sent. Ask for it again."
    hint = f" /output {letter.session} has it." if letter.session else ""
    return f"This could not be shown here.{hint}"
