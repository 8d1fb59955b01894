"""The line to a daemon that may go and come back: a chat stays open meanwhile.

What was typed has one of three fates, and each is told: it was answered, it was not sent, or it was
sent and the answer is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from claude_sessions import frames
from claude_sessions.agreed import LONGEST
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action, ChannelClosed
from claude_sessions.client.address import Address
from claude_sessions.client.dial import dial, why_over
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.client.shown import Shown
from claude_sessions.commands import Reply
from claude_sessions.console import ConsoleChannel
from claude_sessions.errors import BadRequest, SessionsError

FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
QUOTED = 60


class Link:
    """`locate` is asked anew for each connection. `over` is done when there will be none again."""

    def __init__(
        self,
        locate: Callable[[], Address],
        name: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._locate = locate
        self._name = name
        self._sleep = sleep
        self._connection: ClientConnection | None = None
        self._answers: dict[int, asyncio.Future[frames.Answer]] = {}
        self._ids = count(1)
        self.over: asyncio.Future[SessionsError] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        """Raises `Failed`."""
        self._connection = await dial(self._locate(), self._name)

    @asynccontextmanager
    async def attached(self, channel: ConsoleChannel) -> AsyncIterator[None]:
        keeping = asyncio.create_task(self._keep(channel), name="link")
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])
            if self._connection is not None:
                await self._connection.close()

    async def hear(self, text: str) -> Reply:
        said = frames.Said(line=text, id=next(self._ids))
        told = frames.said_json(said)
        if len(told.encode()) > LONGEST:
            raise BadRequest(
                "That is too long for one message: put it in a file and name the file."
            )
        if self._connection is None:
            raise _again(f"Not sent, since the daemon is away: “{_short(text)}”.", text)
        answer = self._answers[said.id] = asyncio.get_running_loop().create_future()
        try:
            await self._connection.send(told)
            return _reply(await answer)
        except (ConnectionClosed, _Lost):
            lost = f"No answer came to “{_short(text)}”: it may have been carried out, or not."
            raise _again(f"{lost} Look before you say it again.", text) from None
        finally:
            self._answers.pop(said.id, None)

    # --- keeping it

    async def _keep(self, channel: ConsoleChannel) -> None:
        try:
            while True:
                why = await self._read(channel)
                if why.exit is not Exit.AWAY:
                    raise why
                await channel.say(f"{why} Waiting for it; /quit leaves.")
                await self._redial()
                await channel.say("The daemon is back.")
        except SessionsError as error:
            self.over.set_result(error)
        except ChannelClosed:
            pass  # the terminal is gone, which the chat sees for itself

    async def _read(self, channel: ConsoleChannel) -> Failed:
        """Until the connection ends; gives back why."""
        assert self._connection is not None
        shown = Shown(channel)
        try:
            while True:
                frame = frames.read_frame(await self._connection.recv())
                if frame is not None:
                    await self._take(frame, channel, shown)
        except ConnectionClosed as error:
            self._connection = None
            await shown.end()
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(_Lost())
            return why_over(error)

    async def _take(self, frame: frames.Frame, channel: ConsoleChannel, shown: Shown) -> None:
        match frame:
            case frames.Hello():
                self._name = frame.channel.partition("|")[2]
            case frames.Answer():
                answer = self._answers.get(frame.id)
                if answer is not None and not answer.done():
                    answer.set_result(frame)
                    await asyncio.sleep(0)  # whoever waits for it shows it before what follows
            case frames.Missed():
                await channel.reply(frame.reply)
            case frames.Sent():
                await shown.send(frame.ref, frame.notification)
            case frames.Edited():
                await shown.edit(frame.ref, frame.notification)

    async def _redial(self) -> None:
        wait = FIRST_WAIT
        while self._connection is None:
            await self._sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)
            try:
                self._connection = await dial(self._locate(), self._name)
            except Failed as error:
                if error.exit is not Exit.AWAY:
                    raise


class _Lost(Exception):
    pass


def _reply(answer: frames.Answer) -> Reply:
    if answer.error:
        raise Failed.told(answer.error, answer.reply.text, actions=answer.reply.actions)
    return answer.reply


def _again(message: str, text: str) -> Failed:
    return Failed(message, Exit.AWAY, actions=[Action(label="Say it again", line=text)])


def _short(text: str) -> str:
    return one_line(text, QUOTED)
