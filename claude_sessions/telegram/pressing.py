"""Presses: who pressed is checked, not only where; and each is answered at once, and honestly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from telegram import CallbackQuery

from claude_sessions import commands as c
from claude_sessions.cause import because
from claude_sessions.commands.chat import parse
from claude_sessions.errors import SessionsError
from claude_sessions.people import Caller
from claude_sessions.storage.mail import StoredButton
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.backlog import Backlog
from claude_sessions.telegram.courier import Courier, Undelivered
from claude_sessions.telegram.door import Door
from claude_sessions.telegram.inbox import Inbox, cause_of
from claude_sessions.telegram.letters import Content
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import People
from claude_sessions.telegram.places import Places
from claude_sessions.telegram.render import plain

AT_ONCE = 0.08  # seconds: what takes longer is answered by a message
TOAST = 180
OLD = "This button is from long ago. /sessions shows what there is now."
ELSEWHERE = "This button belongs to another chat."
CHANGED = "That has changed since: the message shows what can be done now."

logger = structlog.get_logger(__name__)


class Presses:
    def __init__(
        self,
        *,
        courier: Courier,
        inbox: Inbox,
        outbox: Outbox,
        door: Door,
        people: People,
        places: Places,
        backlog: Backlog,
        perform: Callable[[c.Command, Caller], Awaitable[c.Reply]],
    ) -> None:
        self._courier = courier
        self._inbox = inbox
        self._outbox = outbox
        self._door = door
        self._people = people
        self._places = places
        self._backlog = backlog
        self._perform = perform

    async def take(self, update_id: int, query: CallbackQuery) -> None:
        person = self._people.find(query.from_user)
        message = query.message
        if person is None or message is None or query.data is None:
            await self._inbox.mark([update_id], "done")
            return
        button = await self._outbox.button(query.data)
        chat = self._places.chat(message.chat.id)
        problem = await self._problem(button, chat, message.message_id)
        if button is None or problem is not None:
            await self._toast(query, problem or OLD)
            await self._inbox.mark([update_id], "done")
            return
        at = self._places.pressed(Address.read(button.chat), message)
        caller = self._people.caller(person, self._places.channel(at))
        if button.line.startswith("/backlog "):
            text = await self._backlog.decide(button.line, query.from_user.id)
            await self._toast(query, text)
            await self._inbox.mark([update_id], "done")
        elif button.needs_text:
            await self._ask(update_id, query, button, at)
        else:
            await self._act(update_id, query, button, at, caller)

    async def _problem(self, button: StoredButton | None, chat: int, message: int) -> str | None:
        if button is None:
            return OLD
        if Address.read(button.chat).chat != chat:
            return ELSEWHERE
        letter = await self._outbox.letter_at(chat, message)
        if letter is None:
            await self._outbox.adopt(button.letter, chat, message)
        if button.current or button.key.startswith("card:"):
            return None  # of a card, the desk knows who was first
        return CHANGED

    async def _ask(
        self, update_id: int, query: CallbackQuery, button: StoredButton, at: Address
    ) -> None:
        """The answer is the reply to this, or what they say next."""
        self._door.ask(at, query.from_user.id, button.line)
        content = Content(parts=(plain(f"{button.label}: reply with the words."),), ask=True)
        key = f"ask:{button.token}:{update_id}"
        await self._outbox.put(at, key, content, session=button.session, done=[update_id])
        await self._toast(query, "")

    async def _act(
        self,
        update_id: int,
        query: CallbackQuery,
        button: StoredButton,
        at: Address,
        caller: Caller,
    ) -> None:
        with because(cause_of(at.channel, [update_id])):
            work = asyncio.ensure_future(self._carry_out(button.line, caller))
        await asyncio.wait([work], timeout=AT_ONCE)
        if not work.done():
            await self._toast(query, "")
            reply = await work
            await self._door.reply(at, [update_id], reply)
            return
        reply = work.result()
        if _fits_a_toast(reply):
            await self._toast(query, reply.text)
            await self._inbox.mark([update_id], "done")
        else:
            await self._toast(query, "")
            await self._door.reply(at, [update_id], reply)

    async def _carry_out(self, line: str, caller: Caller) -> c.Reply:
        try:
            return await self._perform(parse(line), caller)
        except SessionsError as error:
            return c.Reply(text=str(error), actions=error.actions)
        except Exception as error:
            logger.exception("telegram.press_failed")
            return c.Reply(text=f"That went wrong ({type(error).__name__}). The log says more.")

    async def _toast(self, query: CallbackQuery, text: str) -> None:
        try:
            await self._courier.answer(query.id, text)
        except Undelivered as error:  # too old: the card says it all the same
            logger.info("telegram.press_unanswered", why=str(error))


def _fits_a_toast(reply: c.Reply) -> bool:
    """A card says by itself what became of it."""
    if "approvalId" in reply.data:
        return True
    return len(reply.text) <= TOAST and "\n" not in reply.text and not reply.actions
