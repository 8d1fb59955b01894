"""Presses: who pressed is checked, not only where; and each is answered at once, and honestly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from telegram import CallbackQuery

from claude_sessions import commands as c
from claude_sessions.cause import because
from claude_sessions.clock import Clock
from claude_sessions.commands.chat import parse
from claude_sessions.errors import Forbidden, SessionsError, UsageError
from claude_sessions.people import Caller
from claude_sessions.storage.mail import StoredButton
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.backlog import Backlog
from claude_sessions.telegram.courier import Courier, Lost, Undelivered, Unreached
from claude_sessions.telegram.door import Door
from claude_sessions.telegram.inbox import Inbox, cause_of
from claude_sessions.telegram.letters import Content
from claude_sessions.telegram.lists import Lists
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import People
from claude_sessions.telegram.places import Places
from claude_sessions.telegram.render import plain
from claude_sessions.telegram.welcome import Welcome

AT_ONCE = 0.08  # seconds: what takes longer is answered by a message
TOAST = 180
TWICE = 2.0  # seconds in which a finger that trembles presses once
OLD = "This button is from long ago. /sessions shows what there is now."
AWAY = "You pressed “{}” while I was away. Press it again if you still want it."
ELSEWHERE = "This button belongs to another chat."
TWICE_SAID = "Pressed twice: the first press counts."
NOT_HERE = "This button belongs to another message."
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
        clock: Clock,
        lists: Lists,
        perform: Callable[[c.Command, Caller], Awaitable[c.Reply]],
        welcome: Welcome,
    ) -> None:
        self._courier = courier
        self._inbox = inbox
        self._outbox = outbox
        self._door = door
        self._people = people
        self._places = places
        self._backlog = backlog
        self._clock = clock
        self._lists = lists
        self._perform = perform
        self._welcome = welcome
        self._pressed: dict[tuple[str, int], float] = {}  # button, person → when

    async def take(self, update_id: int, query: CallbackQuery, late: bool) -> None:
        """`late`: it may be from long ago, so that its person may have other wishes by now."""
        try:
            await self._take(update_id, query, late)
        except SessionsError as error:  # there is no room to write down what became of it
            logger.warning("telegram.press_failed", why=str(error))
            await self._toast(query, str(error))
        person, message = self._people.find(query.from_user), query.message
        if person is not None and message is not None:  # after it: a press is answered at once
            at = Address(self._places.chat(message.chat.id))
            await self._welcome.back(self._people.caller(person, at), at)

    async def _take(self, update_id: int, query: CallbackQuery, late: bool) -> None:
        person = self._people.find(query.from_user)
        message = query.message
        if person is None or message is None or query.data is None:
            await self._inbox.mark([update_id], "done")
            return
        twice = self._is_twice(query.data, query.from_user.id)
        chat = self._places.chat(message.chat.id)
        self._outbox.heard_from(chat)
        button = await self._outbox.button(query.data)
        problem = await self._problem(button, chat, message.message_id)
        if button is None or problem is not None:
            await self._say(update_id, query, button, problem or OLD)
            return
        at = self._places.pressed(Address.read(button.chat), message)
        caller = self._people.caller(person, self._places.channel(at))
        if twice and not button.key.startswith("card:"):
            await self._say(update_id, query, None, TWICE_SAID)
        elif late and not await self._toast(query, ""):
            self._pressed.pop((query.data, query.from_user.id), None)  # it was not obeyed
            reply = c.Reply(text=AWAY.format(button.label))
            await self._door.reply(at, [update_id], reply, caller)
        elif button.line.startswith("/backlog "):
            text = await self._backlog.decide(button.line, query.from_user.id)
            await self._say(update_id, query, button if late else None, text)
        elif button.needs_text:
            await self._ask(update_id, query, button, at, caller)
        else:
            await self._act(update_id, query, button, at, caller)
            await self._draw_again(button, caller)

    async def _draw_again(self, button: StoredButton, caller: Caller) -> None:
        """A list that was pressed shows how things stand now."""
        stored = await self._outbox.letter(button.letter)
        again = Content.load(stored.content).again if stored is not None else ""
        await self._lists.draw(Address.read(button.chat), button.key, again, caller)

    def _is_twice(self, data: str, person: int) -> bool:
        now, which = self._clock.monotonic(), (data, person)
        self._pressed = {key: at for key, at in self._pressed.items() if now - at < TWICE}
        twice = which in self._pressed
        self._pressed[which] = now
        return twice

    async def _problem(self, button: StoredButton | None, chat: int, message: int) -> str | None:
        if button is None:
            return OLD
        if self._places.chat(Address.read(button.chat).chat) != chat:
            return ELSEWHERE
        letter = await self._outbox.letter_at(chat, message)
        if letter is None:
            await self._outbox.adopt(button.letter, chat, message)
        elif letter.id != button.letter:
            return NOT_HERE
        if button.current or button.key.startswith("card:"):
            return None  # of a card, the desk knows who was first
        return CHANGED

    async def _say(
        self, update_id: int, query: CallbackQuery, button: StoredButton | None, text: str
    ) -> None:
        """Shortly; to whoever pressed too long ago for that, in the chat."""
        if not await self._toast(query, text) and button is not None:
            await self._door.reply(Address.read(button.chat), [update_id], c.Reply(text=text))
        else:
            await self._inbox.mark([update_id], "done")

    async def _ask(
        self,
        update_id: int,
        query: CallbackQuery,
        button: StoredButton,
        at: Address,
        caller: Caller,
    ) -> None:
        """The answer is the reply to this, or what they say next."""
        if (refusal := _refusal(button.line, caller)) is not None:
            await self._say(update_id, query, button, refusal)
            return
        self._door.ask(at, query.from_user.id, button, caller)
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
        pause = asyncio.ensure_future(self._clock.sleep(AT_ONCE))
        await asyncio.wait([work, pause], return_when=asyncio.FIRST_COMPLETED)
        pause.cancel()
        if not work.done():
            await self._toast(query, "")
            reply = await work
            await self._door.reply(at, [update_id], reply, caller)
            return
        reply = work.result()
        if _fits_a_toast(reply) and await self._toast(query, reply.text):
            await self._inbox.mark([update_id], "done")
            return
        if not _fits_a_toast(reply):
            await self._toast(query, "")
        await self._door.reply(at, [update_id], reply, caller)

    async def _carry_out(self, line: str, caller: Caller) -> c.Reply:
        try:
            return await self._perform(await self._door.bring(line), caller)
        except SessionsError as error:
            return c.Reply(text=str(error), actions=error.actions)
        except Exception as error:
            logger.exception("telegram.press_failed")
            return c.Reply(text=f"That went wrong ({type(error).__name__}). The log says more.")

    async def _toast(self, query: CallbackQuery, text: str) -> bool:
        """Whether it may have been seen."""
        lost = False
        for _ in range(2):
            try:
                await self._courier.answer(query.id, text)
                return True
            except (Lost, Unreached) as error:
                lost |= isinstance(error, Lost)
            except Undelivered as error:  # too old, or answered by what got lost
                logger.info("telegram.press_unanswered", why=str(error))
                return lost
        return False


def _refusal(line: str, caller: Caller) -> str | None:
    """Why whatever the line becomes is not for this person, before they type the rest of it."""
    try:
        command = parse(f"{line}…")
        caller.must_be(command.ROLE, command.TO)
    except UsageError:
        return None
    except Forbidden as error:
        return str(error)
    return None


def _fits_a_toast(reply: c.Reply) -> bool:
    """A card says by itself what became of it."""
    if "approvalId" in reply.data:
        return True
    if "parcel" in reply.data:
        return False
    return len(reply.text) <= TOAST and "\n" not in reply.text and not reply.actions
