"""The terminal as a channel: append-only, one session's lines at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from claude_sessions.channel import (
    SEEN,
    Action,
    Card,
    ChannelClosed,
    Kind,
    MessageRef,
    Notification,
)
from claude_sessions.commands import Reply
from claude_sessions.console.choices import Choices, Offer
from claude_sessions.console.flow import Flow
from claude_sessions.console.markdown import plain, rendered
from claude_sessions.console.screen import Screen
from claude_sessions.console.text import cut, harmless
from claude_sessions.model import AskKind

CONSOLE = "console|local"
REMEMBERED = 200
STEP = 8000  # characters


@dataclass(slots=True, kw_only=True)
class Speech:
    """A block of Claude's words that is still coming."""

    session: str | None
    name: str
    flow: Flow
    shown: int = 0  # characters
    begun: bool = False


class ConsoleChannel:
    """What is printed stays: an edit prints only what is new about it.

    While one session speaks alone its lines appear as they fill; while several do, each gives out
    whole paragraphs. A change of speaker is announced by the session's name on a line of its own.
    """

    def __init__(
        self, screen: Screen, choices: Choices | None = None, *, id: str = CONSOLE
    ) -> None:
        self.id = id
        self.choices = choices or Choices()
        self._screen = screen
        self._ids = count(1)
        self._speeches: dict[str, Speech] = {}  # by message
        self._asked: deque[str] = deque(maxlen=REMEMBERED)  # approvals whose cards are here
        self._decided: dict[str, str] = {}  # card's message → what was printed of its outcome
        self._speaker: str | None = None
        self._closed = False

    async def send(self, notification: Notification) -> MessageRef:
        ref = MessageRef(channel=self.id, id=str(next(self._ids)))
        match notification.kind:
            case Kind.STREAM:
                flow = Flow(self._lines_of)
                self._speeches[ref.id] = Speech(
                    session=notification.session, name=notification.name, flow=flow
                )
                await self._speak(ref.id, notification)
            case Kind.TOOL:
                await self._print(self._under_name(notification, self._dim(notification.text)))
            case Kind.WAITING if notification.foreground and "\n" not in notification.text:
                offered = self._offer(ref.id, notification.actions)
                await self._print([*self._dim(notification.text), *offered])
                self._speaker = None
            case Kind.CARD:
                await self._ask(ref.id, notification)
            case _:
                await self._tell(ref.id, self._plain(notification.text), notification.actions)
        return ref

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        if notification.kind is Kind.STREAM:
            if ref.id in self._speeches:
                await self._speak(ref.id, notification)
            else:
                self._check()
        elif notification.card is not None:
            await self._decide(ref.id, notification, notification.card)
        else:
            await self._tell(ref.id, self._plain(notification.text), notification.actions)

    async def close(self) -> None:
        self._closed = True

    async def reply(self, reply: Reply) -> None:
        """What the daemon answers to a line typed here; a card that is open here says it itself."""
        if reply.data.get("approvalId") in self._asked:
            return
        if reply.text or reply.actions:
            await self._tell("reply", self._plain(reply.text), reply.actions)

    async def say(self, text: str) -> None:
        await self._tell("", self._plain(text), ())

    # --- words that stream

    async def _speak(self, key: str, notification: Notification) -> None:
        speech = self._speeches[key]
        text, final = notification.text, notification.final
        # Much text at once is laid out bit by bit: others get their turn in between.
        for end in range(speech.shown + STEP, len(text), STEP):
            await self._grow(speech, notification, text[:end])
        if final:
            del self._speeches[key]
        await self._grow(speech, notification, text, final=final)

    async def _grow(
        self, speech: Speech, notification: Notification, text: str, *, final: bool = False
    ) -> None:
        alone = all(s.session == speech.session for s in self._speeches.values())
        lines = speech.flow.grow(text, final=final, by_line=alone)
        speech.shown = len(text)
        if lines:
            lines = self._under_name(notification, lines, apart=not speech.begun)
            speech.begun = True
        await self._print(lines)

    def _lines_of(self, markdown: str) -> list[str]:
        if not self._screen.tty:
            return plain(markdown)
        return rendered(markdown, width=self._screen.width - 1, colour=self._screen.colour)

    def _under_name(
        self, notification: Notification, lines: Sequence[str], *, apart: bool = False
    ) -> list[str]:
        if self._speaker == notification.session:
            return ["", *lines] if apart else [*lines]
        self._speaker = notification.session
        return ["", self._screen.styled(notification.name, "bold"), *lines]

    def _live(self) -> list[str]:
        """The newest words of each who speaks, until they fill a line."""
        rows = []
        for speech in self._speeches.values():
            room = max(self._screen.width - len(speech.name) - 4, 8)
            words = " ".join(harmless(speech.flow.tail[-2 * room :]).split())
            if words:
                rows.append(f"{speech.name}: {cut(words, room)}")
        return rows

    # --- cards

    async def _ask(self, key: str, notification: Notification) -> None:
        card = notification.card
        if card is not None and card.decided:  # it was decided before it could be shown
            await self._decide(key, notification, card)
            return
        if card is not None:
            self._asked.append(card.approval_id)
        lines = self._plain(notification.text)
        if card is not None and card.kind is AskKind.PLAN:
            lines = [*lines[:1], *self._lines_of(card.preview.body)]
        elif card is not None and card.preview.kind == "diff":
            lines = [self._diff_line(line) for line in lines]
        elif card is not None and len(card.questions) == 1:
            lines = [*lines[:1], *self._plain(card.questions[0].text)]
        await self._tell(key, lines, notification.actions, card=card)

    async def _decide(self, key: str, notification: Notification, card: Card) -> None:
        self.choices.close(key)
        before = self._decided.get(key, "")
        self._decided[key] = card.decided
        if before and card.decided.startswith(before):
            new = card.decided.removeprefix(before)
            if new == SEEN:  # what Claude says next shows it; a line of its own would be noise
                self._check()
                return
            new = new.strip(" ·")
            lines = self._dim(f"{notification.name}: {new}") if new else []
            await self._print(lines)
            self._speaker = None
        else:
            await self._tell(key, self._plain(notification.text), ())

    def _diff_line(self, line: str) -> str:
        colour = {"  +": "green", "  -": "red"}.get(line[:3])
        return self._screen.styled(line, colour) if colour else line

    # --- anything else

    async def _tell(
        self,
        key: str,
        lines: Sequence[str],
        actions: Sequence[Action],
        *,
        card: Card | None = None,
    ) -> None:
        self._check()
        self._speaker = None
        await self._print(["", *lines, *self._offer(key, actions, card)])

    def _offer(self, key: str, actions: Sequence[Action], card: Card | None = None) -> list[str]:
        if not actions:
            return []
        offer = self.choices.offer(key, actions, decision=card is not None)
        return self._offered(offer, card)

    def _offered(self, offer: Offer, card: Card | None) -> list[str]:
        labels = [f"[{n}] {harmless(a.label)}" for n, a in enumerate(offer.actions, offer.first)]
        if card is not None and len(card.questions) == 1:
            told = [*card.questions[0].descriptions, *[""] * len(labels)]
            pairs = zip(labels, told, strict=False)
            return [f"  {label}" + (f" — {harmless(t)}" if t else "") for label, t in pairs]
        return _packed(labels, self._screen.width - 1)

    def _plain(self, text: str) -> list[str]:
        return harmless(text).split("\n") if text else []

    def _dim(self, text: str) -> list[str]:
        return [self._screen.styled(line, "dim") for line in self._plain(text)]

    async def _print(self, lines: Sequence[str]) -> None:
        self._check()
        try:
            await self._screen.print(lines, live=self._live())
        except OSError as error:
            raise ChannelClosed(self.id) from error

    def _check(self) -> None:
        if self._closed:
            raise ChannelClosed(self.id)


def _packed(labels: Sequence[str], width: int) -> list[str]:
    rows: list[str] = []
    for label in labels:
        if rows and len(rows[-1]) + len(label) + 3 <= width:
            rows[-1] += f"   {label}"
        else:
            rows.append(f"  {label}")
    return rows
