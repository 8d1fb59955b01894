"""Somebody comes back: what they missed is told in the chat that is theirs alone, silently."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from claude_sessions import commands as c
from claude_sessions.attention.attention import Attention, Missed
from claude_sessions.people import Caller
from claude_sessions.telegram import looks
from claude_sessions.telegram.address import Address
from claude_sessions.telegram.outbox import Outbox

logger = structlog.get_logger(__name__)


class Welcome:
    """`fronts`: the sessions in the foreground of a channel, whose news stand there already."""

    def __init__(
        self, attention: Attention, outbox: Outbox, fronts: Callable[[str], Sequence[str]]
    ) -> None:
        self._attention = attention
        self._outbox = outbox
        self._fronts = fronts

    async def back(self, caller: Caller, at: Address, command: c.Command | None = None) -> None:
        """Never in the way of what they came to do."""
        try:
            missed = await self._missed(caller, at)
            if missed is not None and not isinstance(command, c.Digest):  # which says it all
                await self._tell(missed)
        except Exception:
            logger.exception("telegram.not_welcomed")

    async def _missed(self, caller: Caller, at: Address) -> Missed | None:
        alone = at.channel if at.private else None
        return await self._attention.missed(caller, alone=alone, but=self._fronts(at.channel))

    async def _tell(self, missed: Missed) -> None:
        to = Address.of_channel(missed.channel or "")
        if to is not None and not await self._outbox.has(to, missed.key):
            content = looks.said(missed.reply.text, missed.reply.actions)
            await self._outbox.put(to, missed.key, content)
