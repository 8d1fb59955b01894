from __future__ import annotations

import io

import pytest
from telegram import Bot
from telegram.error import BadRequest, NetworkError

from . import BotApi, Person

BYTES = bytes(range(256)) * 64 + b"\r\n--not-a-boundary\r\n"


async def test_what_a_person_sends_can_be_downloaded(bot: Bot, ada: Person) -> None:
    await ada.sends_document("data.bin", BYTES)
    [update] = await bot.get_updates()
    assert update.message is not None
    assert update.message.document is not None
    file = await update.message.document.get_file()
    assert await file.download_as_bytearray() == BYTES


async def test_more_than_20_megabytes_cannot_be_downloaded(bot: Bot, ada: Person) -> None:
    said = await ada.sends_document("big.bin", b"x", size=20 * 1024 * 1024 + 1)
    assert said.document is not None
    with pytest.raises(BadRequest, match="File is too big"):
        await bot.get_file(said.document["file_id"])


async def test_an_unknown_file_is_not_to_be_had(bot: Bot, ada: Person) -> None:
    with pytest.raises(BadRequest, match="Invalid file_id"):
        await bot.get_file("nothing")
    with pytest.raises(BadRequest, match="Wrong file identifier"):
        await bot.send_document(ada.id, "nothing")


async def test_a_document_is_sent_with_all_its_bytes(bot: Bot, api: BotApi, ada: Person) -> None:
    sent = await bot.send_document(ada.id, BYTES, caption="Here", filename="größe.bin")
    assert sent.document is not None
    assert sent.document.file_name == "größe.bin"
    assert api.content(sent.document.file_id) == BYTES
    assert ada.chat.text() == "Bot: <größe.bin> Here"
    await bot.send_document(ada.id, sent.document.file_id)


async def test_a_photo_is_sent(bot: Bot, api: BotApi, ada: Person) -> None:
    sent = await bot.send_photo(ada.id, io.BytesIO(b"jpeg"), caption="Look")
    assert api.content(sent.photo[-1].file_id) == b"jpeg"
    with pytest.raises(BadRequest, match="There is no text in the message to edit"):
        await sent.edit_text("x")
    await sent.edit_caption("Look again")
    await ada.chat.shows("Look again")


async def test_a_caption_has_1024_units(bot: Bot, ada: Person) -> None:
    await bot.send_document(ada.id, b"x", caption="x" * 1024)
    with pytest.raises(BadRequest, match="Message caption is too long"):
        await bot.send_document(ada.id, b"x", caption="x" * 1025)


async def test_a_photo_has_at_most_10_megabytes(bot: Bot, ada: Person) -> None:
    with pytest.raises(NetworkError, match="Request Entity Too Large"):
        await bot.send_photo(ada.id, bytes(10 * 1024 * 1024 + 1))


async def test_an_empty_file_is_refused(bot: Bot, ada: Person) -> None:
    with pytest.raises(BadRequest, match="File must be non-empty"):
        await bot.send_document(ada.id, b"", filename="empty.txt")
