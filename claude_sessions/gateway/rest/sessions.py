"""Sessions: those of a project, one, a new one, and their end.

A session that is made without a prompt sleeps until the first message to it. A branch says at once
what it is to do, so it needs one. Of a snapshot we keep the conversation up to each turn:
`forkFromSnapshot` is a session, or `SESSION@TURN`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from claude_sessions import commands as c
from claude_sessions.errors import BadRequest, Conflict, NotFound
from claude_sessions.gateway.asking import Body, Query
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND
from claude_sessions.gateway.rest.operation import Asked, NoBody, NoQuery, Operation, Page, Resource
from claude_sessions.gateway.wire import timestamp
from claude_sessions.model import ENDINGS, NAME, PermissionMode, Status, name_from
from claude_sessions.state import SessionState
from claude_sessions.storage.index import SessionRow

PAUSED = frozenset({Status.ASLEEP, Status.PARKED})
STANDINGS = {
    "active": frozenset(Status) - PAUSED - ENDINGS,
    "paused": PAUSED,
    "ended": ENDINGS,
}
CURSOR = re.compile(r"([0-9]{1,18})-([a-z0-9]{8})", re.ASCII)
SNAPSHOT = re.compile(r"([^@]{1,200})(?:@([0-9]{1,9}))?", re.ASCII)

Standing = Literal["active", "paused", "ended"]
Text = Annotated[str, Field(min_length=1, max_length=500_000)]


class SessionsQuery(Query):
    status: Standing | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[str | None, Field(max_length=100)] = None


class NewSession(Body):
    # All but `mode`, `title` and `forkFromSnapshot` is ours.
    mode: Literal["sdk", "pty"] = "sdk"
    title: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    """Its name, or what a name is made from; a taken one gets a number."""
    fork_from_snapshot: Annotated[
        str | None, Field(max_length=210, pattern=r"^[^@]{1,200}(@[0-9]{1,9})?$")
    ] = None
    """A session to branch off from, or SESSION@TURN; needs a prompt."""
    prompt: Text | None = None
    model: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    permission_mode: PermissionMode | None = None
    budget_usd: Annotated[float | None, Field(gt=0, le=100_000, allow_inf_nan=False)] = None

    @model_validator(mode="after")
    def _a_branch_says_what_it_does(self) -> Self:
        if self.fork_from_snapshot is not None and self.prompt is None:
            raise ValueError("a session that is forked begins with a prompt: give one")
        return self


class SessionResource(Resource):
    id: str
    project_id: str
    mode: Literal["sdk"]
    status: Standing
    title: str
    runner_id: str
    has_pending_approval: bool
    has_terminal_attached: bool
    created_at: str
    updated_at: str
    last_activity_at: str
    state: Annotated[Status, Field(description="The status in our own words.")]
    directory: str
    cost_usd: float


async def listed(house: House, asked: Asked[SessionsQuery, NoBody]) -> Page:
    asked.caller.must_be(c.ListSessions.ROLE, c.ListSessions.TO)
    query = asked.query
    before = _cursor(query.cursor) if query.cursor is not None else None
    rows = [row for row in await house.log.session_rows() if row.project == asked.id]
    if not rows:
        await _directory(house, asked.id)  # it may be a project all the same
    standing = STANDINGS[query.status] if query.status else frozenset(Status)
    known = [house.pool.book.state(row.id) or row for row in rows]
    fits = sorted((one for one in known if one.status in standing), key=_newest_first)
    rest = [one for one in fits if before is None or _newest_first(one) > before]
    shown, more = rest[: query.limit], len(rest) > query.limit
    last = _place(shown[-1]) if more else None
    return Page(data=[resource(house, one) for one in shown], has_more=more, next_cursor=last)


def _newest_first(one: SessionState | SessionRow) -> tuple[int, str]:
    return -_micros(one.created_at), one.id


def _place(one: SessionState | SessionRow) -> str:
    return f"{_micros(one.created_at)}-{one.id}"


def _cursor(given: str) -> tuple[int, str]:
    if (found := CURSOR.fullmatch(given)) is None:
        raise BadRequest("cursor has to be a nextCursor that was given here.")
    return -int(found[1]), found[2]


def _micros(at: datetime) -> int:
    return round(at.timestamp() * 1_000_000)


async def _directory(house: House, project: str) -> str:
    found = [each for each in await house.pool.projects.all() if each.id == project]
    if not found:
        raise NotFound(f"There is no project {project[:60]}. GET /api/v1/projects lists them.")
    return found[0].path


async def created(house: House, asked: Asked[NoQuery, NewSession]) -> Any:
    asked.caller.must_be(c.Launch.ROLE, c.Launch.TO)
    directory = await _directory(house, asked.id)
    if asked.body.mode == "pty":
        raise Conflict("There are no terminals here: a session's mode is sdk.")
    reply = await house.perform(_beginning(asked.body, directory), asked.caller)
    return resource(house, await house.pool.book.load(reply.session or ""))


def _beginning(body: NewSession, directory: str) -> c.Command:
    name = _name(body.title)
    if body.fork_from_snapshot is not None and body.prompt is not None:
        source = SNAPSHOT.fullmatch(body.fork_from_snapshot)
        assert source is not None
        return c.Resume(
            session=source[1],
            prompt=body.prompt,
            fork=True,
            turn=int(source[2]) if source[2] else None,
            name=name,
            directory=directory,
            model=body.model,
            mode=body.permission_mode,
            budget_usd=body.budget_usd,
        )
    if body.prompt is None:
        return c.Prepare(
            name=name or "session",
            directory=directory,
            model=body.model,
            mode=body.permission_mode,
            budget_usd=body.budget_usd,
        )
    return c.Launch(
        prompt=body.prompt,
        name=name,
        directory=directory,
        model=body.model,
        mode=body.permission_mode,
        budget_usd=body.budget_usd,
    )


def _name(title: str | None) -> str | None:
    """A session's title is its name, which people type: a few words of what was asked for."""
    if title is None or NAME.fullmatch(title):
        return title
    return name_from(title)


