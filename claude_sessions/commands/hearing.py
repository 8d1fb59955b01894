"""A line of chat, from whatever door."""

from __future__ import annotations

from claude_sessions.commands import Reply
from claude_sessions.commands.chat import parse
from claude_sessions.commands.execute import execute
from claude_sessions.commands.pool import Pool
from claude_sessions.people import Caller


async def hear(pool: Pool, text: str, caller: Caller) -> Reply:
    return await execute(pool, parse(text), caller)


async def missed(pool: Pool, text: str, caller: Caller) -> Reply | None:
    """What whoever types this here has missed, if they were away."""
    fronts = pool.log.store.fronts(caller.channel) if caller.channel else ()
    missed = await pool.attention.missed(caller, but=fronts)
    asks = text.strip().startswith("/digest")  # which says it all
    return missed.reply if missed is not None and not asks else None
