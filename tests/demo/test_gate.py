import asyncio

import pytest

from claude_sessions.demo import Gate


async def test_a_gate_waits_for_as_many_as_asked() -> None:
    gate = Gate()
    passing = [asyncio.create_task(gate.pass_through(), name=f"passer {n}") for n in range(2)]
    await gate.reached(count=2)
    assert not any(task.done() for task in passing)
    gate.open()
    await asyncio.gather(*passing)


async def test_an_open_gate_holds_nobody() -> None:
    gate = Gate()
    gate.open()
    await gate.pass_through()
    assert gate.arrivals == 1


async def test_a_gate_nobody_comes_to_is_not_waited_for_without_end() -> None:
    with pytest.raises(TimeoutError):
        await Gate().reached(timeout=0.01)