async def shown(house: House, asked: Asked[NoQuery, NoBody]) -> Any:
    asked.caller.must_be(c.Output.ROLE, c.Output.TO)
    return resource(house, await house.pool.book.find(asked.id))


async def ended(house: House, asked: Asked[NoQuery, NoBody]) -> None:
    await house.perform(c.Kill(session=asked.id), asked.caller)


def resource(house: House, one: SessionState | SessionRow) -> dict[str, Any]:
    touched = timestamp(one.updated_at)
    return {
        "id": one.id,
        "projectId": one.project or "",
        "mode": "sdk",
        "status": next(name for name, held in STANDINGS.items() if one.status in held),
        "title": one.name,
        "runnerId": house.log.store.runner,
        "hasPendingApproval": bool(one.pending),
        "hasTerminalAttached": one.status is Status.IN_TERMINAL,
        "createdAt": timestamp(one.created_at),
        "updatedAt": touched,
        "lastActivityAt": touched,
        "state": one.status,
        "directory": one.directory,
        "costUsd": one.cost_usd,
    }


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/projects/{id}/sessions",
        summary="The sessions of a project, the newest first.",
        act=listed,
        query=SessionsQuery,
        body=NoBody,
        result=SessionResource,
        many=True,
        refusals=(INVALID, NOT_FOUND),
    ),
    Operation(
        method="POST",
        path="/projects/{id}/sessions",
        summary="A new session. Without a prompt it sleeps until the first message to it.",
        act=created,
        query=NoQuery,
        body=NewSession,
        result=SessionResource,
        status=201,
        refusals=(INVALID, FORBIDDEN, NOT_FOUND, CONFLICT),
    ),
    Operation(
        method="GET",
        path="/sessions/{id}",
        summary="A session, by its id, its name or Claude's id.",
        act=shown,
        query=NoQuery,
        body=NoBody,
        result=SessionResource,
        refusals=(NOT_FOUND,),
    ),
    Operation(
        method="DELETE",
        path="/sessions/{id}",
        summary="End a session; it can be resumed. One that has ended already is no error.",
        act=ended,
        query=NoQuery,
        body=NoBody,
        result=None,
        status=204,
        refusals=(FORBIDDEN, NOT_FOUND),
    ),
)
