"""Which topic belongs to which session or project, kept as documents."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel

from claude_sessions.storage.documents import Documents


class Binding(BaseModel):
    """`wanted…`: how it should be, which Telegram may not have been told yet."""

    chat: int
    owner: str  # a session's id, or a project's directory
    thread: int | None  # None: its topic was deleted, so it goes on in General
    ours: bool  # what a person opened, we neither rename nor close
    name: str
    wanted_name: str
    closed: bool = False
    wanted_closed: bool = False
    after: int = 0  # it is closed once all up to this event has been said
    forgotten: bool = False  # its session is; it goes with the topic's closing

    @property
    def owes(self) -> bool:
        if self.thread is None or not self.ours:
            return self.forgotten
        changed = self.name != self.wanted_name or self.closed != self.wanted_closed
        return changed or self.forgotten


class Bindings:
    """Read anew each time, like all documents; there is one for each owner in a chat."""

    def __init__(self, documents: Documents) -> None:
        self._table = documents.table("topics", Binding)
        self.changed = asyncio.Event()  # for whoever clears it

    def all(self) -> list[Binding]:
        return list(self._table.all().values())

    def find(self, chat: int, owner: str) -> Binding | None:
        return self._table.get(_key(chat, owner))

    def at(self, chat: int, thread: int) -> Binding | None:
        """The one that has this topic."""
        for binding in self.all():
            if (binding.chat, binding.thread) == (chat, thread) and not binding.forgotten:
                return binding
        return None

    def of(self, owner: str) -> list[Binding]:
        return [binding for binding in self.all() if binding.owner == owner]

    def put(self, binding: Binding) -> Binding:
        self._table.put(_key(binding.chat, binding.owner), binding)
        self.changed.set()
        return binding

    def change(self, binding: Binding, **fields: object) -> None:
        """What others have changed of it meanwhile stays."""
        if (present := self.find(binding.chat, binding.owner)) is not None:
            self.put(present.model_copy(update=fields))

    def remove(self, binding: Binding) -> None:
        self._table.remove(_key(binding.chat, binding.owner))


def _key(chat: int, owner: str) -> str:
    return f"{chat}|{owner}"
