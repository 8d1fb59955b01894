"""Topics: where in its chat a letter goes.

A session's letters leave it open in which topic they are shown. Its own is opened when there first
is something to show; what began in a topic that somebody opened for it stays there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import PurePath
from typing import Literal

from telegram import Message

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.errors import SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.telegram.address import GENERAL, Address
from claude_sessions.telegram.bindings import Binding, Bindings
from claude_sessions.telegram.chats import Chats
from claude_sessions.telegram.courier import Courier, NoTopics, TopicGone
from claude_sessions.telegram.forums import Forums

NAME = 128
SPOKEN = (e.UserMessage.TYPE, e.Foregrounded.TYPE)


class Topics:
    def __init__(
        self,
        *,
        courier: Courier,
        bindings: Bindings,
        chats: Chats,
        log: EventLog,
        clock: Clock,
        per: Literal["off", "per_session", "per_project"],
    ) -> None:
        self.on = per != "off"
        self.bindings = bindings
        self.forums = Forums(chats, clock)
        self._per = per
        self._courier = courier
        self._chats = chats
        self._log = log
        self._gone: set[tuple[int, int]] = set()  # chat, thread
        self._closed: set[tuple[int, int]] = set()

    # --- for letters on their way

    def thread(self, to: Address, session: str | None) -> int | None:
        """None: in General, or in a chat that has no topics."""
        thread = to.thread
        if thread is None and (home := self.home(to.chat, session)) is not None:
            thread = home.thread
        return None if thread == GENERAL or (to.chat, thread) in self._gone else thread

    def work(self, to: Address, session: str | None) -> Callable[[], Awaitable[None]] | None:
        """What has to be asked of Telegram before it can be sent: one request."""
        thread = self.thread(to, session)
        if thread is not None:
            shut = (to.chat, thread) in self._closed
            return partial(self._reopen, to.chat, thread) if shut else None
        if to.thread is None and session is not None and self._lacks_home(to.chat, session):
            return partial(self._open, to.chat, session)
        return None

    def shut(self, chat: int, thread: int) -> None:
        """Nothing can be said there, unless it is opened again."""
        self._closed.add((chat, thread))

    def gone(self, chat: int, thread: int) -> str:
        """Everything for it goes to General from now on; what to tell people there, once."""
        where = (chat, thread)
        self._gone.add(where)
        binding = self.bindings.at(chat, thread)
        whose = f"The topic of {binding.name}" if binding is not None else "A topic"
        if where in self._closed:
            return f"🔒 {whose} is closed, and I may not open it. It goes on here."
        if binding is not None:
            self.bindings.change(binding, thread=None)
        return f"🗑 {whose} was deleted. It goes on here."

    async def _open(self, chat: int, session: str) -> None:
        owner, name = self._owner(session)
        try:
            thread = await self._courier.open_topic(self._chats.there(chat), name)
            self._bind(chat, owner, thread, name, ours=True)
        except (NoTopics, SessionsError) as error:  # unless it can be kept, no second one is opened
            self.forums.bar(chat, str(error).rstrip("."))

    async def _reopen(self, chat: int, thread: int) -> None:
        try:
            await self._courier.reopen_topic(self._chats.there(chat), thread)
        except NoTopics as error:
            raise TopicGone(str(error)) from error
        self._turned(chat, thread, closed=False)

    # --- whose topic

    def home(self, chat: int, session: str | None) -> Binding | None:
        """None: it has none yet, or may not."""
        if not self.on or chat > 0 or session is None:
            return None
        owner, name = self._owner(session)
        home = self.bindings.find(chat, owner) or self._taken(chat, session, owner, name)
        return None if home is None or home.forgotten else home

    def at_home(self, at: Address, session: str | None) -> bool:
        """Whether what is told of that session is told right there."""
        if not self.on or at.private or at.thread is None or session is None:
            return True
        if self._lacks_home(at.chat, session):
            return False
        return (self.thread(Address(at.chat), session) or GENERAL) == at.thread

    async def bound(self, at: Address) -> str | None:
        """The session that is meant by words in that topic."""
        if not self.on or at.thread in (None, GENERAL):
            return None
        binding = self.bindings.at(at.chat, at.thread or 0)
        if binding is None:  # a channel of its own, from before or by configuration
            return next(iter(self._log.store.fronts(at.channel)), None)
        if not binding.owner.startswith("/"):
            return binding.owner
        return await self._spoken_to(at.chat, binding.owner)

    async def _spoken_to(self, chat: int, directory: str) -> str | None:
        """Of a project's sessions one that lives, that is watched here, that was spoken to last."""
        rows = [row for row in await self._log.session_rows() if row.directory == directory]
        fronts = self._log.store.fronts(Address(chat).channel)

        def rank(session: str, ended: bool) -> tuple[bool, bool, int]:
            last = self._log.store.tail_of(session, SPOKEN, 1)
            return not ended, session in fronts, last[-1].seq if last else 0

        ranked = [(rank(row.id, row.status.ended), row.id) for row in rows]
        return max(ranked)[1] if ranked else None

    def _owner(self, session: str) -> tuple[str, str]:
        """A session's id, or the directory that stands for its project; and what to call it."""
        row = self._log.store.session_row(session)
        if self._per == "per_project" and row is not None:
            return row.directory, (PurePath(row.directory).name or row.directory)[:NAME]
        return session, (row.name if row is not None else session)[:NAME]

    def _taken(self, chat: int, session: str, owner: str, name: str) -> Binding | None:
        """A topic that somebody opened, and said there what the session is to do."""
        thread = self._begun_in(chat, session)
        if thread in (None, GENERAL):
            return None
        assert thread is not None
        other = self.bindings.at(chat, thread)
        if other is not None and (other.ours or not self._over(other.owner)):
            return None
        if other is not None:
            self.bindings.remove(other)
        return self._bind(chat, owner, thread, name, ours=False)

    def _begun_in(self, chat: int, session: str) -> int | None:
        first = self._log.store.events(session=session, limit=1)
        cause = first[0].caused_by if first else None
        at = Address.of_channel((cause or "").partition("#")[0])
        return at.thread if at is not None and at.chat == chat else None

    def _over(self, owner: str) -> bool:
        row = self._log.store.session_row(owner)
        return not owner.startswith("/") and (row is None or row.status.ended)

    def _bind(self, chat: int, owner: str, thread: int, name: str, *, ours: bool) -> Binding:
        row = self._log.store.session_row(owner)  # it may have been renamed, or ended, meanwhile
        binding = Binding(
            chat=chat,
            owner=owner,
            thread=thread,
            ours=ours,
            name=name,
            wanted_name=row.name[:NAME] if row is not None else name,
            wanted_closed=row is not None and row.status.ended,
            after=row.last_seq if row is not None else 0,
        )
        return self.bindings.put(binding)

    def _lacks_home(self, chat: int, session: str) -> bool:
        """It will get one."""
        known = self._log.store.session_row(session) is not None  # else it is forgotten
        may = self.on and known and self.forums.allow(chat)
        return may and self.home(chat, session) is None

    # --- what is heard of them

    def heard(self, message: Message) -> None:
        """People open, close and name topics too, and what they do stays."""
        self.forums.heard_of(message.chat)
        chat, thread = self._chats.known(message.chat.id), message.message_thread_id
        if thread is None:
            return
        if message.forum_topic_closed is not None:
            self._turned(chat, thread, closed=True)
        elif message.forum_topic_reopened is not None:
            self._turned(chat, thread, closed=False)
        elif (edited := message.forum_topic_edited) is not None and edited.name:
            self._named(chat, thread, edited.name)

    def _named(self, chat: int, thread: int, name: str) -> None:
        if (binding := self.bindings.at(chat, thread)) is not None:
            self.bindings.change(binding, name=name, wanted_name=name)

    def _turned(self, chat: int, thread: int, *, closed: bool) -> None:
        if not closed:
            self._gone.discard((chat, thread))
            self._closed.discard((chat, thread))
        if (binding := self.bindings.at(chat, thread)) is not None:
            self.bindings.change(binding, closed=closed, wanted_closed=closed)
