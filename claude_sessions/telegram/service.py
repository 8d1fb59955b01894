"""The bot put together: first its way out, for the router; then, with the pool, its door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from telegram import BotCommand, Message, Update

from claude_sessions import commands as c
from claude_sessions.attention.attention import Attention
from claude_sessions.attention.book import QuietBook
from claude_sessions.channel import Channel
from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.health import Report
from claude_sessions.people import Caller
from claude_sessions.router import Maker
from claude_sessions.settings import Settings
from claude_sessions.storage.documents import Documents
from claude_sessions.storage.mail import StoredUpdate
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address, is_chat
from claude_sessions.telegram.backlog import Backlog
from claude_sessions.telegram.bindings import Bindings
from claude_sessions.telegram.bot import PollingBot
from claude_sessions.telegram.caretaker import Caretaker
from claude_sessions.telegram.channel import TelegramChannel
from claude_sessions.telegram.chats import Chats
from claude_sessions.telegram.courier import Courier, Undelivered, connected, outcomes
from claude_sessions.telegram.door import Door
from claude_sessions.telegram.files import uploads_in
from claude_sessions.telegram.health import BotHealth, ChatHealth, report
from claude_sessions.telegram.inbox import Inbox
from claude_sessions.telegram.lists import Lists
from claude_sessions.telegram.menu import menu
from claude_sessions.telegram.morning import Morning
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.parcels import Parcels
from claude_sessions.telegram.people import People
from claude_sessions.telegram.places import Places
from claude_sessions.telegram.pressing import Presses
from claude_sessions.telegram.reception import Reception, safely
from claude_sessions.telegram.topics import Topics
from claude_sessions.telegram.voice import Transcriber
from claude_sessions.telegram.welcome import Welcome

MENU_SECONDS = 60.0

Perform = Callable[[c.Command, Caller], Awaitable[c.Reply]]
logger = structlog.get_logger(__name__)


class Telegram:
    """Made by `open_telegram`. `maker` is for the router; `serve` opens the door."""

    def __init__(
        self,
        *,
        bot: PollingBot,
        bot_id: int,
        outbox: Outbox,
        courier: Courier,
        topics: Topics,
        chats: Chats,
        log: EventLog,
        clock: Clock,
        settings: Settings,
        home: Path,
    ) -> None:
        self._bot = bot
        self._bot_id = bot_id
        self._courier = courier
        self._log = log
        self._clock = clock
        self._settings = settings
        self._home = home
        self._people = People(settings.people)
        self._topics = topics
        self._chats = chats
        self._places = Places(chats, topics=topics.on)
        self._spawned: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
        self.outbox = outbox
        self.inbox = Inbox(
            bot,
            bot_id=bot_id,
            log=log,
            clock=clock,
            handle=self._take,
            trouble=self._hindered,
        )

    @property
    def maker(self) -> Maker:
        return Maker(
            accepts=is_chat,
            make=self._channel,
            caller=self._people.answered_at,
            durable=True,
        )

    def _channel(self, channel: str) -> Channel | None:
        address = Address.of_channel(channel)
        if address is None:
            return None
        return TelegramChannel(address, self.outbox, clock=self._clock)

    async def serve(
        self, perform: Perform, fronts: Callable[[str], Sequence[str]], attention: Attention
    ) -> None:
        """Until it is cancelled."""
        self._welcome = Welcome(attention, self.outbox, fronts)
        morning = Morning(attention, self.outbox, self._people, clock=self._clock)
        parcels = Parcels(self._home / "outgoing")
        packing = parcels.packing(perform)
        self._lists = Lists(outbox=self.outbox, clock=self._clock, perform=packing)
        try:
            async with asyncio.TaskGroup() as group:
                self._spawned = lambda work, name: group.create_task(work, name=name)
                await asyncio.to_thread(parcels.sweep)
                self._open(packing, fronts)
                self._spawned(self._follow(), "telegram.lists")
                self.outbox.trouble = self._unreachable
                self._topics.forums.trouble = self._no_topics
                self.outbox.begin()
                await morning.look()  # before anybody is heard, who would then be told twice
                await self._take_up()
                self._spawned(safely(self._menu()), "telegram.menu")
                self._spawned(morning.run(), "telegram.morning")
                if self._topics.on:
                    self._spawned(self._caretaker().run(), "telegram.topics")
                await self.inbox.run()
        finally:  # letters still leave, but there is nobody to carry news of them
            self.outbox.trouble = self._topics.forums.trouble = _unheard

    async def _follow(self) -> None:
        with ExitStack() as stack:
            for see in (self._lists.see, self._door.see):
                stack.callback(self._log.observe(see))
            await self._lists.run()

    def _open(self, perform: Perform, fronts: Callable[[str], Sequence[str]]) -> None:
        self._door = Door(
            bot=self._bot,
            inbox=self.inbox,
            outbox=self.outbox,
            people=self._people,
            clock=self._clock,
            perform=perform,
            fronts=fronts,
            places=self._places,
            topics=self._topics,
            uploads=uploads_in(self._home),
            transcriber=Transcriber(self._settings.voice),
            welcome=self._welcome,
            lists=self._lists,
        )
        self._backlog = Backlog(
            inbox=self.inbox,
            outbox=self.outbox,
            places=self._places,
            minutes=self._settings.telegram.old_updates_minutes,
            people=self._people,
            hear=self._door.hear,
            retake=lambda part: self._reception.line_up(part),
        )
        presses = Presses(
            courier=self._courier,
            inbox=self.inbox,
            outbox=self.outbox,
            door=self._door,
            people=self._people,
            places=self._places,
            backlog=self._backlog,
            clock=self._clock,
            lists=self._lists,
            perform=perform,
            welcome=self._welcome,
        )
        self._reception = Reception(
            clock=self._clock,
            spawn=self._spawned,
            hear=self._backlog.hear,
            press=presses.take,
            pass_over=self._door.pass_over,
            lag=self.inbox.lag,
        )

    def _caretaker(self) -> Caretaker:
        return Caretaker(
            bindings=self._topics.bindings,
            courier=self._courier,
            outbox=self.outbox,
            log=self._log,
            clock=self._clock,
        )

    def _take(self, update: Update) -> None:
        """What it says of the chat itself holds for all that comes after it."""
        try:
            self._hear_of_chats(update)
        except SessionsError as error:  # no room: it shows again when something is sent there
            logger.warning("telegram.not_noted", why=str(error))
        self._reception.take(update)

    def _hear_of_chats(self, update: Update) -> None:
        if (message := update.message) is not None:
            for old, new in moves(message):
                self.outbox.migrated(old, new)
            self._topics.heard(message)
        if update.my_chat_member is not None:
            self._topics.forums.changed(update.my_chat_member.chat)

    async def _take_up(self) -> None:
        """What the last daemon had not finished, in its order."""
        led: dict[str, list[StoredUpdate]] = {}
        for stored, cause in await self.inbox.unfinished():
            if cause is not None:
                led.setdefault(cause, []).append(stored)
            else:
                await safely(self._resume(stored))
        for done in led.values():
            await safely(self._told(done))

    async def _resume(self, stored: StoredUpdate) -> None:
        if (update := self.inbox.read(stored)) is None:
            await self.inbox.mark([stored.update_id], "done")
            return
        if stored.state == "held":
            self._backlog.ask_again(stored.update_id)
        self._take(update)

    async def _told(self, done: Sequence[StoredUpdate]) -> None:
        """The events of this one message are in the log; only the answer is missing."""
        ids = [stored.update_id for stored in done]
        update = self.inbox.read(done[0])
        if update is None or update.message is None:
            await self.inbox.mark(ids, "done")
            return
        reply = c.Reply(text="↩️ That was done just before I was restarted.")
        await self._door.reply(self._places.of(update.message), ids, reply)

    async def _menu(self) -> None:
        commands, said = [BotCommand(name, words) for name, words in menu()], ""
        while True:
            try:
                async with outcomes():
                    await self._bot.set_my_commands(commands)
                return
            except Undelivered as error:
                if str(error) != said:
                    said = str(error)
                    logger.info("telegram.no_menu", why=said)
                await self._clock.sleep(MENU_SECONDS)

    # --- how it stands

    def health(self) -> Report:
        now, unreachable = self._clock.monotonic(), self.outbox.unreachable()
        polled, oldest = self.inbox.polled_at, self.outbox.oldest
        bot = BotHealth(
            polled=now - polled if polled is not None else None,
            trouble=self.inbox.trouble,
            waiting=self.outbox.depth,
            oldest=self._clock.now().timestamp() - oldest if oldest is not None else None,
            chats=[
                ChatHealth(
                    chat=chat,
                    waiting=waiting,
                    budget=self.outbox.budget.left(self._chats.there(chat), now),
                    room=self.outbox.budget.room(self._chats.there(chat), now),
                    unreachable=unreachable.get(chat),
                )
                for chat, waiting in self.outbox.depths.items()
            ],
        )
        return report(bot, self._called)

    def _called(self, chat: int) -> str:
        person = self._people.at(Address(chat))
        return person.name if person else f"chat {chat}"

    # --- trouble

    def _hindered(self, why: str | None) -> None:
        """Who polls with the same token takes our messages: the owners should know."""
        if why is None:
            self.outbox.back_online()
        elif "Another program" in why or "webhook" in why:
            self._tell_owners(f"⚠️ {why}", f"trouble:{self._clock.now():%Y%m%d}:{why}")

    def _unreachable(self, chat: int, words: str) -> None:
        logger.warning("telegram.unreachable", chat=chat, why=words)
        day = f"{self._clock.now():%Y%m%d}"
        text = f"⚠️ I cannot write to the chat {chat}: {words}. What is for it is kept."
        self._tell_owners(text, f"unreachable:{chat}:{day}", but=chat)

    def _no_topics(self, chat: int, words: str) -> None:
        self._tell_owners(f"⚠️ {words}", f"topics:{chat}")

    def _tell_owners(self, text: str, key: str, *, but: int | None = None) -> None:
        for owner in self._people.owners:
            if owner.chat != but:
                put = self.outbox.put(owner, key, looks.said(text, ring=True))
                self._spawned(safely(_done(put)), "telegram.owner")


def _unheard(chat: int, words: str) -> None:
    logger.warning("telegram.unreachable", chat=chat, why=words)


def moves(message: Message) -> list[tuple[int, int]]:
    """A group that becomes a supergroup says so in both."""
    moved = [(message.chat.id, message.migrate_to_chat_id)]
    moved.append((message.migrate_from_chat_id or 0, message.chat.id))
    return [(old, new) for old, new in moved if old and new]


async def _done(work: Coroutine[Any, Any, Any]) -> None:
    await work


@asynccontextmanager
async def open_telegram(
    settings: Settings,
    token: str,
    *,
    log: EventLog,
    documents: Documents,
    clock: Clock,
    home: Path,
    quiet: QuietBook,
) -> AsyncIterator[Telegram]:
    bot_id = int(token.partition(":")[0])
    own, people = settings.telegram, People(settings.people)
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(connected(token, own.base_url, own.base_file_url))
        courier, chats = Courier(bot), Chats(documents)
        topics = Topics(
            courier=courier,
            bindings=Bindings(documents),
            chats=chats,
            log=log,
            clock=clock,
            per=own.topics,
        )
        outbox = await stack.enter_async_context(
            Outbox(
                courier,
                bot=bot_id,
                log=log,
                clock=clock,
                topics=topics,
                chats=chats,
                interval=own.stream_interval_seconds,
                drafts=own.drafts,
                quiet=lambda to: quiet.hold_now(person.name if (person := people.at(to)) else None),
            )
        )
        yield Telegram(
            bot=bot,
            bot_id=bot_id,
            outbox=outbox,
            courier=courier,
            topics=topics,
            chats=chats,
            log=log,
            clock=clock,
            settings=settings,
            home=home,
        )
