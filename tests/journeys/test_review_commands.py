"""Whole lists, words older than the buffer, rules and trust: chat text to chat text.

Sessions that only have to be there are written to the log, without a process.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from claude_sessions import events as e
from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from claude_sessions.model import Reason, Role, Status
from claude_sessions.state import draft
from tests.journeys.chat import Chat, chatting, settings_for

ASLEEP = e.SessionAsleep(reason=Reason.IDLE)
DONE = e.SessionEnded(status=Status.COMPLETED, reason=Reason.DONE)


def existing(name: str, directory: Path, *facts: e.Payload) -> list[e.Draft]:
    born = e.SessionCreated(project_id="p", name=name, directory=str(directory))
    return [e.Draft(session=f"id-{name}", run="r", payload=fact) for fact in (born, *facts)]


async def many_have_ended(chat: Chat, workdir: Path, count: int = 150) -> None:
    drafts = [draft for n in range(count) for draft in existing(f"old-{n}", workdir, DONE)]
    await chat.daemon.log.append(*drafts)


# --- output


async def test_output_reaches_back_further_than_the_buffer(sandbox: Sandbox, workdir: Path) -> None:
    words = [e.AssistantMessage(text=f"word {n}") for n in range(1, 7)]
    settings = settings_for(workdir, output_blocks=2)
    async with chatting(sandbox, workdir, settings=settings) as chat:
        await chat.daemon.log.append(*existing("talker", workdir, *words, ASLEEP))
        full = (await chat.reply("/output talker --full")).data["lines"]
        assert list(full) == [word.text for word in words]
        some = (await chat.reply("/output talker --lines 3")).data["lines"]
        assert list(some) == ["word 4", "word 5", "word 6"]
        assert "word 1\n" in await chat.type("/output talker")


async def test_a_block_said_while_leaving_is_not_shown_again(chat: Chat, workdir: Path) -> None:
    await chat.daemon.log.append(*existing("talker", workdir, ASLEEP))
    await chat.type("/fg talker")
    said = draft(await chat.state("talker"), e.AssistantMessage(text="seen already"))
    await asyncio.gather(chat.daemon.log.append(said), chat.type("/bg"))
    assert (await chat.reply("/fg talker")).data["missed"] == []


# --- lists


async def test_a_list_shows_who_works_and_sleeps_behind_many_that_ended(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("work", say("Working ", gate := Gate(), "done."))
    await chat.daemon.log.append(*existing("sleeper", workdir, ASLEEP))
    await chat.type("/new --name worker work")
    await gate.reached()
    await many_have_ended(chat, workdir)
    worker, sleeper, *_, more, summary = (await chat.type("/sessions")).splitlines()
    assert (worker.split()[0], sleeper.split()[0]) == ("worker", "sleeper")
    assert (more, summary) == ("… and 112 more", "152 sessions · 1 working")
    assert "worker" in await chat.type("/sessions running")
    assert "sleeper" in await chat.type("/sessions asleep")
    gate.open()


async def test_a_list_of_one_status_counts_all_of_it(chat: Chat, workdir: Path) -> None:
    await chat.daemon.log.append(*existing("sleeper", workdir, ASLEEP))
    await many_have_ended(chat, workdir)
    reply = await chat.reply("/sessions completed")
    assert reply.text.splitlines()[-2:] == ["… and 110 more", "150 sessions"]
    assert reply.data["total"] == 150
    assert (await chat.type("/sessions asleep")).endswith("1 session")
    assert (await chat.type("/sessions failed")).startswith("No sessions")


async def test_what_can_be_resumed_is_found_behind_many_that_cannot(
    chat: Chat, workdir: Path
) -> None:
    known = e.ConversationIdentified(claude_session_id="c1")
    await chat.daemon.log.append(*existing("sleeper", workdir, known, ASLEEP))
    await many_have_ended(chat, workdir)
    reply = await chat.reply("/resume --list")
    assert reply.data == {"sessions": ["id-sleeper"], "total": 1, "found": []}
    assert "sleeper" in reply.text


async def test_all_that_can_be_resumed_are_counted(chat: Chat, workdir: Path) -> None:
    for n in range(120):
        known = e.ConversationIdentified(claude_session_id=f"c{n}")
        await chat.daemon.log.append(*existing(f"old-{n}", workdir, known, DONE))
    assert "… and 105 more" in await chat.type("/resume --list")


# --- rules


async def test_a_new_rule_answers_what_waits(script: Script, chat: Chat, workdir: Path) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await chat.type("/new --name maker make")
    await chat.asked("maker")
    await chat.type("/rules add allow Bash(touch made)")
    await chat.idle("maker")
    assert (workdir / "made").exists()


async def test_only_an_admin_revokes_a_denial_for_every_project(chat: Chat) -> None:
    wide = (await chat.reply("/rules add deny Bash(rm *) --scope user")).data["rule"]
    narrow = (await chat.reply("/rules add deny Bash(mv *)")).data["rule"]
    approver = chat.somebody(Role.APPROVER)
    assert "only an admin" in await approver.type(f"/rules revoke {wide}")
    assert wide in await chat.type("/rules")
    assert "revoked" in await approver.type(f"/rules revoke {narrow}")
    assert "revoked" in await chat.type(f"/rules revoke {wide}")
    assert "There is no rule" in await approver.type(f"/rules revoke {wide}")


async def test_a_rule_is_listed_until_it_expires(sandbox: Sandbox, workdir: Path) -> None:
    clock = ManualClock()
    async with chatting(sandbox, workdir, clock=clock) as chat:
        await chat.type("/rules add allow Bash(ls) --for 2h")
        assert "until 2026-01-01 02:00 UTC" in await chat.type("/rules")
        clock.advance(2 * 3600)
        assert "No rules yet" in await chat.type("/rules")


# --- trust


async def test_trust_asks_which_when_a_session_and_a_directory_share_a_name(
    chat: Chat, workdir: Path
) -> None:
    (workdir / "web").mkdir()
    await chat.daemon.log.append(*existing("web", workdir, ASLEEP))
    for command in ("/trust", "/untrust"):
        reply = await chat.type(f"{command} web")
        assert "./web" in reply
        assert "id-web" in reply
    assert chat.daemon.pool.trust.all() == []
    await chat.type("/trust ./web")
    assert chat.daemon.pool.trust.all() == [str(workdir / "web")]
    await chat.type("/trust id-web")
    assert str(workdir) in chat.daemon.pool.trust.all()


async def test_trust_takes_a_word_that_means_one_directory(chat: Chat, workdir: Path) -> None:
    for name in ("docs", "site"):
        (workdir / name).mkdir()
    await chat.daemon.log.append(*existing("site", workdir / "site", ASLEEP))
    await chat.type("/trust docs")
    await chat.type("/trust site")
    assert chat.daemon.pool.trust.all() == [str(workdir / "docs"), str(workdir / "site")]
