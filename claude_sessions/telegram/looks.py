"""How things look on a phone: short lines, the session's name first, one thing to do. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from claude_sessions.approvals.preview import Preview, clip
from claude_sessions.approvals.visible import one_line
from claude_sessions.cards import option_label
from claude_sessions.channel import Action, Card, Kind, Notification
from claude_sessions.commands.figures import clock
from claude_sessions.commands.replies import RULE
from claude_sessions.model import AskKind
from claude_sessions.telegram.documents import summary, too_long
from claude_sessions.telegram.letters import ROOM, Content, File
from claude_sessions.telegram.render import (
    Rich,
    from_markdown,
    head,
    joined,
    newest,
    plain,
    split,
    styled,
    tail,
)

TOOLS = 6  # lines of tools in a row
SOURCE = 8000  # characters of Markdown: more than what is seen of a turn that runs
CARD_LINES = 25
CARD_CHARS = 1800
PLAN_HEADING = 400  # units at the most, however long the reason why it was decided so
RING_AFTER = 30.0  # seconds: so long nobody sits and watches
RINGING = frozenset({Kind.COMPLETED, Kind.FAILED, Kind.LIMIT})


@dataclass(frozen=True, slots=True)
class Words:
    """A block of what Claude says, in Markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    line: str


Piece = Words | Tool


def rings(notification: Notification) -> bool:
    """Only done, failed and needs you; the rest is silent."""
    match notification.kind:
        case Kind.WAITING:
            long = (notification.seconds or 0.0) > RING_AFTER
            return not notification.foreground or long or failed(notification)
        case Kind.CARD:
            return notification.card is not None and not notification.card.decided
        case Kind.NOTICE:
            return notification.urgent or bool(notification.actions)
    return notification.kind in RINGING


def failed(notification: Notification) -> bool:
    """A turn that ended badly, and not because somebody wanted it to."""
    over = notification.kind is Kind.WAITING and notification.seconds is None
    return over and notification.text.startswith("⚠️")


# --- a turn


def running(
    name: str, seconds: float, pieces: Sequence[Piece], actions: tuple[Action, ...]
) -> Content:
    """The newest end of it, under its name and how long it has taken."""
    top = plain(f"{name} · {clock(seconds)}")
    body = joined(*(_shown(piece) for piece in _few_tools(_newest(pieces))), by="\n")
    words = joined(_bold(top, name), tail(body, ROOM - 200))
    return Content(parts=(words,), actions=actions, late=True)


def finished(
    pieces: Sequence[Piece], last: str, actions: tuple[Action, ...] = (), name: str = ""
) -> Content:
    """What was said, in full, and one quiet line."""
    said = "\n\n".join(piece.text for piece in pieces if isinstance(piece, Words))
    if not said.strip():
        tools = [piece for piece in pieces if isinstance(piece, Tool)]
        body = joined(*(plain(piece.line) for piece in tools[-TOOLS:]))
        content = Content(parts=tuple(split(joined(body, _quiet(last)), ROOM)))
    else:
        content = whole(said, f"{name or 'answer'}.md", last=last)
    parts = content.parts or (plain(name or "…"),)
    return Content(parts=parts, actions=actions, file=content.file)


def whole(markdown: str, file_name: str, last: str = "", room: int = ROOM) -> Content:
    """All of it; what would be more than a few messages is a document with a summary."""
    rich = from_markdown(markdown)
    parts = split(joined(rich, _quiet(last), by="\n\n"), room)
    if too_long(parts):
        return Content(
            parts=(joined(summary(markdown), _quiet(last), by="\n\n"),),
            file=File(name=file_name, text=markdown),
        )
    return Content(parts=tuple(parts))


def _quiet(line: str) -> Rich:
    return styled(line, "italic") if line.strip() else Rich(text="")


def _shown(piece: Piece) -> Rich:
    return from_markdown(piece.text) if isinstance(piece, Words) else plain(piece.line)


def _newest(pieces: Sequence[Piece]) -> list[Piece]:
    """As many as can be seen: it is shown anew with each edit, however long it has become."""
    found: list[Piece] = []
    left = SOURCE
    for piece in reversed(pieces):
        if left <= 0:
            break
        if isinstance(piece, Words):
            piece = Words(newest(piece.text, left))
            left -= len(piece.text)
        found.append(piece)
    return found[::-1]


def _few_tools(pieces: Sequence[Piece]) -> list[Piece]:
    """Of many tools in a row, the last."""
    few: list[Piece] = []
    run: list[Piece] = []
    for piece in [*pieces, None]:
        if isinstance(piece, Tool):
            run.append(piece)
            continue
        if len(run) > TOOLS:
            few.append(Tool(f"… {len(run) - TOOLS} before these"))
        few += run[-TOOLS:]
        run = []
        if piece is not None:
            few.append(piece)
    return few


# --- anything else


