"""Files on their way to a chat: a copy of each, so that it is sent as it was when asked for."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from claude_sessions import commands as c
from claude_sessions.commands.figures import size
from claude_sessions.errors import BadRequest, Conflict
from claude_sessions.model import new_id
from claude_sessions.people import Caller

LARGEST = 50 * 1024 * 1024  # what a bot may send
KEPT_DAYS = 14

Perform = Callable[[c.Command, Caller], Awaitable[c.Reply]]


class Parcels:
    """`place`: where the copies lie until they are delivered."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def packing(self, perform: Perform) -> Perform:
        """The same, but a reply that is a file comes with a copy of it."""

        async def packed(command: c.Command, caller: Caller) -> c.Reply:
            reply = await perform(command, caller)
            return await asyncio.to_thread(self._packed, reply) if "file" in reply.data else reply

        return packed

    def _packed(self, reply: c.Reply) -> c.Reply:
        path, inode = Path(reply.data["file"]), tuple(reply.data["inode"])
        self._place.mkdir(parents=True, exist_ok=True, mode=0o700)
        copy = self._place / new_id()
        try:
            _copy(path, inode, copy)
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise BadRequest(f"{path.name} cannot be read: {error.strerror}.") from error
        return replace(reply, data={**reply.data, "parcel": str(copy)})

    def sweep(self) -> None:
        """What was never delivered, and is so old that it will not be."""
        before = time.time() - KEPT_DAYS * 86400
        with suppress(OSError):
            for copy in list(self._place.iterdir()):
                if copy.stat().st_mtime < before:
                    copy.unlink()


def _copy(path: Path, inode: tuple[int, ...], copy: Path) -> None:
    """Of that very file: somebody may have put a link in its place since it was judged."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as source:
        known = os.fstat(opened)
        if (known.st_dev, known.st_ino) != inode or not stat.S_ISREG(known.st_mode):
            raise Conflict(f"{path.name} was replaced just now. Ask for it again.")
        if not known.st_size:
            raise BadRequest(f"{path.name} is empty: there is nothing to send.")
        if known.st_size > LARGEST:
            raise BadRequest(
                f"{path.name} has {size(known.st_size)}, and a bot may send {size(LARGEST)}."
                " Have it packed or split."
            )
        with copy.open("xb") as target:
            shutil.copyfileobj(source, target)
