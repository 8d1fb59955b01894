from __future__ import annotations

import time

import pytest
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, ReplyParameters
from telegram.error import BadRequest, ChatMigrated, Forbidden

from . import BotApi, Person

STOP = InlineKeyboardMarkup([[InlineKeyboardButton("Stop", callback_data="stop")]])


async def test_people_and_the_bot_share_one_sequence_of_ids(bot: Bot, ada: Person) -> None:
    first = await ada.says("hello")
    second = await bot.send_message(ada.id, "Hello")
    assert (first.id, second.message_id) == (1, 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Message text is empty"),
        (" \n ", "Message text is empty"),
        ("x" * 4097, "Message is too long"),
        ("😀" * 2049, "Message is too long"),
    ],
)
async def test_a_text_is_neither_empty_nor_too_long(
    bot: Bot, ada: Person, text: str, complaint: str
) -> None:
    with pytest.raises(BadRequest, match=complaint):
        await bot.send_message(ada.id, text)


async def test_4096_units_are_accepted(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "😀" * 2048)
    with pytest.raises(BadRequest, match="Message_too_long"):
        await sent.edit_text("x" * 4097)


async def test_blanks_at_the_ends_are_cut_and_entities_follow(bot: Bot, ada: Person) -> None:
    bold = MessageEntity("bold", offset=4, length=6)
    sent = await bot.send_message(ada.id, "\n a bold  \n", entities=[bold])
    assert sent.text == "a bold"
    assert sent.parse_entities() == {sent.entities[0]: "bold"}


async def test_a_parse_mode_is_refused(bot: Bot, ada: Person) -> None:
    with pytest.raises(BadRequest, match="Parse_mode"):
        await bot.send_message(ada.id, "*hello*", parse_mode="MarkdownV2")


async def test_an_edit_that_changes_nothing_is_refused(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "Working", reply_markup=STOP)
    with pytest.raises(BadRequest, match="Message is not modified: specified new message content"):
        await sent.edit_text(" Working ", reply_markup=STOP)
    await sent.edit_text("Working")
    assert (await ada.chat.shows("Working")).buttons == []


async def test_the_markup_alone_can_be_edited(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "Working")
    await sent.edit_reply_markup(STOP)
    assert ada.chat.button_labels() == ["Stop"]
    with pytest.raises(BadRequest, match="not modified"):
        await sent.edit_reply_markup(STOP)


async def test_what_is_not_there_is_neither_edited_nor_deleted(bot: Bot, ada: Person) -> None:
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await bot.edit_message_text("x", ada.id, 99)
    with pytest.raises(BadRequest, match="Message to delete not found"):
        await bot.delete_message(ada.id, 99)


async def test_a_deleted_message_is_gone_from_the_screen(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "Hello")
    await sent.delete()
    assert ada.chat.messages == []
    await ada.chat.shows_no_more("Hello")
    with pytest.raises(BadRequest, match="Message to edit not found"):
        await sent.edit_text("x")


async def test_what_people_said_cannot_be_edited(bot: Bot, ada: Person) -> None:
    said = await ada.says("hello")
    with pytest.raises(BadRequest, match="Message can't be edited"):
        await bot.edit_message_text("x", ada.id, said.id)


async def test_what_is_two_days_old_cannot_be_deleted(bot: Bot, ada: Person) -> None:
    said = await ada.says("hello", date=int(time.time()) - 49 * 3600)
    with pytest.raises(BadRequest, match="can't be deleted for everyone"):
        await bot.delete_message(ada.id, said.id)


async def test_a_reply_needs_a_message_to_reply_to(bot: Bot, ada: Person) -> None:
    with pytest.raises(BadRequest, match="Message to be replied not found"):
        await bot.send_message(ada.id, "x", reply_parameters=ReplyParameters(99))
    lenient = ReplyParameters(99, allow_sending_without_reply=True)
    await bot.send_message(ada.id, "x", reply_parameters=lenient)
    said = await ada.says("hello")
    sent = await bot.send_message(ada.id, "y", reply_parameters=ReplyParameters(said.id))
    assert sent.reply_to_message is not None
    assert (await ada.chat.shows("y")).reply_to is said


