"""A forum: each session, or each project, has its own topic."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from claude_sessions.demo import Sandbox, Script, bash, question, say
from tests.botapi import BotApi, Chat, Person
from tests.telegram.forum import Open, topic
from tests.telegram.phone import phone_of


@pytest.fixture
async def of_projects(
    sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> AsyncIterator[Person]:
    async with phone_of(sandbox, workdir, api, telegram={"topics": "per_project"}) as phone:
        yield phone.owner


async def test_a_session_launched_in_general_is_shown_in_its_own_topic(
    ada: Person, forum: Chat, script: Script, workdir: Path
) -> None:
    script.on("make", say("I try."), bash("touch made"), say("Made."))
    await ada.says("/new --name maker make", forum)
    answer = await forum.shows("🟡 maker")
    thread = await topic(forum, "maker")
    await forum.shows("maker · work", thread=thread)
    card = await forum.shows("maker asks", thread=thread, timeout=20)
    await ada.presses("Allow", card, forum)
    await forum.shows("given to Claude", thread=thread, timeout=20)
    await forum.shows("Made.", thread=thread, timeout=20)
    await forum.shows("context", thread=thread, timeout=20)
    assert (workdir / "made").exists()
    assert [m for m in forum.of_bot if m.thread is None] == [answer]


async def test_two_sessions_do_not_mix(ada: Person, forum: Chat, script: Script) -> None:
    for name in ("red", "blue"):
        script.on(name, say(f"I am {name}."))
        await ada.says(f"/new --name {name} {name}", forum)
    red, blue = await topic(forum, "red"), await topic(forum, "blue")
    await forum.shows("I am red.", thread=red, timeout=20)
    await forum.shows("I am blue.", thread=blue, timeout=20)
    await ada.says("and you?", forum, thread=red)
    await forum.shows("You said: and you?", thread=red, timeout=20)
    assert "blue" not in forum.text(red)
    assert "red" not in forum.text(blue)


async def test_a_question_is_answered_in_the_topic_and_the_card_alone_says_so(
    ada: Person, forum: Chat, script: Script
) -> None:
    script.on("choose", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    await ada.says("/new --name asker choose", forum)
    thread = await topic(forum, "asker")
    await forum.shows("Which colour?", thread=thread, timeout=20)
    await ada.says("Rather green", forum, thread=thread)
    await forum.shows("Answered by owner (Telegram)", thread=thread, timeout=20)
    await forum.shows("Thanks.", thread=thread, timeout=20)
    assert "asker: answered." not in forum.text()


async def test_words_in_general_for_a_session_shown_elsewhere_are_acknowledged(
    ada: Person, forum: Chat
) -> None:
    await ada.says("/new --name first hello", forum)
    thread = await topic(forum, "first")
    await forum.shows("You said: hello", thread=thread, timeout=20)
    await forum.shows("context", thread=thread, timeout=20)
    said = await ada.says("and this", forum)
    heard = await forum.shows(lambda message: message.reply_to is said)
    assert "first" in heard.text
    await forum.shows("You said: and this", thread=thread, timeout=20)


async def test_after_a_restart_the_topic_still_belongs_to_its_session(
    open_forum: Open, forum: Chat, script: Script
) -> None:
    async with open_forum() as phone:
        for name in ("one", "two"):
            await phone.owner.says(f"/new --name {name} hello {name}", forum)
            thread = await topic(forum, name)
            await forum.shows(f"You said: hello {name}", thread=thread, timeout=20)
    one = await topic(forum, "one")
    async with open_forum() as phone:
        await phone.owner.says("still there?", forum, thread=one)
        await forum.shows("You said: still there?", thread=one, timeout=20)
    assert len(forum.topics) == 2


async def test_the_topic_is_named_closed_and_opened_again_with_its_session(
    ada: Person, forum: Chat
) -> None:
    await ada.says("/new --name first hello", forum)
    thread = await topic(forum, "first")
    await forum.shows("You said: hello", thread=thread, timeout=20)
    await ada.says("/rename first better", forum)
    assert await topic(forum, "better") == thread
    await ada.says("/kill better", forum)
    assert await topic(forum, "better", closed=True) == thread
    await ada.says("/resume better go on", forum)
    assert await topic(forum, "better") == thread
    await forum.shows("You said: go on", thread=thread, timeout=20)


async def test_forgetting_a_session_closes_its_topic_for_good(ada: Person, forum: Chat) -> None:
    await ada.says("/new --name first hello", forum)
    thread = await topic(forum, "first")
    await forum.shows("context", thread=thread, timeout=20)
    await ada.says("/sleep first", forum, thread=thread)
    await forum.shows("first is asleep", thread=thread, timeout=20)
    await ada.says("/forget first", forum)
    await forum.shows("[Delete it]", timeout=20)
    await ada.presses("Delete it", chat=forum)
    await topic(forum, "first", closed=True)
    await ada.says("anybody?", forum, thread=thread)
    await forum.shows("No session is in the foreground here", thread=thread)


async def test_a_session_takes_the_topic_that_a_person_opened_for_it(
    ada: Person, forum: Chat
) -> None:
    mine = await ada.opens_topic("my ideas", forum)
    await ada.says("/new --name first hello", forum, thread=mine)
    await forum.shows("You said: hello", thread=mine, timeout=20)
    await forum.shows("context", thread=mine, timeout=20)
    await ada.says("and this", forum, thread=mine)
    await forum.shows("You said: and this", thread=mine, timeout=20)
    assert list(forum.topics) == [mine]
    assert forum.text(mine).count("first · work") == 1
    await ada.says("/new --name second more", forum, thread=mine)
    second = await topic(forum, "second")
    await forum.shows("You said: more", thread=second, timeout=20)


async def test_what_a_person_opened_is_neither_renamed_nor_closed_and_serves_the_next(
    ada: Person, forum: Chat
) -> None:
    mine = await ada.opens_topic("my ideas", forum)
    await ada.says("/new --name first --once hello", forum, thread=mine)
    await forum.shows("✅ first", thread=mine, timeout=20)
    await ada.says("/new --name second --once again", forum, thread=mine)
    await forum.shows("✅ second", thread=mine, timeout=20)
    assert [(t.name, t.closed) for t in forum.topics.values()] == [("my ideas", False)]


async def test_what_telegram_remarks_by_itself_is_not_answered(ada: Person, forum: Chat) -> None:
    mine = await ada.opens_topic("my ideas", forum)
    await ada.closes_topic(mine, forum)
    await ada.says("/sessions", forum)
    await forum.shows("No sessions")
    assert len(forum.of_bot) == 1


async def test_sessions_of_one_project_share_its_topic(
    of_projects: Person, forum: Chat, workdir: Path
) -> None:
    other = workdir / "other"
    other.mkdir()
    ada, here = of_projects, partial(topic, forum, workdir.name)
    await ada.says("/new --name a hello a", forum)
    await forum.shows("You said: hello a", thread=await here(), timeout=20)
    await ada.says("/new --name b hello b", forum)
    await forum.shows("You said: hello b", thread=await here(), timeout=20)
    await ada.says(f"/new --name c --dir {other} hello c", forum)
    await forum.shows("You said: hello c", thread=await topic(forum, "other"), timeout=20)
    assert len(forum.topics) == 2


async def test_words_in_a_projects_topic_are_for_the_session_spoken_to_last(
    of_projects: Person, forum: Chat, workdir: Path
) -> None:
    for name in ("a", "b"):
        await of_projects.says(f"/new --name {name} hello {name}", forum)
        await forum.shows(f"You said: hello {name}", timeout=20)
        await forum.shows(f"{name} · 0:", timeout=20)
    thread = await topic(forum, workdir.name)
    await of_projects.says("first", forum, thread=thread)
    await forum.shows(lambda m: "You said: first" in m.text and "\nb ·" in m.text, timeout=20)
    await of_projects.says("/say a you now", forum, thread=thread)
    await forum.shows(lambda m: "You said: you now" in m.text and "\na ·" in m.text, timeout=20)
    await of_projects.says("second", forum, thread=thread)
    await forum.shows(lambda m: "You said: second" in m.text and "\na ·" in m.text, timeout=20)


async def test_the_topic_of_a_project_stays_open(
    of_projects: Person, forum: Chat, workdir: Path
) -> None:
    await of_projects.says("/new --name a --once hello", forum)
    thread = await topic(forum, workdir.name)
    await forum.shows("✅ a", thread=thread, timeout=20)
    await of_projects.says("/new --name b hello b", forum)
    await forum.shows("You said: hello b", thread=thread, timeout=20)
    assert not forum.topics[thread].closed
