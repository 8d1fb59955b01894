"""Talking naturally: who is meant, what belongs together, and what reaches the model."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_sessions.demo import (
    Gate,
    Request,
    Sandbox,
    Script,
    ScriptedModel,
    bash,
    question,
    say,
    tool,
)
from tests.botapi import BotApi
from tests.telegram.phone import PROMPTER, Phone, phone_of
from tests.telegram.transcriber import Transcriber
from tests.waiting import eventually

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP////////////////////////////////////////////////////////"
    "//////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA="
)


async def opened(phone: Phone, name: str = "first", *, front: bool = True) -> None:
    """A session that has answered once."""
    flag = "--fg " if front else ""
    await phone.owner.says(f"/new {flag}--name {name} hello {name}")
    await phone.owner.chat.shows(f"You said: hello {name}", timeout=20)


async def all_heard(phone: Phone) -> None:
    """Whatever people said has been handed on."""
    await phone.api.acknowledged()
    mail, bot = phone.daemon.log.store.mail, int(phone.api.token.partition(":")[0])
    await eventually(lambda: not mail.unfinished(bot))


def blocks(request: Request, kind: str) -> Iterator[dict[str, Any]]:
    """What of that kind the model was shown, in order."""
    for message in request.messages:
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block.get("type") == kind:
                yield block


# --- who is meant


async def test_a_reply_goes_to_the_session_whose_message_it_replies_to(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone, "first")
    answer = await phone.owner.chat.shows("You said: hello first")
    await opened(phone, "second")
    await phone.owner.says("to the first", reply_to=answer.id)
    await phone.owner.chat.shows("You said: to the first", timeout=20)
    told = await model.asked("to the first")
    assert any("hello first" in str(message) for message in told.messages)


async def test_a_reply_to_a_running_turn_goes_to_its_session(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("I begin ", gate, "and end."))
    await phone.owner.says("/new --fg --name worker work")
    running = await phone.owner.chat.shows("I begin", timeout=20)
    await opened(phone, "second")
    await phone.owner.says("one thing more", reply_to=running.id)
    await phone.owner.chat.shows("⏳ Queued for worker")
    gate.open()
    await phone.owner.chat.shows("You said: one thing more", timeout=20)
    told = await model.asked("one thing more")
    assert any("work" in str(message) for message in told.messages)


async def test_a_reply_to_a_message_from_before_a_restart_finds_its_session(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        await opened(phone, "first")
        answer = await phone.owner.chat.shows("You said: hello first")
        await opened(phone, "second")
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("are you there?", reply_to=answer.id)
        await phone.owner.chat.shows("You said: are you there?", timeout=20)
    told = await model.asked("are you there?")
    assert any("hello first" in str(message) for message in told.messages)


async def test_a_reply_to_a_message_nobody_remembers_is_not_said_to_the_wrong_session(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    unknown = phone.api.chat(phone.owner.id).add(
        sender={"id": int(phone.api.token.partition(":")[0]), "is_bot": True, "first_name": "Bot"},
        date=0,
        at=0.0,
        text="Long ago",
    )
    await phone.owner.says("about that", reply_to=unknown.id)
    await phone.owner.chat.shows("I no longer know which session that was from")
    assert not model.about("about that")
    await phone.owner.presses("The one in front")
    await phone.owner.chat.shows("You said: about that", timeout=20)


async def test_a_command_in_a_reply_is_about_that_session(phone: Phone) -> None:
    await opened(phone, "first")
    answer = await phone.owner.chat.shows("You said: hello first")
    await opened(phone, "second")
    await phone.owner.says("/cost", reply_to=answer.id)
    await phone.owner.chat.shows("first: $")


async def test_a_reply_to_a_card_answers_its_question(script: Script, phone: Phone) -> None:
    script.on("choose", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    await phone.owner.says("/new --name asker choose")
    card = await phone.owner.chat.shows("Which colour?", timeout=20)
    await opened(phone, "second")
    await phone.owner.says("Green", reply_to=card.id)
    await phone.owner.chat.shows("Answered by owner (Telegram)", timeout=20)


async def test_a_photo_with_an_answer_is_the_next_message(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    gate = Gate()
    script.on("choose", question("Which colour?", ["Red", "Blue"]), gate, say("Thanks."))
    await phone.owner.says("/new --name asker choose")
    card = await phone.owner.chat.shows("Which colour?", timeout=20)
    await phone.owner.sends_photo(JPEG, caption="Like this", reply_to=card)
    await phone.owner.chat.shows("asker: answered. What is attached is the next message. ⏳ Queued")
    gate.open()
    await phone.owner.chat.shows("You said: Like this", timeout=20)
    asked = await model.asked("choose", count=2)
    assert "Like this" in asked.tool_results[0].text
    assert len(list(blocks(await model.asked("Like this"), "image"))) == 1


# --- what belongs together


async def test_a_paste_that_telegram_cut_is_one_prompt_with_every_part(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    parts = ["a" * 4096, "b" * 4050, "/usr/bin the end"]
    for part in parts:
        await phone.owner.says(part)
    told = await model.asked("the end")
    assert told.prompt == f"{parts[0]}{parts[1]}\n{parts[2]}"
    assert len(model.prompts()) == 2


async def test_a_part_that_comes_in_a_later_poll_joins(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.says("a" * 4096)
    await phone.api.acknowledged()
    await phone.owner.says("and the rest")
    told = await model.asked("and the rest")
    assert told.prompt == "a" * 4096 + "and the rest"


async def test_an_ordinary_message_is_not_held_back(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    said = await phone.owner.says("at once")
    told = await model.asked("at once")
    assert told.at - said.at < 1.0  # less than what a part of something is held


async def test_parts_of_two_people_do_not_mix(model: ScriptedModel, phone: Phone) -> None:
    pat = phone.api.person(PROMPTER, "Pat")
    group = phone.api.group(-100500, "Team", members=[phone.owner, pat])
    await phone.owner.says("/new --fg --name first hello", chat=group)
    await group.shows("You said: hello", timeout=20)
    await phone.owner.says("a" * 4096, chat=group)
    await pat.says("something else", chat=group)
    await phone.owner.says("and the rest", chat=group)
    assert (await model.asked("something else")).prompt == "something else"
    assert (await model.asked("and the rest", timeout=20)).prompt == "a" * 4096 + "and the rest"


async def test_forwards_are_one_prompt(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    for text in ("One line", "Another line", "A third"):
        await phone.owner.forwards(text)
    told = await model.asked("A third")
    assert told.prompt == "One line\n\nAnother line\n\nA third"


async def test_forwards_after_a_comment_steer_the_turn_it_began(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    gate = Gate()
    await opened(phone)
    script.on("what do you make", say("Let me see."), gate, bash("ls"), say("I see."))
    await phone.owner.says("what do you make of this?")
    await phone.owner.forwards("It crashed at noon")
    await gate.reached()
    await all_heard(phone)
    gate.open()
    told = await model.asked("It crashed at noon", timeout=20)
    assert told.steered == ("It crashed at noon",)


async def test_forwards_after_a_turn_that_is_over_are_the_next_message(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    await phone.owner.says("what of this?")
    await phone.owner.forwards("It crashed at noon")
    await phone.owner.chat.shows("You said: what of this?", timeout=20)
    told = await model.asked("It crashed at noon", timeout=20)
    assert told.prompt == "It crashed at noon"


async def test_forwards_after_a_launch_go_to_what_was_launched(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.says("/new --name reader Read what follows")
    await phone.owner.forwards("It crashed at noon")
    told = await model.asked("It crashed at noon", timeout=20)
    assert any("Read what follows" in str(message) for message in told.messages)


async def test_an_album_is_one_prompt_with_every_part(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.sends_photo(JPEG, caption="Look at these", album="a")
    await phone.owner.sends_photo(JPEG, album="a")
    await phone.owner.sends_photo(JPEG, caption="the last", album="a")
    told = await model.asked("Look at these")
    assert "the last" in told.prompt
    assert len(list(blocks(told, "image"))) == 3


async def test_an_album_of_documents_brings_all_of_them(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.sends_document("a.txt", b"alpha", "Compare", album="b", mime_type="text/x")
    await phone.owner.sends_document("b.txt", b"beta", album="b", mime_type="text/x")
    told = await model.asked("Compare")
    assert "[a.txt is attached]" in told.prompt
    assert [block["source"]["data"] for block in blocks(told, "document")] == ["alpha", "beta"]


async def test_thousands_of_emoji_arrive_as_they_are(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.says("🎉" * 2048)
    await phone.owner.says("🎊" * 2048)
    told = await model.asked("🎊")
    assert told.prompt == "🎉" * 2048 + "🎊" * 2048


# --- files


async def test_a_photo_and_its_caption_reach_the_model(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.sends_photo(JPEG, caption="What is this?")
    (image,) = blocks(await model.asked("What is this?"), "image")
    assert image["source"]["media_type"] == "image/jpeg"


async def test_a_command_may_be_the_caption_of_a_photo(model: ScriptedModel, phone: Phone) -> None:
    await phone.owner.sends_photo(JPEG, caption="/new --name eyes")
    await phone.owner.chat.shows("🟡 eyes", timeout=20)
    told = await model.asked("see what is attached", timeout=20)
    assert list(blocks(told, "image"))


async def test_a_file_with_a_command_that_takes_none_is_not_dropped_in_silence(
    phone: Phone,
) -> None:
    await phone.owner.sends_photo(JPEG, caption="/sessions")
    await phone.owner.chat.shows("Files go with plain words, with /new or with /say")


async def test_a_pdf_reaches_the_model_as_one(model: ScriptedModel, phone: Phone) -> None:
    await opened(phone)
    await phone.owner.sends_document("a.pdf", b"%PDF-1.4", "Read", mime_type="application/pdf")
    (document,) = blocks(await model.asked("a.pdf is attached"), "document")
    assert document["source"]["media_type"] == "application/pdf"


async def test_what_the_model_cannot_take_in_is_kept_where_claude_may_read_it(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    large = b"the first line\n" + b"another\n" * 60_000
    reading = tool("Read", file_path=where_it_lies, limit=1)
    script.on("large.log lies at", reading, say("I have read it."))
    await phone.owner.sends_document("large.log", large, "Look inside", mime_type="text/plain")
    await phone.owner.chat.shows("I have read it.", timeout=20)
    asked = await model.asked("Look inside", count=2)
    assert "the first line" in asked.tool_results[0].text
    assert "asks" not in phone.owner.chat.text()


def where_it_lies(request: Request) -> str:
    return request.prompt.partition("lies at ")[2].rstrip("]")


async def test_two_files_of_one_name_do_not_overwrite_each_other(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    paths = []
    for number in ("1", "2"):
        await phone.owner.sends_document("../dump.bin", b"\0" + number.encode(), f"no {number}")
        paths.append(Path(where_it_lies(await model.asked(f"no {number}"))))
    assert [path.read_bytes() for path in paths] == [b"\x001", b"\x002"]
    assert {path.name for path in paths} == {"dump.bin"}


async def test_a_file_too_large_is_refused_kindly(phone: Phone) -> None:
    await opened(phone)
    await phone.owner.sends_document("film.mkv", b"x", size=30 * 1024 * 1024)
    await phone.owner.chat.shows("film.mkv has 30 MB, and a bot may fetch 20.")


async def test_a_large_document_is_read_from_where_it_lies(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    content = b"%PDF-1.4" + b"x" * (20 * 1024 * 1024 - 100)
    await phone.owner.sends_document("book.pdf", content, "Read", mime_type="application/pdf")
    told = await model.asked("book.pdf lies at", timeout=20)
    path = Path(where_it_lies(told))
    assert await asyncio.to_thread(path.read_bytes) == content
    assert not list(blocks(told, "document"))


async def test_of_a_large_album_as_much_is_attached_as_a_request_has_room_for(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    content = b"%PDF-1.4" + b"x" * (4 * 1024 * 1024)
    for number in range(5):
        await phone.owner.sends_document(
            f"{number}.pdf", content, "Read" * (not number), album="a", mime_type="application/pdf"
        )
    told = await model.asked("4.pdf", timeout=40)
    assert len(list(blocks(told, "document"))) == 3
    assert "[2.pdf is attached]\n[3.pdf lies at " in told.prompt


async def test_a_photo_with_nothing_in_front_starts_a_session_with_a_press(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.sends_photo(JPEG, caption="What is this?", album="a")
    await phone.owner.sends_photo(JPEG, album="a")
    await phone.owner.chat.shows("No session is in the foreground here.")
    await phone.owner.presses("Start one with this")
    told = await model.asked("What is this?", timeout=20)
    assert len(list(blocks(told, "image"))) == 2


async def test_a_photo_waits_in_line_with_its_words(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    gate = Gate()
    script.on("work", say("I begin. "), gate, say("I am done."))
    async with phone_of(sandbox, workdir, api, sessions={"max_sessions": 1}) as phone:
        await phone.owner.says("/new --name worker work")
        await gate.reached()
        await phone.owner.sends_photo(JPEG, caption="/new --name eyes look here")
        await phone.owner.chat.shows("Wait in line", timeout=20)
        await phone.owner.presses("Wait in line")
        await phone.owner.chat.shows("eyes waits in line")
        assert not model.about("look here")
        gate.open()
        await phone.owner.says("/kill worker")
        told = await model.asked("look here", timeout=30)
    assert len(list(blocks(told, "image"))) == 1


async def test_a_photo_in_reply_to_what_nobody_remembers_goes_where_a_press_says(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    unknown = phone.api.chat(phone.owner.id).add(
        sender={"id": int(phone.api.token.partition(":")[0]), "is_bot": True, "first_name": "Bot"},
        date=0,
        at=0.0,
        text="Long ago",
    )
    await phone.owner.sends_photo(JPEG, caption="like this", reply_to=unknown)
    await phone.owner.chat.shows("I no longer know which session that was from")
    await phone.owner.presses("The one in front")
    assert len(list(blocks(await model.asked("like this", timeout=20), "image"))) == 1


async def test_what_is_no_longer_kept_is_asked_for_once_more(
    model: ScriptedModel, phone: Phone
) -> None:
    await phone.owner.sends_photo(JPEG, caption="What is this?")
    await phone.owner.chat.shows("Start one with this")
    bot, soon = int(phone.api.token.partition(":")[0]), time.time() + 1
    await phone.daemon.log.change(lambda store: store.mail.tidy(soon, seq=0, bot=bot, others=soon))
    press = await phone.owner.presses("Start one with this")
    assert "send it once more" in await press.answered()
    assert not model.prompts()


async def test_a_photo_may_be_the_answer_that_was_asked_for(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    script.on("choose", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    await phone.owner.says("/new --name asker choose")
    await phone.owner.chat.shows("Which colour?", timeout=20)
    await phone.owner.presses("Your own answer")
    await phone.owner.chat.shows("reply with the words")
    await phone.owner.sends_photo(JPEG, caption="Like this")
    await phone.owner.chat.shows("Answered by owner (Telegram)", timeout=20)
    assert len(list(blocks(await model.asked("Like this", timeout=20), "image"))) == 1


# --- voice


async def test_what_is_said_aloud_is_transcribed(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with Transcriber("run the tests") as ear:
        voice = {"url": ear.url, "key": "sk-voice", "model": "whisper-9"}
        async with phone_of(sandbox, workdir, api, voice=voice) as phone:
            await opened(phone)
            await phone.owner.sends_voice(b"OggS")
            await phone.owner.chat.shows("You said: run the tests", timeout=20)
    assert ear.heard == [("Bearer sk-voice", "whisper-9", b"OggS")]


async def test_a_forwarded_voice_message_stands_among_what_was_written(
    model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with (
        Transcriber("spoken words") as ear,
        phone_of(sandbox, workdir, api, voice={"url": ear.url}) as phone,
    ):
        await opened(phone)
        note = await phone.owner.forwards("written words")
        await phone.owner.sends_voice(b"OggS", origin=note.media["forward_origin"])
        told = await model.asked("spoken words")
    assert told.prompt == "written words\n\nspoken words"


async def test_an_ear_that_fails_says_so_and_nothing_is_guessed(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with (
        Transcriber("", status=500) as ear,
        phone_of(sandbox, workdir, api, voice={"url": ear.url}) as phone,
    ):
        await phone.owner.sends_voice(b"OggS")
        await phone.owner.chat.shows("That could not be transcribed")


async def test_without_an_ear_a_voice_message_is_refused_with_what_to_do(phone: Phone) -> None:
    await phone.owner.sends_voice(b"OggS")
    await phone.owner.chat.shows("no transcription is configured")


# --- what else people send


async def test_a_sticker_is_refused_in_a_word(phone: Phone) -> None:
    await phone.owner.sends_sticker()
    await phone.owner.chat.shows("I cannot pass on a sticker. Text, photos and files I can.")


async def test_an_edit_is_not_followed_and_that_is_said_once(
    model: ScriptedModel, phone: Phone
) -> None:
    await opened(phone)
    said = await phone.owner.says("first words")
    await phone.owner.chat.shows("You said: first words", timeout=20)
    await phone.owner.edits(said, "other words")
    await phone.owner.edits(said, "yet other words")
    await phone.owner.chat.shows("I do not follow edits")
    await phone.api.acknowledged()
    assert sum("follow edits" in message.text for message in phone.owner.chat.of_bot) == 1
    assert not model.about("other words")


async def test_bots_are_not_answered_nor_told_of(phone: Phone) -> None:
    robot = phone.api.person(777, "Robot", is_bot=True)
    group = phone.api.group(-100500, "Team", members=[phone.owner, robot])
    await robot.says("/sessions", chat=group)
    await phone.owner.says("/sessions", chat=group)
    await group.shows("No sessions")
    assert len(group.of_bot) == 1
    assert not phone.owner.chat.of_bot


async def test_what_a_stranger_said_while_nobody_was_there_is_not_answered_either(
    phone: Phone,
) -> None:
    mallory = phone.api.person(666, "Mallory")
    await mallory.says("hello?", date=int(time.time()) - 3600)
    await phone.owner.chat.shows("Mallory")
    assert mallory.chat.of_bot == []


async def test_a_message_about_the_chat_itself_is_no_message(phone: Phone) -> None:
    group = phone.api.group(-100500, "Team", forum=True, members=[phone.owner])
    await phone.owner.opens_topic("Plans", group)
    await phone.owner.says("/sessions", chat=group)
    await group.shows("No sessions")
    assert len(group.of_bot) == 1


async def test_malformed_and_empty_commands_are_answered_with_what_to_do(phone: Phone) -> None:
    for line, words in (
        ("/new --budget lots go", "A budget is a positive number"),
        ("/sesions", "Did you mean /sessions"),
        ("/", "There is nothing to say in that"),
        ("/new", "The prompt is missing"),
    ):
        await phone.owner.says(line)
        await phone.owner.chat.shows(words)
