"""Projects, and which directory somebody means."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from functools import partial

from claude_sessions import commands as c
from claude_sessions.commands import found
from claude_sessions.commands.pool import Pool
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.errors import BadRequest, Conflict, NotFound, SessionsError
from claude_sessions.people import Caller
from claude_sessions.projects import Project

GLANCE_SECONDS = 0.5


async def list_projects(pool: Pool, command: c.ListProjects, caller: Caller) -> c.Reply:
    text = (command.search or "").casefold()
    everything = await pool.projects.all()
    fits = [p for p in everything if text in p.name.casefold() or text in p.path.casefold()]
    shown = await pool.projects.with_facts(fits if command.full else fits[: found.PROJECTS])
    allowed = await asyncio.to_thread(_allowed, pool.workdirs, shown)
    told = partial(
        found.projects,
        shown,
        pool.clock.now(),
        allowed=allowed,
        words=_words(everything),
        total=len(fits),
    )
    (text, actions), (narrow, _) = told(), told(narrow=True)
    data = {"projects": [_data(p) for p in shown]}
    return c.Reply(text=text, narrow=narrow, data=data, actions=actions)


async def add_project(pool: Pool, command: c.AddProject, caller: Caller) -> c.Reply:
    directory = pool.workdirs.resolve(command.path, missing=NotFound)
    if pool.projects.is_excluded(directory):
        raise Conflict(f"{directory} is left out by [projects] exclude.")
    known = any(known.path == directory for known in await pool.projects.all())
    if known or not await pool.projects.add(directory, str(caller)):
        raise Conflict(f"{directory} is a project already.")
    everything = await pool.projects.with_facts(await pool.projects.all())
    data = next(_data(p) for p in everything if p.path == directory)
    return c.Reply(text=f"{directory} is a project now.", data=data)


def _allowed(workdirs: Workdirs, projects: Iterable[Project]) -> frozenset[str]:
    """The paths in which sessions may start."""
    return frozenset(p.path for p in projects if _may_start(workdirs, p.path))


def _may_start(workdirs: Workdirs, path: str) -> bool:
    try:
        workdirs.resolve(path)
    except SessionsError:
        return False
    return True


def _words(projects: Iterable[Project]) -> dict[str, str]:
    """For each path what to call it by: its name, unless another has the same."""
    known = list(projects)
    bearers = Counter(p.name.casefold() for p in known)
    return {p.path: p.name if bearers[p.name.casefold()] == 1 else p.path for p in known}


def _data(project: Project) -> dict[str, object]:
    """In the names of the seed."""
    touched = project.last_used or project.changed
    return {
        "id": project.id,
        "name": project.name,
        "path": project.path,
        "gitRemote": project.remote,
        "gitBranch": project.branch,
        "isDirty": project.dirty,
        "hasClaudeConfig": project.has_claude_config,
        "lastModified": touched.isoformat() if touched else None,
        "sessionCount": project.sessions,
    }


async def directory_for(pool: Pool, given: str | None) -> str:
    """A path; where there is nothing at it, the directory of the project with that name or id."""
    try:
        return pool.workdirs.resolve(given)
    except BadRequest:
        if given is None or "/" in given or given.startswith(("~", ".")):
            raise
        named = await pool.projects.named(given)
        if not named:
            raise
    if len(named) > 1:
        paths = "\n".join(f"--dir {found.path_to_type(p.path)}" for p in named[: found.PROJECTS])
        raise Conflict(f"{len(named)} projects are called {given}. Say which:\n{paths}")
    return pool.workdirs.resolve(named[0].path)


async def branches(pool: Pool, directories: Iterable[str]) -> dict[str, str]:
    """`main*` for each of which git says so at once."""
    places = list(dict.fromkeys(directories))
    glances = (pool.projects.glance(place, GLANCE_SECONDS) for place in places)
    facts = await asyncio.gather(*glances)
    return {place: known.at for place, known in zip(places, facts, strict=True) if known.at}
