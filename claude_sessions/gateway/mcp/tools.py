"""The seed's eight tools, with exactly its parameters and defaults."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from claude_sessions import commands as c
from claude_sessions.gateway.mcp import texts
from claude_sessions.gateway.mcp.base import Desk, Params, Tool
from claude_sessions.gateway.mcp.launching import LaunchParams, launch
from claude_sessions.people import Caller

Ref = Annotated[str, Field(min_length=1)]
Lines = Annotated[int, Field(ge=1, le=10_000)]


class RespondParams(Params):
    session: Ref
    """Its name or id."""
    message: Annotated[str, Field(min_length=1)]
    """What to say to it."""
    interrupt: bool = False
    """Stop what it is doing and say it now; else it is queued behind the running turn."""
    userInitiated: bool = False  # noqa: N815 - the seed's name
    """Accepted, and without effect: that a person asked for this cannot be verified here, so it
    counts towards the auto-respond limit all the same."""


class ForegroundParams(Params):
    session: Ref
    """Its name or id."""
    lines: Lines = 30
    """How many of its last outputs to show when nothing was missed."""


class BackgroundParams(Params):
    session: str | None = None
    """Its name or id. Default: all that this connection has in the foreground."""


class KillParams(Params):
    session: Ref
    """Its name or id."""


class OutputParams(Params):
    session: Ref
    """Its name or id."""
    lines: Lines = 50
    """How many of its last outputs to show."""
    full: bool = False
    """All there ever were."""


class SessionsParams(Params):
    status: Literal["all", "running", "completed", "failed", "killed", "asleep"] = "all"
    """Only those in this status."""


class StatsParams(Params):
    pass


async def respond(desk: Desk, params: RespondParams, caller: Caller) -> str:
    caller.must_be(c.Respond.ROLE, c.Respond.TO)
    state = await desk.house.pool.book.find(params.session)
    command = c.Respond(session=state.id, text=params.message, interrupt=params.interrupt)
    async with desk.responds.one_more(state) as nth:
        reply = await desk.house.perform(command, caller)
    return texts.responded(reply.text, state, nth, desk.responds.most)


async def foreground(desk: Desk, params: ForegroundParams, caller: Caller) -> str:
    command = c.Foreground(session=params.session, lines=params.lines, polled=True)
    reply = await desk.house.perform(command, caller)
    return texts.foreground(reply.text, await desk.house.pool.book.load(reply.session or ""))


async def background(desk: Desk, params: BackgroundParams, caller: Caller) -> str:
    command = c.Background(session=params.session or None, polled=True)
    return (await desk.house.perform(command, caller)).text


async def kill(desk: Desk, params: KillParams, caller: Caller) -> str:
    caller.must_be(c.Kill.ROLE, c.Kill.TO)
    before = await desk.house.pool.book.find(params.session)
    await desk.house.perform(c.Kill(session=before.id), caller)
    return texts.killed(await desk.house.pool.book.load(before.id), already=before.status.ended)


async def output(desk: Desk, params: OutputParams, caller: Caller) -> str:
    command = c.Output(session=params.session, lines=params.lines, full=params.full)
    return (await desk.house.perform(command, caller)).text


async def sessions(desk: Desk, params: SessionsParams, caller: Caller) -> str:
    wanted = ("starting", "running") if params.status == "running" else (params.status,)
    own = _own_channel(desk)
    commands = [c.ListSessions(status=one, origin=own) for one in wanted]
    replies = [await desk.house.perform(command, caller) for command in commands]
    ids = [id_ for reply in replies for id_ in reply.data["sessions"]]
    total = sum(reply.data["total"] for reply in replies)
    states = [await desk.house.pool.book.load(id_) for id_ in ids[: texts.LISTED]]
    return texts.listing(states, total, desk.house.clock.now())


def _own_channel(desk: Desk) -> str | None:
    """Where the sessions of the directory that the agent works in report to, if to anyone."""
    return desk.house.pool.origins.of_directory(desk.workspace) if desk.workspace else None


async def stats(desk: Desk, params: StatsParams, caller: Caller) -> str:
    return (await desk.house.perform(c.Stats(), caller)).text


TOOLS: dict[str, Tool[Any]] = {
    tool.name: tool
    for tool in (
        Tool(
            name="claude_launch",
            summary="Start a Claude Code session that works in the background, or resume one. "
            "It goes on when you are gone; questions it asks are answered by people.",
            params=LaunchParams,
            act=launch,
        ),
        Tool(
            name="claude_respond",
            summary="Send a message to a session. One that sleeps wakes; one that works gets it "
            "after its turn. Agents may send only so many in a row without a person in between.",
            params=RespondParams,
            act=respond,
        ),
        Tool(
            name="claude_fg",
            summary="Bring a session to the foreground: what it said since you last looked, or "
            "its last outputs. Call it again to see what came since.",
            params=ForegroundParams,
            act=foreground,
        ),
        Tool(
            name="claude_bg",
            summary="Put a session, or all, in the background; your place is kept, so that "
            "claude_fg catches up from there.",
            params=BackgroundParams,
            act=background,
        ),
        Tool(
            name="claude_kill",
            summary="End a session. It can be resumed with claude_launch.",
            params=KillParams,
            act=kill,
        ),
        Tool(
            name="claude_output",
            summary="What a session said last.",
            params=OutputParams,
            act=output,
            reads=True,
        ),
        Tool(
            name="claude_sessions",
            summary="List the sessions, with who waits for a person first; where the directory you "
            "work in has a channel of its own, only those that report to it.",
            params=SessionsParams,
            act=sessions,
            reads=True,
        ),
        Tool(
            name="claude_stats",
            summary="Figures over all sessions: how many, how long, how much they cost.",
            params=StatsParams,
            act=stats,
            reads=True,
        ),
    )
}
