"""Projects: the directories where work is found."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from claude_sessions import commands as c
from claude_sessions.gateway.asking import Body, Query
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import CONFLICT, FORBIDDEN, INVALID, NOT_FOUND
from claude_sessions.gateway.rest.operation import Asked, NoBody, NoQuery, Operation, Page, Resource

LONGEST_PATH = 4096


class ProjectsQuery(Query):
    search: Annotated[str | None, Field(max_length=200, description="Of a name or a path.")] = None


class NewProject(Body):
    path: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]


class ProjectResource(Resource):
    id: str
    name: str
    path: str
    git_remote: str | None = None
    git_branch: str | None = None
    is_dirty: bool
    has_claude_config: bool
    last_modified: str | None = None
    session_count: int


async def listed(house: House, asked: Asked[ProjectsQuery, NoBody]) -> Page:
    command = c.ListProjects(search=asked.query.search, full=True)
    reply = await house.perform(command, asked.caller)
    return Page(data=[_resource(project) for project in reply.data["projects"]])


async def added(house: House, asked: Asked[NoQuery, NewProject]) -> Any:
    reply = await house.perform(c.AddProject(path=asked.body.path), asked.caller)
    return _resource(reply.data)


def _resource(project: Any) -> dict[str, Any]:
    known = {key: value for key, value in project.items() if value is not None}
    return {"isDirty": False, **known}


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/projects",
        summary="The directories where work is found, the one used last first.",
        act=listed,
        query=ProjectsQuery,
        body=NoBody,
        result=ProjectResource,
        many=True,
    ),
    Operation(
        method="POST",
        path="/projects",
        summary="A directory that is listed from now on.",
        act=added,
        query=NoQuery,
        body=NewProject,
        result=ProjectResource,
        status=201,
        refusals=(INVALID, FORBIDDEN, NOT_FOUND, CONFLICT),
    ),
)
