"""Reading the bot's messages until its owner has sent the code.

What came before is skipped, by its place in the line and not by its date: clocks differ. Telegram
forgets whatever is acknowledged, so a message that somebody configured has sent meanwhile is left
for the daemon, as long as there is room behind it in one answer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from telegram import Bot, Message, Update, User
from telegram.error import BadRequest, Conflict, InvalidToken, NetworkError, TelegramError

from claude_sessions.approvals.visible import one_line
from claude_sessions.setup.pairing import Pairing, Verdict, code_in

LONG_POLL = 25
PAUSE = 1.0
AT_ONCE = 100  # the most that Telegram gives in one answer

Say = Callable[[str], None]
Explain = Callable[[TelegramError], str]


@dataclass(slots=True, kw_only=True)
class Listening:
    bot: Bot
    pairing: Pairing
    known: Collection[int]  # accounts whose older messages are worth keeping
    say: Say
    explain: Explain
    now: Callable[[], float] = time.monotonic
    _offset: int | None = None
    _seen: set[int] = field(default_factory=set)
    _lost: bool = False

    async def pass_over(self) -> None:
        """What waits already was not meant for this pairing."""
        while len(await self._read(0)) == AT_ONCE:
            pass

    async def owner(self) -> User | None:
        """Whoever sent the right code; None once it has expired."""
        while (left := self.pairing.expires - self.now()) > 0:
            for update in await self._try_to_read(left):
                if (message := private_text(update)) and await self._is_owner(message):
                    await self._acknowledge()
                    return message.from_user
        return None

    async def _is_owner(self, message: Message) -> bool:
        account, text = message.from_user, message.text
        assert account is not None
        assert text is not None
        verdict = self.pairing.hears(account.id, text, self.now())
        if verdict is Verdict.WRONG:
            self.say(f"A wrong code came from {describe(account)}.")
            with suppress(TelegramError):  # they may have blocked the bot
                await self.bot.send_message(account.id, "That is not the code.")
        return verdict is Verdict.PAIRED

    async def _try_to_read(self, left: float) -> Sequence[Update]:
        try:
            # A message that stays in the line makes every answer immediate.
            updates = await self._read(0 if self._seen else max(1, int(min(left, LONG_POLL))))
        except (BadRequest, Conflict, InvalidToken):
            raise
        except NetworkError as error:
            if not self._lost:
                self.say(f"{self.explain(error)} Trying again.")
            self._lost = True
            updates = []
        else:
            self._lost = False
        if self._lost or (self._seen and not updates):
            await asyncio.sleep(min(PAUSE, left))
        return updates

    async def _read(self, wait: int) -> Sequence[Update]:
        got = await self.bot.get_updates(
            offset=self._offset, timeout=wait, limit=AT_ONCE, allowed_updates=[]
        )
        fresh = [update for update in got if update.update_id not in self._seen]
        self._seen |= {update.update_id for update in got}
        self._let_go(got)
        return fresh

    def _let_go(self, got: Sequence[Update]) -> None:
        """Acknowledge up to the first message that is worth keeping; all, where none else fit."""
        kept = next((each.update_id for each in got if self._is_kept(each)), None)
        if got and (kept is None or len(got) == AT_ONCE):
            kept = got[-1].update_id + 1
        if kept is not None:
            self._offset = kept
            self._seen = {each for each in self._seen if each >= kept}

    def _is_kept(self, update: Update) -> bool:
        sender, message = update.effective_user, private_text(update)
        is_try = message is not None and code_in(message.text or "") is not None
        return sender is not None and sender.id in self.known and not is_try

    async def _acknowledge(self) -> None:
        """Else the daemon would take the code for a message to Claude."""
        with suppress(TelegramError):
            await self.bot.get_updates(offset=self._offset, timeout=0, limit=1, allowed_updates=[])


def private_text(update: Update) -> Message | None:
    """A person's own words to the bot; None for groups, channels, edits and other bots."""
    message = update.message
    if message is None or message.chat.type != "private" or not message.text:
        return None
    return message if message.from_user and not message.from_user.is_bot else None


def describe(account: User) -> str:
    """Names are chosen by strangers: nothing in them may move the cursor or hide."""
    known_as = f"@{account.username}, " if account.username else ""
    return f"{one_line(account.full_name, 80)} ({known_as}id {account.id})"
