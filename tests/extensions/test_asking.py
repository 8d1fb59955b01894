"""A program in the place of claude: one that hangs, fails, is not there or tells secrets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psutil
import pytest

from claude_sessions.errors import BadRequest, CommandFailed, EngineError, NotFound
from claude_sessions.extensions.extensions import Extensions, Limits, NewServer, Place
from claude_sessions.logs import STRUCK
from claude_sessions.model import ConfigScope, Transport
from tests.extensions.places import program

QUICK = Limits(look=0.3, switch=0.3, add=0.3, install=0.3)
TRIED = {
    "MCP_TIMEOUT",
    "MCP_SERVER_CONNECTION_BATCH_SIZE",
    "MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE",
}
SAYS_WHERE = "echo 'Visit this URL to authorize: https://h.example/a '"
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


def asking(cli: Path | None, limits: Limits | None = None) -> Extensions:
    return Extensions(cli=lambda: cli, env=ENV, limits=limits)


def server(**secrets: dict[str, str]) -> NewServer:
    return NewServer(name="far", transport=Transport.HTTP, url="https://h.example", **secrets)  # type: ignore[arg-type]


async def test_it_is_given_a_list_of_arguments_a_directory_and_nothing_else(
    tmp_path: Path,
) -> None:
    cli = program(tmp_path / "claude", f'printf "%s|" "$@" >{tmp_path}/got', "env", "pwd")
    place = Place(scope=ConfigScope.LOCAL, directory=str(tmp_path))
    output = await asking(cli).install("tiny@mkt", place)
    assert (tmp_path / "got").read_text() == "plugin|install|--scope=local|--|tiny@mkt|"
    lines = output.splitlines()
    assert lines[-1] == str(tmp_path)
    assert {line.partition("=")[0] for line in lines[:-1]} <= {*ENV, *TRIED, "PWD", "_"}


async def test_where_no_directory_is_meant_none_has_a_say(tmp_path: Path) -> None:
    assert await asking(program(tmp_path / "claude", "pwd")).enable("tiny", Place()) == "/"


def test_the_limits_are_the_seeds() -> None:
    """A listing and a switch 10 s, `mcp add` 15 s, an installation 60 s."""
    limits = asking(None).limits
    assert (limits.look, limits.switch, limits.add, limits.install) == (10, 10, 15, 60)


async def test_a_time_limit_says_no_secret_anywhere(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", "sleep 600")
    with pytest.raises(CommandFailed) as failure:
        await asking(cli, QUICK).add_server(server(headers={"X": "hush1"}), Place())
    assert str(failure.value).startswith("claude mcp add far took more than")
    assert "hush1" not in str(failure.value)
    assert failure.value.__cause__ is None


async def test_a_failure_names_the_subcommand_and_no_secret(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", 'echo "✘ could not: $*" >&2', "exit 3")
    secrets = {"X-A": "hush1", "X-B": "Basic aHVzaA"}
    with pytest.raises(CommandFailed) as failure:
        await asking(cli).add_server(server(headers=secrets), Place())
    said = str(failure.value)
    assert said.startswith("claude mcp add far failed: could not: mcp add --transport=http")
    assert "hush1" not in said
    assert "aHVzaA" not in said


async def test_a_password_in_an_address_is_told_to_the_program_alone(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", f'echo "$5" >{tmp_path}/got', "echo $*", "exit 1")
    with pytest.raises(CommandFailed) as failure:
        await asking(cli).add_marketplace("https://me:hush1@git.example/x.git")
    assert (tmp_path / "got").read_text() == "https://me:hush1@git.example/x.git\n"
    assert f"claude plugin marketplace add https://{STRUCK}@git.example/x.git" in str(failure.value)
    assert "hush1" not in str(failure.value)


async def test_what_it_says_when_all_is_well_has_no_secret_either(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", 'echo "Added: $*"; echo "OTHER_TOKEN=hush2"')
    output = await asking(cli).add_server(server(headers={"X-A": "hush1"}), Place())
    assert "Added: mcp add" in output
    assert "hush" not in output


@pytest.mark.parametrize("code", [0, 1])
async def test_no_part_of_a_secret_is_left_where_much_is_said(tmp_path: Path, code: int) -> None:
    """What is said is cut; zero-width characters are written out; JSON has its own way."""
    cli = program(tmp_path / "claude", f'echo "$*"; exit {code}')
    secrets = {name: f"hush{name}" * 1500 for name in "ABCD"} | {"Z": "hu\u200bsh", "Q": 'hu"sh'}
    try:
        said = await asking(cli).add_server(server(headers=secrets), Place())
    except CommandFailed as failure:
        said = str(failure)
    assert "hu" not in said


async def test_one_that_fails_without_a_word_says_how(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="plugin list --json failed: it ended with 7"):
        await asking(program(tmp_path / "claude", "exit 7")).plugins()


async def test_what_cannot_be_read_is_no_empty_list(tmp_path: Path) -> None:
    extensions = asking(program(tmp_path / "claude", "echo Hello"))
    for look in (extensions.plugins, extensions.available, extensions.marketplaces):
        with pytest.raises(CommandFailed, match="what it says cannot be read"):
            await look()
    with pytest.raises(CommandFailed, match="claude mcp get failed"):
        await extensions.server("far")


async def test_without_a_program_the_remedy_is_told(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no claude program"):
        await asking(None).plugins()
    with pytest.raises(EngineError, match="no claude program"):
        await asking(None).logins.begin("far", "/")
    gone = rf"^claude plugin list --json failed: {tmp_path}/gone cannot be run \(No such file"
    with pytest.raises(CommandFailed, match=gone) as failure:
        await asking(tmp_path / "gone").plugins()
    assert str(failure.value).endswith("claude-sessions doctor says more.")
    here = program(tmp_path / "claude", "echo []")
    with pytest.raises(CommandFailed, match=rf"No such file or directory: {tmp_path}/gone\)"):
        await asking(here).plugins(str(tmp_path / "gone"))
    with pytest.raises(CommandFailed, match="cannot be run"):
        await asking(tmp_path / "gone").logins.begin("far", "/")


async def test_changes_wait_for_each_other(tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    cli = program(tmp_path / "claude", f"mkdir {busy} || exit 1", "sleep 0.1", f"rmdir {busy}")
    extensions = asking(cli)
    names = [f"p{number}" for number in range(4)]
    await asyncio.gather(*(extensions.enable(name, Place()) for name in names))


async def test_servers_that_hang_hold_up_no_look_at_plugins(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", '[ $1 = plugin ] && echo "[]" || sleep 600')
    extensions = asking(cli)
    hanging = [asyncio.create_task(extensions.servers()) for _ in range(3)]
    await asyncio.sleep(0)
    assert await extensions.plugins() == ()
    assert not any(each.done() for each in hanging)
    for each in hanging:
        each.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_nobody_waits_for_others_longer_than_the_limit(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", "sleep 600")
    extensions = asking(cli, Limits(look=0.3, switch=0.3, install=3.0))
    looks = [asyncio.create_task(extensions.servers()) for _ in range(7)]
    installing = asyncio.create_task(extensions.install("big", Place()))
    await asyncio.sleep(0)
    with pytest.raises(CommandFailed, match="plugin enable tiny was not begun: others"):
        await extensions.enable("tiny", Place())
    assert not installing.done()
    told = await asyncio.gather(*looks, return_exceptions=True)
    assert sum("mcp list was not begun" in str(each) for each in told) >= 3
    with pytest.raises(CommandFailed, match="plugin install big took more than"):
        await installing


# --- logging in


async def test_a_login_that_says_no_address_is_stopped(tmp_path: Path) -> None:
    extensions = asking(program(tmp_path / "claude", "sleep 600"), QUICK)
    with pytest.raises(CommandFailed, match="to say where to log in"):
        await extensions.logins.begin("far", "/")


async def test_a_login_that_fails_says_what_it_said_last(tmp_path: Path) -> None:
    said = r"printf 'Starting\n\033[31mNo such server\033[0m\n'"
    cli = program(tmp_path / "claude", said, "exit 1")
    with pytest.raises(CommandFailed, match=r"claude mcp login far failed: No such server$"):
        await asking(cli).logins.begin("far", "/")


async def test_a_login_that_nobody_finishes_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    cli = program(tmp_path / "claude", f"echo $$ >{pid}", SAYS_WHERE, "sleep 600")
    logins = asking(cli).logins
    async with logins.serving():
        assert await logins.begin("far", "/") == "https://h.example/a"
    assert not psutil.pid_exists(int(pid.read_text()))
    with pytest.raises(NotFound, match="/mcp auth far begins one"):
        await logins.finish("far", "/", "http://localhost/callback")


async def test_an_answer_that_is_refused_is_not_said_again(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", SAYS_WHERE, "read x", "echo $x", "exit 1")
    logins = asking(cli).logins
    async with logins.serving():
        await logins.begin("far", "/")
        with pytest.raises(BadRequest):
            await logins.finish("far", "/", "\x03")
        with pytest.raises(CommandFailed, match="claude mcp login far failed") as failure:
            await logins.finish("far", "/", "http://localhost/callback?code=hush1")
        assert "hush1" not in str(failure.value)


async def test_an_answer_that_is_not_taken_may_be_given_again(tmp_path: Path) -> None:
    cli = program(tmp_path / "claude", SAYS_WHERE, "read x", "read x", "exit 0")
    logins = asking(cli, QUICK).logins
    async with logins.serving():
        await logins.begin("far", "/")
        with pytest.raises(CommandFailed, match="still waits"):
            await logins.finish("far", "/", "http://localhost/wrong")
        await logins.finish("far", "/", "http://localhost/right")


async def test_one_that_hangs_is_stopped_and_named(tmp_path: Path) -> None:
    extensions = asking(program(tmp_path / "claude", "sleep 600"), QUICK)
    hanging = {
        "plugin list --json": extensions.plugins(),
        "plugin disable tiny": extensions.disable("tiny", Place()),
        "plugin install tiny": extensions.install("tiny", Place()),
        "mcp list": extensions.servers(),
        "mcp get far": extensions.server("far"),
        "mcp add far": extensions.add_server(server(), Place()),
    }
    for called, work in hanging.items():
        with pytest.raises(CommandFailed, match=rf"^claude {called} took more than 0\.3 s"):
            await work
