"""Sessions that an orchestrator launched: what its own commands and its webhook are told."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from claude_sessions import commands as c
from claude_sessions.commands.execute import execute
from claude_sessions.demo import Sandbox, Script, bash, hang, say
from claude_sessions.errors import ConfigError
from claude_sessions.settings import Settings
from claude_sessions.state import SessionState
from tests.botapi import BotApi
from tests.journeys.chat import Chat, chatting, settings_for
from tests.orchestrator.counterpart import Recorder, recorder, webhook
from tests.waiting import eventually
from tests.worktrees.repositories import repository

DISCORD = "discord|acct|123"
TO = ["--channel", "discord", "--account", "acct", "--target", "123", "-m"]
NASTY = "$(touch pwned) `touch pwned` \"; touch pwned; '"


def configured(workdir: Path, channels: dict[str, Any] | None = None, **orders: Any) -> Settings:
    plain = settings_for(workdir).model_dump(exclude_unset=True)
    return Settings.model_validate(plain | {"orchestrator": orders, "channels": channels or {}})


class Orchestrated:
    def __init__(self, chat: Chat, messages: Recorder, events: Recorder) -> None:
        self.chat = chat
        self.messages = messages
        self.events = events

    async def launch(self, prompt: str, origin: str | None = DISCORD, **how: Any) -> SessionState:
        """As a program does that reads nowhere itself."""
        caller = replace(self.chat.caller, channel=None)
        order = c.Launch(prompt=prompt, origin=origin, **how)
        reply = await execute(self.chat.daemon.pool, order, caller)
        return await self.chat.daemon.book.load(reply.session or "")


@asynccontextmanager
async def orchestrated(
    sandbox: Sandbox, workdir: Path, **channels: Any
) -> AsyncIterator[Orchestrated]:
    messages, events = recorder(sandbox.root, "messages"), recorder(sandbox.root, "events")
    settings = configured(
        workdir,
        channels,
        message_command=[str(messages.path), "message", "send"],
        event_command=[str(events.path), "system", "event"],
    )
    async with chatting(sandbox, workdir, settings=settings) as chat:
        yield Orchestrated(chat, messages, events)


@pytest.mark.parametrize("fallback", ["telegram", "telegram|@me"])
async def test_what_is_no_chat_of_the_bot_wakes_the_orchestrator(
    sandbox: Sandbox, workdir: Path, fallback: str
) -> None:
    async with webhook() as hook, BotApi() as api:
        bot = {"token": api.token, "base_url": api.base_url, "base_file_url": api.base_file_url}
        plain = configured(workdir, {"fallback": fallback}, webhook_url=hook.url)
        people = [{"name": "ada", "role": "admin", "telegram": 1001}]
        both = plain.model_dump(exclude_unset=True) | {"telegram": bot, "people": people}
        settings = Settings.model_validate(both)
        async with chatting(sandbox, workdir, settings=settings) as chat:
            caller = replace(chat.caller, channel=None)
            await execute(chat.daemon.pool, c.Launch(prompt="hello"), caller)
            await eventually(lambda: hook.calls, 20)


async def test_a_chat_of_telegrams_is_the_orchestrators_where_there_is_no_bot(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with orchestrated(sandbox, workdir, fallback="telegram|1001") as there:
        state = await there.launch("hello", origin=None)
        await there.chat.daemon.manager.kill(state)
        await eventually(lambda: there.messages.calls, 20)
        assert there.messages.calls[0]["argv"][2:6] == ["--channel", "telegram", "--target", "1001"]


@pytest.mark.parametrize(
    ("fallback", "orders", "told"),
    [
        ("telegram", {}, "nothing would ever be told to telegram; write telegram|ID"),
        ("telegram|@me", {}, "write telegram|ID"),
        ("1001", {}, "configure a bot"),
        ("discord|1", {}, "configure [orchestrator]"),
        ("discord", {"message_command": ["true"]}, "write channel|target"),
    ],
)
async def test_a_channel_that_leads_nowhere_is_refused_at_the_start(
    sandbox: Sandbox, workdir: Path, fallback: str, orders: dict[str, Any], told: str
) -> None:
    settings = configured(workdir, {"fallback": fallback}, **orders)
    with pytest.raises(ConfigError, match=re.escape(told)):
        async with chatting(sandbox, workdir, settings=settings):
            pass


def read_all(state: SessionState) -> str:
    return f'Use claude_output(session="{state.id}", full=true) to read all of it.'


async def test_a_completed_session_is_a_message_to_its_channel_and_an_event(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("look", say("It is **fixed**."))
    async with orchestrated(sandbox, workdir) as there:
        state = await there.launch("look around", name="look", once=True)
        await eventually(lambda: there.messages.calls and there.events.calls)
        cost = (await there.chat.ended("look")).run_cost_usd
    head = f"✅ [look] Completed\n📁 {workdir}\n💰 ${cost:.4f}"
    assert there.messages.argv == [["message", "send", *TO, f"{head}\n\nIt is fixed."]]
    event = (
        f"✅ Claude Code session completed.\nName: look | ID: {state.id}\nStatus: completed\n\n"
        f"It is **fixed**.\n\n{read_all(state)}"
    )
    assert there.events.argv == [["system", "event", "--text", event, "--mode", "now"]]


async def test_a_killed_session_is_told_with_what_it_was_asked_and_nothing_of_it_is_run(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("touch pwned", hang())
    async with orchestrated(sandbox, workdir) as there:
        state = await there.launch(NASTY, name="nasty")
        await there.chat.working("nasty")
        await there.chat.type("/kill nasty")
        await eventually(lambda: there.messages.calls and there.events.calls)
    text = f'⛔ [nasty] Killed\n📁 {workdir}\n📝 "{NASTY}"'
    assert there.messages.argv == [["message", "send", *TO, text]]
    event = (
        f"⛔ Claude Code session killed.\nName: nasty | ID: {state.id}\nStatus: killed\n\n"
        f"(no output yet)\n\n{read_all(state)}"
    )
    assert there.events.argv == [["system", "event", "--text", event, "--mode", "now"]]
    assert not list(sandbox.root.rglob("pwned"))


async def test_a_session_that_waits_is_an_event_and_so_is_one_that_asks(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hello", say("What next?"))
    script.on("clean", bash("rm -rf build"), say("Done."))
    async with orchestrated(sandbox, workdir) as there:
        await there.launch("hello", name="one")
        await there.launch("clean up", name="two")
        asked = await there.chat.asked("two")
        await eventually(lambda: len(there.events.calls) == 2)
        text = "\n".join(argv[3] for argv in there.events.argv)
    assert there.messages.calls == []
    assert "💬 Multi-turn session is waiting for input.\nName: one" in text
    assert "Origin: discord|acct|123\n\nWhat next?\n\nUse claude_respond(session=" in text
    assert "💬 Multi-turn session is waiting for a decision.\nName: two" in text
    assert f"Decide it with one of: /allow {asked.id}, " in text


async def test_the_directory_says_who_hears_of_a_session_that_comes_from_nowhere(
    sandbox: Sandbox, workdir: Path
) -> None:
    web = workdir / "web"
    (web / "api").mkdir(parents=True)
    workdirs = {str(workdir): "discord|all", f"{web}/": DISCORD}
    async with orchestrated(sandbox, workdir, workdirs=workdirs) as there:
        state = await there.launch("hello", None, directory="web/api", once=True)
        assert state.origin == DISCORD
        assert (await there.launch("hi", None, once=True)).origin == "discord|all"
        await eventually(lambda: len(there.messages.calls) == 2)
    targets = {argv[argv.index("--target") + 1] for argv in there.messages.argv}
    assert targets == {"123", "all"}


async def test_what_comes_from_nowhere_at_all_wakes_the_webhook(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with webhook() as hook:
        settings = configured(workdir, webhook_url=hook.url)
        async with chatting(sandbox, workdir, settings=settings) as chat:
            there = Orchestrated(chat, *(recorder(sandbox.root, name) for name in "ab"))
            state = await there.launch("hello", None, name="lost", once=True)
            assert state.origin == "unknown"
            await eventually(lambda: hook.calls)
        ((_, path, body),) = hook.calls
        assert (path, body["mode"]) == ("/hooks/wake", "now")
        assert body["text"].startswith("✅ Claude Code session completed.\nName: lost")


async def test_without_configuration_nothing_of_this_happens(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    async with chatting(sandbox, workdir) as chat:
        there = Orchestrated(chat, *(recorder(sandbox.root, name) for name in "ab"))
        assert (await there.launch("hello", None, name="lost", once=True)).origin == "unknown"
        assert (await chat.reply("/new --name mine hello")).session
        assert (await chat.state("mine")).origin == "memory|owner"
        await chat.ended("lost")


async def test_what_a_crash_cut_off_is_an_event_at_the_next_start(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hello", hang())
    async with orchestrated(sandbox, workdir) as there:
        await there.launch("hello", name="cut")
        await there.chat.working("cut")
    async with orchestrated(sandbox, workdir) as there:
        await eventually(lambda: any("I was restarted" in argv[3] for argv in there.events.argv))
    (greeting,) = [argv[3] for argv in there.events.argv if "I was restarted" in argv[3]]
    assert "cut was in the middle of a turn; it was asked:\n“hello”" in greeting


async def test_what_was_cut_off_and_has_nobody_to_hear_of_it_is_not_kept_for_ever(
    script: Script, sandbox: Sandbox, workdir: Path
) -> None:
    script.on("hello", hang())
    async with chatting(sandbox, workdir) as chat:
        there = Orchestrated(chat, *(recorder(sandbox.root, name) for name in "ab"))
        await there.launch("hello", None, name="cut")
        await chat.working("cut")
    async with chatting(sandbox, workdir) as chat:
        assert not chat.daemon.log.store.news()


async def test_a_worktree_belongs_to_whoever_its_repository_belongs_to(
    sandbox: Sandbox, workdir: Path
) -> None:
    web = repository(workdir / "web")
    async with orchestrated(sandbox, workdir, workdirs={str(web): DISCORD}) as there:
        state = await there.launch("hello", None, directory="web", name="apart", worktree=True)
    assert state.spec.directory != str(web)
    assert state.origin == DISCORD
