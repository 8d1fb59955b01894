"""Where somebody reads, and what is sent there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from claude_sessions.approvals.preview import Preview
from claude_sessions.model import AskKind, Risk


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do about a message: a button in Telegram, a number in the terminal.

    `line` is the chat line it stands for. `needs_text`: it is completed by what the person types.
    """

    label: str
    line: str
    needs_text: bool = False
    row: str = ""  # those of one row stand side by side


class Kind(StrEnum):
    """What a notification is about; a channel decides how it looks and whether it rings."""

    STREAM = "stream"  # Claude's words as they come; edited until final
    TOOL = "tool"  # one compact tool line
    LAUNCHED = "launched"
    WAITING = "waiting"  # a turn is over: its words are the answer, the floor is yours
    CARD = "card"  # an approval, a plan or a question; edited once decided
    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"
    LIMIT = "limit"
    LONG_RUNNING = "long_running"
    NOTICE = "notice"
    WORKING = "working"  # a turn began; says nothing
    CURTAIN = "curtain"  # whoever showed a running turn takes its [Stop] away; says nothing


SEEN = " · result seen"  # how a decided card ends once what it was about has happened


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a person needs to decide."""

    approval_id: str
    kind: AskKind
    tool_name: str
    risk: Risk
    risk_reasons: tuple[str, ...]
    directory: str
    preview: Preview
    questions: tuple[Question, ...] = ()
    decided: str = ""  # once decided: what, by whom, when, and whether Claude has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    text: str
    options: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    multi: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    kind: Kind
    session: str | None  # id
    name: str  # the session's name, shown first
    text: str  # STREAM: the whole block so far, in Markdown; else plain, where a line is a line
    final: bool = True  # no more will come: of this block, or of what became of this card
    foreground: bool = True
    actions: tuple[Action, ...] = ()
    card: Card | None = None
    key: str = ""  # the same fact has the same key, also after a restart: it is told once
    seq: int = 0  # the event it comes from, or the last before it
    turn: str | None = None  # the turn it belongs to
    began: datetime | None = None  # when that turn did
    seconds: float | None = None  # how long it took, once it is over and nothing follows by itself
    urgent: bool = False  # of a notice: it needs a person
    answered_at: str = ""  # the channel where whoever caused it was told so in answer


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    channel: str
    id: str


class Channel(Protocol):
    """`send` returns when the message is out; `edit` replaces what a ref shows.

    Called by one task at a time, in order. Neither raises for what cannot be shown: a channel
    that loses its counterpart raises `ChannelClosed`, and is dropped by the router.
    `close` may be called twice; nothing may be sent afterwards.
    """

    id: str  # channel|account|target or channel|target

    async def send(self, notification: Notification) -> MessageRef: ...
    async def edit(self, ref: MessageRef, notification: Notification) -> None: ...
    async def close(self) -> None: ...


class ChannelClosed(Exception):
    pass


class MemoryChannel:
    """Keeps everything, in order: for tests and for callers that poll."""

    def __init__(self, channel_id: str) -> None:
        self.id = channel_id
        self.sent: list[Notification] = []
        self.edits: list[tuple[MessageRef, Notification]] = []
        self.shown: dict[str, Notification] = {}
        self._closed = False

    async def send(self, notification: Notification) -> MessageRef:
        self._check()
        ref = MessageRef(channel=self.id, id=str(len(self.sent)))
        self.sent.append(notification)
        self.shown[ref.id] = notification
        return ref

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        self._check()
        self.edits.append((ref, notification))
        self.shown[ref.id] = notification

    async def close(self) -> None:
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise ChannelClosed(self.id)
