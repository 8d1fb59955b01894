"""Who may come in: the owner's own token, and scoped ones with a role and perhaps an end.

Of a scoped token only a hash is kept: it is shown once, when it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import BaseModel

from claude_sessions import events as e
from claude_sessions.clock import Clock
from claude_sessions.errors import BadRequest, NotFound, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Role, new_id
from claude_sessions.storage.documents import Documents

PREFIX = "cs"
MOST = 1000


class TokenDocument(BaseModel):
    name: str
    role: Role
    hash: str
    by: str
    at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    id: str
    name: str
    role: Role
    by: str
    at: datetime
    expires_at: datetime | None


class TokenBook:
    def __init__(self, documents: Documents, log: EventLog, clock: Clock) -> None:
        self._table = documents.table("tokens", TokenDocument)
        self._log = log
        self._clock = clock
        self._known: dict[str, TokenDocument] | None = None
        self._shut: set[str] = set()
        self.on_revoked: Callable[[str], None] = lambda _: None

    def all(self) -> list[Token]:
        return [_token(id_, doc) for id_, doc in self._documents().items()]

    def expired(self, token: Token) -> bool:
        return token.expires_at is not None and token.expires_at <= self._clock.now()

    def find(self, secret: str) -> Token | None:
        """Whose secret that is, expired or not; None: nobody's, or it is revoked."""
        _, _, rest = secret.partition("_")
        id_ = rest.partition("_")[0]
        document = self._documents().get(id_)
        kept = document.hash if document is not None else _hash("")
        same = hmac.compare_digest(kept, _hash(secret))  # as long for an id that is unknown
        if document is None or not same or id_ in self._shut:
            return None
        return _token(id_, document)

    async def make(
        self, name: str, role: Role, *, days: float | None, caller: str
    ) -> tuple[Token, str]:
        """The secret is nowhere but in what is given back."""
        if len(self._documents()) >= MOST:
            raise BadRequest(f"There are {MOST} tokens: revoke those nobody uses.")
        at, id_ = self._clock.now(), new_id()
        secret = f"{PREFIX}_{id_}_{secrets.token_urlsafe(32)}"
        document = TokenDocument(
            name=name,
            role=role,
            hash=_hash(secret),
            by=caller,
            at=at,
            expires_at=at + timedelta(days=days) if days is not None else None,
        )
        ends = document.expires_at
        made = e.TokenMade(
            token_id=id_, name=name, role=role, expires_at=ends.timestamp() if ends else None
        )
        await self._log.append(e.Draft(payload=made, caller=caller))
        self._table.put(id_, document)
        self._known = None
        return _token(id_, document), secret

    async def revoke(self, ref: str, caller: str) -> Token:
        found = next((token for token in self.all() if ref in (token.id, token.name)), None)
        if found is None:
            raise NotFound(f"There is no token {ref[:60]}.")
        self._shut.add(found.id)  # first: whatever follows, it no longer opens anything
        self.on_revoked(found.id)
        try:
            self._table.remove(found.id)
        except SessionsError as error:
            shut = f"{found.name} opens nothing until the next start; for good, revoke it again"
            raise type(error)(f"{shut}: {error}") from error
        self._known = None
        await self._log.append(e.Draft(payload=e.TokenRevoked(token_id=found.id), caller=caller))
        return found

    def _documents(self) -> dict[str, TokenDocument]:
        """Read once: each request asks."""
        if self._known is None:
            self._known = self._table.all()
        return self._known


def _token(id_: str, document: TokenDocument) -> Token:
    return Token(
        id=id_,
        name=document.name,
        role=document.role,
        by=document.by,
        at=document.at,
        expires_at=document.expires_at,
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
