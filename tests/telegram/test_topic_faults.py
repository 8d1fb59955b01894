"""Topics that cannot be had, are taken away, closed, or whose opening gets lost."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from tests.botapi import BotApi, Chat, Drop, Person
from tests.botapi.limits import AS_PUBLISHED
from tests.telegram.forum import Open, topic
from tests.telegram.phone import OWNER, Phone, phone_of
from tests.waiting import eventually


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
    open_forum: Open, forum: Chat, api: BotApi
) -> None:
    api.fail("createForumTopic", times=None)
    async with open_forum() as phone:
        store = phone.daemon.log.store
        await phone.owner.says("/new --name first --once hello", forum)
        await eventually(lambda: (row := store.session_row("first")) and row.status.ended)
        api.calm()
        thread = await topic(forum, "first", closed=True)
    assert "You said: hello" in forum.text(thread)


async def test_what_the_log_says_before_a_kill_is_done_to_the_topic_after_it(
    open_forum: Open, forum: Chat, api: BotApi
) -> None:
    async with open_forum() as phone:
        await phone.owner.says("/new --name first hello", forum)
        await forum.shows("You said: hello", thread=await topic(forum, "first"), timeout=20)
        api.fail("editForumTopic", times=None)
        await phone.owner.says("/rename first better", forum)
        await forum.shows("first is now better.")
        await api.called("editForumTopic")
    api.calm()
    async with open_forum():
        await topic(forum, "better")


async def test_what_happened_while_topics_were_off_is_made_up_for(
    open_forum: Open, sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> None:
    async with open_forum() as phone:
        await phone.owner.says("/new --name first hello", forum)
        await forum.shows("context", thread=await topic(forum, "first"), timeout=20)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/rename first better")
        await phone.owner.chat.shows("first is now better.")
    async with open_forum():
        await topic(forum, "better")


async def test_a_session_that_was_in_front_in_a_topic_before_there_were_any_stays_there(
    open_forum: Open, sandbox: Sandbox, workdir: Path, api: BotApi, forum: Chat
) -> None:
    mine = await api.person(OWNER, "Ada").opens_topic("my ideas", forum)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/new --fg --name first hello", forum, thread=mine)
        await forum.shows("context", thread=mine, timeout=20)
    async with open_forum() as phone:
        await phone.owner.says("still there?", forum, thread=mine)
        await forum.shows("You said: still there?", thread=mine, timeout=20)
    assert list(forum.topics) == [mine]


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
