"""Plays an answer to the client, in time, and strikes the faults that are due."""

import asyncio
from collections import Counter
from collections.abc import Iterable

from claude_sessions.demo.gate import Gate
from claude_sessions.demo.outlet import Outlet
from claude_sessions.demo.request import Ending
from claude_sessions.demo.steps import (
    Drop,
    Fault,
    Hang,
    HttpError,
    Malformed,
    Overloaded,
    Stall,
)
from claude_sessions.demo.wire import Cue, Event, Pause, failure

# A client that meets the end of a connection may throw away what it has not yet looked at; on a
# real network the words before a drop have long been read.
DROP_DELAY = 0.05


class Player:
    """One for all connections: how often a fault has struck is counted over all of them."""

    def __init__(self) -> None:
        self._met: Counter[Fault] = Counter()

    async def play(self, cues: Iterable[Cue], outlet: Outlet) -> Ending:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for cue in cues:
            match cue:
                case Event():
                    outlet.event(cue)
                case Pause(seconds):
                    await outlet.flush()
                    due += seconds
                    await asyncio.sleep(max(0, due - loop.time()))
                case Gate():
                    await outlet.flush()
                    await cue.pass_through()
                    due = loop.time()
                case fault if self._strikes(fault):
                    await outlet.flush()
                    await strike(fault, outlet)
                    return Ending.FAULTED
        await outlet.finish()
        return Ending.FINISHED

    def _strikes(self, fault: Fault) -> bool:
        self._met[fault] += 1
        return fault.times is None or self._met[fault] <= fault.times


async def strike(fault: Fault, outlet: Outlet) -> None:
    match fault:
        case HttpError():
            payload = failure(fault.kind, fault.message)
            await outlet.reply(fault.status, payload, fault.headers)
        case Hang() | Stall():
            await asyncio.Event().wait()
        case Drop(reset=reset):
            await asyncio.sleep(DROP_DELAY)
            outlet.cut(reset=reset)
        case Malformed():
            await outlet.malformed()
        case Overloaded():
            await outlet.overloaded()
