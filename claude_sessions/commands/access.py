"""Tokens: the keys of programs."""

from __future__ import annotations

from typing import Any

from claude_sessions import commands as c
from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import BadRequest, Conflict
from claude_sessions.people import Caller
from claude_sessions.tokens import Token

LONGEST_NAME = 64
MOST_DAYS = 3650


async def list_tokens(pool: Pool, command: c.ListTokens, caller: Caller) -> c.Reply:
    tokens = pool.tokens.all()
    lines = [_line(pool, token) for token in tokens] or ["No tokens but the owner's own."]
    return c.Reply(text="\n".join(lines), data={"tokens": [_data(pool, t) for t in tokens]})


async def make(pool: Pool, command: c.MakeToken, caller: Caller) -> c.Reply:
    if caller.agent:
        caller.must_be_admin_to_loosen("A token")
    name = one_line(command.name, LONGEST_NAME)
    if not name or name != command.name:
        raise BadRequest(f"A token's name is one line of {LONGEST_NAME} characters at most.")
    if command.days is not None and not 0 < command.days <= MOST_DAYS:
        raise BadRequest(f"A token lasts between now and {MOST_DAYS} days.")
    if any(token.name == name for token in pool.tokens.all()):
        raise Conflict(f"There is a token {name} already: revoke it, or choose another name.")
    token, secret = await pool.tokens.make(
        name, command.role, days=command.days, caller=str(caller)
    )
    text = f"{_line(pool, token)}\nIt is shown only now: {secret}"
    return c.Reply(text=text, data={**_data(pool, token), "token": secret})


async def revoke(pool: Pool, command: c.RevokeToken, caller: Caller) -> c.Reply:
    token = await pool.tokens.revoke(command.token, str(caller))
    return c.Reply(
        text=f"{token.name} is revoked: it opens nothing from now on.",
        data=_data(pool, token),
    )


def _line(pool: Pool, token: Token) -> str:
    until = f"until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "until revoked"
    over = " · expired" if pool.tokens.expired(token) else ""
    return f"{token.id}  {token.name} · {token.role} · {until}{over} · by {token.by}"


def _data(pool: Pool, token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role.value,
        "createdAt": token.at.isoformat(),
        "createdBy": token.by,
        "expiresAt": token.expires_at.isoformat() if token.expires_at else None,
        "expired": pool.tokens.expired(token),
    }
