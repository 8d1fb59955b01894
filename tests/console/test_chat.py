"""Typing in the terminal chat, over a real terminal and over pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from claude_sessions.channel import Action, Kind, Notification
from claude_sessions.commands import Reply
from claude_sessions.console import ConsoleChannel, ConsoleChat
from claude_sessions.errors import UsageError
from tests.console.terminals import Person, at_a_terminal, at_pipes, screen_of
from tests.waiting import eventually

CARD = (
    Action(label="Allow", line="/allow a1"),
    Action(label="Deny", line="/deny a1"),
    Action(label="Deny + tell why", line="/deny a1 ", needs_text=True),
)


class Talk:
    """A person, the chat they are in, and a daemon that only listens."""

    def __init__(self, person: Person, channel: ConsoleChannel) -> None:
        self.person = person
        self.channel = channel
        self.heard: list[str] = []
        self.working: list[str] = []
        self.answer = Reply(text="")
        self.missed: Reply | None = None
        self.run: asyncio.Task[None]

    async def hear(self, text: str) -> Reply:
        self.heard.append(text)
        if text == "/nonsense":
            raise UsageError("I do not know /nonsense.", "/help")
        if text == "/broken":
            raise RuntimeError("a bug")
        return self.answer

    async def away(self, text: str) -> Reply | None:
        missed, self.missed = self.missed, None
        return missed

    async def offer(self, text: str, actions: tuple[Action, ...], *, kind: Kind) -> None:
        note = Notification(kind=kind, session="s", name="fix-auth", text=text, actions=actions)
        await self.channel.send(note)

    async def until_heard(self, *lines: str) -> None:
        await eventually(lambda: self.heard == list(lines))

    async def until_left(self) -> None:
        await asyncio.wait_for(asyncio.shield(self.run), 10)


@asynccontextmanager
async def talking(person: Person) -> AsyncIterator[Talk]:
    async with screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        talk = Talk(person, channel)
        chat = ConsoleChat(
            channel=channel,
            screen=screen,
            stdin=person.stdin,
            hear=talk.hear,
            busy=lambda: talk.working,
            missed=talk.away,
            greeting="Welcome.",
        )
        talk.run = asyncio.create_task(chat.run())
        await person.until("Welcome.")
        if os.isatty(person.stdin):
            await person.until("\n>")
        yield talk
        talk.run.cancel()
        await asyncio.wait([talk.run])


@pytest.fixture(params=["terminal", "pipe"])
async def talk(request: pytest.FixtureRequest) -> AsyncIterator[Talk]:
    place = at_a_terminal if request.param == "terminal" else at_pipes
    async with place() as person, talking(person) as opened:
        yield opened


@pytest.fixture
async def typing() -> AsyncIterator[Talk]:
    async with at_a_terminal() as person, talking(person) as opened:
        yield opened


async def test_a_line_is_heard_and_answered(talk: Talk) -> None:
    talk.answer = Reply(text="🟢 fix-auth\n  aligned   text")
    talk.person.type("/new fix the   auth\n")
    await talk.until_heard("/new fix the   auth")
    await talk.person.until("🟢 fix-auth\n  aligned   text")


async def test_who_was_away_is_told_what_they_missed_before_the_answer(talk: Talk) -> None:
    go = Action(label="Foreground a", line="/fg a")
    talk.missed, talk.answer = Reply(text="While you were away", actions=(go,)), Reply(text="Yes?")
    talk.person.type("hello\n")
    await talk.person.until("While you were away\n  [1] Foreground a\n\nYes?")
    talk.person.type("1\n")
    await talk.until_heard("hello", "/fg a")


async def test_an_error_is_its_sentence(talk: Talk) -> None:
    talk.person.type("/nonsense\n/broken\n")
    await talk.person.until("I do not know /nonsense.\nUsage: /help")
    await talk.person.until("That went wrong")
    talk.person.type("still here\n")
    await eventually(lambda: talk.heard[-1] == "still here")


async def test_a_number_presses_a_button_of_the_newest_card(talk: Talk) -> None:
    await talk.offer("Launched", (Action(label="Go", line="/fg x"),), kind=Kind.LAUNCHED)
    await talk.offer("⚠️ fix-auth asks", CARD, kind=Kind.CARD)
    talk.person.type("2\n")
    await talk.until_heard("/deny a1")


async def test_a_button_that_needs_words_takes_the_next_line(talk: Talk) -> None:
    await talk.offer("⚠️ fix-auth asks", CARD, kind=Kind.CARD)
    talk.person.type("3\n")
    await talk.person.until("Deny + tell why: type it")
    talk.person.type("use the staging server\n")
    await talk.until_heard("/deny a1 use the staging server")


async def test_no_words_leave_it_undone(talk: Talk) -> None:
    await talk.offer("⚠️ fix-auth asks", CARD, kind=Kind.CARD)
    talk.person.type("3\n\n")
    await talk.person.until("Never mind.")
    talk.person.type("1\n")
    await talk.until_heard("/allow a1")


async def test_actions_of_a_reply_are_numbers_too(talk: Talk) -> None:
    talk.answer = Reply(text="Queued.", actions=(Action(label="Withdraw", line="/withdraw m1"),))
    talk.person.type("more\n")
    await talk.person.until("[1] Withdraw")
    talk.answer = Reply(text="")
    talk.person.type("1\n")
    await talk.until_heard("more", "/withdraw m1")


async def test_a_number_that_chooses_nothing_is_said_to_the_session(talk: Talk) -> None:
    talk.person.type("42\n" + "9" * 5000 + "\n")
    await talk.until_heard("42", "9" * 5000)


async def test_a_card_that_pops_up_is_not_decided_by_what_was_being_typed(typing: Talk) -> None:
    await typing.offer("Launched", (Action(label="Go", line="/fg x"),), kind=Kind.LAUNCHED)
    typing.person.type("1")
    await typing.person.until("\n> 1")
    await typing.offer("⚠️ fix-auth asks", CARD, kind=Kind.CARD)
    typing.person.type("\n")
    await typing.until_heard("/fg x")


async def test_output_does_not_tear_what_is_being_typed(typing: Talk) -> None:
    typing.person.type("half a sen")
    await typing.person.until("> half a sen")
    await typing.offer("Something happened.", (), kind=Kind.NOTICE)
    await typing.person.until("Something happened.")
    await eventually(lambda: typing.person.display.lines[-1] == "> half a sen")
    typing.person.type("tence\n")
    await typing.until_heard("half a sentence")
    assert "> half a sentence" in typing.person.display.lines


async def test_a_paste_of_many_lines_is_one_message(typing: Talk) -> None:
    typing.person.type("\x1b[200~one\rtwo\rthree\x1b[201~\n")
    await typing.until_heard("one\ntwo\nthree")
    await typing.person.until("> one … and 2 more lines")


async def test_a_line_longer_than_the_terminal_stays_one_row(typing: Talk) -> None:
    words = "word " * 60
    typing.person.type(words)
    await eventually(lambda: typing.person.display.lines[-1].startswith("> …"))
    await typing.offer("Something happened.", (), kind=Kind.NOTICE)
    await typing.person.until("Something happened.")
    assert sum("word word" in line for line in typing.person.display.lines) == 1
    typing.person.type("\n")
    await typing.until_heard(words.strip())


@pytest.mark.parametrize("key", ["/quit\n", "\x04", "\x03"])
async def test_leaving_is_at_once_when_nothing_works(typing: Talk, key: str) -> None:
    typing.person.type(key)
    await typing.until_left()


@pytest.mark.parametrize("key", ["/quit\n", "\x04", "\x03"])
async def test_leaving_sessions_at_work_asks_first(typing: Talk, key: str) -> None:
    typing.working = ["fix-auth", "docs"]
    typing.person.type(key)
    await typing.person.until("2 sessions are working: fix-auth, docs.")
    await typing.person.until("Leave anyway? They will be interrupted. [y/N]")
    typing.person.type("n\n")
    await typing.person.until("Staying.")
    typing.person.type(key)
    await eventually(lambda: typing.person.sees.count("[y/N]") == 2)
    typing.person.type("y\n")
    await typing.until_left()
    assert typing.heard == []


async def test_one_who_insists_leaves(typing: Talk) -> None:
    typing.working = ["fix-auth"]
    typing.person.type("\x03")
    await typing.person.until("1 session is working: fix-auth.")
    typing.person.type("\x03")
    await typing.until_left()


async def test_an_interrupt_signal_asks_like_control_c(talk: Talk) -> None:
    talk.working = ["fix-auth"]
    os.kill(os.getpid(), signal.SIGINT)
    await talk.person.until("[y/N]")
    talk.person.type("y\n")
    await talk.until_left()


async def test_the_end_of_a_pipe_leaves_after_its_last_line() -> None:
    async with at_pipes() as person, talking(person) as talk:
        talk.working = ["fix-auth"]
        person.type("first\nlast without an end")
        person.hang_up()
        await talk.until_left()
        assert talk.heard == ["first", "last without an end"]


async def test_a_file_can_be_read_as_if_it_were_typed(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("one\ntwo\n")
    async with at_pipes() as person, screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        talk = Talk(person, channel)
        with script.open() as file:
            chat = ConsoleChat(
                channel=channel, screen=screen, stdin=file.fileno(), hear=talk.hear, busy=list
            )
            await chat.run()
        assert talk.heard == ["one", "two"]


async def test_a_closed_terminal_leaves_without_asking() -> None:
    async with at_a_terminal() as person, talking(person) as talk:
        talk.working = ["fix-auth"]
        person.look_elsewhere()
        person.hang_up()
        await talk.until_left()


async def test_the_terminal_is_given_back_as_it_was() -> None:
    async with at_a_terminal() as person:
        before = termios.tcgetattr(person.stdin)
        async with talking(person) as talk:
            assert termios.tcgetattr(person.stdin) != before
            person.type("half a line")
            await person.until("half a line")
            talk.run.cancel()
            await asyncio.wait([talk.run])
        assert termios.tcgetattr(person.stdin) == before


async def test_no_thread_stays_behind() -> None:
    def writers() -> int:
        return sum(thread.name == "console-output" for thread in threading.enumerate())

    before = writers()
    async with at_a_terminal() as person, talking(person):
        assert writers() == before + 1
    assert writers() == before
