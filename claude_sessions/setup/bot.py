"""The first half of setup: which bot it is, and whose."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial

from telegram import User
from telegram.error import TelegramError

from claude_sessions.errors import ConfigError, SessionsError
from claude_sessions.settings import TelegramSettings
from claude_sessions.setup.dialogue import Dialogue
from claude_sessions.setup.listening import Listening, describe
from claude_sessions.setup.pairing import LIFETIME, Pairing
from claude_sessions.telegram.token import TOKEN, token_of
from claude_sessions.telegram.whoami import NoBot, bot_of, explain, who_is

HOW = (
    "In Telegram, write /newbot to @BotFather: it asks for a name and gives you a token.\n"
    "Copy the token and paste it here; it is not shown."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenBot:
    """A token that Telegram has accepted."""

    token: str = field(repr=False)
    name: str
    settings: TelegramSettings

    async def pair(
        self, dialogue: Dialogue, known: Collection[int], lifetime: float = LIFETIME
    ) -> User | None:
        """The account that sent the code; None if nobody did in time."""
        try:
            async with bot_of(self.token, self.settings) as bot:
                pairing = Pairing(expires=time.monotonic() + lifetime)
                listening = Listening(
                    bot=bot,
                    pairing=pairing,
                    known=known,
                    say=dialogue.say,
                    explain=partial(explain, settings=self.settings),
                )
                await listening.pass_over()
                dialogue.say(f"Send /start to @{self.name} from your phone, then the code:")
                dialogue.say(f"\n    {pairing.code}\n")
                dialogue.say(f"It is good for {lifetime / 60:g} minutes.")
                return await listening.owner()
        except TelegramError as error:
            raise NoBot(explain(error, self.settings)) from None

    async def tell(self, account: int, text: str) -> None:
        try:
            async with bot_of(self.token, self.settings) as bot:
                await bot.send_message(account, text)
        except TelegramError as error:
            raise NoBot(explain(error, self.settings)) from None


def choose_bot(dialogue: Dialogue, settings: TelegramSettings) -> ChosenBot:
    bot = _configured(dialogue, settings)
    if bot and dialogue.agrees(f"Keep @{bot.name}?"):
        return bot
    dialogue.say(HOW)
    while True:
        token = dialogue.ask_unseen("Token")
        if not TOKEN.fullmatch(token):
            dialogue.say("That is no token: one looks like 123456789:AbC-dEf… Copy all of it.")
        elif bot := _accepted(dialogue, token, settings):
            dialogue.say(f"That is @{bot.name}.")
            return bot


def find_owner(dialogue: Dialogue, bot: ChosenBot, known: Collection[int]) -> User:
    while True:
        try:
            owner = asyncio.run(bot.pair(dialogue, known))
        except NoBot as error:
            dialogue.say(str(error))
        else:
            if owner and dialogue.agrees(f"{describe(owner)}: is that you?"):
                return owner
            dialogue.say("Nobody is paired." if owner else "The code has expired.")
        if not dialogue.agrees("Try again, with a new code?"):
            raise SessionsError("Nobody is paired. Nothing was changed.")


def tell_owner(dialogue: Dialogue, bot: ChosenBot, account: int) -> None:
    host = socket.gethostname()
    text = f"Paired. This bot listens to you while claude-sessions runs on {host}."
    try:
        asyncio.run(bot.tell(account, text))
    except NoBot as error:
        dialogue.say(f"Your phone was not told: {error}")


def _configured(dialogue: Dialogue, settings: TelegramSettings) -> ChosenBot | None:
    try:
        token = token_of(settings)
    except ConfigError as error:
        dialogue.say(str(error))
        return None
    if token is None:
        return None
    dialogue.say("A token is configured already.")
    return _accepted(dialogue, token, settings)


def _accepted(dialogue: Dialogue, token: str, settings: TelegramSettings) -> ChosenBot | None:
    try:
        user = asyncio.run(who_is(token, settings))
    except NoBot as error:
        dialogue.say(str(error))
        return None
    return ChosenBot(token=token, name=user.username or user.full_name, settings=settings)
