"""What a sceptic found: callers that go away, rooms that are wanted, powers that are inherited."""

from __future__ import annotations

import asyncio
from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, say, write
from claude_sessions.model import PermissionMode, Role, Status
from tests.journeys.chat import Chat, chatting, settings_for


async def gone_at_once(chat: Chat, line: str) -> None:
    """Somebody types a line and is cut off before the answer."""
    typing = asyncio.create_task(chat.reply(line))
    await asyncio.sleep(0)
    typing.cancel()
    await asyncio.wait([typing])


async def test_a_decision_whose_caller_goes_away_is_still_exact(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    asked = await chat.asked("maker")
    await gone_at_once(chat, f"/allow {asked.id}")
    late = await chat.type(f"/deny {asked.id}")
    assert "lready" in late
    await chat.idle("maker")
    assert (workdir / "made").exists()


async def test_a_launch_whose_caller_goes_away_still_runs(model: ScriptedModel, chat: Chat) -> None:
    await gone_at_once(chat, "/new --name ghost hello")
    state = await chat.until("ghost", lambda s: s.blocks == 1)
    await chat.type("/kill ghost")
    await gone_at_once(chat, f"/resume {state.id} again")
    await chat.until("ghost", lambda s: s.blocks == 2)
    assert model.prompts() == ["hello", "again"]


async def test_a_refused_order_whose_caller_goes_away_harms_nobody(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    await chat.idle("a")
    await gone_at_once(chat, "/mode a bypassPermissions")
    await chat.type("/say a still there?")
    assert (await chat.until("a", lambda s: s.blocks == 2)).status is Status.RUNNING


async def test_a_session_that_was_just_spoken_to_is_not_put_to_sleep_for_another(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path
) -> None:
    gate = Gate()
    script.on("slow", say("One ", gate, "two."))
    async with chatting(sandbox, workdir, settings=settings_for(workdir, max_sessions=1)) as chat:
        await chat.type("/new --fg --name a hello")
        await chat.idle("a")
        await asyncio.gather(chat.type("slow please"), chat.type("/new --name b hello"))
        await gate.reached()
        gate.open()
        await chat.until("a", lambda s: s.blocks == 2)


async def test_a_branch_inherits_only_what_its_maker_may_give(
    script: Script, chat: Chat, workdir: Path
) -> None:
    (workdir / "other").mkdir()
    await chat.type("/new --name boss --mode acceptEdits --allow Bash(touch*) hello")
    await chat.idle("boss")
    prompter = chat.somebody(Role.PROMPTER)
    assert "may" in await prompter.type("/resume --fork boss evil")
    assert len(chat.daemon.manager.live()) == 1
    await chat.type("/kill boss")
    assert "only an admin" in await prompter.type("/resume --dir other boss evil")
    await chat.type("/resume --fork --name twin boss fine")
    assert (await chat.idle("twin")).spec.mode is PermissionMode.ACCEPT_EDITS


async def test_narrower_workdirs_hold_for_sessions_that_were_there_before(
    sandbox: Sandbox, workdir: Path
) -> None:
    for name in ("one", "two"):
        (workdir / name).mkdir()
    async with chatting(sandbox, workdir) as chat:
        await chat.type("/new --name ended --dir one hello")
        await chat.type("/new --name asleep --dir one hello")
        await chat.idle("ended")
        await chat.idle("asleep")
        await chat.type("/kill ended")
    settings = settings_for(workdir / "two")
    async with chatting(sandbox, workdir, settings=settings) as chat:
        assert "outside the allowed" in await chat.type("/resume ended")
        assert "outside the allowed" in await chat.type("/say asleep hello")


async def test_a_queued_message_of_a_killed_session_can_be_withdrawn(
    script: Script, model: ScriptedModel, chat: Chat
) -> None:
    gate = Gate()
    script.on("work", say("One ", gate, "two."))
    await chat.type("/new --name a work")
    await gate.reached()
    queued = await chat.reply("/say a never mind")
    await chat.type("/kill a")
    assert "withdrawn" in await chat.type(f"/withdraw a {queued.data['messageId']}")
    await chat.type("/resume a go on")
    await chat.idle("a")
    assert not model.about("never mind")


async def test_a_link_out_of_the_directory_is_not_an_edit_inside(
    script: Script, chat: Chat, workdir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workdir / "link").symlink_to(outside)
    script.on("write", write(str(workdir / "link" / "x"), "x"), say("Written."))
    await chat.type("/rules add allow Write(link/**)")
    await chat.type("/new --name sly write")
    assert await chat.asked("sly")


async def test_a_renamed_session_is_found_by_its_new_name_while_it_waits(
    script: Script, chat: Chat
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name old make")
    await chat.asked("old")
    await chat.type("/rename old new")
    assert "new" in await chat.type("/approvals")
    assert "llowed" in await chat.type("/allow new")
    await chat.idle("new")


async def test_a_single_turn_that_could_not_be_asked_ends(chat: Chat) -> None:
    await chat.type("/new --once --name single /frobnicate now")
    assert (await chat.ended("single")).status is Status.FAILED


async def test_a_name_goes_only_with_a_fork(chat: Chat) -> None:
    await chat.type("/new --name a hello")
    await chat.idle("a")
    assert "/rename" in await chat.type("/resume --name b a")
