"""`make demo`: what a newcomer sees, and what stays behind."""

from __future__ import annotations

import os
import signal
import sys

from tests.process.machine import Machine
from tests.waiting import eventually

DEMO = [sys.executable, "-m", "claude_sessions.demo"]
TOUR = (
    "── Two sessions, side by side",
    "> /new --fg --name fix-auth",
    "> /new --name shop-page",
    "I look at the refresh handler first.",
    "✅ Allowed once by owner",
    "❌ Denied by owner",
    "Then I leave it unpublished.",
    "Which tone should the page have?",
    "✅ Answered by owner",
    "$ claude-sessions ls",
    "shop-page  ⚠️ running",
    "$ claude-sessions approve ",
    "✅ Allowed once by owner (gateway)",
    "The opening hours are in README.md.",
    "> also add tests",
    "Two tests, both green",
    "2 sessions",
    "⛔ fix-auth killed",
    "fix-auth goes on",
    "Here I am again, with everything we said before.",
    "📊 2 launched",
)


async def test_the_tour_shows_every_part_and_leaves_nothing(machine: Machine) -> None:
    tour = await machine.ran(*DEMO)
    assert (tour.code, tour.err) == (0, "")
    assert [part for part in TOUR if part not in tour.out] == []
    assert "\x1b" not in tour.out
    assert left_in(machine) == []


async def test_a_tour_that_is_stopped_half_way_leaves_nothing_either(machine: Machine) -> None:
    async with machine.started(DEMO) as tour:
        await eventually(lambda: len(machine.processes()) > 2, 30)
        os.kill(tour.pid, signal.SIGTERM)
        assert await tour.left() == 1
    assert tour.lines == []
    assert left_in(machine) == []


async def test_a_tour_that_nobody_reads_on_ends_quietly(machine: Machine) -> None:
    tour = await machine.ran("/bin/sh", "-c", '"$@" | head -3', "sh", *DEMO)
    assert TOUR[0] in tour.out
    assert tour.err == ""
    assert left_in(machine) == []


async def test_at_a_terminal_it_greets_in_a_few_lines_and_quit_leaves(machine: Machine) -> None:
    async with machine.at_terminal(DEMO) as terminal:
        await terminal.prompts()
        assert len(terminal.text.strip().splitlines()) == 6  # and the prompt
        terminal.type("/quit")
        assert await terminal.left() == 0
    assert terminal.restored
    assert left_in(machine) == []


def left_in(machine: Machine) -> list[str]:
    return [str(process) for process in machine.processes()] + os.listdir(machine.sandbox.tmp)
