"""Commands in a chat: the menu, lists with buttons that stay true, and files that are sent."""

from __future__ import annotations

import os
from pathlib import Path

from claude_sessions.demo import Sandbox, Script, ScriptedModel, bash, plan, question, say, write
from claude_sessions.telegram.menu import menu
from tests.botapi import BotApi, Message
from tests.extensions.oauth import guarded_server, where_the_browser_ends
from tests.extensions.places import marketplace
from tests.telegram.phone import APPROVER, PROMPTER, Phone, phone_of
from tests.waiting import eventually


async def opened(phone: Phone, name: str = "first", *, front: bool = True) -> None:
    flag = "--fg " if front else ""
    await phone.owner.says(f"/new {flag}--name {name} hello {name}")
    await phone.owner.chat.shows(f"You said: hello {name}", timeout=20)


def labels(message: Message) -> list[list[str]]:
    return [[button["text"] for button in row] for row in message.buttons]


# --- the menu


async def test_the_menu_has_the_short_names_first_and_then_those_of_the_seed(phone: Phone) -> None:
    call = await phone.api.called("setMyCommands")
    names = [each["command"] for each in call.params["commands"]]
    assert call.outcome == "ok"
    assert names[0] == "new"
    seeds = names[names.index("start") + 1 :]
    assert seeds[:2] == ["claude", "claude_sessions"]
    assert {"claude_kill", "claude_resume", "claude_stats"} <= set(seeds)
    assert len(names) == len(set(names)) == len(menu())


async def test_start_greets_and_says_three_things_to_do(phone: Phone) -> None:
    await phone.owner.says("/start")
    greeting = await phone.owner.chat.shows("/new and what you want done")
    assert greeting.text.count("•") == 3
    assert len(greeting.text.splitlines()) < 8


# --- without a name


async def test_without_a_name_the_session_in_front_is_meant(phone: Phone) -> None:
    await opened(phone, "first")
    await phone.owner.says("/mode plan")
    await phone.owner.chat.shows("first: mode plan.")
    await phone.owner.says("/model opus")
    await phone.owner.chat.shows("first: model opus.")
    await phone.owner.says("/kill")
    await phone.owner.chat.shows("⛔ first killed", timeout=20)


async def test_with_two_in_front_a_press_says_which(phone: Phone) -> None:
    await opened(phone, "first")
    await opened(phone, "second")
    await phone.owner.says("/kill")
    which = await phone.owner.chat.shows("Which one? 2 sessions are in front here.")
    assert labels(which) == [["second", "first"]]
    await phone.owner.presses("first", which)
    await phone.owner.chat.shows("⛔ first killed", timeout=20)


async def test_with_none_in_front_it_is_said_that_one_has_to_be_named(phone: Phone) -> None:
    await phone.owner.says("/interrupt")
    await phone.owner.chat.shows("Which session? None is in front here.")


async def test_a_mode_and_a_model_are_offered_as_buttons(phone: Phone) -> None:
    await opened(phone, "first")
    await phone.owner.says("/mode")
    modes = await phone.owner.chat.shows("first runs in default.")
    assert "bypassPermissions" not in modes.button_labels
    await phone.owner.presses("acceptEdits", modes)
    await phone.owner.says("/model first")
    models = await phone.owner.chat.shows("first runs on default.")
    await phone.owner.presses("haiku", models)
    await eventually(lambda: "haiku" in str(phone.daemon.book.known()[0].spec.model))
    assert phone.daemon.book.known()[0].spec.mode == "acceptEdits"


async def test_nobody_is_offered_a_mode_they_may_not_set(phone: Phone) -> None:
    pat = phone.api.person(PROMPTER, "Pat")
    await pat.says("/new --fg --name first hello")
    await pat.chat.shows("You said: hello", timeout=20)
    await pat.says("/mode")
    modes = await pat.chat.shows("first runs in default.")
    assert modes.button_labels == ["plan", "dontAsk"]


# --- sessions


async def test_the_list_of_sessions_has_short_lines_and_a_row_of_buttons_each(phone: Phone) -> None:
    await opened(phone, "first")
    await opened(phone, "second")
    await phone.owner.says("/kill second")
    await phone.owner.chat.shows("second killed", timeout=20)
    await phone.owner.says("/sessions")
    listed = await phone.owner.chat.shows("2 sessions")
    assert "🟢 first · idle" in listed.text
    assert max(map(len, listed.text.splitlines())) < 40
    assert labels(listed) == [
        ["Foreground first", "Stop first"],
        ["Foreground second", "Resume second"],
    ]


