"""Who is at the door. A `Visitor` exists only once that is known."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import HTTPConnection

from claude_sessions.clock import Clock
from claude_sessions.gateway.rates import Rates
from claude_sessions.gateway.refusals import (
    INVALID_TOKEN,
    TOKEN_EXPIRED,
    TOO_MANY,
    UNAUTHORIZED,
    Refused,
)
from claude_sessions.model import Role
from claude_sessions.people import Caller
from claude_sessions.tokens import Token, TokenBook

DOOR = "gateway"
ANYBODY = "anybody here"  # they share one allowance
LONGEST = 512  # characters of a token
PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Whoever has shown a token that is good. `token`: its id; None: the owner's own, or none."""

    name: str
    role: Role
    token: str | None = None
    until: datetime | None = None
    open: bool = False  # came without a token, through a path that is open to this machine

    def caller(self, channel: str | None = None, *, door: str = DOOR) -> Caller:
        return Caller(name=self.name, role=self.role, door=door, channel=channel)


class Doorkeeper:
    def __init__(
        self,
        *,
        owner: Callable[[], Caller],
        owners_token: str,
        tokens: TokenBook,
        clock: Clock,
        requests_per_second: float | None,
        open_paths: Collection[str] = (),
    ) -> None:
        self._owner = owner
        self._owners_token = owners_token.encode()
        self._tokens = tokens
        self._rates = Rates(clock, requests_per_second)
        self._open_paths = frozenset(open_paths)

    def admit(self, connection: HTTPConnection) -> Visitor:
        """Raises `Refused`."""
        if (secret := _bearer(connection)) is not None:
            if hmac.compare_digest(secret.encode(), self._owners_token):
                owner = self._owner()
                return Visitor(name=owner.name, role=owner.role)
            return self._scoped(secret)
        if secret := connection.query_params.get("token", ""):
            return self._scoped(secret)  # never the owner's own: addresses end up in histories
        if connection.url.path in self._open_paths and _from_here(connection):
            return Visitor(name=ANYBODY, role=Role.VIEWER, open=True)
        raise Refused(UNAUTHORIZED, "Bearer token required")

    def count(self, visitor: Visitor) -> None:
        """Another request; raises when there are too many."""
        who = ANYBODY if visitor.open else visitor.token
        if who is not None and (wait := self._rates.wait(who)) > 0:
            whose = "without a token" if visitor.open else "with this token"
            raise Refused(TOO_MANY, f"Too many requests {whose}.", retry_after=wait)

    def charge(self, visitor: Visitor, calls: int) -> None:
        """How many calls a request was: a batch is no way around the limit."""
        if visitor.token is not None and calls > 1:
            self._rates.charge(visitor.token, calls - 1)

    def _scoped(self, secret: str) -> Visitor:
        token = self._tokens.find(secret) if len(secret) <= LONGEST else None
        if token is None:
            raise Refused(INVALID_TOKEN, "Invalid token")
        if self._tokens.expired(token):
            raise Refused(TOKEN_EXPIRED, "Token expired")
        visitor = _visitor(token)
        self.count(visitor)
        return visitor


def _visitor(token: Token) -> Visitor:
    return Visitor(name=token.name, role=token.role, token=token.id, until=token.expires_at)


def _bearer(connection: HTTPConnection) -> str | None:
    kind, _, secret = connection.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret.strip() else None


def _from_here(connection: HTTPConnection) -> bool:
    """Not by a proxy on this machine, whose clients may be anywhere."""
    if any(header in connection.headers for header in PASSED_ON):
        return False
    try:
        return connection.client is not None and _is_loopback(connection.client.host)
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    address = ipaddress.ip_address(host)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
