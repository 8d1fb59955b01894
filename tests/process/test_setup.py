"""`claude-sessions setup`, at a real terminal, with a phone on the other side."""

from __future__ import annotations

import asyncio
import stat
import tomllib
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator

import pytest

from claude_sessions.config import load
from claude_sessions.demo import Sandbox
from claude_sessions.telegram.token import token_of
from tests.botapi import BotApi, Person, status
from tests.process.desk import (
    CODE,
    IS_THAT_YOU,
    SYSTEMCTL,
    Desk,
    answer,
    give_token,
    pair,
    shown_code,
    walk,
    walk_to_the_end,
)
from tests.process.machine import PATIENCE, Machine
from tests.process.terminal import CTRL_C
from tests.waiting import eventually


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with BotApi(limits=None) as serving:
        yield serving


@pytest.fixture
def sandbox(sandbox: Sandbox, api: BotApi) -> Sandbox:
    (sandbox.root / "bin").mkdir()
    extra = {
        "CLAUDE_SESSIONS__TELEGRAM__BASE_URL": api.base_url,
        "PATH": f"{sandbox.root / 'bin'}:{sandbox.env['PATH']}",
    }
    return Sandbox(sandbox.root, sandbox.model_url, extra=extra)


@pytest.fixture
def desk(machine: Machine, api: BotApi) -> Desk:
    """Without systemd, unless the test says otherwise."""
    here = machine.sandbox.root / "bin"
    (here / "systemctl").write_text(SYSTEMCTL)
    (here / "systemctl").chmod(0o755)
    (here / "refused").write_text("show-environment\n")
    return Desk(machine, api, here)


@pytest.fixture
def ada(api: BotApi) -> Person:
    return api.person(123456789, "Ada", username="ada")


async def test_two_minutes_from_a_token_to_a_bot_that_knows_its_owner(
    desk: Desk, ada: Person
) -> None:
    (desk.machine.sandbox.home / "code").mkdir()
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        await terminal.shows("That is @sessions_bot.")
        await pair(terminal, ada)
        await answer(terminal, "Your name, as others will see it [Ada]:")
        await answer(terminal, "Sessions may work at and below this directory [~/code]:")
        assert await terminal.left() == 0
    assert "Ada (@ada, id 123456789): is that you?" in terminal.text
    assert "Start it: claude-sessions run" in terminal.text
    assert tomllib.loads(desk.config.read_text()) == {
        "people": [{"name": "Ada", "role": "admin", "telegram": 123456789}],
        "sessions": {"workdirs": ["~/code"]},
        "telegram": {"token_file": "~/.config/claude-sessions/telegram.token"},
    }
    await ada.chat.shows("Paired. This bot listens to you while claude-sessions runs on ")
    assert terminal.restored
    assert desk.api.token not in terminal.text


async def test_what_is_written_is_for_its_owner_alone_and_the_daemon_takes_it(
    desk: Desk, ada: Person
) -> None:
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        await pair(terminal, ada)
        await answer(terminal, "Your name", "Countess")
        await answer(terminal, "Sessions may work", str(desk.machine.workdir))
        assert await terminal.left() == 0
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (desk.config, desk.token_file)]
    assert modes == [0o600, 0o600]
    assert stat.S_IMODE(desk.config.parent.stat().st_mode) == 0o700
    assert desk.api.token not in desk.config.read_text()
    assert desk.token_file.read_text().strip() == desk.api.token
    settings = load(desk.config, environ={}).settings
    assert [person.name for person in settings.people] == ["Countess"]
    assert settings.sessions.workdirs == (desk.machine.workdir,)
    assert desk.api.pending == 0  # or the daemon would take the code for a prompt


async def test_a_token_that_is_none_or_that_telegram_refuses_is_asked_for_again(
    desk: Desk, ada: Person
) -> None:
    wrong = "987654:not-the-token-of-any-bot-at-all-0000"
    async with desk.setup() as terminal:
        await give_token(terminal, "hello")
        await terminal.shows("That is no token")
        await give_token(terminal, wrong, times=2)
        await terminal.shows("Telegram does not accept this token.")
        await desk.api.goes_down()
        await give_token(terminal, desk.api.token, times=3)
        await terminal.shows("127.0.0.1 cannot be reached (ConnectError).")
        await terminal.shows("Token:", times=4)
        terminal.press(CTRL_C)
        assert await terminal.left() == 130
    assert wrong not in terminal.text
    assert desk.api.token not in terminal.text


