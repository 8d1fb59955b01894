"""That every group still measures, with the fewest repeats; how fast is for `make bench` to say."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from claude_agent_sdk import ClaudeSDKError

from bench import bare, log, machine
from bench.__main__ import GROUPS
from bench.figure import Figure
from bench.measured import Measured, read, write
from bench.table import amount, document, row
from bench.timing import interleaved
from claude_sessions.demo import Sandbox
from claude_sessions.engines import Answer, Ask
from claude_sessions.engines.claude import ClaudeEngine
from claude_sessions.errors import EngineError
from claude_sessions.model import PermissionMode, SessionSpec


def measured(figures: Sequence[Figure]) -> Measured:
    return Measured(group="some", figures=list(figures), date="2026-01-01", load="0.1 → 0.2")


def told(figures: Sequence[Figure]) -> int:
    """How many of them have a target; all must have a baseline and stand in the table."""
    assert all(figure.value > 0 and (figure.baseline or 0) > 0 for figure in figures)
    table = document([measured(figures)], {"Cores": "2"})
    assert all(f"| {figure.name} | " in table for figure in figures)
    return sum(figure.met is not None for figure in figures)


@pytest.mark.parametrize(
    ("group", "targets"),
    [
        ("launch", 1),
        ("follow-up", 1),
        ("wake", 1),
        ("tokens", 1),
        ("daemon", 3),
        ("asleep", 3),
    ],
)
async def test_every_group_measures_beside_its_baseline(group: str, targets: int) -> None:
    assert told(await GROUPS[group](0)) == targets


async def test_the_pool_is_measured_and_answers_correctly_within_its_bound() -> None:
    figures = await GROUPS["pool"](0)
    assert told(figures) == 3
    _, right, processes = figures
    assert right.met
    assert processes.met


async def test_the_bot_is_measured_and_all_arrives_without_a_refusal() -> None:
    asked, loaded, given, answered, shown, shown_loaded, refused, arrived, *_ = await GROUPS[
        "telegram"
    ](0)
    assert told([asked, loaded, given, shown, shown_loaded, arrived]) == 6
    assert answered.value > 0
    assert (refused.value, refused.met, arrived.met) == (0, True, True)


async def test_the_log_is_measured_beside_bare_sqlite(tmp_path: Path) -> None:
    # Without the opening of a long one, which takes seconds to fill even at its smallest.
    assert told([await log.appends(tmp_path, 0), *await log.replay(tmp_path, 0)]) == 2


@pytest.mark.parametrize("resume", [None, "8c1d2b90-35a7-4e0f-9b6c-0d2f6f3a1b7e"])
async def test_the_bare_client_asks_the_cli_for_the_same_as_our_engine(
    tmp_path: Path, sandbox: Sandbox, resume: str | None
) -> None:
    cli = tmp_path / "notes-its-flags"
    notes = f'printf "%s\\n" "$@" > {tmp_path}/flags'
    cli.write_text(f'#!/bin/sh\n[ "$1" = agents ] || {notes}\nexit 1\n')
    cli.chmod(0o755)
    with pytest.raises(ClaudeSDKError):
        async with bare.connected(cli, tmp_path, resume):
            pass
    theirs = flags(tmp_path)
    engine = ClaudeEngine(env=sandbox.env, setting_sources=("user",), cli_path=str(cli))
    spec = SessionSpec(directory=str(tmp_path), mode=PermissionMode.DEFAULT)
    with pytest.raises(EngineError):
        await engine.open(spec, ask=refuse, claude_id="0", resume=resume, budget_usd=5.0)
    assert flags(tmp_path) == theirs


def flags(directory: Path) -> list[str]:
    """In order of their names, without the session's id, which is never the same."""
    words = (directory / "flags").read_text().split("\n")
    return sorted(word for word in words if not word.startswith("--session-id="))


async def refuse(_: Ask) -> Answer:
    return Answer(allow=False)


async def test_ours_and_the_baseline_take_turns_and_the_first_round_only_warms_up() -> None:
    order: list[str] = []

    async def note(who: str, n: str) -> str:
        order.append(f"{who}{int(n)}")
        return order[-1]

    results = await interleaved(3, lambda n: note("a", n), lambda n: note("b", n))
    assert order == ["a0", "b0", "b1", "a1", "a2", "b2"]
    assert results == (["a1", "a2"], ["b1", "b2"])


def test_a_missed_target_is_said_loudly() -> None:
    slow = Figure(
        name="launch",
        value=500.0,
        unit="ms",
        baseline=400.0,
        baseline_name="bare",
        target="≤ 1.15 ×",
        met=False,
    )
    assert row(slow) == ("launch", "500 ms", "400 ms (bare)", "1.25 ×, +100 ms", "≤ 1.15 ×", "NO")
    text = document([measured([slow])], {"Cores": "2"})
    assert "| NO |" in text
    assert "1 of 1 targets:** launch." in text


def test_what_was_not_measured_anew_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    assert read(file) == []
    figure = Figure(
        name="a", value=1.5, unit="ms", baseline=None, baseline_name="", target="", met=None
    )
    write(file, [measured([figure])])
    assert read(file) == [measured([figure])]


async def test_the_gateway_is_measured_beside_bare_starlette() -> None:
    figures = await GROUPS["gateway"](0)
    calls, replay, idle, spread, given = figures
    assert told([calls, replay]) == 2
    assert idle.met is not None
    assert min(spread.value, given.value) > 0


def test_what_is_counted_is_told_without_a_fraction() -> None:
    assert [amount(value, "") for value in (4, 4.0, 4.25, 600)] == ["4", "4", "4.25", "600"]


async def test_the_machine_is_described_without_naming_it() -> None:
    facts = await machine.facts()
    assert all(facts.values())
    assert os.uname().nodename not in " ".join(facts.values()).split()
    assert not any("/" in facts[key] for key in ("Python", "Claude CLI", "Agent SDK"))
