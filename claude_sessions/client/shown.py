"""What a daemon's channel shows here: its messages under the names that this terminal gave them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from claude_sessions.channel import Kind, MessageRef, Notification
from claude_sessions.console import ConsoleChannel

REMEMBERED = 1000


class Shown:
    """Of one connection: a name that the daemon gave is good for no other."""

    def __init__(self, channel: ConsoleChannel) -> None:
        self._channel = channel
        self._refs: OrderedDict[str, tuple[MessageRef, Notification]] = OrderedDict()

    async def send(self, ref: str, notification: Notification) -> None:
        mine = await self._channel.send(notification)
        self._keep(ref, mine, notification)

    async def edit(self, ref: str, notification: Notification) -> None:
        known = self._refs.get(ref)
        if known is None:
            await self.send(ref, notification)
        else:
            self._keep(ref, known[0], notification)
            await self._channel.edit(known[0], notification)

    async def end(self) -> None:
        """Words that were on their way stop here."""
        for mine, notification in self._refs.values():
            if notification.kind is Kind.STREAM:
                await self._channel.edit(mine, replace(notification, final=True))
        self._refs.clear()

    def _keep(self, ref: str, mine: MessageRef, notification: Notification) -> None:
        over = notification.kind is Kind.STREAM and notification.final
        if over or notification.kind not in (Kind.STREAM, Kind.CARD):
            self._refs.pop(ref, None)
            return
        self._refs[ref] = mine, notification
        if len(self._refs) > REMEMBERED:
            self._refs.popitem(last=False)
