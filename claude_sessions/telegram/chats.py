"""Groups that have become other chats: we know each by its first id, Telegram by its last."""

from __future__ import annotations

from pydantic import BaseModel

from claude_sessions.storage.documents import Documents


class MovedDocument(BaseModel):
    to: int


class Chats:
    """Origins, foregrounds, letters and bindings keep the id they began with."""

    def __init__(self, documents: Documents) -> None:
        self._table = documents.table("moved_chats", MovedDocument)
        self._moved = {int(old): moved.to for old, moved in self._table.all().items()}
        self._known = {new: old for old, new in self._moved.items()}

    def there(self, chat: int) -> int:
        """As Telegram knows it now."""
        return self._moved.get(chat, chat)

    def known(self, chat: int) -> int:
        """As we have known it from the beginning."""
        return self._known.get(chat, chat)

    @property
    def left(self) -> list[int]:
        """Ids under which nothing can be reached any more."""
        return sorted(self._moved)

    def move(self, old: int, new: int) -> bool:
        """Whether that is news."""
        if self._moved.get(old) == new or old == new:
            return False
        self._table.put(str(old), MovedDocument(to=new))
        self._moved[old], self._known[new] = new, old
        return True
