"""A forum: each session, or each project, has its own topic."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from claude_sessions.demo import Gate, Sandbox, Script, bash, question, say
from tests.botapi import BotApi, Chat, Drop, Person
from tests.botapi.chats import Topic
from tests.botapi.limits import AS_PUBLISHED
from tests.telegram.phone import OWNER, Phone, phone_of
from tests.waiting import eventually

Open = Callable[[], AbstractAsyncContextManager[Phone]]


@pytest.fixture
def forum(api: BotApi) -> Chat:
    api.limits = None  # how fast a group may be written to is tested elsewhere
    return api.group(-100700, "Sessions", forum=True, members=[api.person(OWNER, "Ada")])


@pytest.fixture
def open_phone(sandbox: Sandbox, workdir: Path, api: BotApi) -> Open:
    return partial(phone_of, sandbox, workdir, api, telegram={"topics": "per_session"})


@pytest.fixture
async def ada(open_phone: Open, forum: Chat) -> AsyncIterator[Person]:
    async with open_phone() as phone:
        yield phone.owner


@pytest.fixture
async def of_projects(
    sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> AsyncIterator[Person]:
    async with phone_of(sandbox, workdir, api, telegram={"topics": "per_project"}) as phone:
        yield phone.owner


async def topic(forum: Chat, name: str, *, closed: bool = False) -> int:
    """Its thread, once there is such a one."""

    def look() -> Topic | None:
        fits = (t for t in forum.topics.values() if (t.name, t.closed) == (name, closed))
        return next(fits, None)

    found = await forum.until(look, f"no topic {name!r}, closed={closed}", 20)
    return found.thread


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
    open_phone: Open, forum: Chat, script: Script
) -> None:
    async with open_phone() as phone:
        for name in ("one", "two"):
            await phone.owner.says(f"/new --name {name} hello {name}", forum)
            thread = await topic(forum, name)
            await forum.shows(f"You said: hello {name}", thread=thread, timeout=20)
    one = await topic(forum, "one")
    async with open_phone() as phone:
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


async def test_a_topic_is_closed_after_the_last_word(ada: Person, forum: Chat, api: BotApi) -> None:
    await ada.says("/new --name first hello", forum)
    thread = await topic(forum, "first")
    await forum.shows("context", thread=thread, timeout=20)
    api.fail("sendMessage", times=2, where=lambda params: "message_thread_id" in params)
    await ada.says("/kill first", forum)
    await topic(forum, "first", closed=True)
    *_, last, closing = [message for message in forum.messages if message.thread == thread]
    assert last.text.startswith("⛔ first")
    assert "forum_topic_closed" in closing.media


async def test_a_session_that_was_over_before_its_topic_was_open_has_it_closed(
    open_phone: Open, forum: Chat, api: BotApi
) -> None:
    api.fail("createForumTopic", times=None)
    async with open_phone() as phone:
        store = phone.daemon.log.store
        await phone.owner.says("/new --name first --once hello", forum)
        await eventually(lambda: (row := store.session_row("first")) and row.status.ended)
        api.calm()
        thread = await topic(forum, "first", closed=True)
    assert "You said: hello" in forum.text(thread)


async def test_what_the_log_says_before_a_kill_is_done_to_the_topic_after_it(
    open_phone: Open, forum: Chat, api: BotApi
) -> None:
    async with open_phone() as phone:
        await phone.owner.says("/new --name first hello", forum)
        await forum.shows("You said: hello", thread=await topic(forum, "first"), timeout=20)
        api.fail("editForumTopic", times=None)
        await phone.owner.says("/rename first better", forum)
        await forum.shows("first is now better.")
        await api.called("editForumTopic")
    api.calm()
    async with open_phone():
        await topic(forum, "better")


async def test_what_happened_while_topics_were_off_is_made_up_for(
    open_phone: Open, sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> None:
    async with open_phone() as phone:
        await phone.owner.says("/new --name first hello", forum)
        await forum.shows("context", thread=await topic(forum, "first"), timeout=20)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/rename first better")
        await phone.owner.chat.shows("first is now better.")
    async with open_phone():
        await topic(forum, "better")


async def test_a_session_that_was_in_front_in_a_topic_before_there_were_any_stays_there(
    open_phone: Open, sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> None:
    mine = await api.person(OWNER, "Ada").opens_topic("my ideas", forum)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/new --fg --name first hello", forum, thread=mine)
        await forum.shows("context", thread=mine, timeout=20)
    async with open_phone() as phone:
        await phone.owner.says("still there?", forum, thread=mine)
        await forum.shows("You said: still there?", thread=mine, timeout=20)
    assert list(forum.topics) == [mine]


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


async def test_without_the_right_to_topics_all_is_told_in_general_and_the_owner_once(
    ada: Person, forum: Chat, api: BotApi
) -> None:
    forum.manages_topics = False
    for name in ("a", "b"):
        await ada.says(f"/new --name {name} hello {name}", forum)
        shown = await forum.shows(f"You said: hello {name}", timeout=20)
        assert shown.thread is None
    await ada.chat.shows("I cannot make topics in the group -100700: Not enough rights")
    assert len(ada.chat.of_bot) == 1
    assert len(api.calls.of("createForumTopic")) == 1
    api.lets_manage_topics(forum, ada)
    await api.acknowledged()
    await ada.says("/new --name c hello c", forum)
    await forum.shows("You said: hello c", thread=await topic(forum, "c"), timeout=20)


async def test_a_group_that_is_no_forum_is_not_asked_for_topics(ada: Person, api: BotApi) -> None:
    team = api.group(-100800, "Team", members=[ada])
    await ada.says("/new --fg --name first hello", team)
    await team.shows("You said: hello", timeout=20)
    await ada.chat.shows("I cannot make topics in the group -100800")
    assert not api.calls.of("createForumTopic")


async def test_a_deleted_topic_is_said_once_and_its_session_goes_on_in_general(
    ada: Person, forum: Chat, api: BotApi, script: Script
) -> None:
    gate = Gate()
    script.on("work", say("I begin."), gate, bash("touch made"), say("Done."))
    await ada.says("/new --name first work", forum)
    thread = await topic(forum, "first")
    await forum.shows("I begin.", thread=thread, timeout=20)
    api.delete_topic(forum, thread)
    gate.open()
    card = await forum.shows("first asks", timeout=20)
    await ada.presses("Allow", card, forum)
    await forum.shows("Done.", timeout=20)
    await ada.says("and more", forum)
    await forum.shows("You said: and more", timeout=20)
    await forum.shows("The topic of first was deleted. It goes on here.")
    assert forum.text().count("was deleted") == 1
    assert forum.topics == {}


async def test_a_card_in_a_deleted_topic_is_asked_again_in_general(
    ada: Person, forum: Chat, api: BotApi, script: Script, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await ada.says("/new --name first make", forum)
    thread = await topic(forum, "first")
    await forum.shows("first asks", thread=thread, timeout=20)
    api.delete_topic(forum, thread)
    await ada.says("/rename first better", forum)
    card = await forum.shows("first asks", timeout=20)
    assert card.thread is None
    await ada.presses("Allow", card, forum)
    await forum.shows("Made.", timeout=20)


async def test_a_topic_that_a_person_closed_is_opened_when_the_session_needs_it(
    ada: Person, forum: Chat
) -> None:
    await ada.says("/new --name first hello", forum)
    thread = await topic(forum, "first")
    await forum.shows("context", thread=thread, timeout=20)
    forum.manages_topics = False
    await ada.closes_topic(thread, forum)
    await ada.says("and this", forum)
    await forum.shows("You said: and this", thread=thread, timeout=20)
    assert not forum.topics[thread].closed


async def test_what_may_not_be_opened_goes_on_in_general(ada: Person, forum: Chat) -> None:
    mine = await ada.opens_topic("my ideas", forum)
    await ada.says("/new --name first hello", forum, thread=mine)
    await forum.shows("context", thread=mine, timeout=20)
    forum.manages_topics = False
    await ada.closes_topic(mine, forum)
    await ada.says("and this", forum)
    shown = await forum.shows("You said: and this", timeout=20)
    assert shown.thread is None
    await forum.shows("The topic of first is closed, and I may not open it.")


async def test_what_is_asked_for_in_one_topic_is_not_answered_in_another(
    ada: Person, forum: Chat, script: Script
) -> None:
    script.on("make", bash("touch made"), say("Understood."))
    await ada.says("/new --name other hello", forum)
    other = await topic(forum, "other")
    await forum.shows("context", thread=other, timeout=20)
    await ada.says("/new --name maker make", forum)
    maker = await topic(forum, "maker")
    await ada.presses("Deny + tell why", await forum.shows("maker asks", timeout=20), forum)
    await forum.shows("Deny + tell why: reply with the words.", thread=maker)
    await ada.says("and you?", forum, thread=other)
    await forum.shows("You said: and you?", thread=other, timeout=20)
    await ada.says("use the other directory", forum, thread=maker)
    await forum.shows("“use the other directory”", thread=maker, timeout=20)


async def test_what_is_forwarded_to_two_topics_is_not_one_prompt(ada: Person, forum: Chat) -> None:
    threads = {}
    for name in ("red", "blue"):
        await ada.says(f"/new --name {name} hello {name}", forum)
        threads[name] = await topic(forum, name)
        await forum.shows("context", thread=threads[name], timeout=20)
    for name, thread in threads.items():
        await ada.forwards(f"for {name}", forum, thread=thread)
    for name, thread in threads.items():
        await forum.shows(f"You said: for {name}", thread=thread, timeout=20)


async def test_a_topic_whose_opening_was_not_confirmed_is_opened_again(
    ada: Person, forum: Chat, api: BotApi
) -> None:
    api.fail("createForumTopic", how=Drop.AFTER)
    await ada.says("/new --name first hello", forum)
    shown = await forum.shows("You said: hello", timeout=20)
    assert shown.thread is not None
    await ada.says("and this", forum, thread=shown.thread)
    await forum.shows("You said: and this", thread=shown.thread, timeout=20)


async def test_topics_are_within_the_limits_of_the_group(
    ada: Person, forum: Chat, api: BotApi
) -> None:
    api.limits = AS_PUBLISHED
    await ada.says("/new --name first --once hello", forum)
    await topic(forum, "first")
    await ada.says("/rename first better", forum)
    await topic(forum, "better", closed=True)
    assert api.flooded == 0


async def test_without_topics_each_one_is_a_channel_of_its_own(
    phone: Phone, api: BotApi, forum: Chat
) -> None:
    mine = await phone.owner.opens_topic("my ideas", forum)
    await phone.owner.says("/new --fg --name first hello", forum, thread=mine)
    await forum.shows("You said: hello", thread=mine, timeout=20)
    await phone.owner.says("and you?", forum)
    await forum.shows("No session is in the foreground here")
    await phone.owner.says("and this", forum, thread=mine)
    await forum.shows("You said: and this", thread=mine, timeout=20)
    api.delete_topic(forum, mine)
    await phone.owner.says("/say first once more", forum)
    await forum.shows("You said: once more", timeout=20)
    await forum.shows("A topic was deleted. It goes on here.")
    assert not api.calls.of("createForumTopic")
    assert phone.owner.chat.of_bot == []
