"""A full disk: new work is refused, what runs is kept, people are told."""

from __future__ import annotations

from contextlib import suppress

import psutil

from claude_sessions import events as e
from claude_sessions.channel import Kind
from claude_sessions.demo import Gate, Script, ScriptedModel, bash, say
from claude_sessions.model import Status
from tests.journeys.chat import Chat
from tests.waiting import eventually

LONG = ".".join(map(str, range(60_000)))  # does not compress to nothing


def fill_the_disk(chat: Chat) -> None:
    chat.daemon.log.store.allow_pages(1)  # SQLite itself then says that the disk is full


def make_room(chat: Chat) -> None:
    chat.daemon.log.store.allow_pages(1_000_000)
    chat.daemon.log.retry()


async def test_new_work_is_refused_and_running_work_is_kept_until_there_is_room(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("work", say("Before. ", gate, LONG, " After."))
    await chat.type("/new --fg --name busy work")
    await gate.reached()
    fill_the_disk(chat)
    gate.open()
    told = await chat.shows(Kind.NOTICE, "full")
    assert "stored" in told.text

    refused = await chat.type("/new --name late hello")
    assert "full" in refused
    assert "full" in await chat.type("/say busy more")
    assert model.prompts() == ["work"]

    make_room(chat)
    state = await chat.idle("busy")
    assert state.blocks == 1
    assert "After." in await chat.type("/output busy")
    await chat.shows(Kind.NOTICE, "room again")
    assert 'Session "late" not found' in await chat.type("/kill late")
    await chat.type("/new --name late hello")
    await chat.idle("late")


async def working_on_a_full_disk(script: Script, chat: Chat) -> None:
    """A session whose words cannot be stored, and which then wants to do something."""
    gate = Gate()
    script.on("work", say("Before. ", gate, LONG), bash("touch made"), say("Never."))
    await chat.type("/new --fg --name busy work")
    await gate.reached()
    fill_the_disk(chat)
    gate.open()
    await chat.shows(Kind.NOTICE, "full")


async def test_a_kill_works_on_a_full_disk_and_is_told_when_there_is_room(
    script: Script, chat: Chat
) -> None:
    await working_on_a_full_disk(script, chat)
    await chat.type("/kill busy")
    await eventually(lambda: not psutil.Process().children(recursive=True))
    make_room(chat)
    assert (await chat.ended("busy")).status is Status.KILLED


async def test_what_claude_asks_stands_behind_what_it_said_before(
    script: Script, chat: Chat
) -> None:
    await working_on_a_full_disk(script, chat)
    with suppress(TimeoutError):
        await eventually(chat.daemon.pool.desk.waiting, seconds=2)
    make_room(chat)
    state = await chat.until("busy", lambda s: bool(s.pending))
    told = [type(event.payload) for event in await chat.daemon.log.events(state.id)]
    assert told[-3:] == [e.AssistantMessage, e.ToolRequested, e.ApprovalRequested]