async def test_a_press_in_the_list_of_sessions_draws_it_anew(phone: Phone) -> None:
    await opened(phone, "first")
    await phone.owner.says("/sessions")
    listed = await phone.owner.chat.shows("1 session")
    await phone.owner.presses("Stop first", listed)
    await eventually(lambda: listed.button_labels == ["Foreground first", "Resume first"])
    assert "⛔ first · killed" in listed.text


# --- what waits


async def waiting(script: Script, phone: Phone) -> Message:
    """The inbox, with one of each kind in it."""
    script.on("make", bash("touch made"), say("Made."))
    script.on("choose", question("Which colour?", ["Red", "Blue"]), say("Thanks."))
    script.on("write", write("long.txt", "x\n" * 40), say("Written."))
    script.on("think", plan("# The plan"), say("Gone."))
    for name, prompt in (("chooser", "choose"), ("writer", "write"), ("maker", "make")):
        await phone.owner.says(f"/new --name {name} {prompt}")
    await phone.owner.says("/new --name thinker --mode plan think")
    for name in ("chooser asks", "writer asks", "maker asks", "thinker has a plan"):
        await phone.owner.chat.shows(name, timeout=30)
    await phone.owner.says("/approvals")
    return await phone.owner.chat.shows("4 wait for you", timeout=20)


async def test_the_inbox_shows_the_riskiest_first_with_buttons_for_each(
    script: Script, sandbox: Sandbox, workdir: Path, fast: BotApi
) -> None:
    async with phone_of(sandbox, workdir, fast) as phone:
        inbox = await waiting(script, phone)
        assert inbox.text.splitlines()[1].startswith("maker · high risk")
        assert labels(inbox)[0] == ["Allow maker", "Deny maker"]
        assert {"chooser: Red", "Show writer", "Deny writer", "Go thinker"} <= {
            *inbox.button_labels
        }
        await phone.owner.presses("Allow maker", inbox)
        await phone.owner.chat.shows("maker: Bash", timeout=20)
        await phone.owner.presses("chooser: Blue", inbox)
        await phone.owner.chat.shows("Answered by owner (Telegram)", timeout=20)
        await eventually(lambda: "2 wait" in inbox.text)
        assert "Allow maker" not in inbox.button_labels


async def test_what_a_list_cannot_show_whole_is_shown_before_it_is_allowed(
    script: Script, phone: Phone, workdir: Path
) -> None:
    script.on("write", write("long.txt", "line\n" * 40), say("Written."))
    await phone.owner.says("/new --name writer write")
    card = await phone.owner.chat.shows("writer asks", timeout=20)
    await phone.owner.says("/approvals")
    inbox = await phone.owner.chat.shows("1 waits for you")
    await phone.owner.presses("Show writer", inbox)
    again = await phone.owner.chat.shows(
        lambda message: message.id > inbox.id and "writer asks" in message.text
    )
    await phone.owner.presses("Allow", again)
    await phone.owner.chat.shows("Written.", timeout=20)
    assert (workdir / "long.txt").exists()
    await eventually(lambda: not (card.buttons or inbox.buttons or again.buttons))
    assert inbox.text == "Nothing waits for you."
    assert "Already allowed by owner" in again.text


