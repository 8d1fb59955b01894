"""The clocks of a session: idle, the safety net, and the watchdog."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from claude_sessions.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """The clocks a session lives by."""

    idle_seconds: float | None = 1800.0
    idle_kills: bool = False
    safety_net_seconds: float | None = 15.0
    stall_seconds: float | None = 600.0


class Alarms:
    """The three of one session: each is set by what happens, and rings what it is given."""

    def __init__(
        self,
        clock: Clock,
        rhythm: Rhythm,
        *,
        idle: Callable[[], None],
        silent: Callable[[], None],
        stalled: Callable[[], None],
    ) -> None:
        self._idle = Alarm(clock, rhythm.idle_seconds, idle)
        self._safety_net = Alarm(clock, rhythm.safety_net_seconds, silent)
        self._watchdog = Alarm(clock, rhythm.stall_seconds, stalled)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for alarm in (self._idle, self._safety_net, self._watchdog):
                group.create_task(alarm.run(), name="alarm")

    def spoken_to(self) -> None:
        self._idle.set()

    def turn_began(self) -> None:
        self._idle.clear()
        self.sign_of_life()

    def sign_of_life(self) -> None:
        self._safety_net.set()
        self._watchdog.set()

    def turn_over(self) -> None:
        self._safety_net.clear()
        self._watchdog.clear()
        self._idle.set()

    def clear(self) -> None:
        for alarm in (self._idle, self._safety_net, self._watchdog):
            alarm.clear()


class Alarm:
    """Rings once when it was not set anew for `seconds`; None: never.

    Setting it is cheap: every token does.

    `run` is the task that keeps it; whoever starts that task owns the alarm.
    """

    def __init__(self, clock: Clock, seconds: float | None, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._ring = ring
        self._due: float | None = None
        self._armed = asyncio.Event()

    def set(self) -> None:
        if self._seconds is not None:
            self._due = self._clock.monotonic() + self._seconds
            self._armed.set()

    def clear(self) -> None:
        self._due = None

    async def run(self) -> None:
        while True:
            await self._armed.wait()
            if self._due is None:
                self._armed.clear()
            elif (left := self._due - self._clock.monotonic()) > 0:
                await self._clock.sleep(left)
            else:
                self._due = None
                self._ring()