async def test_a_stranger_with_wrong_codes_learns_nothing_and_is_soon_ignored(
    desk: Desk, ada: Person
) -> None:
    eve = desk.api.person(666, "Eve\x1b[2J")
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        code = await shown_code(terminal)
        await eve.says("/start")
        await eve.says("hello, who is there?")
        for _ in range(7):
            await eve.says(f"{(int(code) + 1) % 1_000_000:06}")
        await eve.says(code)  # too late for this account
        await desk.api.acknowledged()
        assert eve.chat.text().count("That is not the code.") == 5
        await pair(terminal, ada)
        await terminal.shows("Your name")
        terminal.press(CTRL_C)
        assert await terminal.left() == 130
    said = {message.text for message in eve.chat.messages if message.sender["is_bot"]}
    assert said == {"That is not the code."}
    assert terminal.text.count("A wrong code came from Eve⟨U+001B⟩[2J (id 666).") == 5


async def test_what_was_typed_before_the_question_does_not_answer_it(
    desk: Desk, ada: Person
) -> None:
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        code = await shown_code(terminal)
        terminal.type("")
        await ada.says(code)
        await terminal.shows(IS_THAT_YOU)
        terminal.type("n")
        await terminal.shows("Nobody is paired.")
        await answer(terminal, "Try again, with a new code? [Y/n]:", "n")
        assert await terminal.left() == 1
    assert desk.files() == {}


async def test_another_reader_of_the_bot_is_named_and_a_second_try_succeeds(
    desk: Desk, ada: Person
) -> None:
    desk.api.fail("getUpdates", how=status(409))
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        await terminal.shows("Another program reads this bot's messages")
        await answer(terminal, "Try again, with a new code? [Y/n]:")
        await pair(terminal, ada)
        await terminal.shows("Your name")
    assert desk.files() == {}


async def test_a_network_that_fails_while_it_waits_is_told_once_and_outlived(
    desk: Desk, ada: Person
) -> None:
    async with desk.setup() as terminal:
        await give_token(terminal, desk.api.token)
        code = await shown_code(terminal)
        desk.api.fail("getUpdates", how=status(502), times=2)
        await ada.says("/start")
        await terminal.shows("cannot be reached")
        await ada.says(code)
        await terminal.shows(IS_THAT_YOU)
    assert terminal.text.count("Trying again.") == 1


@pytest.mark.parametrize("at", ["Token:", "It is good for", IS_THAT_YOU, "Your name", "service?"])
async def test_ctrl_c_leaves_everything_as_it_was(desk: Desk, ada: Person, at: str) -> None:
    desk.has_systemd()
    desk.config.parent.mkdir(parents=True)
    desk.config.write_text(f"[sessions]\nworkdirs = ['{desk.machine.workdir}']\n")
    before = desk.files()
    async with desk.setup() as terminal:
        await walk(terminal, desk.api.token, ada, until=at)
        terminal.press(CTRL_C)
        assert await terminal.left() == 130
    assert terminal.text.endswith("Stopped. Nothing was changed.")
    assert desk.files() == before
    assert terminal.restored


async def test_ctrl_c_while_the_service_starts_takes_everything_back(
    desk: Desk, ada: Person
) -> None:
    desk.has_systemd()
    (desk.bin / "slow").write_text("enable\n")
    async with desk.setup() as terminal:
        await walk_to_the_end(terminal, desk, ada)
        await eventually(lambda: any("enable" in line for line in desk.asked))
        terminal.press(CTRL_C)
        assert await terminal.left() == 130
    assert desk.files() == {}
    assert not desk.config.parent.exists()
    undone = ["--user disable --now claude-sessions.service", "--user daemon-reload"]
    assert desk.asked[-2:] == undone
    assert not any("Paired" in message.text for message in ada.chat.messages)


async def test_the_service_is_installed_with_its_own_paths(desk: Desk, ada: Person) -> None:
    desk.has_systemd()
    async with desk.setup() as terminal:
        await walk_to_the_end(terminal, desk, ada)
        assert await terminal.left() == 0
    assert desk.asked == [
        "--user show-environment",
        "--user is-active --quiet claude-sessions.service",
        "--user daemon-reload",
        "--user enable --now claude-sessions.service",
    ]
    assert "\nExecStart=/" in desk.unit.read_text()
    assert "journalctl --user -u claude-sessions" in terminal.text
    assert "loginctl enable-linger" in terminal.text


