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
    """There is one for each owner in a chat. Looked at for every message, so kept at hand too."""

    def __init__(self, documents: Documents) -> None:
        self._table = documents.table("topics", Binding)
        self._known = dict(self._table.all())
        self.changed = asyncio.Event()  # for whoever clears it

    def all(self) -> list[Binding]:
        return list(self._known.values())

    def find(self, chat: int, owner: str) -> Binding | None:
        return self._known.get(_key(chat, owner))

    def at(self, chat: int, thread: int) -> Binding | None:
        """The one that has this topic."""
        for binding in self.all():
            if (binding.chat, binding.thread) == (chat, thread) and not binding.forgotten:
                return binding
        return None

    def of(self, owner: str) -> list[Binding]:
        return [binding for binding in self.all() if binding.owner == owner]

    def put(self, binding: Binding) -> Binding:
        key = _key(binding.chat, binding.owner)
        self._table.put(key, binding)
        self._known[key] = binding
        self.changed.set()
        return binding

    def change(self, binding: Binding, **fields: object) -> None:
        """What others have changed of it meanwhile stays."""
        if (present := self.find(binding.chat, binding.owner)) is not None:
            self.put(present.model_copy(update=fields))

    def remove(self, binding: Binding) -> None:
        key = _key(binding.chat, binding.owner)
        self._table.remove(key)
        self._known.pop(key, None)


def _key(chat: int, owner: str) -> str:
    return f"{chat}|{owner}"
