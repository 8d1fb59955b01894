"""A conversation begun in a plain terminal becomes a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.channel import Kind
from claude_sessions.demo import Sandbox, ScriptedModel
from claude_sessions.model import Reason, Role, Status
from tests.journeys.chat import Chat, chatting
from tests.terminal_claude import bare_claude


@pytest.fixture
async def begun(sandbox: Sandbox, workdir: Path) -> str:
    """Its id."""
    await bare_claude(sandbox, workdir, "-p", "Why is the login so slow?")
    (file,) = (sandbox.home / ".claude" / "projects").glob("*/*.jsonl")
    return file.stem


async def test_what_was_said_in_a_terminal_goes_on_in_a_chat(
    begun: str, chat: Chat, model: ScriptedModel, workdir: Path
) -> None:
    told = await chat.type("/adopt --name slow login SO slow")
    assert "slow · work · adopted" in told
    state = await chat.state("slow")
    assert (state.status, state.reason) == (Status.ASLEEP, Reason.ADOPTED)
    assert (state.claude_id, state.spec.directory) == (begun, str(workdir))
    await chat.type("/say slow and the logout?")
    request = await model.asked("and the logout?")
    assert "Why is the login so slow?" in str(request.messages)
    assert "You said: Why is the login" in str(request.messages)
    assert (await chat.idle("slow")).claude_ids == (begun,)


async def test_adoption_is_three_facts_and_starts_nothing(begun: str, chat: Chat) -> None:
    reply = await chat.reply(f"/adopt {begun}")
    assert reply.session is not None
    facts = [event.payload for event in await chat.daemon.log.events(reply.session)]
    assert [type(fact) for fact in facts] == [
        e.SessionCreated,
        e.ConversationIdentified,
        e.SessionAsleep,
    ]
    assert chat.daemon.manager.live() == []
    assert Kind.LAUNCHED not in chat.kinds()


async def test_a_name_is_made_from_the_title_and_a_taken_one_gets_a_number(
    begun: str, chat: Chat, sandbox: Sandbox, workdir: Path
) -> None:
    await chat.type("/new --name slow something else")
    assert "The name slow is taken; this one is slow-2" in await chat.type(
        f"/adopt {begun[:8]} --name slow"
    )
    await bare_claude(sandbox, workdir, "-p", "Rename the tables")
    assert "cannot be a name" in await chat.type("/adopt tables --name ???")
    assert "rename-tables" in await chat.type("/adopt tables")


async def test_it_has_the_defaults_of_a_launch(begun: str, chat: Chat) -> None:
    await chat.type(f"/adopt {begun} --name slow")
    await chat.type("/new --name fresh go")
    adopted, fresh = await chat.state("slow"), await chat.state("fresh")
    assert adopted.spec == fresh.spec
    assert adopted.origin == fresh.origin == "memory|owner"


async def test_the_list_has_what_no_session_owns_and_a_button_for_each(
    begun: str, chat: Chat
) -> None:
    await chat.type("/new --name ours our own words")
    await chat.idle("ours")
    reply = await chat.reply("/adopt")
    assert "Why is the login so slow?" in reply.text
    assert "our own words" not in reply.text
    assert [action.line for action in reply.actions] == [f"/adopt {begun}"]
    await chat.type(reply.actions[0].line)
    assert "No conversation was begun" in await chat.type("/adopt")


async def test_the_list_of_what_can_be_resumed_ends_with_them(begun: str, chat: Chat) -> None:
    await chat.type("/new --name ours our own words")
    await chat.idle("ours")
    await chat.type("/kill ours")
    text = await chat.type("/resume --list")
    assert text.index("ours") < text.index("Why is the login so slow?")
    assert "/adopt ID" in text


async def test_a_conversation_of_a_session_is_refused_with_its_name(begun: str, chat: Chat) -> None:
    await chat.type(f"/adopt {begun} --name slow")
    for again in (begun, begun[:8], "login"):
        assert "a session already: slow" in await chat.type(f"/adopt {again}")


async def test_of_two_that_adopt_at_once_one_is_refused(begun: str, chat: Chat) -> None:
    told = await asyncio.gather(*(chat.type(f"/adopt {begun}") for _ in range(2)))
    assert sorted("a session already" in text for text in told) == [False, True]
    assert len(await chat.daemon.log.session_rows()) == 1


async def test_a_title_that_fits_several_is_refused_with_their_ids(
    begun: str, chat: Chat, sandbox: Sandbox, workdir: Path
) -> None:
    await bare_claude(sandbox, workdir, "-p", "Make the login quicker")
    told = await chat.type("/adopt login")
    assert "2 conversations fit “login”" in told
    assert f"/adopt {begun[:8]}" in told
    assert "No conversation fits" in await chat.type("/adopt logout")


async def test_a_directory_that_is_not_allowed_is_refused_and_only_counted(
    chat: Chat, sandbox: Sandbox, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    await bare_claude(sandbox, secret, "-p", "Where is the treasure?")
    listed = await chat.reply("/adopt")
    assert "treasure" not in listed.text
    assert "🔒 1 conversation where sessions may not run" in listed.text
    assert listed.actions == ()
    assert "outside the allowed directories" in await chat.type("/adopt treasure")


async def test_a_viewer_may_look_but_not_adopt(begun: str, chat: Chat) -> None:
    viewer = chat.somebody(Role.VIEWER)
    assert "login so slow" in await viewer.type("/adopt")
    assert "adopt conversations" in await viewer.type(f"/adopt {begun}")


async def test_an_adopted_session_is_there_after_a_restart(
    begun: str, sandbox: Sandbox, workdir: Path, model: ScriptedModel
) -> None:
    async with chatting(sandbox, workdir) as before:
        await before.type(f"/adopt {begun} --name slow")
    async with chatting(sandbox, workdir) as after:
        assert "slow" in await after.type("/sessions asleep")
        await after.type("/say slow still there?")
        request = await model.asked("still there?")
        assert "Why is the login so slow?" in str(request.messages)
        await after.idle("slow")
