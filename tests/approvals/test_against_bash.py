"""The evasions that the tables list do run in a real bash: what it runs, a deny must have seen."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from claude_sessions.approvals.commands import started
from tests.approvals.samples import bash, denied

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

# `victim` stands for a command that somebody denied; it only says that it ran.
PRELUDE = 'victim() { printf "victim %s\\n" "$*" >&9; }; readonly -f victim; exec 9>ran;'

RUNS = [
    "victim x", "true; victim x", "true && victim x", "false || victim x", "true | victim x",
    "true & victim x; wait", "true\nvictim x", "(victim x)", "{ victim x; }", "! victim x",
    ": $(victim x)", ": `victim x`", ': "$(victim x)"', ": <(victim x); wait",
    ": >(victim x); wait",
    "if victim x; then :; fi", "for i in 1; do victim x; done", "until victim x; do :; done",
    "case a in a) victim x;; esac", "case a in (b) :;; *) victim x; esac", "[[ -n $(victim x) ]]",
    "f() { victim x; }; f", "y=$(victim x)", ": <<E\n$(victim x)\nE", "y=(1 $(victim x))",
    ": ${y:-$(victim x)}", ': "${y:-`victim x`}"', ": $((1 + $(victim x; echo 1)))",
    "vic''tim x", '"victim" x', "'victim' x", "\\victim x", "vic\\tim x", "vic\\\ntim x",
    "$'victim' x", "$'\\x76ictim' x", "$'\\166ictim' x", "$'\\x{76}ictim' x", "victim\tx",
    "> log victim x", "2>&1 victim x", "{victim,x}", "y=victim; $y x", "$(echo victim) x",
    "y=tim; vic$y x", '$y victim x', "vic${y}tim x", "vic${y:-}tim x", 'y=victim; "$y" x',
    ": $\\\n(victim x)", '"$\\\n(:)" ; victim x', "A=1 victim x", "eval victim x",
    "eval 'victim x'",
    "time victim x", "time -p victim x", "trap 'victim x' EXIT", "coproc victim x; wait",
    'y="victim x"; eval "$y"', "y='victim x'; $y", "z=(;) : \\\nvictim x",
    "echo \"$(:)\"; victim x",
    ": 'a'\\''; b'; victim x", ": \"a'b\"; victim x #'", ": $'\\''; victim x", ": # ' \n victim x",
    ": \\\\; victim x", ": a#b; victim x", "((1)); victim x", "(( #1 )) ; victim x",
    "((1<<E))\n$'\\x76ictim' x\nE", "((: a); (victim x))",
    ": $((1<<E))\n$'\\x76ictim' x\nE", ": $(( 16#f )); $'\\x76ictim' x",
    "(( 1 # )); $'\\x76ictim' x",
    ": ${y:-'}'}; $'\\x76ictim' x #'", ': ${y:-"}"}; victim x', ": `echo \\`echo \\``; victim x",
    ": ${y:-${z:-a}}; victim x", ": $[1+1]; victim x", ": ${y#\\}}; victim x",
    "cat <<'E'\n'\nE\nvictim x", "cat <<-E\n\ta\n\tE\nvictim x",
    ": \"$(cat <<'E'\n)\nE\nvictim x)\"",
]  # fmt: skip

PLAIN = [
    "victim 'a; b' \"c && d\"", "victim a\\;b", "victim \"a'b\"", "victim a#b",
    "victim 2>&1", "victim >/dev/null", "victim $HOME ${HOME}", "victim {a,b} [ab] *",
    "victim <<< a",
]  # fmt: skip


def ran(command: str, where: Path) -> list[str]:
    assert BASH is not None
    process = subprocess.Popen(
        [BASH, "-c", f'{PRELUDE} eval "$COMMAND"'],
        cwd=where,
        env={"PATH": "/usr/bin:/bin", "COMMAND": command, "HOME": str(where)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(timeout=30)
    finally:
        _end_group(process)
    return (where / "ran").read_text().splitlines()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Whatever the command left in the background ends with the test."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("command", RUNS)
def test_what_bash_runs_a_deny_has_seen(command: str, tmp_path: Path) -> None:
    assert ran(command, tmp_path), "bash does not run it: the example is wrong"
    assert denied("Bash(victim *)", bash(command))


@pytest.mark.parametrize("command", PLAIN)
def test_what_is_called_plain_runs_one_command_and_writes_nothing(
    command: str, tmp_path: Path
) -> None:
    assert started(command).plain
    assert len(ran(command, tmp_path)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ran"]
