"""The bot put together: first its way out, for the router; then, with the pool, its door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog
from telegram import Bot, BotCommand, Update

from claude_sessions import commands as c
from claude_sessions.channel import Channel
from claude_sessions.clock import Clock
from claude_sessions.eventlog import EventLog
from claude_sessions.people import Caller
from claude_sessions.router import Maker
from claude_sessions.settings import Settings
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.backlog import Backlog
from claude_sessions.telegram.channel import TelegramChannel
from claude_sessions.telegram.courier import Courier, Undelivered, connected, outcomes
from claude_sessions.telegram.door import Door
from claude_sessions.telegram.files import uploads_in
from claude_sessions.telegram.gather import Part
from claude_sessions.telegram.inbox import Inbox
from claude_sessions.telegram.lists import Lists
from claude_sessions.telegram.menu import menu
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.parcels import Parcels
from claude_sessions.telegram.people import People, place_of
from claude_sessions.telegram.pressing import Presses
from claude_sessions.telegram.reception import Reception
from claude_sessions.telegram.voice import Transcriber

MENU_SECONDS = 60.0

Perform = Callable[[c.Command, Caller], Awaitable[c.Reply]]
logger = structlog.get_logger(__name__)


class Telegram:
    """Made by `open_telegram`. `maker` is for the router; `serve` opens the door."""

    def __init__(
        self,
        *,
        bot: Bot,
        bot_id: int,
        outbox: Outbox,
        courier: Courier,
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
        self._spawned: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
        self._troubles = 0
        self.outbox = outbox
        self.inbox = Inbox(
            bot,
            bot_id=bot_id,
            log=log,
            clock=clock,
            handle=lambda update: self._reception.take(update),
            trouble=self._hindered,
        )

    @property
    def maker(self) -> Maker:
        return Maker(
            accepts=lambda channel: Address.of_channel(channel) is not None,
            make=self._channel,
            caller=self._people.answered_at,
            durable=True,
        )

    def _channel(self, channel: str) -> Channel | None:
        address = Address.of_channel(channel)
        return TelegramChannel(address, self.outbox, clock=self._clock) if address else None

    async def serve(self, perform: Perform, fronts: Callable[[str], Sequence[str]]) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            self._spawned = lambda work, name: group.create_task(work, name=name)
            parcels = Parcels(self._home / "outgoing")
            await asyncio.to_thread(parcels.sweep)
            packing = parcels.packing(perform)
            self._lists = Lists(outbox=self.outbox, clock=self._clock, perform=packing)
            self._open(packing, fronts, self._clock.now())
            self._spawned(self._follow_lists(), "telegram.lists")
            self.outbox.trouble = self._unreachable
            self.outbox.begin()
            await self._take_up()
            self._spawned(self._menu(), "telegram.menu")
            await self.inbox.run()

    async def _follow_lists(self) -> None:
        stop = self._log.observe(self._lists.see)
        try:
            await self._lists.run()
        finally:
            stop()

    def _open(
        self, perform: Perform, fronts: Callable[[str], Sequence[str]], started: datetime
    ) -> None:
        self._door = Door(
            bot=self._bot,
            inbox=self.inbox,
            outbox=self.outbox,
            people=self._people,
            clock=self._clock,
            perform=perform,
            fronts=fronts,
            bound=lambda address: None,
            uploads=uploads_in(self._home),
            transcriber=Transcriber(self._settings.voice),
            lists=self._lists,
        )
        self._backlog = Backlog(
            inbox=self.inbox,
            outbox=self.outbox,
            started=started,
            minutes=self._settings.telegram.old_updates_minutes,
            hear=self._door.hear,
            heeded=self._door.heeds,
        )
        presses = Presses(
            courier=self._courier,
            inbox=self.inbox,
            outbox=self.outbox,
            door=self._door,
            people=self._people,
            backlog=self._backlog,
            lists=self._lists,
            perform=perform,
        )
        self._reception = Reception(
            clock=self._clock,
            spawn=self._spawned,
            hear=self._backlog.hear,
            press=presses.take,
            pass_over=self._door.pass_over,
        )

    async def _take_up(self) -> None:
        """What the last daemon had not finished, in its order."""
        for stored, carried_out in await self.inbox.unfinished():
            update = self.inbox.read(stored)
            if carried_out:
                await self._told(update)
            elif stored.state == "held" and update.message is not None:
                part = Part(update_id=update.update_id, message=update.message, at=0.0)
                await self._backlog.hold([part])
            else:
                self._reception.take(update)

    async def _told(self, update: Update) -> None:
        """Its events are in the log; only the answer is missing."""
        message = update.message
        if message is None:
            await self.inbox.mark([update.update_id], "done")
            return
        reply = c.Reply(text="↩️ That was done just before I was restarted.")
        await self._door.reply(place_of(message), [update.update_id], reply)

    async def _menu(self) -> None:
        commands = [BotCommand(name, words) for name, words in menu()]
        while True:
            try:
                async with outcomes():
                    await self._bot.set_my_commands(commands)
                return
            except Undelivered as error:
                logger.info("telegram.no_menu", why=str(error))
                await self._clock.sleep(MENU_SECONDS)

    # --- trouble

    def _hindered(self, why: str | None) -> None:
        """Who polls with the same token takes our messages: the owners should know."""
        self._troubles += 1
        if why is not None and "Another program" in why:
            self._tell_owners(f"⚠️ {why}", f"trouble:{self._clock.now().timestamp():.0f}")

    def _unreachable(self, chat: int, words: str) -> None:
        logger.warning("telegram.unreachable", chat=chat, why=words)
        day = f"{self._clock.now():%Y%m%d}"
        text = f"⚠️ I cannot write to the chat {chat}: {words}. What is for it is kept."
        self._tell_owners(text, f"unreachable:{chat}:{day}", but=chat)

    def _tell_owners(self, text: str, key: str, *, but: int | None = None) -> None:
        for owner in self._people.owners:
            if owner.chat != but:
                put = self.outbox.put(owner, key, looks.said(text, ring=True))
                self._spawned(_done(put), "telegram.owner")


async def _done(work: Coroutine[Any, Any, Any]) -> None:
    await work


@asynccontextmanager
async def open_telegram(
    settings: Settings, token: str, *, log: EventLog, clock: Clock, home: Path
) -> AsyncIterator[Telegram]:
    bot_id = int(token.partition(":")[0])
    own = settings.telegram
    async with AsyncExitStack() as stack:
        bot = await stack.enter_async_context(connected(token, own.base_url, own.base_file_url))
        courier = Courier(bot)
        outbox = await stack.enter_async_context(
            Outbox(
                courier,
                bot=bot_id,
                log=log,
                clock=clock,
                interval=own.stream_interval_seconds,
                drafts=own.drafts,
            )
        )
        yield Telegram(
            bot=bot,
            bot_id=bot_id,
            outbox=outbox,
            courier=courier,
            log=log,
            clock=clock,
            settings=settings,
            home=home,
        )
