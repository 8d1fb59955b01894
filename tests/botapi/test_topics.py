from __future__ import annotations

import pytest
from telegram import Bot, ReplyParameters
from telegram.error import BadRequest

from . import BotApi, Chat, Person


@pytest.fixture
def forum(api: BotApi, ada: Person) -> Chat:
    return api.group(-1001, "Sessions", forum=True, members=[ada])


async def test_a_topic_is_named_by_the_message_that_opens_it(bot: Bot, forum: Chat) -> None:
    topic = await bot.create_forum_topic(forum.id, "fix the tests")
    sent = await bot.send_message(forum.id, "Hello", message_thread_id=topic.message_thread_id)
    assert sent.is_topic_message
    root = sent.reply_to_message
    assert root is not None
    assert root.message_id == topic.message_thread_id
    assert root.forum_topic_created is not None
    assert root.forum_topic_created.name == "fix the tests"


async def test_what_people_say_in_a_topic_carries_its_root(
    bot: Bot, forum: Chat, ada: Person
) -> None:
    thread = await ada.opens_topic("mine", forum)
    await ada.says("hello", forum, thread=thread)
    opened, said = [update.message for update in await bot.get_updates()]
    assert opened is not None
    assert opened.forum_topic_created is not None
    assert said is not None
    assert said.message_thread_id == thread
    assert said.reply_to_message is not None
    assert said.reply_to_message.message_id == thread


async def test_a_real_reply_in_a_topic_names_what_it_answers(
    bot: Bot, forum: Chat, ada: Person
) -> None:
    thread = await ada.opens_topic("mine", forum)
    first = await ada.says("hello", forum, thread=thread)
    sent = await bot.send_message(forum.id, "Hi", reply_parameters=ReplyParameters(first.id))
    assert sent.message_thread_id == thread
    assert sent.reply_to_message is not None
    assert sent.reply_to_message.message_id == first.id


async def test_a_reply_outside_topics_has_a_thread_that_is_no_topic(
    bot: Bot, forum: Chat, ada: Person
) -> None:
    first = await ada.says("hello", forum)
    second = await ada.says("hello?", forum, reply_to=first.id)
    await ada.says("hello??", forum, reply_to=second.id)
    message = (await bot.get_updates())[-1].message
    assert message is not None
    assert message.message_thread_id == first.id
    assert not message.is_topic_message
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "Hi", message_thread_id=message.message_thread_id)


async def test_a_deleted_topic_takes_its_messages_along(bot: Bot, api: BotApi, forum: Chat) -> None:
    thread = (await bot.create_forum_topic(forum.id, "short")).message_thread_id
    await bot.send_message(forum.id, "Hello", message_thread_id=thread)
    api.delete_topic(forum, thread)
    assert forum.messages == []
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "Hello", message_thread_id=thread)
    with pytest.raises(BadRequest, match="Topic_id_invalid"):
        await bot.close_forum_topic(forum.id, thread)


async def test_a_topic_is_renamed_closed_reopened_and_deleted(bot: Bot, forum: Chat) -> None:
    thread = (await bot.create_forum_topic(forum.id, "one")).message_thread_id
    await bot.edit_forum_topic(forum.id, thread, name="two")
    assert forum.topics[thread].name == "two"
    with pytest.raises(BadRequest, match="Topic_not_modified"):
        await bot.edit_forum_topic(forum.id, thread, name="two")
    await bot.close_forum_topic(forum.id, thread)
    assert forum.topics[thread].closed
    with pytest.raises(BadRequest, match="Topic_not_modified"):
        await bot.close_forum_topic(forum.id, thread)
    await bot.reopen_forum_topic(forum.id, thread)
    await bot.delete_forum_topic(forum.id, thread)
    assert forum.topics == {}


async def test_topics_need_a_forum_and_the_right_to_it(bot: Bot, api: BotApi, forum: Chat) -> None:
    api.group(-1002, "Team")
    with pytest.raises(BadRequest, match="The chat is not a forum"):
        await bot.create_forum_topic(-1002, "x")
    forum.manages_topics = False
    with pytest.raises(BadRequest, match="Not enough rights to create a topic"):
        await bot.create_forum_topic(forum.id, "x")


async def test_what_the_bot_opened_it_may_close_without_the_right(
    bot: Bot, ada: Person, forum: Chat
) -> None:
    own = (await bot.create_forum_topic(forum.id, "own")).message_thread_id
    theirs = await ada.opens_topic("theirs", forum)
    forum.manages_topics = False
    await bot.close_forum_topic(forum.id, own)
    with pytest.raises(BadRequest, match="Not enough rights to close the topic"):
        await bot.close_forum_topic(forum.id, theirs)


async def test_in_a_closed_topic_only_who_manages_topics_may_write(
    bot: Bot, ada: Person, forum: Chat
) -> None:
    thread = await ada.opens_topic("mine", forum)
    await ada.closes_topic(thread, forum)
    await bot.send_message(forum.id, "Hello", message_thread_id=thread)
    forum.manages_topics = False
    with pytest.raises(BadRequest, match="Topic_closed"):
        await bot.send_message(forum.id, "Hello", message_thread_id=thread)


async def test_no_topic_has_the_number_of_general(bot: Bot, ada: Person, forum: Chat) -> None:
    assert await ada.opens_topic("first", forum) > 1
    with pytest.raises(BadRequest, match="Message thread not found"):
        await bot.send_message(forum.id, "Hello", message_thread_id=1)


async def test_a_screen_can_be_read_by_topic(bot: Bot, forum: Chat) -> None:
    threads = [
        (await bot.create_forum_topic(forum.id, name)).message_thread_id for name in ("a", "b")
    ]
    for thread in threads:
        await bot.send_message(forum.id, f"In {thread}", message_thread_id=thread)
    assert (await forum.shows("In", thread=threads[0])).text == f"In {threads[0]}"
    assert f"In {threads[1]}" not in forum.text(threads[0])
