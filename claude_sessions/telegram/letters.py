"""Letters: what a chat has to show, and what of it Telegram has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import orjson

from claude_sessions.channel import Action
from claude_sessions.storage.mail import StoredLetter
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.render import Entity, Rich, head, joined, plain, units

ROOM = 4000  # units in a message: some are left for a mark
REPEAT = plain("(repeat)")
ROW_UNITS = 34  # of labels side by side on a phone
LABEL = 40
BUTTONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Sent as a document: this text, or what lies at this path."""

    name: str
    text: str = ""
    path: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Message by message; what can be pressed stands under the last one. `ask`: wait for words.

    `late`: it can be pressed only once its message is known, so that no button survives a crash on
    a message that nobody knows of.
    `again`: the line that gives this list as it is by then.
    `bare`: what it says when Telegram takes nothing else of it.
    """

    parts: tuple[Rich, ...]
    actions: tuple[Action, ...] = ()
    file: File | None = None
    ring: bool = False
    reply_to: int | None = None
    ask: bool = False
    late: bool = False
    again: str = ""
    bare: str = ""

    def dump(self) -> str:
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def load(cls, text: str) -> Content:
        data: dict[str, Any] = orjson.loads(text)
        return cls(
            parts=tuple(_rich(part) for part in data.pop("parts")),
            actions=tuple(Action(**action) for action in data.pop("actions")),
            file=File(**found) if (found := data.pop("file")) else None,
            **data,
        )


def _rich(part: Mapping[str, Any]) -> Rich:
    return Rich(text=part["text"], entities=tuple(Entity(**each) for each in part["entities"]))


Keyboard = tuple[tuple[tuple[str, str], ...], ...]  # rows of (label, token)


@dataclass(frozen=True, slots=True, kw_only=True)
class Face:
    """One message as it should look."""

    rich: Rich
    keyboard: Keyboard = ()
    file: File | None = None
    ask: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Letter:
    """`live` gives the content of one that grows; what is stored of it is only that it is there."""

    id: int
    to: Address
    key: str
    seq: int
    session: str | None
    content: Content
    version: int
    shown: int
    tried: int
    at: float
    open: bool
    messages: list[int]
    copies: list[int]
    document: int | None
    tokens: Mapping[tuple[str, str], str]
    faces: dict[int, Face] = field(default_factory=dict)  # message → what it shows
    live: Callable[[], Content] | None = None
    dirty: bool = False  # it has grown since it was shown
    edited_at: float = 0.0
    retry_at: float = 0.0
    failures: int = 0
    refusals: int = 0  # of what it says now; after the first, it says it without any formatting
    unnoted: dict[int, int] = field(default_factory=dict)  # message → part: out, but not stored
    doomed: list[int] = field(default_factory=list)  # cannot be changed, so they go
    dismissed: bool = False  # somebody deleted it: it is not shown again for what only grows

    @classmethod
    def of(cls, stored: StoredLetter) -> Letter:
        return cls(
            id=stored.id,
            to=Address.read(stored.chat),
            key=stored.key,
            seq=stored.seq,
            session=stored.session,
            content=Content.load(stored.content),
            version=stored.version,
            shown=stored.shown,
            tried=stored.tried,
            at=stored.at,
            open=stored.open,
            messages=list(stored.messages),
            copies=list(stored.copies),
            document=stored.document,
            tokens=stored.tokens,
        )

    def update(self, stored: StoredLetter) -> None:
        self.dismissed = False
        if self.version != stored.version:
            self.refusals = 0
        self.content = Content.load(stored.content)
        self.version, self.open, self.tokens = stored.version, stored.open, stored.tokens
        self.at = stored.at

    def begin_anew(self, at: float) -> None:
        """Whatever was shown of it is gone."""
        self.at = self.at if self.waits else at
        self.messages, self.copies, self.document, self.doomed = [], [], None, []
        self.faces, self.unnoted = {}, {}
        self.tried = self.shown = 0

    def drop(self, message: int) -> None:
        """It is no message of this letter any more."""
        for each in (self.messages, self.copies, self.doomed):
            if message in each:
                each.remove(message)
        if self.document == message:
            self.document = None

    @property
    def waits(self) -> bool:
        return self.version > self.shown

    @property
    def wanted(self) -> Content:
        return self.live() if self.live is not None else self.content

    @property
    def maybe_there(self) -> bool:
        """Its next message was begun to be sent, and nothing was heard of it."""
        return self.tried > self.out

    @property
    def out(self) -> int:
        """How many of its messages the chat has."""
        return len(self.messages) + (self.document is not None)

    def looks(self, content: Content) -> list[Face]:
        parts = (
            [_unformatted(part) for part in content.parts] if self.refusals else [*content.parts]
        )
        faces = [Face(rich=part) for part in parts]
        if faces:
            unknown = content.late and len(self.messages) < len(faces)
            keyboard = () if unknown else laid_out(content.actions, self.tokens)
            faces[-1] = Face(rich=parts[-1], keyboard=keyboard, ask=content.ask)
        if content.file is not None:
            faces.append(Face(rich=plain(content.file.caption), file=content.file))
        return faces


def _unformatted(rich: Rich) -> Rich:
    return Rich(text=rich.text)


def marked(face: Face) -> Face:
    """The same again, and it says so."""
    return Face(
        rich=joined(face.rich, REPEAT), keyboard=face.keyboard, file=face.file, ask=face.ask
    )


def laid_out(actions: Sequence[Action], tokens: Mapping[tuple[str, str], str]) -> Keyboard:
    """Those that belong together in one row; else as many as a phone has room for."""
    rows: list[tuple[tuple[str, str], ...]] = []
    for row, group in groupby(enumerate(actions[:BUTTONS], 1), key=lambda each: each[1].row):
        buttons = [(_label(n, a), tokens[a.label, a.line]) for n, a in group]
        rows += [tuple(buttons)] if row else _packed(buttons)
    return tuple(rows)


def _label(number: int, action: Action) -> str:
    """Telegram takes no button on which nothing can be seen."""
    return head(plain(action.label), LABEL).text or f"Option {number}"


def _packed(buttons: Sequence[tuple[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    rows: list[list[tuple[str, str]]] = []
    for button in buttons:
        taken = sum(units(label) + 4 for label, _ in rows[-1]) if rows else ROW_UNITS
        if len(rows[-1:]) and len(rows[-1]) < 3 and taken + units(button[0]) <= ROW_UNITS:
            rows[-1].append(button)
        else:
            rows.append([button])
    return [tuple(row) for row in rows]
