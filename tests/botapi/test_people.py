from __future__ import annotations

import pytest
from telegram import Bot, Message

from . import BotApi, Person


async def heard(bot: Bot) -> Message:
    message = (await bot.get_updates())[-1].effective_message
    assert message is not None
    return message


async def test_a_photo_of_an_album(bot: Bot, ada: Person) -> None:
    await ada.sends_photo(b"jpeg", caption="look", album="7")
    message = await heard(bot)
    assert (message.caption, message.media_group_id) == ("look", "7")
    assert message.photo[-1].width > message.photo[0].width


async def test_a_document_and_its_name(bot: Bot, ada: Person) -> None:
    await ada.sends_document("notes.txt", b"text", "my notes", mime_type="text/plain")
    message = await heard(bot)
    assert message.document is not None
    assert (message.document.file_name, message.document.file_size) == ("notes.txt", 4)
    assert message.caption == "my notes"


async def test_a_voice_message(bot: Bot, ada: Person) -> None:
    await ada.sends_voice(b"ogg", seconds=4)
    message = await heard(bot)
    assert message.voice is not None
    assert message.voice.mime_type == "audio/ogg"


async def test_a_sticker(bot: Bot, ada: Person) -> None:
    await ada.sends_sticker()
    assert (await heard(bot)).sticker is not None


async def test_an_edit_comes_as_one(bot: Bot, ada: Person) -> None:
    said = await ada.says("helo")
    await ada.edits(said.id, "/hello")
    update = (await bot.get_updates())[-1]
    assert update.edited_message is not None
    assert update.edited_message.text == "/hello"
    assert update.edited_message.edit_date is not None


async def test_a_forward_says_whose_it_is(bot: Bot, api: BotApi, ada: Person) -> None:
    await ada.forwards("told you", by=api.person(8, "Bob"))
    origin = (await heard(bot)).forward_origin
    assert origin is not None
    assert origin.type == "user"


async def test_a_reply_carries_what_it_answers(bot: Bot, ada: Person) -> None:
    sent = await bot.send_message(ada.id, "Which one?")
    await ada.says("this", reply_to=sent.message_id)
    answered = (await heard(bot)).reply_to_message
    assert answered is not None
    assert answered.text == "Which one?"


async def test_an_old_message_keeps_its_date(bot: Bot, ada: Person) -> None:
    await ada.says("hello", date=1_000_000)
    assert (await heard(bot)).date.timestamp() == 1_000_000


async def test_another_bot_is_one(bot: Bot, api: BotApi) -> None:
    await api.person(9, "Other", is_bot=True).says("beep")
    sender = (await heard(bot)).from_user
    assert sender is not None
    assert sender.is_bot


async def test_a_command_after_an_emoji_is_found_where_it_is(bot: Bot, ada: Person) -> None:
    await ada.says("😀 /stop@sessions_bot now")
    message = await heard(bot)
    assert message.parse_entities() == {message.entities[0]: "/stop@sessions_bot"}


async def test_whoever_is_not_in_a_group_cannot_speak_there(api: BotApi, ada: Person) -> None:
    with pytest.raises(ValueError, match="Ada is not in chat -1001"):
        await ada.says("hello", api.group(-1001, "Team"))
