"""The command line as a client: real commands against a real daemon."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from claude_sessions.demo import Gate, Script, bash, question, say
from tests.process.machine import PATIENCE, Machine, Ran, serving

HEAD = ["NAME", "STATUS", "SINCE", "DIRECTORY", "COST", "PROMPT"]


async def done(machine: Machine, *arguments: str, piped: str | None = None) -> str:
    ran = await machine.ran(*machine.client(*arguments), piped=piped)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


async def told(machine: Machine, *arguments: str) -> Any:
    return json.loads(await done(machine, *arguments, "--json"))


async def refused(machine: Machine, *arguments: str) -> Ran:
    ran = await machine.ran(*machine.client(*arguments))
    assert ran.code != 0
    assert "Traceback" not in ran.err
    return ran


async def said(machine: Machine, session: str, words: str) -> None:
    """Until it has said that."""
    async with asyncio.timeout(PATIENCE):
        while words not in await done(machine, "tail", session):
            pass


async def waiting(machine: Machine) -> str:
    """The id of what waits for a decision."""
    async with asyncio.timeout(PATIENCE):
        while not (found := (await told(machine, "approve"))["approvals"]):
            pass
    return str(found[0]["approvalId"])


async def test_without_a_daemon_it_says_so_and_exits_with_3(machine: Machine) -> None:
    commands = [["ls"], ["new", "x"], ["tail", "-f", "x"], ["chat"], ["status"]]
    runs = [refused(machine, *command) for command in commands]
    for ran in await asyncio.gather(*runs):
        assert ran.code == 3
        assert "Start it: claude-sessions run" in ran.err
        assert len(ran.err.splitlines()) == 1


async def test_a_session_from_the_first_command_to_the_last(
    script: Script, machine: Machine
) -> None:
    script.on("make it", say("One moment."), bash("touch made"), say("It is made."))
    async with serving(machine):
        assert (await done(machine, "ls")).startswith("No sessions.")
        launched = await told(machine, "new", "--name", "maker", "--budget", "2", "Please make it")
        assert launched["name"] == "maker"
        approval = await waiting(machine)
        assert f"· {approval}\n   Bash  touch made" in await done(machine, "approve")
        (asked,) = (await told(machine, "approve"))["approvals"]
        assert (asked["toolName"], asked["input"]["command"]) == ("Bash", "touch made")
        assert "Allowed once" in await done(machine, "approve", approval)
        await said(machine, "maker", "It is made.")
        assert (await done(machine, "tail", "-n", "1", "maker")) == "It is made.\n"
        assert (await told(machine, "tail", "maker"))["lines"] == ["One moment.", "It is made."]
        head, line, summary = (await done(machine, "ls")).splitlines()
        assert head.split() == HEAD
        assert line.startswith("maker  🟢 running")
        assert summary == "1 session"
        assert "maker: and thanks" in await done(machine, "say", "maker", "and", "thanks")
        await said(machine, "maker", "You said: and thanks")
        assert "maker killed" in await done(machine, "kill", "maker")
        (killed,) = (await told(machine, "ls", "--status", "killed"))["sessions"]
        assert killed["id"] == launched["id"]
        assert "maker goes on" in await done(machine, "resume", "maker", "go", "on")
        await said(machine, "maker", "You said: go on")
        assert "1 launched" in await done(machine, "stats")
        assert (await told(machine, "stats"))["totalLaunched"] == 1
        assert "up " in await done(machine, "status")
    assert (machine.workdir / "made").exists()


async def test_a_denial_reaches_claude_with_its_reason(script: Script, machine: Machine) -> None:
    script.on("make it", bash("touch made"), say("As you wish."))
    async with serving(machine):
        await done(machine, "new", "--name", "maker", "make it")
        approval = await waiting(machine)
        assert "Denied" in await done(machine, "approve", approval, "--deny", "not there")
        await said(machine, "maker", "As you wish.")
        again = await refused(machine, "approve", approval)
        assert again.code == 6
    assert not (machine.workdir / "made").exists()


async def test_a_question_is_answered(script: Script, machine: Machine) -> None:
    script.on(
        "choose",
        question("Which?", ["Red", "Blue"]),
        say(lambda request: f"Told: {request.last_tool_result}"),
    )
    async with serving(machine):
        await done(machine, "new", "--name", "asker", "--once", "choose")
        asked = await waiting(machine)
        follower = asyncio.create_task(machine.ran(*machine.client("tail", "-f", "asker")))
        async with asyncio.timeout(PATIENCE):
            while not (await told(machine, "ls"))["sessions"][0]["foreground"]:
                pass
        await done(machine, "approve", asked, "--answer", "--Blue, please")
        shown = await follower
    words = ("Which?", "1. Red", "2. Blue", f"→ claude-sessions approve {asked} --answer …")
    assert in_order(shown.out, words)
    assert "Told: " in shown.out
    assert "--Blue, please" in shown.out.partition("Told: ")[2]


async def test_prompts_can_be_piped(machine: Machine) -> None:
    async with serving(machine):
        await done(machine, "new", "--name", "a", piped="from a\npipe\n")
        await done(machine, "new", "--name", "b", "-", piped="from a dash")
        await said(machine, "a", "You said: from a\npipe")
        await done(machine, "say", "b", piped="--more")
        await said(machine, "b", "You said: --more")
        empty = await refused(machine, "new")
        assert (empty.code, "The prompt is missing" in empty.err) == (2, True)


async def test_each_refusal_has_its_exit_code_and_a_sentence(machine: Machine) -> None:
    async with serving(machine):
        await done(machine, "new", "--name", "one", "hello")
        await done(machine, "kill", "one")
        cases = {
            ("kill", "nobody"): 5,
            ("tail", "nobody"): 5,
            ("tail", "-f", "nobody"): 5,
            ("say", "nobody", "hello"): 5,
            ("say", "one", "hello"): 6,
            ("approve", "zzzzzzzz"): 5,
            ("new", "--name", "Not A Name", "hello"): 2,
            ("new", "--mode", "careless", "hello"): 2,
            ("ls", "--nonsense"): 2,
            ("say", "one", "x", "--steer", "--interrupt"): 2,
            ("approve", "x", "--deny", "no", "--answer", "yes"): 2,
            ("approve", "--answer", "yes"): 2,
            ("rpc", "no.such.method"): 2,
            ("rpc", "claude-code.kill", "{"): 2,
            ("rpc", "claude-code.kill", "{}"): 2,
            ("ls", "--url", "http://127.0.0.1:1"): 3,
            ("ls", "--url", "http://elsewhere.example"): 4,
        }
        answers = [await refused(machine, *arguments) for arguments in cases]
    assert [ran.code for ran in answers] == list(cases.values())
    assert all(ran.err.strip() for ran in answers)
    assert all(ran.out == "" for ran in answers)


async def test_a_daemon_that_is_not_there_is_told_of_in_the_same_words_by_every_command(
    machine: Machine,
) -> None:
    where = ("--url", "http://127.0.0.1:1")
    env = {"CLAUDE_SESSIONS_TOKEN": "x" * 40}
    ran = [
        await machine.ran(*machine.client(*words, *where), env=env)
        for words in (["ls"], ["tail", "-f", "one"], ["chat"])
    ]
    assert {each.code for each in ran} == {3}
    (said,) = {each.err for each in ran}
    assert "cannot be reached (Connection refused). Start it: claude-sessions run" in said


async def test_a_token_opens_what_its_role_allows_until_it_is_revoked(machine: Machine) -> None:
    async with serving(machine):
        made = await machine.ran(
            *machine.command("token", "new", "--home", str(machine.home), "ci", "--days", "30")
        )
        token = made.out.strip()
        assert re.fullmatch(r"cs_\w+_\S+", token)
        assert "ci · viewer · expires " in made.err
        env = {"CLAUDE_SESSIONS_TOKEN": token}
        allowed = await machine.ran(*machine.client("ls"), env=env)
        assert allowed.code == 0
        forbidden = await machine.ran(*machine.client("new", "hello"), env=env)
        assert (forbidden.code, "You may not start sessions" in forbidden.err) == (4, True)
        listed = await tokens(machine, "list")
        assert token not in listed
        assert "ci" in listed
        assert "opens nothing" in await tokens(machine, "revoke", "ci")
        for words in (["ls"], ["tail", "-f", "one"]):
            shut = await machine.ran(*machine.client(*words), env=env)
            assert (shut.code, shut.err) == (
                4,
                "Invalid token: the one in CLAUDE_SESSIONS_TOKEN\n",
            )
        assert (await tokens(machine, "list")).startswith("No tokens.")


async def tokens(machine: Machine, *arguments: str) -> str:
    first, *rest = arguments
    ran = await machine.ran(*machine.command("token", first, "--home", str(machine.home), *rest))
    assert ran.code == 0
    return ran.out


async def test_rpc_prints_the_result_of_any_method(machine: Machine) -> None:
    async with serving(machine):
        document = json.loads(await done(machine, "rpc", "rpc.discover"))
        assert "claude-code.chat" in [method["name"] for method in document["methods"]]
        params = '{"prompt": "hello", "name": "one"}'
        made = json.loads(await done(machine, "rpc", "claude-code.launch", "-", piped=params))
        assert made["name"] == "one"


async def test_following_shows_words_and_tools_and_ends_with_the_session(
    script: Script, machine: Machine
) -> None:
    async with serving(machine), followed(script, machine) as follower:
        await done(machine, "approve", await waiting(machine))
        shown = await follower
        assert "Made." in await done(machine, "tail", "-f", "maker")  # it has ended: so does this
    assert (shown.code, shown.err) == (0, "")
    words = (
        "One moment. Now.",
        "🔧 Bash — touch made",
        "→ claude-sessions approve ",
        "Made.",
        "✅",
    )
    assert in_order(shown.out, words), f"{shown.out}\n{machine.story()}"
    assert "[1]" not in shown.out


async def test_a_program_follows_in_lines_of_json(script: Script, machine: Machine) -> None:
    async with serving(machine), followed(script, machine, "--json") as follower:
        approval = await waiting(machine)
        await done(machine, "approve", approval)
        shown = await follower
    told = [json.loads(line) for line in shown.out.splitlines()]
    kinds = [each["kind"] for each in told]
    assert {"stream", "tool"} <= set(kinds)
    assert kinds[-1] == "completed"
    assert approval in [each.get("approvalId") for each in told]


async def test_following_ends_with_3_when_the_daemon_stops(
    script: Script, machine: Machine
) -> None:
    async with serving(machine) as daemon, followed(script, machine) as follower:
        await waiting(machine)
        os.kill(daemon.pid, signal.SIGTERM)
        shown = await follower
        assert await daemon.left() == 0
    assert (shown.code, shown.err) == (3, "The daemon has stopped.\n")


@asynccontextmanager
async def followed(
    script: Script, machine: Machine, *more: str
) -> AsyncIterator[asyncio.Task[Ran]]:
    """A session in the middle of a word, with somebody who has begun to follow it."""
    gate = Gate()
    script.on("make it", say("One moment. ", gate, "Now."), bash("touch made"), say("Made."))
    await done(machine, "new", "--name", "maker", "--once", "make it")
    await gate.reached(timeout=PATIENCE)
    follower = asyncio.create_task(machine.ran(*machine.client("tail", "-f", "maker", *more)))
    async with asyncio.timeout(PATIENCE):
        while not (await told(machine, "ls"))["sessions"][0]["foreground"]:
            pass
    gate.open()
    yield follower


def in_order(text: str, parts: Sequence[str]) -> bool:
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL) is not None


async def test_a_reader_that_has_had_enough_is_no_error(machine: Machine) -> None:
    async with serving(machine):
        for name in ("one", "two", "three"):
            await done(machine, "new", "--name", name, "hello")
        command = 'set -o pipefail; "$@" --json | head -n 1'
        ran = await machine.ran("bash", "-c", command, "bash", *machine.client("ls"))
    assert (ran.code, ran.out, ran.err) == (0, "{\n", "")


SHAPES = {"full": '"$@" >/dev/full', "closed": '"$@" >&-'}


@pytest.mark.parametrize(("shape", "code"), [("full", 1), ("closed", 0)])
async def test_an_output_that_takes_nothing_is_a_sentence_at_most(
    shape: str, code: int, machine: Machine
) -> None:
    async with serving(machine):
        for command in (["ls"], ["ls", "--json"], ["stats"]):
            shell = ("bash", "-c", SHAPES[shape], "bash", *machine.client(*command))
            ran = await machine.ran(*shell)
            assert ran.code == code
            assert len(ran.err.splitlines()) == code
            assert "Traceback" not in ran.err


async def test_whatever_the_terminal_can_show_is_shown(machine: Machine) -> None:
    env = {"PYTHONIOENCODING": "ascii"}
    async with serving(machine):
        await done(machine, "new", "--name", "one", "grün")
        await said(machine, "one", "You said: grün")
        listed = await machine.ran(*machine.client("ls"), env=env)
        assert (listed.code, listed.err) == (0, "")
        assert "one   ? running" in listed.out
        for command in (["ls", "--json"], ["rpc", "claude-code.sessions"]):
            exact = await machine.ran(*machine.client(*command), env=env)
            assert json.loads(exact.out)["sessions"][0]["prompt"] == "grün"
        await done(machine, "kill", "one")
        followed = await machine.ran(*machine.client("tail", "-f", "one", "--json"), env=env)
        assert json.loads(followed.out)["text"] == "You said: grün"


async def test_a_name_that_is_taken_is_told(machine: Machine) -> None:
    async with serving(machine):
        await done(machine, "new", "--name", "one", "hello")
        again = await machine.ran(*machine.client("new", "--name", "one", "hello"))
        assert (again.code, again.err) == (0, "The name one is taken; this one is one-2.\n")
        assert again.out.startswith("one-2 · ")


async def test_what_cannot_be_sent_is_refused_before_it_is_sent(machine: Machine) -> None:
    """Also in this locale, where Python reads any bytes at all."""
    long = 'head -c 1100000 /dev/zero | tr "\\0" a | "$@"'
    cases = {
        long: (["new"], "That is too long: put it in a file and name the file."),
        "printf '\\xff' | \"$@\"": (["new"], "What you gave is not UTF-8."),
        "\"$@\" $'\\xff'": (["new"], "What you gave is not UTF-8."),
        "\"$@\" -f $'\\xff'": (["tail"], "What you gave is not UTF-8."),
        '"$@" claude-code.stats \'{"a": NaN}\'': (["rpc"], "The parameters are not JSON"),
        '"$@" -': (["rpc", "claude-code.stats"], "The parameters are not JSON"),
    }
    async with serving(machine):
        for shell, (command, sentence) in cases.items():
            ran = await machine.ran("bash", "-c", shell, "bash", *machine.client(*command))
            assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
            assert ran.err.startswith(sentence)
        assert (await done(machine, "ls")).startswith("No sessions.")


async def test_a_daemon_that_dies_amid_a_call_may_have_done_it(machine: Machine) -> None:
    heard = asyncio.Event()

    async def die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        heard.set()
        writer.close()

    async with await asyncio.start_server(die, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        env = {"CLAUDE_SESSIONS_URL": f"http://{host}:{port}", "CLAUDE_SESSIONS_TOKEN": "t" * 40}
        ran = await machine.ran(*machine.client("kill", "one"), env=env)
    assert heard.is_set()
    assert ran.code == 3
    assert "may have been done, or not" in ran.err
    assert "Start it" not in ran.err


async def test_an_interruption_is_quiet(machine: Machine) -> None:
    async with serving(machine):
        await done(machine, "new", "--name", "one", "hello")
        async with machine.at_terminal(machine.client("tail", "-f", "one")) as terminal:
            await terminal.shows("You said: hello")
            terminal.press("\x03")
            assert await terminal.left() == 130
        assert "Traceback" not in terminal.text


COMPLETIONS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", COMPLETIONS)
async def test_a_shell_completes_commands_and_names(shell: str, machine: Machine) -> None:
    async with serving(machine):
        await done(machine, "new", "--name", "fix-auth", "hello")
        home = f"--home {machine.home}"
        assert "token" in await completed(machine, shell, "claude-sessions tok")
        assert "fix-auth" in await completed(machine, shell, f"claude-sessions kill {home} fi")
        assert "fix-auth" not in await completed(machine, shell, f"claude-sessions kill {home} x")
    assert "fix-auth" not in await completed(machine, shell, f"claude-sessions kill {home} fi")


async def completed(machine: Machine, shell: str, line: str) -> str:
    env = {
        "_CLAUDE_SESSIONS_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    ran = await machine.ran(*machine.command(), env=env)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.strip()


async def test_the_script_for_a_shell_can_be_shown(machine: Machine) -> None:
    show = '"$@" --show-completion; exit $?'
    ran = await machine.ran("bash", "-c", show, "bash", *machine.command())
    assert ran.code == 0
    assert "_CLAUDE_SESSIONS_COMPLETE" in ran.out


async def test_nothing_of_the_daemon_is_loaded_for_it(machine: Machine) -> None:
    look = (
        "import sys; import claude_sessions.cli, claude_sessions.client.chat;"
        "import claude_sessions.client.follow, claude_sessions.client.mcp_stdio;"
        "print(*sys.modules)"
    )
    loaded = set((await machine.ran(*machine.command()[:1], "-c", look)).out.split())
    daemons = {"claude_agent_sdk", "telegram", "starlette", "uvicorn", "apscheduler", "mcp"}
    ours = {f"claude_sessions.{name}" for name in ("daemon", "eventlog", "gateway", "router")}
    assert loaded.isdisjoint(daemons | ours)
