"""The stand-in as a whole: Telegram's doors on loopback, and all a test can do to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from random import Random
from types import TracebackType
from typing import Self

from .answering import Answering
from .calls import Call, Calls
from .chats import Chat
from .cloud import Cloud
from .faults import Chaos, Drop, Fault, Plan, Where
from .http import Listener
from .limits import AS_PUBLISHED, FloodControl, Limits
from .messages import Json
from .people import Person
from .refusals import bad_request, forbidden, migrated

TOKEN = "123456:strict-stand-in-of-the-bot-api-0000"


class BotApi:
    def __init__(
        self,
        token: str = TOKEN,
        *,
        username: str = "sessions_bot",
        limits: Limits | None = AS_PUBLISHED,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        presses_expire_after: float = 60.0,
        first_update: int = 1000,
    ) -> None:
        self.token = token
        bot_id = int(token.partition(":")[0])
        self._bot = {"id": bot_id, "is_bot": True, "first_name": "Bot", "username": username}
        self._clock = clock
        self._cloud = Cloud(
            bot=self._bot,
            clock=clock,
            now=now,
            presses_expire_after=presses_expire_after,
            first_update=first_update,
        )
        self._answering = Answering(self._cloud, token=token, clock=clock)
        self._listener = Listener(self._answering.answer, now=now)
        self.limits = limits

    async def __aenter__(self) -> Self:
        await self._listener.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._listener.close()
        if error is None and self._listener.failures:
            raise ExceptionGroup("The stand-in itself failed", self._listener.failures)

    async def goes_down(self) -> None:
        """Connections are cut and refused until it comes back; what it knows stays."""
        await self._listener.close()

    async def comes_back(self) -> None:
        await self._listener.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.port}"

    @property
    def base_url(self) -> str:
        return f"{self.url}/bot"

    @property
    def base_file_url(self) -> str:
        return f"{self.url}/file/bot"

    @property
    def limits(self) -> Limits | None:
        return self._limits

    @limits.setter
    def limits(self, limits: Limits | None) -> None:
        """Whoever was sent away may come again at once."""
        self._limits = limits
        self._answering.flood = FloodControl(limits, self._clock) if limits is not None else None

    @property
    def flooded(self) -> int:
        """How often the limits had to send the bot away."""
        return self._answering.flooded

    @property
    def calls(self) -> Calls:
        return self._answering.calls

    async def called(
        self,
        method: str,
        where: Callable[[Call], bool] = lambda call: True,
        timeout: float = 15.0,  # noqa: ASYNC109 - a test's deadline
    ) -> Call:
        """The first such call, of those before too."""
        return await self.calls.called(method, where, timeout)

    def person(
        self, user_id: int, name: str, *, username: str | None = None, is_bot: bool = False
    ) -> Person:
        user: Json = {"id": user_id, "is_bot": is_bot, "first_name": name, "language_code": "en"}
        names = {"first_name": name}
        if username is not None:
            user["username"] = names["username"] = username
        chat = self._cloud.chats.get(user_id)
        if chat is None:
            chat = Chat(id=user_id, type="private", names=names, members={user_id})
            self._cloud.chats[user_id] = chat
        return Person(self._cloud, chat, user)

    def group(
        self, chat_id: int, title: str, *, forum: bool = False, members: Iterable[Person] = ()
    ) -> Chat:
        """Those whose id begins with -100 are supergroups, as in Telegram; forums have to be."""
        kind = "supergroup" if forum or str(chat_id).startswith("-100") else "group"
        ids = {person.id for person in members}
        chat = Chat(id=chat_id, type=kind, names={"title": title}, forum=forum, members=ids)
        self._cloud.chats[chat_id] = chat
        return chat

    def chat(self, chat_id: int) -> Chat:
        return self._cloud.chats[chat_id]

    def content(self, file_id: str) -> bytes:
        return self._cloud.files.known(file_id).content

    @property
    def pending(self) -> int:
        """Updates that the bot has not acknowledged."""
        return self._cloud.updates.pending

    async def acknowledged(self, seconds: float = 15.0) -> None:
        """Returns once the bot has taken every update, and said so."""
        await self._cloud.updates.acknowledged(seconds)

    def restart_update_ids(self, at: int) -> None:
        self._cloud.updates.restart_ids(at)

    def expire_callbacks(self) -> None:
        self._cloud.presses.expire()

    def revoke_token(self) -> None:
        self._answering.token = None

    def fail(
        self,
        method: str | None,
        *,
        times: int | None = 1,
        how: Fault = Drop.BEFORE,
        chat: int | None = None,
        where: Where | None = None,
    ) -> None:
        """No method means any, getUpdates among them; `times=None` is until `calm()`.

        `where` is given the parameters of the request.
        """
        plan = Plan(method=method, times=times, how=how, chat=chat, where=where)
        self._answering.faults.plan(plan)

    def chaos(
        self,
        seed: int,
        *,
        before: float = 0.05,
        after: float = 0.05,
        bad_gateway: float = 0.05,
        flood: float = 0.02,
        retry_after: int = 2,
    ) -> None:
        self._answering.faults.chaos(
            Chaos(
                random=Random(seed),
                before=before,
                after=after,
                bad_gateway=bad_gateway,
                flood=flood,
                retry_after=retry_after,
            )
        )

    def calm(self) -> None:
        self._answering.faults.calm()

    def block(self, person: Person) -> None:
        self._cloud.bar(person.chat, forbidden("bot was blocked by the user"), person.user)

    def unblock(self, person: Person) -> None:
        self._cloud.bar(person.chat, None, person.user)

    def kick(self, chat: Chat, by: Person | None = None) -> None:
        why = forbidden(f"bot was kicked from the {chat.type} chat")
        self._cloud.bar(chat, why, by.user if by else self._bot)

    def let_in(self, chat: Chat, by: Person | None = None) -> None:
        self._cloud.bar(chat, None, by.user if by else self._bot)

    def mute(self, chat: Chat) -> None:
        chat.barred = bad_request("not enough rights to send text messages to the chat")

    def unmute(self, chat: Chat) -> None:
        chat.barred = None

    def lets_manage_topics(self, chat: Chat, by: Person, *, may: bool = True) -> None:
        chat.manages_topics = may
        ranks = ("member", "administrator") if may else ("administrator", "member")
        self._cloud.tell_of_bot(chat, *ranks, by.user)

    def migrate(
        self, chat: Chat, new_id: int, *, by: Person | None = None, forum: bool = False
    ) -> Chat:
        """The group becomes a supergroup; its old id answers with the new one.

        The bot is told when somebody did it; else it finds out.
        """
        new = self.group(new_id, chat.names["title"], forum=forum)
        new.members = set(chat.members)
        told = ((chat, {"migrate_to_chat_id": new_id}), (new, {"migrate_from_chat_id": chat.id}))
        if by is not None:
            for where, media in told:
                message = self._cloud.post(where, by.user, media=media)
                self._cloud.tell("message", where, message.json())
        chat.barred = migrated(new_id)
        return new

    def delete_topic(self, chat: Chat, thread: int) -> None:
        """As people do; the bot is not told."""
        chat.drop_topic(thread)