async def test_a_silent_message_is_known_as_such(bot: Bot, ada: Person) -> None:
    await bot.send_message(ada.id, "Hush", disable_notification=True)
    assert (await ada.chat.shows("Hush")).silent


async def test_text_that_looks_like_json_stays_text(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, '{"a": [1]} & b=c')
    assert sent.text == '{"a": [1]} & b=c'


async def test_an_unknown_chat_is_not_found(bot: Bot) -> None:
    with pytest.raises(BadRequest, match="Chat not found"):
        await bot.send_message(404, "hello")


async def test_who_blocks_the_bot_is_not_reached(bot: Bot, api: BotApi, ada: Person) -> None:
    api.block(ada)
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(ada.id, "hello")
    [update] = await bot.get_updates()
    assert update.my_chat_member is not None
    assert update.my_chat_member.new_chat_member.status == "kicked"
    api.unblock(ada)
    await bot.send_message(ada.id, "hello")


async def test_a_group_may_throw_the_bot_out(bot: Bot, api: BotApi, ada: Person) -> None:
    group = api.group(-1001, "Team", members=[ada])
    api.mute(group)
    with pytest.raises(BadRequest, match="Not enough rights to send text messages to the chat"):
        await bot.send_message(group.id, "hello")
    api.kick(group, by=ada)
    with pytest.raises(Forbidden, match="bot was kicked from the supergroup chat"):
        await bot.send_message(group.id, "hello")
    await ada.says("is it gone?", group)
    assert [update.message for update in await bot.get_updates()] == [None]


async def test_a_group_that_has_become_a_supergroup_says_where_it_is(
    bot: Bot, api: BotApi, ada: Person
) -> None:
    new = api.migrate(api.group(-5, "Team", members=[ada]), -1005, by=ada)
    with pytest.raises(ChatMigrated) as refused:
        await bot.send_message(-5, "hello")
    assert refused.value.new_chat_id == new.id
    await bot.send_message(new.id, "hello")


async def test_a_draft_is_for_private_chats(bot: Bot, api: BotApi, ada: Person) -> None:
    await bot.send_message_draft(ada.id, 1, "Thinki")
    assert ada.chat.drafts == {1: "Thinki"}
    group = api.group(-1001, "Team")
    with pytest.raises(BadRequest, match="Textdraft_peer_invalid"):
        await bot.send_message_draft(group.id, 1, "Thinki")


async def test_actions_and_reactions_are_taken(bot: Bot, ada: Person) -> None:
    said = await ada.says("hello")
    await bot.send_chat_action(ada.id, "typing")
    await bot.set_message_reaction(ada.id, said.id, "👀")
    assert ada.chat.actions == ["typing"]
    assert said.reactions == [{"type": "emoji", "emoji": "👀"}]
    with pytest.raises(BadRequest, match="Wrong parameter action"):
        await bot.send_chat_action(ada.id, "juggling")


async def test_a_chat_says_what_it_is(bot: Bot, api: BotApi, ada: Person) -> None:
    api.group(-1001, "Team", forum=True, members=[ada])
    chat = await bot.get_chat(-1001)
    assert (chat.type, chat.title, chat.is_forum) == ("supergroup", "Team", True)
    assert (await bot.get_chat(ada.id)).first_name == "Ada"


async def test_the_menu_of_commands_is_kept(bot: Bot) -> None:
    await bot.set_my_commands([("launch", "Start a session")])
    [command] = await bot.get_my_commands()
    assert command.command == "launch"
    with pytest.raises(BadRequest, match="Bot_command_invalid"):
        await bot.set_my_commands([("Launch!", "Start a session")])