async def test_a_service_that_does_not_start_is_told_and_the_configuration_stays(
    desk: Desk, ada: Person
) -> None:
    (desk.bin / "refused").write_text("enable\n")
    async with desk.setup() as terminal:
        await walk_to_the_end(terminal, desk, ada)
        assert await terminal.left() == 1
    refusal = "systemctl --user enable --now claude-sessions.service: No, not enable."
    assert f"The service could not be started: {refusal}" in terminal.text
    assert desk.config.exists()


async def test_an_existing_configuration_keeps_its_comments_and_its_people(
    desk: Desk, ada: Person
) -> None:
    file = desk.machine.workdir / "claude-sessions.toml"
    lines = [
        "# mine, and dear to me",
        '[[people]]\nname = "ada"  # the first\nrole = "approver"',
        f"[sessions]\nworkdirs = ['{desk.machine.workdir}']  # only here",
        f"[telegram]\ntoken = '{desk.api.token}'",
    ]
    file.write_text("\n\n".join(lines) + "\n")
    async with desk.setup() as terminal:
        await answer(terminal, "Keep @sessions_bot? [Y/n]:")
        await pair(terminal, ada)
        await answer(terminal, "Your name, as others will see it [ada]:")
        assert await terminal.left() == 0
    text = file.read_text()
    assert all(kept in text for kept in ("# mine, and dear to me", "# the first", "# only here"))
    assert desk.api.token not in text
    loaded = load(file, environ={}).settings
    assert [(p.name, p.role, p.telegram) for p in loaded.people] == [("ada", "approver", ada.id)]
    assert token_of(loaded.telegram) == desk.api.token
    assert f"claude-sessions run --config {file}" in terminal.text


async def test_a_result_that_would_not_hold_is_taken_back(desk: Desk, ada: Person) -> None:
    desk.config.parent.mkdir(parents=True)
    desk.config.write_text("[sessions]  # mine\n")
    desk.config.chmod(0o644)
    before = desk.files()
    async with desk.with_env(CLAUDE_SESSIONS__PEOPLE="[]").setup() as terminal:
        await give_token(terminal, desk.api.token)
        await pair(terminal, ada)
        await answer(terminal, "Your name")
        await answer(terminal, "Sessions may work")
        assert await terminal.left() == 2
    assert "CLAUDE_SESSIONS__PEOPLE in the environment wins" in terminal.text
    assert desk.files() == before


async def test_answers_may_come_from_a_pipe(desk: Desk, ada: Person) -> None:
    config = desk.machine.sandbox.root / "new" / "my.toml"
    process = await asyncio.create_subprocess_exec(
        *desk.machine.command("setup", "--config", str(config), "--base-url", desk.api.base_url),
        env=desk.machine.env,
        cwd=desk.machine.workdir,
        stdin=PIPE,
        stdout=PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{desk.api.token}\ny\n\n\n".encode())
    async with asyncio.timeout(PATIENCE):
        said = await process.stdout.readuntil(b"It is good for")
        await ada.says(CODE.findall(said.decode())[0])
        await process.communicate()
    assert process.returncode == 0
    telegram = load(config, environ={}).settings.telegram
    assert (telegram.base_url, telegram.base_file_url) == (
        desk.api.base_url,
        desk.api.base_file_url,
    )


async def test_without_answers_it_says_so(desk: Desk) -> None:
    ran = await desk.machine.ran(*desk.machine.command("setup"))
    assert ran.code == 1
    assert "The input ended before all was answered. Nothing was changed." in ran.err
    assert desk.files() == {}


async def test_a_bot_that_nobody_owns_does_not_start(machine: Machine, api: BotApi) -> None:
    machine.configure(f"[telegram]\ntoken = '{api.token}'\n")
    ran = await machine.ran(*machine.run())
    assert ran.code == 2
    assert "run: claude-sessions setup" in ran.err
    assert api.token not in ran.out + ran.err


async def test_the_doctor_says_which_bot_it_is_and_whose(
    desk: Desk, machine: Machine, api: BotApi
) -> None:
    person = '[[people]]\nname = "Ada"\nrole = "admin"\ntelegram = 5\n'
    file = machine.configure(f"[telegram]\ntoken = '{api.token}'\n{person}")
    ran = await machine.ran(*machine.command("doctor", "--config", str(file)))
    assert "✅ telegram: @sessions_bot accepts its token" in ran.out
    assert "✅ people: Ada (admin)" in ran.out
    api.revoke_token()
    ran = await machine.ran(*machine.command("doctor", "--config", str(file)))
    assert "❌ telegram: Telegram does not accept this token." in ran.out
    assert api.token not in ran.out + ran.err
