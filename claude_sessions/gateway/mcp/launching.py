"""An agent launches: what has to hold before it may, and how it is done.

The seed's guards made sure that somebody would hear of the session, and that it would know how far
to go alone. They stand here in the same order and each says how to repair what it found; chats and
RPC skip them, since there a person launches.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import FailFast, Field

from claude_sessions import commands as c
from claude_sessions.commands.finding import directory_for
from claude_sessions.engines.transcripts import ID
from claude_sessions.errors import BadRequest, Conflict, NoSession, PoolFull, SessionsError
from claude_sessions.gateway.house import House
from claude_sessions.gateway.mcp import texts
from claude_sessions.gateway.mcp.base import Desk, Params
from claude_sessions.model import PermissionMode
from claude_sessions.people import Caller
from claude_sessions.state import SessionState

LONGEST_NOTE = 64 * 1024


class LaunchParams(Params):
    prompt: Annotated[str, Field(min_length=1)]
    """What the session is to do."""
    name: str | None = None
    """What to call it; a taken name gets a number. Default: made from the prompt."""
    workdir: str | None = None
    """The directory it runs in. Default: the one you work in, where sessions may run there; else
    the configured one."""
    model: str | None = None
    """Default: the configured one."""
    max_budget_usd: Annotated[float | None, Field(ge=0, le=100_000)] = None
    """What it may spend. Default: what the configuration gives, which is also the most."""
    system_prompt: str | None = None
    """Added to Claude Code's own."""
    allowed_tools: Annotated[tuple[str, ...], FailFast(), Field(max_length=500)] = ()
    """Tools allowed in advance. An agent may not: a person answers when the session asks."""
    resume_session_id: str | None = None
    """Go on with this session (name, id, or Claude's UUID) instead of starting one."""
    fork_session: bool = False
    """With resume_session_id: branch off, and leave that session as it is."""
    multi_turn_disabled: bool = False
    """One turn only: the session ends with its first answer."""
    permission_mode: (
        Literal["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk", "auto"] | None
    ) = None
    """Default: the configured one. An agent may not choose a looser one."""
    origin_channel: str | None = None
    """The chat that hears of it, like telegram|123456789. Default: as configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What the guards found."""

    directory: str
    origin: str
    note: str


async def launch(desk: Desk, params: LaunchParams, caller: Caller) -> str:
    caller.must_be(c.Launch.ROLE, c.Launch.TO)
    alone = replace(caller, channel=None)  # nobody can be told anything at a connection
    try:
        if params.resume_session_id:
            return await _resume(desk, params, alone, params.resume_session_id)
        return await _start(desk, params, alone)
    except PoolFull as error:
        most = desk.house.settings.sessions.max_sessions
        raise Conflict(f"Max sessions reached ({most}). Kill a session first.") from error


async def _start(desk: Desk, params: LaunchParams, caller: Caller) -> str:
    house = desk.house
    cleared = await _cleared(house, params, params.workdir or _workspace(desk))
    command = c.Launch(
        prompt=params.prompt,
        name=params.name,
        directory=cleared.directory,
        model=params.model,
        mode=_mode(params),
        budget_usd=params.max_budget_usd,
        system_prompt="\n\n".join(filter(None, (params.system_prompt, cleared.note))) or None,
        allowed_tools=params.allowed_tools,
        once=params.multi_turn_disabled,
        origin=cleared.origin,
    )
    return texts.launched(await _done(house, command, caller), params.prompt)


def _workspace(desk: Desk) -> str | None:
    """Nobody asked for it: where sessions may not run there, it is not insisted on."""
    try:
        return desk.house.pool.workdirs.resolve(desk.workspace) if desk.workspace else None
    except SessionsError:
        return None


async def _resume(desk: Desk, params: LaunchParams, caller: Caller, ref: str) -> str:
    """A conversation that is nobody's session yet becomes one, as in a chat."""
    house, state = desk.house, await _known(desk.house, ref)
    _keeps_what_it_has(params)
    directory = params.workdir or (state.spec.directory if state else None)
    await _cleared(house, params, directory, state.origin if state else None)
    command = c.Resume(
        session=state.id if state else ref,
        prompt=params.prompt,
        fork=params.fork_session,
        name=params.name if params.fork_session else None,
        model=params.model,
        mode=_mode(params),
        budget_usd=params.max_budget_usd,
        directory=params.workdir,
    )
    if state is None:
        resumed = await _done(house, command, caller)
    else:
        async with desk.responds.one_more(state):
            resumed = await _done(house, command, caller)
    whence = f"{ref} (forked)" if params.fork_session else ref
    return texts.launched(resumed, params.prompt, resumed=whence)


def _keeps_what_it_has(params: LaunchParams) -> None:
    kept = ("origin_channel", "system_prompt", "allowed_tools", "multi_turn_disabled")
    if given := [name for name in kept if getattr(params, name)]:
        names = ", ".join(given)
        raise BadRequest(f"A session keeps what it began with: leave {names} out when you resume.")


async def _known(house: House, ref: str) -> SessionState | None:
    """None: no session yet. Part of a name is not enough: guards and cap would miss whose it is."""
    try:
        return await house.pool.book.find(ref)
    except NoSession:
        if ID.fullmatch(ref):
            return None
        raise


async def _done(house: House, command: c.Command, caller: Caller) -> SessionState:
    reply = await house.perform(command, caller)
    return await house.pool.book.load(reply.session or "")


def _mode(params: LaunchParams) -> PermissionMode | None:
    return PermissionMode(params.permission_mode) if params.permission_mode else None


# --- the guards


async def _cleared(
    house: House, params: LaunchParams, workdir: str | None, origin: str | None = None
) -> Cleared:
    """`origin`: of a session that has one already."""
    directory = await directory_for(house.pool, workdir)
    heard = origin or house.pool.origins.of(params.origin_channel, None, directory)
    _reachable(house, params.origin_channel, heard)
    note = await asyncio.to_thread(_note, house.settings.mcp.autonomy_note)
    return Cleared(directory=directory, origin=heard, note=note)


def _reachable(house: House, wish: str | None, origin: str) -> None:
    """A channel that was asked for has to be there; whether one is needed, is configured."""
    if house.router.reaches(origin):
        return
    if wish is not None:
        raise BadRequest(
            f"The channel {origin} cannot be reached from here. Name one that can, like "
            "telegram|123456789, or leave origin_channel out."
        )
    if house.settings.mcp.require_channel:
        raise BadRequest(
            "No person would hear of this session. Give an origin_channel that can be reached, "
            "like telegram|123456789, or have [channels] fallback or workdirs configured; "
            "[mcp] require_channel = false launches without one."
        )


def _note(file: Path | None) -> str:
    if file is None:
        return ""
    repair = "Write into it how far a session may go alone, or set [mcp] autonomy_note = ''."
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(LONGEST_NOTE + 1)
    except FileNotFoundError:
        raise Conflict(f"The autonomy note {file} does not exist. {repair}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Conflict(f"The autonomy note {file} cannot be read ({error}). {repair}") from error
    if len(text) > LONGEST_NOTE:
        raise Conflict(f"The autonomy note {file} has more than {LONGEST_NOTE} characters.")
    if not says_something(text):
        raise Conflict(f"The autonomy note {file} is empty. {repair}")
    return text.strip()


def says_something(text: str) -> bool:
    """Headings alone say nothing."""
    lines = (line.strip() for line in text.splitlines())
    return any(line and not line.startswith("#") for line in lines)
