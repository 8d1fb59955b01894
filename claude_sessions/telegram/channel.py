"""A chat as a channel: a running turn is one message, edited; everything that matters is stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from claude_sessions.channel import Action, ChannelClosed, Kind, MessageRef, Notification
from claude_sessions.clock import Clock
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.letters import Content, Letter
from claude_sessions.telegram.outbox import Outbox

ENDS_A_TURN = frozenset(
    {Kind.WAITING, Kind.CURTAIN, Kind.COMPLETED, Kind.FAILED, Kind.KILLED, Kind.LIMIT}
)


ENDS_A_RUN = frozenset({Kind.COMPLETED, Kind.FAILED, Kind.KILLED})


@dataclass(slots=True, kw_only=True)
class Live:
    """A turn as this chat sees it run: what was said and done, in its order."""

    session: str
    name: str
    key: str
    seq: int
    began: datetime
    pieces: dict[str, looks.Piece] = field(default_factory=dict)
    letter: Letter | None = None

    @property
    def told(self) -> bool:
        """All of it, before a restart: of what is told again, the beginning may be missing."""
        return self.letter is not None and self.letter.id > 0 and not self.letter.open

    def content(self, now: datetime) -> Content:
        stop = Action(label="Stop", line=f"/interrupt {self.session}")
        seconds = max((now - self.began).total_seconds(), 0.0)
        return looks.running(self.name, seconds, list(self.pieces.values()), (stop,))


class TelegramChannel:
    """`send` returns when the message is stored, or, of a running turn, when it is known."""

    def __init__(
        self,
        to: Address,
        outbox: Outbox,
        *,
        clock: Clock,
    ) -> None:
        self.id = to.channel
        self._to = to
        self._outbox = outbox
        self._clock = clock
        self._lives: dict[str, Live] = {}  # by session
        self._after: dict[str, str] = {}  # session → the card after which its turn goes on
        self._past: dict[str, Live] = {}  # session → what stands above the card, or went back
        self._seen: dict[str, str | None] = {}  # session → the turn that it saw begin
        self._count = 0
        self._closed = False

    async def send(self, notification: Notification) -> MessageRef:
        self._count += 1
        ref = MessageRef(channel=self.id, id=str(self._count))
        await self._show(ref, notification)
        return ref

    async def edit(self, ref: MessageRef, notification: Notification) -> None:
        await self._show(ref, notification)

    async def close(self) -> None:
        self._closed = True

    async def _show(self, ref: MessageRef, news: Notification) -> None:
        if self._closed:
            raise ChannelClosed(self.id)
        if self._is_known(news):
            return
        session = news.session or ""
        match news.kind:
            case Kind.WORKING:
                self._after.pop(session, None)
                self._past.pop(session, None)
                self._seen[session] = news.turn
                self._outbox.typing(self._to, session)
            case Kind.STREAM if news.turn is not None:
                await self._grow(session, news, ref.id, looks.Words(news.text))
            case Kind.TOOL if news.turn is not None:
                await self._grow(session, news, ref.id, looks.Tool(news.text))
            case Kind.CARD:
                await self._card(session, news)
            case Kind.WAITING if self._takes_its_place(session, news):
                await self._answer(session, news)
            case Kind.CURTAIN:
                await self._finish(session, news.seq)
                if news.turn is None:  # over: nothing more is said of it
                    self._past.pop(session, None)
                else:
                    self._after[session] = news.key  # should it come back, it goes on below
            case _:
                if news.kind in ENDS_A_TURN:
                    await self._finish(session, news.seq)
                if news.kind in ENDS_A_RUN:
                    self._run_is_over(session)
                if not await self._has_taken_its_place(session, news):
                    await self._tell(news)

    def _run_is_over(self, session: str) -> None:
        for kept in (self._past, self._after, self._seen):
            kept.pop(session, None)

    def _takes_its_place(self, session: str, news: Notification) -> bool:
        return news.foreground and session in self._lives and not looks.failed(news)

    def _is_known(self, news: Notification) -> bool:
        """It was answered in the very topic where this would be told."""
        at = Address.of_channel(news.answered_at)
        if at is None or at.chat != self._to.chat or at.thread is None:
            return False
        return self._outbox.topics.at_home(at, news.session)

    async def _has_taken_its_place(self, session: str, news: Notification) -> bool:
        """Before a restart, and only this last event of the turn is told once more."""
        answer = news.kind is Kind.WAITING and news.foreground and not looks.failed(news)
        if not answer or self._knows(session, news):
            return False
        turn = f"turn:{session}:{news.turn}:"
        before = await self._outbox.before(self._to, session, turn, news.seq)
        return before is not None and before.startswith(turn)

    def _knows(self, session: str, news: Notification) -> bool:
        """Whether it has heard all that this turn has said."""
        return session in self._after or self._seen.get(session) == news.turn

    # --- a turn

    async def _grow(self, session: str, news: Notification, ref: str, piece: looks.Piece) -> None:
        if (past := self._past.get(session)) is not None and ref in past.pieces:
            past.pieces[ref] = piece  # the end of a block, after the card that it led to
            await self._end(past)
            return
        live = self._lives.get(session)
        if live is None:
            live = self._lives[session] = await self._begun(session, news)
        live.pieces[ref] = piece
        if live.letter is None:
            content = live.content(self._clock.now())
            live.letter = await self._put(live.key, content, news, seq=live.seq, open=True)
        grown = live
        self._outbox.still(self._to, session)
        self._outbox.grow(live.letter, lambda: grown.content(self._clock.now()))

    async def _begun(self, session: str, news: Notification) -> Live:
        return Live(
            session=session,
            name=news.name,
            key=await self._place_of(session, news),
            seq=news.seq,
            began=news.began or self._clock.now(),
        )

    async def _place_of(self, session: str, news: Notification) -> str:
        """Which letter goes on. After a restart only the end of a turn may be told once more."""
        turn = f"turn:{session}:{news.turn}:"
        if self._knows(session, news):
            return turn + self._after.get(session, "")
        before = await self._outbox.before(self._to, session, turn, news.seq) or turn
        return turn + before.removeprefix("card:") if before.startswith("card:") else before

    async def _answer(self, session: str, news: Notification) -> None:
        """The finished answer takes the place of the running turn; but an edit does not ring."""
        live = self._lives.pop(session)
        self._outbox.still(self._to, session)
        if live.told:
            return
        pieces = list(live.pieces.values())
        content = looks.finished(pieces, news.text, news.actions, live.name)
        letter = await self._put(live.key, content, news, seq=live.seq)
        if looks.rings(news) and not self._outbox.quiet(self._to):
            await self._ring(letter, news)

    async def _ring(self, letter: Letter, news: Notification) -> None:
        done = looks.said(f"✅ {news.text.partition(' · ')[0]} is done", name=news.name)
        reply_to = letter.messages[0] if letter.messages else None
        content = Content(parts=done.parts, ring=True, reply_to=reply_to)
        await self._put(f"{news.key}:ring", content, news, seq=news.seq)

    async def _finish(self, session: str, seq: int) -> None:
        """It is over, or looked at elsewhere: what it said stays, and nothing is left to press."""
        live = self._lives.pop(session, None)
        self._outbox.still(self._to, session)
        if live is not None and live.letter is not None and not live.told:
            await self._end(live)
            self._past[session] = live
        for left in self._outbox.growing(self._to, f"turn:{session}:"):
            if left.seq <= seq:  # of a daemon that is no more, and had stored nothing of its words
                await self._close(left.key, replace(left.content, actions=(), late=False), session)

    async def _end(self, live: Live) -> None:
        content = looks.finished(list(live.pieces.values()), "", name=live.name)
        await self._close(live.key, content, live.session)

    async def _close(self, key: str, content: Content, session: str) -> None:
        await self._outbox.put(self._to, key, content, session=session, open=False)

    # --- the rest

    async def _card(self, session: str, news: Notification) -> None:
        """What the turn says after a card stands below it."""
        assert news.card is not None
        if not news.card.decided:
            await self._finish(session, news.seq)
            self._after[session] = news.card.approval_id
        await self._put(news.key, self._looking(news), news, seq=news.seq, open=not news.final)

    async def _tell(self, news: Notification) -> None:
        key = news.key or f"at:{self._clock.now().timestamp()}:{self._count}"
        await self._put(key, self._looking(news), news, seq=news.seq)

    def _looking(self, news: Notification) -> Content:
        return looks.told(news, ring=looks.rings(news))

    async def _put(
        self, key: str, content: Content, news: Notification, *, seq: int, open: bool = False
    ) -> Letter:
        return await self._outbox.put(
            self._to, key, content, seq=seq, session=news.session, open=open
        )