def told(notification: Notification, *, ring: bool) -> Content:
    if notification.card is not None:
        return _of_card(notification, notification.card, ring=ring)
    if notification.kind is Kind.STREAM:
        content = whole(notification.text, f"{notification.name}.md")
        return Content(parts=content.parts, file=content.file, ring=ring)
    return said(notification.text, notification.actions, name=notification.name, ring=ring)


def said(
    text: str, actions: tuple[Action, ...] = (), *, name: str = "", ring: bool = False
) -> Content:
    """Plain text in which a line is a line; the session's name stands out."""
    if RULE in text:
        return _ruled(text, actions)
    parts = split(_bold(plain(text), name), ROOM)
    if too_long(parts):
        file = File(name="answer.txt", text=text)
        return Content(parts=tuple(parts[:1]), actions=actions, file=file, ring=ring)
    return Content(parts=tuple(parts) or (plain("…"),), actions=actions, ring=ring)


def _ruled(text: str, actions: tuple[Action, ...]) -> Content:
    """A heading, what Claude said, and perhaps a last line."""
    heading, _, rest = text.partition(f"\n{RULE}\n")
    body, _, footer = rest.partition(f"\n{RULE}\n")
    content = whole(body, "output.md", last=footer)
    first, *more = content.parts or (plain("(no output yet)"),)
    opening = joined(styled(heading, "bold"), first, by="\n\n")
    parts = (*split(opening, ROOM), *more)
    return Content(parts=parts, actions=actions, file=content.file)


def _bold(rich: Rich, name: str) -> Rich:
    """The first place where the name stands."""
    before, found, after = rich.text.partition(name) if name else ("", "", "")
    if not found or rich.entities:
        return rich
    parts = [Rich(text=before), styled(name, "bold"), Rich(text=after)]
    return joined(*(part for part in parts if part.text), by="")


# --- cards


def _of_card(notification: Notification, card: Card, *, ring: bool) -> Content:
    name, actions = notification.name, notification.actions
    if card.kind is AskKind.PLAN:
        return replace(_of_plan(name, card), actions=actions, ring=ring, bare=_bare(name, card))
    if card.decided:
        content = said(notification.text, (), name=name)
        return Content(parts=content.parts[:1], file=_attached(card))
    if card.kind is AskKind.QUESTION:
        rich = joined(_bold(plain(f"❓ {name} asks"), name), *_questions(card))
    else:
        rich = _request(notification, card, clipped(card.preview))
    return Content(
        parts=tuple(split(rich, ROOM)),
        actions=actions,
        file=_attached(card),
        ring=ring,
        bare=_bare(name, card),
    )


def _of_plan(name: str, card: Card) -> Content:
    """Decided, only its heading is another: what was agreed on stays to be read."""
    says = f"{card.decided}\n📋 {name} had a plan" if card.decided else f"📋 {name} has a plan"
    opening = head(_bold(plain(says), name), PLAN_HEADING)
    body = whole(card.preview.body, f"{name}-plan.md", room=ROOM - PLAN_HEADING)
    first, *more = body.parts or (Rich(text=""),)
    return Content(parts=(joined(opening, first, by="\n\n"), *more), file=body.file)


def _bare(name: str, card: Card) -> str:
    """Should Telegram not take it: nothing that Claude has written."""
    if card.decided:
        return card.decided
    where = f"/approvals {card.approval_id}"
    return f"{name} asks for something that could not be shown here. {where} has it."


def clipped(preview: Preview) -> Preview:
    return clip(preview, lines=CARD_LINES, chars=CARD_CHARS)


def _request(notification: Notification, card: Card, shown: Preview) -> Rich:
    risk = " · ".join([f"{card.risk} risk", *card.risk_reasons])
    hidden = "Some characters cannot be seen; they are spelled out." if shown.hidden else ""
    return joined(
        _bold(plain(f"⚠️ {notification.name} asks · {risk}"), notification.name),
        plain(shown.title),
        styled(shown.body, "pre", language=shown.language or None) if shown.body else Rich(text=""),
        plain(f"“{shown.note}”" if shown.note else ""),
        plain(hidden),
    )


def _questions(card: Card) -> list[Rich]:
    lines: list[Rich] = []
    for question in card.questions:
        lines.append(plain(question.text))
        described = zip(question.options, question.descriptions, strict=False)
        lines += [
            plain(f"• {option_label(option, n)[:60]}" + (f" — {one_line(why, 120)}" if why else ""))
            for n, (option, why) in enumerate(described, 1)
        ]
        if question.multi:
            lines.append(styled("Several may be chosen: reply like 1, 3", "italic"))
    lines.append(styled("or reply with your own answer", "italic"))
    return lines


def _attached(card: Card) -> File | None:
    """All of it, when the card shows only a part."""
    preview = card.preview
    if card.kind is not AskKind.TOOL or clipped(preview).body == preview.body:
        return None
    ending = {"diff": "diff", "command": "sh", "json": "json"}.get(preview.kind, "txt")
    return File(name=f"{card.tool_name}.{ending}", text=preview.body)
