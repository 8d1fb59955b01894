"""From events to notifications: who hears what, and when.

The router follows the log from now on; for channels that must miss nothing, from where it was when
the last daemon ended, and all it tells has a key by which a repetition is known. A channel that has
a session in the foreground hears all of it; the channel a session came from hears, in the
background, only what may need a person. Words stream; everything else is told once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import structlog

from claude_sessions import cards
from claude_sessions import events as e
from claude_sessions.approvals.desk import CANCELLED
from claude_sessions.channel import SEEN, Channel, ChannelClosed, Kind, Notification
from claude_sessions.clock import Clock
from claude_sessions.commands import timetable
from claude_sessions.errors import NotFound, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.feed import Feed, Item, OpenBlocks
from claude_sessions.outlet import Outlet, Told
from claude_sessions.state import SessionState, fold
from claude_sessions.watch import Watch

READER = "router"
PLACE_SECONDS = 1.0

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes channels when they are needed. `caller`: who is answered at the door of that one."""

    accepts: Callable[[str], bool]
    make: Callable[[str], Channel | None]
    caller: Callable[[str], str | None] = lambda _: None
    durable: bool = False
    after: int = 0  # events up to there are not their business


class NotificationRouter:
    """Open it with `async with`, after the log. Leaving delivers what is on the way, in bounds.

    `states` gives the live state of a session; it is asked once for each session that the router
    has not seen from its beginning.
    """

    def __init__(
        self,
        *,
        log: EventLog,
        states: Callable[[str], SessionState | None],
        clock: Clock,
        throttle_seconds: float = 0.5,
        long_running_minutes: float = 10,
        waiting_bound: int = 10_000,
        close_seconds: float = 5.0,
        makers: Sequence[Maker] = (),
    ) -> None:
        self._log = log
        self._states = states
        self._clock = clock
        self._throttle_seconds = throttle_seconds
        self._long_running_seconds = long_running_minutes * 60
        self._waiting_bound = waiting_bound
        self._close_seconds = close_seconds
        self._outlets: dict[str, Outlet] = {}
        self._deliveries: dict[str, asyncio.Task[None]] = {}
        self._reminders: dict[str, asyncio.Task[None]] = {}
        self._watches: dict[str, Watch] = {}
        self._greetings: dict[str, Told] = {}
        self._open = OpenBlocks()
        self._makers = tuple(makers)
        self._taken = 0  # the last event that was read
        self._past = 0  # up to here, events are from before this daemon
        self._kept = 0

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        self._past = self._log.head
        self._taken = self._kept = self._beginning()
        self._feed = await self._log.follow(after=self._taken, signals=True).__aenter__()
        self._reader = self._spawn(self._read(self._feed), "router")
        self._keeper = self._spawn(self._keep_place(), "router.place")
        return self

    def _beginning(self) -> int:
        """Where the last daemon's router was; earlier, if it left something unfinished."""
        if not any(maker.durable for maker in self._makers):
            return self._past
        mail = self._log.store.mail
        place, unfinished = mail.place(READER), mail.oldest_open()
        began = self._past if place is None else place
        return min(began, self._past if unfinished is None else unfinished - 1)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._drain()
        finally:
            self._feed.close()
            self._keeper.cancel()
            await self._save_place()
            for session in list(self._reminders):
                self._calm(session)
            for task in self._deliveries.values():
                logger.warning("channel.undelivered", channel=task.get_name())
                task.cancel()
            await self._group.__aexit__(kind, error, trace)

    async def _drain(self) -> None:
        self._feed.finish()
        await asyncio.wait([self._reader], timeout=self._close_seconds)
        for outlet in self._outlets.values():
            outlet.finish()
        if self._deliveries:
            await asyncio.wait(self._deliveries.values(), timeout=self._close_seconds)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        return self._group.create_task(work, name=name)

    @property
    def read(self) -> int:
        """Up to here in the log."""
        return self._taken

    # --- channels

    def attach(
        self, channel: Channel, *, after: int | None = None, caller: str | None = None
    ) -> asyncio.Task[None]:
        """It hears of events after the place `after`; None: from now on.

        A place in the past adds nothing yet: a channel that must miss nothing reads the log itself.
        `caller` is the one whose commands are answered at this channel's own door: a launch, a
        kill or an undo of theirs is not told to it a second time. What is given back is done once
        nothing more will be sent to it: it was detached, has closed, or was cut for being slow.
        """
        if channel.id in self._outlets:
            raise ValueError(f"{channel.id} is attached already")
        self._attach(channel, self._log.head if after is None else after, caller, durable=False)
        return self._deliveries[channel.id]

    def _attach(self, channel: Channel, after: int, caller: str | None, *, durable: bool) -> Outlet:
        outlet = Outlet(
            channel,
            after=after,
            caller=caller,
            clock=self._clock,
            throttle_seconds=self._throttle_seconds,
            bound=None if durable else self._waiting_bound,
            spawn=self._spawn,
            place=lambda: self._taken,
        )
        self._outlets[channel.id] = outlet
        self._deliveries[channel.id] = self._spawn(self._serve(outlet), f"channel:{channel.id}")
        if (greeting := self._greetings.pop(channel.id, None)) is not None:
            outlet.greet(greeting)
        return outlet

    def _outlet(self, channel_id: str | None) -> Outlet | None:
        """The one to that channel; some channels come into being when they are needed."""
        outlet = self._outlets.get(channel_id or "")
        if outlet is not None or channel_id is None:
            return outlet
        for maker in self._makers:
            if maker.accepts(channel_id) and (channel := maker.make(channel_id)) is not None:
                return self._attach(
                    channel, maker.after, maker.caller(channel_id), durable=maker.durable
                )
        return None

    def serve(self, accepts: Callable[[str], bool], make: Callable[[str], Channel]) -> None:
        """A channel it accepts is made, and attached, when there first is something for it."""
        self._makers = (*self._makers, Maker(accepts=accepts, make=make, after=self._log.head))

    def reaches(self, channel_id: str) -> bool:
        known = channel_id in self._outlets
        return known or any(maker.accepts(channel_id) for maker in self._makers)

    def greet(
        self, channel_id: str, greeting: Notification, told: Callable[[], Awaitable[None]]
    ) -> None:
        """To be told to that channel before anything else; `told` follows once it is out."""
        item = Told(greeting, told)
        if (outlet := self._outlet(channel_id)) is not None:
            outlet.greet(item)
        else:
            self._greetings[channel_id] = item

    async def detach(self, channel_id: str) -> None:
        """Nothing more is sent to it once this returns."""
        task = self._deliveries.get(channel_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _serve(self, outlet: Outlet) -> None:
        channel_id = outlet.channel.id
        try:
            await outlet.run()
        except ChannelClosed:
            logger.info("channel.closed", channel=channel_id)
        finally:
            del self._outlets[channel_id], self._deliveries[channel_id]

    # --- reading

    async def _read(self, feed: Feed) -> None:
        async for item in feed:
            try:
                if isinstance(item, e.Event):
                    await self._recall(item)
                    self._taken = item.seq
                self._take(item)
            except Exception:
                # What one session's facts do to us costs that session's news, nobody else's.
                logger.exception("router.failed", session=item.session)
                self._forget(item.session)

    def _take(self, item: Item) -> None:
        match item:
            case e.StorageTrouble():
                notice = Notification(
                    kind=Kind.NOTICE,
                    session=None,
                    name="",
                    text=item.message,
                    urgent=self._log.trouble is not None,  # else it is over
                )
                for outlet in self._outlets.values():
                    outlet.tell(notice)
            case e.AssistantDelta():
                self._open.take(item)
                if (watch := self._watch(item.session)) is not None:
                    for outlet in self._front(watch):
                        self._stream(outlet, watch, item.block)
            case e.Event(session=str(session)):
                if (watch := self._watch(session, item)) is not None:
                    self._hear(watch, item)
                self._open.take(item)
            case e.Event(payload=e.ScheduleSkipped(quiet=False) as skipped):
                made_at = self._outlet(skipped.origin)
                if made_at is not None and made_at.after < item.seq:
                    made_at.tell(keyed(timetable.skipped(skipped), item))

    async def _recall(self, event: e.Event) -> None:
        """A session in an event of the past is seen as it was right before it."""
        session = event.session
        if event.seq > self._past or session is None or session in self._watches:
            return
        with suppress(NotFound):  # it begins with this event
            self._watches[session] = Watch(await self._log.state_at(session, event.seq - 1))

    def _watch(self, session: str, event: e.Event | None = None) -> Watch | None:
        watch = self._watches.get(session)
        if watch is None:
            born = event is not None and isinstance(event.payload, e.SessionCreated)
            state = fold(None, event) if event and born else self._states(session)
            if state is not None:
                watch = self._watches[session] = Watch(state)
        return watch

    def _forget(self, session: str | None) -> None:
        watch = self._watches.pop(session or "", None)
        if watch is not None:
            self._calm(watch.state.id)
            for outlet in self._outlets.values():
                outlet.leave(watch.state.id)
                for approval_id in watch.cards:
                    outlet.forget_card(approval_id)

    # --- who hears what

    def _front(self, watch: Watch, event: e.Event | None = None) -> Iterator[Outlet]:
        """Those that had the session in the foreground when the event happened."""
        for channel, since in watch.state.foreground.items():
            outlet = self._outlet(channel)
            if outlet is not None and (event is None or max(since, outlet.after) < event.seq):
                yield outlet

    def _back(self, watch: Watch, event: e.Event | None = None) -> Iterator[Outlet]:
        """The channel it came from, when that one is not watching."""
        origin = watch.state.origin or ""
        outlet = self._outlet(origin)
        if outlet is None or origin in watch.state.foreground:
            return
        if event is None or outlet.after < event.seq:
            yield outlet

    def _whose(self, watch: Watch, event: e.Event) -> Iterator[Outlet]:
        """Where whoever caused it reads, should that be neither of those."""
        near = {watch.state.origin, *watch.state.foreground}
        for outlet in self._outlets.values():
            theirs = outlet.caller is not None and outlet.caller == event.caller
            if theirs and outlet.channel.id not in near and outlet.after < event.seq:
                yield outlet

    def _hear(self, watch: Watch, event: e.Event) -> None:
        news = watch.take(event)
        self._follow_words(watch, event)
        self._follow_cards(watch, event)
        for outlet in self._front(watch, event):
            self._tell(outlet, news.front, event)
        for outlet in self._back(watch, event):
            self._tell(outlet, news.back, event)
        if isinstance(event.payload, e.Noticed | e.SessionEnded):
            for outlet in self._whose(watch, event):
                self._tell(outlet, news.back, event)
        self._follow_turns(watch, event)
        match event.payload:
            case e.TurnStarted():
                self._remind_later(watch)
            case e.TurnCompleted() | e.TurnInterrupted():
                self._calm(watch.state.id)
            case e.SessionAsleep() | e.SessionParked() | e.SessionEnded():
                self._forget(watch.state.id)

    def _tell(self, outlet: Outlet, news: Notification | None, event: e.Event) -> None:
        if news is not None and not _answered_there(outlet, news, event):
            outlet.tell(replace(keyed(news, event), answered_at=_answered_at(news, event)))

    def _follow_turns(self, watch: Watch, event: e.Event) -> None:
        """A channel that shows a turn while it runs has to know when it begins and is over."""
        match event.payload:
            case e.TurnStarted():
                sign = watch.sign(Kind.WORKING)
            case e.TurnCompleted() | e.TurnInterrupted() if watch.state.turn is None:
                sign = watch.sign(Kind.CURTAIN)
            case e.SessionAsleep() | e.SessionParked() | e.SessionEnded():
                sign = watch.sign(Kind.CURTAIN)
            case e.Backgrounded(channel=channel):
                if (left := self._outlets.get(channel)) is not None and left.durable:
                    left.tell(keyed(watch.sign(Kind.CURTAIN), event))
                return
            case _:
                return
        for outlet in self._front(watch, event):
            if outlet.durable:
                outlet.tell(keyed(sign, event))

    # --- words that stream

    def _follow_words(self, watch: Watch, event: e.Event) -> None:
        session = watch.state.id
        match event.payload:
            case e.AssistantMessage(parent_tool_use_id=None, text=text, block=block):
                for outlet in self._front(watch, event):
                    look = keyed(watch.stream(), event)
                    outlet.finish_stream((session, block or event.id), look, text)
            case e.Foregrounded(channel=channel) if channel in self._outlets:
                for delta in self._open.deltas(session):
                    if isinstance(delta, e.AssistantDelta):
                        self._stream(self._outlets[channel], watch, delta.block)
            case e.Backgrounded(channel=channel) if channel in self._outlets:
                self._outlets[channel].leave(session)
            case e.TurnCompleted() | e.TurnInterrupted() | e.SessionAsleep() | e.SessionEnded():
                for outlet in self._outlets.values():
                    outlet.leave(session)

    def _stream(self, outlet: Outlet, watch: Watch, block: str) -> None:
        session = watch.state.id
        look = replace(watch.stream(), key=f"block:{block}", seq=self._taken)
        outlet.stream((session, block), look, lambda: self._text(session, block))

    def _text(self, session: str, block: str) -> str:
        return next((d.text for d in self._open.deltas(session) if d.block == block), "")

    # --- cards

    def _follow_cards(self, watch: Watch, event: e.Event) -> None:
        match event.payload:
            case e.ApprovalRequested() | e.InputRequested() as asked:
                card = replace(cards.asked(watch.state, asked), seq=event.seq)
                watch.cards[asked.approval_id] = card
                watch.card_of[asked.tool_use_id] = asked.approval_id
                for outlet in (*self._front(watch, event), *self._back(watch, event)):
                    outlet.show(asked.approval_id, card)
            case e.Foregrounded(channel=channel) if channel in self._outlets:
                for approval_id, card in watch.open_cards().items():
                    if not self._outlets[channel].has_card(approval_id):
                        self._outlets[channel].show(approval_id, card)
            case e.ApprovalResolved() | e.InputReceived() as answer:
                self._edit_card(watch, answer.approval_id, cards.decided(answer, event.at))
                if answer.decision == CANCELLED:
                    self._drop_card(watch, answer.approval_id)
            case e.ApprovalDelivered(approval_id=approval_id):
                self._edit_card(watch, approval_id, cards.GIVEN)
            case e.ToolCompleted(tool_use_id=tool_use_id) if tool_use_id in watch.card_of:
                approval_id = watch.card_of[tool_use_id]
                if approval_id in watch.decided_cards():
                    self._edit_card(watch, approval_id, SEEN)
                    self._drop_card(watch, approval_id)
            case e.TurnCompleted() | e.TurnInterrupted() if watch.state.turn is None:
                for approval_id in watch.decided_cards():
                    if not watch.cards[approval_id].final:
                        self._edit_card(watch, approval_id, cards.NOT_GIVEN)
                    self._drop_card(watch, approval_id)

    def _edit_card(self, watch: Watch, approval_id: str, said: str) -> None:
        if approval_id not in watch.cards:
            return  # a rule or the mode decided; nobody was asked
        card = watch.cards[approval_id] = cards.with_outcome(watch.cards[approval_id], said)
        for outlet in self._outlets.values():
            if outlet.has_card(approval_id):
                outlet.show(approval_id, card)

    def _drop_card(self, watch: Watch, approval_id: str) -> None:
        watch.cards.pop(approval_id, None)
        watch.card_of = {tool: card for tool, card in watch.card_of.items() if card != approval_id}
        for outlet in self._outlets.values():
            outlet.forget_card(approval_id)

    # --- how far it has read

    async def _keep_place(self) -> None:
        while True:
            await self._clock.sleep(PLACE_SECONDS)
            await self._save_place()

    async def _save_place(self) -> None:
        durable = [outlet for outlet in self._outlets.values() if outlet.durable]
        place = min([self._taken, *(outlet.settled for outlet in durable)])
        if place == self._kept or not any(maker.durable for maker in self._makers):
            return
        try:
            await self._log.change(lambda store: store.mail.keep_place(READER, place))
            self._kept = place
        except SessionsError as error:  # no room: then some is told again, and known by its key
            logger.warning("router.place_not_kept", why=str(error))

    # --- turns that take long

    def _remind_later(self, watch: Watch) -> None:
        self._calm(watch.state.id)
        task = self._spawn(self._remind(watch), f"reminder:{watch.state.id}")
        self._reminders[watch.state.id] = task

    async def _remind(self, watch: Watch) -> None:
        waited = 0.0
        while True:
            await self._clock.sleep(self._long_running_seconds)
            waited += self._long_running_seconds
            outlets = list(self._back(watch))
            reminder = watch.remind(waited) if outlets else None
            if reminder is not None:
                for outlet in outlets:
                    outlet.tell(replace(reminder, key=f"long:{watch.state.run}", seq=self._taken))
                return

    def _calm(self, session: str) -> None:
        if (task := self._reminders.pop(session, None)) is not None:
            task.cancel()


def keyed(news: Notification, event: e.Event) -> Notification:
    return replace(news, key=news.key or f"event:{event.seq}", seq=event.seq)


def _answered_there(outlet: Outlet, news: Notification, event: e.Event) -> bool:
    """Whoever launched or killed was answered at the door, which is where this would be told."""
    if not _is_answered(news, event):
        return False
    return _answered_at(news, event) == outlet.channel.id or event.caller == outlet.caller


def _answered_at(news: Notification, event: e.Event) -> str:
    """Empty: nowhere that is known."""
    return (event.caused_by or "").partition("#")[0] if _is_answered(news, event) else ""


def _is_answered(news: Notification, event: e.Event) -> bool:
    answered = news.kind in (Kind.LAUNCHED, Kind.KILLED) or isinstance(event.payload, e.TurnUndone)
    return answered and event.caller is not None