async def test_a_decision_taken_elsewhere_leaves_no_dead_button_in_the_inbox(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await phone.owner.says("/new --name maker make")
    card = await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.says("/approvals")
    inbox = await phone.owner.chat.shows("1 waits for you")
    stale = inbox.buttons[0][0]["callback_data"]
    await phone.owner.presses("Allow", card)
    await eventually(lambda: not inbox.buttons)
    press = await phone.owner.presses_gone(inbox, stale)
    assert "That has changed since" in await press.answered()


# --- rules and tasks


async def test_a_rule_is_revoked_with_a_press_and_the_list_shows_it(phone: Phone) -> None:
    await phone.owner.says("/rules add allow Bash(npm run *)")
    await phone.owner.chat.shows("added")
    await phone.owner.says("/rules")
    listed = await phone.owner.chat.shows("Bash(npm run *)")
    (label,) = listed.button_labels
    press = await phone.owner.presses(label, listed)
    assert "revoked" in await press.answered()
    await eventually(lambda: listed.text.startswith("No rules yet"))
    assert not listed.buttons


async def test_a_background_task_is_stopped_with_a_press(script: Script, phone: Phone) -> None:
    script.on("serve", bash("sleep 60", run_in_background=True), say("It runs."))
    await phone.owner.says("/rules add allow Bash(sleep *)")
    await phone.owner.says("/new --fg --name server serve")
    await phone.owner.chat.shows("It runs.", timeout=20)
    await phone.owner.says("/tasks")
    listed = await phone.owner.chat.shows(lambda message: message.text.startswith("server\n"))
    (label,) = listed.button_labels
    assert label.startswith("Stop ")
    press = await phone.owner.presses(label, listed)
    assert "is being stopped" in await press.answered()


# --- plugins and MCP servers


async def test_a_plugin_is_switched_off_with_a_press_and_the_list_shows_it(
    phone: Phone, workdir: Path
) -> None:
    marketplace(workdir / "mkt")
    await phone.owner.says("/plugins marketplace add ./mkt")
    await phone.owner.chat.shows("Successfully added marketplace")
    await phone.owner.says("/plugins install tiny")
    await phone.owner.chat.shows("It brings commands.")
    await phone.owner.says("/plugins")
    listed = await phone.owner.chat.shows("🧩 tiny@locmkt 1.0.0")
    assert labels(listed) == [["Disable tiny", "Update tiny", "Uninstall tiny"]]
    await phone.owner.presses("Disable tiny", listed)
    await eventually(lambda: listed.text.startswith("▫️ tiny@locmkt"))
    assert listed.button_labels[0] == "Enable tiny"


async def test_a_login_is_finished_with_what_is_sent_back(phone: Phone) -> None:
    with guarded_server() as url:
        await phone.owner.says(f"/mcp add guarded {url}")
        await phone.owner.chat.shows("Added HTTP MCP server guarded")
        await phone.owner.says("/mcp auth guarded")
        asks = await phone.owner.chat.shows("guarded wants a login", timeout=20)
        address = next(line for line in asks.text.splitlines() if line.startswith("http"))
        await phone.owner.presses("Send the address", asks)
        await phone.owner.chat.shows("reply with the words")
        await phone.owner.says(where_the_browser_ends(address))
        await phone.owner.chat.shows("Logged in to guarded", timeout=20)


# --- buttons that want words


async def test_who_may_not_do_it_hears_so_before_typing(script: Script, phone: Phone) -> None:
    script.on("make", bash("touch made"), say("Made."))
    pat = phone.api.person(PROMPTER, "Pat")
    group = phone.api.group(-100500, "Team", members=[phone.owner, pat])
    await phone.owner.says("/new --fg --name maker make", chat=group)
    await group.shows("maker asks", timeout=20)
    press = await pat.presses("Deny + tell why", chat=group)
    assert "You may not decide" in await press.answered()
    assert "reply with the words" not in group.text()


async def test_words_in_reply_to_another_session_are_not_taken_for_a_reason(
    script: Script, phone: Phone
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    await opened(phone, "first")
    answer = await phone.owner.chat.shows("You said: hello first")
    await phone.owner.says("/new --name maker make")
    await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.presses("Deny + tell why")
    await phone.owner.chat.shows("reply with the words")
    await phone.owner.says("something else", reply_to=answer.id)
    await phone.owner.chat.shows("You said: something else", timeout=20)
    assert "maker asks" in phone.owner.chat.text()


async def asked_why(script: Script, phone: Phone) -> Message:
    """Who asks for the reason to deny what maker wants; another session is in front."""
    script.on("make", bash("touch made"), say("Made."))
    await opened(phone, "first")
    await phone.owner.says("/new --name maker make")
    await phone.owner.chat.shows("maker asks", timeout=20)
    await phone.owner.presses("Deny + tell why")
    return await phone.owner.chat.shows("reply with the words")


async def decided_by_pam(phone: Phone) -> None:
    await phone.api.person(APPROVER, "Pam").says("/deny maker")
    await phone.owner.chat.shows("Denied by pam", timeout=20)


async def test_words_for_what_was_decided_meanwhile_go_to_the_session_all_the_same(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    await asked_why(script, phone)
    await decided_by_pam(phone)
    await phone.owner.says("use the other file")
    told = await model.asked("use the other file", timeout=20)
    assert any("make" in str(message) for message in told.messages)


async def test_a_reply_to_who_asked_for_what_was_decided_meanwhile_is_offered_to_the_session(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    asking = await asked_why(script, phone)
    await decided_by_pam(phone)
    await phone.owner.says("use the other file", reply_to=asking)
    await phone.owner.chat.shows("Already denied by pam (Telegram)")
    assert not model.about("use the other file")
    await phone.owner.presses("Say it to the session")
    told = await model.asked("use the other file", timeout=20)
    assert any("make" in str(message) for message in told.messages)


async def test_whoever_decided_otherwise_themselves_speaks_to_whom_they_speak(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    await asked_why(script, phone)
    await phone.owner.presses("Allow")
    await phone.owner.chat.shows("result seen", timeout=20)
    await phone.owner.says("and now?")
    told = await model.asked("and now?", timeout=20)
    assert any("hello first" in str(message) for message in told.messages)


async def test_words_for_what_nobody_asks_any_more_after_a_restart_are_not_lost(
    script: Script, model: ScriptedModel, sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api) as phone:
        asking = await asked_why(script, phone)
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("use the other file", reply_to=asking)
        await phone.owner.chat.shows("That is no longer asked.")
        await phone.owner.presses("Say it to the session")
        await model.asked("use the other file", timeout=20)


# --- files


async def test_a_file_is_sent_as_it_was_when_it_was_asked_for(phone: Phone, workdir: Path) -> None:
    await opened(phone)
    report = workdir / "report.txt"
    report.write_text("the report")
    phone.api.fail("sendDocument", times=1)
    await phone.owner.says("/get report.txt")
    await phone.api.called("sendDocument")
    report.write_text("something else")
    sent = await phone.owner.chat.shows("<report.txt> first: report.txt · 10 B", timeout=20)
    assert sent.document is not None
    assert phone.api.content(sent.document["file_id"]) == b"the report"
    outgoing = phone.daemon.pool.private[0] / "outgoing"
    await eventually(lambda: not list(outgoing.iterdir()))


async def test_a_file_that_vanishes_on_its_way_does_not_hold_up_the_chat(
    phone: Phone, workdir: Path
) -> None:
    await opened(phone)
    (workdir / "report.txt").write_text("the report")
    phone.api.fail("sendDocument", times=1)
    await phone.owner.says("/get report.txt")
    await phone.api.called("sendDocument")
    for copy in (phone.daemon.pool.private[0] / "outgoing").iterdir():
        copy.unlink()
    await phone.owner.chat.shows("report.txt could not be sent. Ask for it again.", timeout=20)
    await phone.owner.says("/sessions")
    await phone.owner.chat.shows("1 session")


async def test_what_cannot_be_sent_is_refused_by_name(phone: Phone, workdir: Path) -> None:
    await opened(phone)
    outside = workdir.parent / "elsewhere"
    outside.mkdir()
    (outside / "notes.txt").write_text("x")
    (workdir / "link.txt").symlink_to(outside / "notes.txt")
    (workdir / ".env.local").write_text("KEY=1")
    (workdir / "docs").mkdir()
    (workdir / "empty.txt").touch()
    with (workdir / "film.mkv").open("wb") as film:
        film.truncate(51 * 1024 * 1024)
    os.mkfifo(workdir / "pipe")
    for path, words in (
        ("link.txt", "link.txt is outside of first's directory"),
        ("../elsewhere/notes.txt", "notes.txt is outside of first's directory"),
        (".env.local", ".env.local is a file that usually holds keys or passwords"),
        ("docs", "docs is a directory. Name a file in it"),
        ("empty.txt", "empty.txt is empty"),
        ("film.mkv", "film.mkv has 53.5 MB, and a bot may send 52.4 MB"),
        ("pipe", "pipe cannot be read"),
        ("gone.txt", "first has no file gone.txt"),
    ):
        await phone.owner.says(f"/get {path}")
        await phone.owner.chat.shows(words)
    assert not phone.api.calls.of("sendDocument")


async def test_a_viewer_is_sent_no_files(phone: Phone, workdir: Path) -> None:
    (workdir / "report.txt").write_text("the report")
    await opened(phone)
    await phone.viewer().says("/get first report.txt")
    await phone.viewer().chat.shows("You may not get files")


async def test_what_an_answer_links_to_can_be_had_with_a_press(
    script: Script, phone: Phone, workdir: Path
) -> None:
    (workdir / "out").mkdir()
    (workdir / "out" / "my report.pdf").write_bytes(b"%PDF")
    links = "[it](<out/my report.pdf>), [the site](https://example.org), [gone](gone.txt)"
    script.on("report", say(f"Here is {links}."))
    await phone.owner.says("/new --fg --name writer report")
    answer = await phone.owner.chat.shows("context", timeout=20)
    assert answer.button_labels == ["📎 my report.pdf"]
    await phone.owner.presses("📎 my report.pdf", answer)
    sent = await phone.owner.chat.shows("<my report.pdf>", timeout=20)
    assert phone.api.content((sent.document or {})["file_id"]) == b"%PDF"
