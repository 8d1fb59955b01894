"""An alarm rings once, when nobody set it anew in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.sessions.timers import Alarm
from tests.waiting import eventually

Rig = tuple[ManualClock, Alarm, list[float]]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    clock = ManualClock()
    rung: list[float] = []
    alarm = Alarm(clock, 10, lambda: rung.append(clock.monotonic()))
    task = asyncio.create_task(alarm.run())
    yield clock, alarm, rung
    task.cancel()
    await asyncio.wait([task])


async def breathe() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_it_rings_once(rig: Rig) -> None:
    clock, alarm, rung = rig
    alarm.set()
    await breathe()
    clock.advance(10)
    await eventually(lambda: rung == [10])
    clock.advance(100)
    await breathe()
    assert rung == [10]


async def test_setting_it_anew_puts_it_off(rig: Rig) -> None:
    clock, alarm, rung = rig
    alarm.set()
    await breathe()
    clock.advance(9)
    alarm.set()
    clock.advance(9)
    await breathe()
    assert rung == []
    clock.advance(1)
    await eventually(lambda: rung == [19])


async def test_a_cleared_one_stays_silent_until_it_is_set_again(rig: Rig) -> None:
    clock, alarm, rung = rig
    alarm.set()
    await breathe()
    alarm.clear()
    clock.advance(50)
    await breathe()
    assert rung == []
    alarm.set()
    await breathe()
    clock.advance(10)
    await eventually(lambda: rung == [60])


async def test_none_is_never() -> None:
    alarm = Alarm(ManualClock(), None, lambda: pytest.fail("it rang"))
    alarm.set()
    task = asyncio.create_task(alarm.run())
    await breathe()
    task.cancel()
    await asyncio.wait([task])
