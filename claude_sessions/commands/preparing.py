"""Sessions that are there before anybody speaks to them."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions.commands.finding import directory_for
from claude_sessions.commands.pool import Pool, about, budget_for, mode_for
from claude_sessions.model import SessionSpec
from claude_sessions.people import Caller


async def prepare(pool: Pool, command: c.Prepare, caller: Caller) -> c.Reply:
    directory = await directory_for(pool, command.directory)
    spec = SessionSpec(
        directory=directory,
        model=command.model or pool.defaults.model,
        mode=mode_for(pool, command.mode, caller),
        budget_usd=budget_for(pool, command.budget_usd, caller),
        trusted=pool.trust.covers(directory),
    )
    state = await pool.manager.prepare(
        spec,
        command.name,
        origin=pool.origins.of(command.origin, caller.channel, directory),
        caller=str(caller),
    )
    return about(f"😴 {state.name} begins with the first message to it.", state)
