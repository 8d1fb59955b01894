"""The terminal chat: a line goes in, the daemon's answer comes out."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable

import structlog

from claude_sessions.channel import Action, ChannelClosed
from claude_sessions.commands import Reply
from claude_sessions.console.channel import ConsoleChannel
from claude_sessions.console.editor import LineEditor
from claude_sessions.console.keyboard import Keyboard, Left, Said, Typed
from claude_sessions.console.screen import Screen
from claude_sessions.console.text import harmless
from claude_sessions.errors import SessionsError

PROMPT = "> "
QUITS = ("/quit", "/exit")
ECHOED = 200
NUMBER = re.compile(r"[0-9]{1,4}")

logger = structlog.get_logger(__name__)


class ConsoleChat:
    """`run` returns when the person leaves. Lines are heard one after the other, in order.

    `missed`: what happened while they were away, told before the line is heard.
    """

    def __init__(
        self,
        *,
        channel: ConsoleChannel,
        screen: Screen,
        stdin: int,
        hear: Callable[[str], Awaitable[Reply]],
        busy: Callable[[], list[str]],
        missed: Callable[[str], Awaitable[Reply | None]] | None = None,
        greeting: str = "",
    ) -> None:
        self._channel = channel
        self._screen = screen
        self._stdin = stdin
        self._hear = hear
        self._busy = busy
        self._missed = missed
        self._greeting = greeting
        self._completing: Action | None = None  # waits for its text
        self._leaving = False  # the question whether to leave is open

    async def run(self) -> None:
        editing = self._screen.tty and os.isatty(self._stdin)
        choices = self._channel.choices
        keyboard = Keyboard(
            self._stdin, editing=editing, stamp=lambda: choices.stamp, changed=self._draw
        )
        try:
            async with keyboard:
                if self._greeting:
                    await self._channel.say(self._greeting)
                if editing:
                    self._screen.prompt(PROMPT)
                while not await self._left_after(await keyboard.said()):
                    if editing:
                        self._screen.prompt(self._prompt())
        except ChannelClosed:
            logger.info("console.gone")
        finally:
            self._screen.prompt(None)

    def _draw(self, editor: LineEditor) -> None:
        self._screen.typed(editor.before, editor.after)

    def _prompt(self) -> str:
        return f"{self._completing.label}: " if self._completing else PROMPT

    async def _left_after(self, said: Said) -> bool:
        match said:
            case Typed():
                return await self._typed(said.text.strip(), said.seen)
            case Left() if said.for_good or self._leaving:
                return True
            case Left() if self._completing is not None:
                self._completing = None
                return False
        return await self._leave()

    async def _typed(self, text: str, seen: int) -> bool:
        if self._screen.tty:
            await self._echo(text)
        if self._leaving:
            self._leaving = False
            if text.lower() in ("y", "yes"):
                return True
            await self._channel.say("Staying.")
        elif (action := self._completing) is not None:
            self._completing = None
            await (self._send(action.line + text) if text else self._channel.say("Never mind."))
        elif text in QUITS:
            return await self._leave()
        elif NUMBER.fullmatch(text):
            await self._choose(text, seen)
        elif text:
            await self._send(text)
        return False

    async def _echo(self, text: str) -> None:
        first, *more = harmless(text).split("\n")
        shown = self._prompt() + first[:ECHOED] + (f" … and {len(more)} more lines" if more else "")
        await self._screen.print([self._screen.styled(shown, "dim")])

    async def _choose(self, text: str, seen: int) -> None:
        """By number; without such a choice, the number is a word like any other."""
        offer = self._channel.choices.find(int(text), seen=seen)
        action = offer.action(int(text)) if offer else None
        if offer is None or action is None:
            await self._send(text)
        elif offer.decision and offer.closed is not None:
            await self._channel.say("That has been decided meanwhile.")
        elif action.needs_text:
            self._completing = action
            await self._channel.say(f"{action.label}: type it, or nothing to leave it.")
        else:
            await self._send(action.line)

    async def _send(self, text: str) -> None:
        try:
            if self._missed is not None and (missed := await self._missed(text)) is not None:
                await self._channel.reply(missed)
            reply = await self._hear(text)
        except SessionsError as error:
            await self._channel.reply(Reply(text=str(error), actions=error.actions))
        except Exception as error:
            logger.exception("console.failed")
            await self._channel.say(f"That went wrong: {error!r}. The log says more.")
        else:
            await self._channel.reply(reply)

    async def _leave(self) -> bool:
        names = self._busy()
        if not names:
            return True
        who, they = f"{len(names)} sessions are", "They"
        if len(names) == 1:
            who, they = "1 session is", "It"
        await self._channel.say(
            f"{who} working: {', '.join(names)}.\nLeave anyway? {they} will be interrupted. [y/N]"
        )
        self._leaving = True
        return False
