"""The door: what people say in Telegram becomes commands, and what they are answered, letters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import structlog
from telegram import Bot, Message, Update

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.cause import because
from claude_sessions.channel import Action
from claude_sessions.clock import Clock
from claude_sessions.commands import here
from claude_sessions.commands.chat import parse
from claude_sessions.commands.lexer import accepted
from claude_sessions.commands.lines import line_of
from claude_sessions.errors import BadRequest, Conflict, NotFound, SessionsError, UsageError
from claude_sessions.people import Caller
from claude_sessions.settings import PersonSettings
from claude_sessions.storage.mail import StoredButton, StoredLetter
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.answers import answer
from claude_sessions.telegram.asked import Ask, Asked
from claude_sessions.telegram.files import Received, fetched, received, sort_of
from claude_sessions.telegram.gather import Part, text_of
from claude_sessions.telegram.inbox import Inbox, cause_of
from claude_sessions.telegram.lists import Lists
from claude_sessions.telegram.outbox import Outbox
from claude_sessions.telegram.people import People, Speaker, replied_to
from claude_sessions.telegram.places import Places
from claude_sessions.telegram.topics import Topics
from claude_sessions.telegram.voice import Transcriber
from claude_sessions.telegram.welcome import Welcome

EDITED = "I do not follow edits: what you sent first is what counts. Send it again to change it."
SEE = "(see what is attached)"
NO_LONGER = "That is no longer asked."
DECIDING = (c.Decide, c.Answer)
SPOKEN = (c.Talk, c.Launch, c.Respond, c.Resume)

Perform = Callable[[c.Command, Caller], Awaitable[c.Reply]]
logger = structlog.get_logger(__name__)


class Door:
    """`fronts`: the sessions in the foreground of a channel."""

    def __init__(
        self,
        *,
        bot: Bot,
        inbox: Inbox,
        outbox: Outbox,
        people: People,
        clock: Clock,
        perform: Perform,
        fronts: Callable[[str], Sequence[str]],
        places: Places,
        topics: Topics,
        uploads: Path,
        transcriber: Transcriber,
        welcome: Welcome,
        lists: Lists,
    ) -> None:
        self._bot = bot
        self._inbox = inbox
        self._outbox = outbox
        self._people = people
        self._clock = clock
        self._perform = perform
        self._fronts = fronts
        self._places = places
        self._topics = topics
        self._uploads = uploads
        self._transcriber = transcriber
        self._welcome = welcome
        self._lists = lists
        self._asked = Asked(clock)
        self._spoke_to: dict[Speaker, str] = {}  # the session their last words went to

    # --- messages

    async def hear(self, parts: list[Part], joins: bool) -> None:
        message = parts[0].message
        ids = [part.update_id for part in parts]
        person = self._people.find(message.from_user)
        if person is None:
            await self.stranger(message)
            await self._inbox.mark(ids, "done")
            return
        at = self._places.of(message)
        self._outbox.heard_from(at.chat)
        caller = self._people.caller(person, self._places.channel(at))
        with because(cause_of(at.channel, ids)):
            reply = await self._answered(lambda: self._carry_out(parts, caller, at, joins))
        await self.reply(at, ids, reply, caller, to=message)

    async def _answered(self, act: Callable[[], Awaitable[c.Reply]]) -> c.Reply:
        try:
            return await act()
        except SessionsError as error:
            return c.Reply(text=str(error), actions=error.actions)
        except Exception as error:
            logger.exception("telegram.failed")
            return c.Reply(text=f"That went wrong ({type(error).__name__}). The log says more.")

    async def _carry_out(
        self, parts: list[Part], caller: Caller, at: Address, joins: bool
    ) -> c.Reply:
        who = (at, parts[0].sender)
        comment = self._spoke_to.pop(who, None)
        said = await self._said(parts)
        command, ask = await self._command(parts[0], said, at)
        if joins and isinstance(command, c.Talk) and comment is not None:
            command = replace(command, session=comment, steer=True)
        await self._welcome.back(caller, at, command)
        command, reply = await self._perform_in_time(command, ask, said[0], caller)
        if isinstance(command, SPOKEN) and reply.session is not None:
            self._spoke_to[who] = reply.session
        watched = self._topics.at_home(at, reply.session)
        fronts = self._fronts(caller.channel or "") if watched else ()
        return _without_echo(command, reply, fronts)

    async def _perform_in_time(
        self, command: c.Command, ask: Ask | None, text: str, caller: Caller
    ) -> tuple[c.Command, c.Reply]:
        """Words for what has been decided meanwhile are still words for that session."""
        try:
            return command, await self._perform(command, caller)
        except (Conflict, NotFound) as error:
            if ask is None or ask.session is None or not isinstance(command, DECIDING):
                raise
            if not ask.replied:
                said = c.Talk(text=text, session=ask.session)
                return said, await self._perform(said, caller)
            late = Conflict(NO_LONGER if isinstance(error, NotFound) else str(error))
            line = line_of(c.Respond(session=ask.session, text=text)) or ""
            late.actions = (Action(label="Say it to the session", line=line),)
            raise late from error

    async def _said(self, parts: list[Part]) -> tuple[str, Received]:
        messages = [part.message for part in parts]
        for message in messages:
            if sort := sort_of(message):
                raise BadRequest(f"I cannot pass on {sort}. Text, photos and files I can.")
        spoken = {part.update_id: await self._spoken(part.message) for part in parts}
        files = await received(self._bot, messages, self._uploads)
        text = "\n\n".join(each for each in (text_of(parts, spoken), files.note) if each)
        return text or SEE, files

    async def _spoken(self, message: Message) -> str:
        if (voice := message.voice) is None:
            return ""
        audio = await fetched(self._bot, voice.file_id, voice.file_size, "The voice message")
        return await self._transcriber.words(audio)

    async def _command(
        self, part: Part, said: tuple[str, Received], at: Address
    ) -> tuple[c.Command, Ask | None]:
        """What is meant; and what asked for it, if something did."""
        message, (text, files) = part.message, said
        answered = replied_to(message)
        letter = await self._outbox.letter_at(at.chat, answered) if answered else None
        ask = None if part.forwarded else await self._what_asked(part, letter, at)
        command = _forwarded(text) if part.forwarded else _meant(text, files, ask)
        session = letter.session if letter is not None else None
        if session is None and ask is not None and ask.late:
            session = ask.session
        session = session or await self._topics.bound(at)
        if isinstance(command, c.Talk):
            if session is None and letter is None and answered and _is_ours(message, self._bot):
                raise self._forgotten(command, at)
            command = replace(command, session=session)
        elif session is not None:
            command = here.at(command, session)
        if isinstance(command, c.Launch) and self._places.among_topics(at):
            command = replace(command, foreground=True)  # its topic is for watching it
        if files.attachments:
            command = _with(command, files)
        return command, ask

    async def _what_asked(self, part: Part, letter: StoredLetter | None, at: Address) -> Ask | None:
        """For these words: it is what they reply to, or came just before them."""
        before = self._asked.take((at, part.sender))
        if letter is not None and letter.key.startswith("ask:"):
            button = await self._outbox.button(letter.key.split(":")[1])
            return Ask(line=button.line, session=button.session, replied=True) if button else None
        return before if letter is None else None

    def _forgotten(self, command: c.Talk, at: Address) -> BadRequest:
        """Better asked than said to the wrong one."""
        unknown = BadRequest("I no longer know which session that was from. Say it to:")
        unknown.actions = tuple(
            Action(label="The one in front", line=line)
            for session in self._fronts(self._places.channel(at).channel)[:1]
            if (line := line_of(c.Respond(session=session, text=command.text)))
        )
        return unknown if unknown.actions else BadRequest(f"{unknown} /say NAME …")

    def ask(self, at: Address, person: int, button: StoredButton, caller: Caller) -> None:
        """The next words of that person there complete its line, if they come soon."""
        self._asked.ask((at, person), button, caller)

    def see(self, event: e.Event) -> None:
        """Called with every event of the log."""
        self._asked.see(event)

    # --- answers

    async def reply(
        self,
        at: Address,
        ids: Sequence[int],
        reply: c.Reply,
        caller: Caller | None = None,
        *,
        to: Message | None = None,
    ) -> None:
        """Stored in the same breath as the update is done with."""
        content = answer(reply)
        if content is None or await self._shows(at, reply):
            await self._inbox.mark(ids, "done")
            return
        if to is not None and not at.private:
            content = replace(content, reply_to=to.message_id)
        key = f"re:{ids[0]}"
        await self._outbox.put(at, key, content, session=reply.session, done=ids)
        if caller is not None:
            self._lists.shown(at, key, reply, caller)

    async def _shows(self, at: Address, reply: c.Reply) -> bool:
        """There is a card right there that says it itself."""
        if (approval := reply.data.get("approvalId")) is None:
            return False
        told = [at]
        if self._topics.at_home(at, reply.session):
            told.append(self._places.channel(at))
        return any([await self._outbox.has(each, f"card:{approval}") for each in told])

    # --- what else may come

    async def stranger(self, message: Message) -> None:
        """No answer; the owners hear once of each who spoke to the bot, and not just beside it."""
        user = message.from_user
        beside = message.chat.type != "private" and not (message.text or "").startswith("/")
        if user is None or user.is_bot or beside:
            return
        words = (
            f"👤 Somebody I do not know wrote to me: {user.full_name}, id {user.id}. "
            "They got no answer. To let them in, add them under [[people]] and start again."
        )
        for owner in self._people.owners:
            await self._outbox.put(owner, f"stranger:{user.id}", looks.said(words))

    async def pass_over(self, update: Update) -> None:
        """Edits are not followed, which is said; of the rest nobody need hear."""
        ids = [update.update_id]
        message = update.edited_message
        person = self._people.find(message.from_user) if message else None
        if message is not None and person is not None:
            at, key = self._places.of(message), f"edited:{message.message_id}"
            await self._outbox.put(at, key, looks.said(EDITED), done=ids)
            return
        if update.my_chat_member is not None:
            self._outbox.heard_from(self._places.chat(update.my_chat_member.chat.id))
        await self._inbox.mark(ids, "done")

    def person_at(self, message: Message) -> PersonSettings | None:
        return self._people.find(message.from_user)


def _meant(text: str, files: Received, ask: Ask | None) -> c.Command:
    if ask is not None and not text.startswith("/"):
        return c.Talk(text=accepted(text)) if ask.late else parse(ask.line + text)
    try:
        return parse(text)
    except UsageError:
        if not files.attachments:
            raise
        return parse(f"{text}\n\n{SEE}")  # `/new` alone, under a photo


def _forwarded(text: str) -> c.Command:
    """Somebody else's words: they are read, never obeyed, nor do they answer what was asked.

    Claude's own program has commands that begin with a slash, too.
    """
    return c.Talk(text=accepted(f"[forwarded] {text}" if text.lstrip().startswith("/") else text))


def _without_echo(command: c.Command, reply: c.Reply, fronts: Sequence[str]) -> c.Reply:
    """Who is watched needs no word that it heard: one sees it work."""
    heard = isinstance(command, c.Talk) and not reply.actions and "messageId" in reply.data
    return replace(reply, text="") if heard and reply.session in fronts else reply


def _with(command: c.Command, files: Received) -> c.Command:
    if not isinstance(command, c.Talk | c.Launch | c.Respond):
        raise BadRequest("Files go with plain words, with /new or with /say. Nothing was done.")
    return replace(command, attachments=files.attachments)


def _is_ours(message: Message, bot: Bot) -> bool:
    reply = message.reply_to_message
    sender = reply.from_user if reply is not None else None
    return sender is not None and bot.token.startswith(f"{sender.id}:")
