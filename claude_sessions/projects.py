"""Projects: the directories where work is found, by name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from claude_sessions.clock import Clock
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.project_book import ProjectBook
from claude_sessions.repository import Facts, Onlooker
from claude_sessions.sessions.beginnings import project_id
from claude_sessions.storage.index import SessionRow

FRESH_SECONDS = 30.0
LIST_SECONDS = 5.0
REMEMBERED = 1000
NEVER = datetime.min.replace(tzinfo=UTC)
CLAUDE_CONFIG = ("CLAUDE.md", ".claude", ".mcp.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    id: str
    name: str
    path: str
    last_used: datetime | None
    sessions: int
    changed: datetime | None = None  # the directory itself
    has_claude_config: bool = False
    facts: Facts = field(default_factory=Facts)

    @property
    def branch(self) -> str | None:
        return self.facts.branch

    @property
    def dirty(self) -> bool | None:
        return self.facts.dirty

    @property
    def remote(self) -> str | None:
        return self.facts.remote


@dataclass(slots=True)
class _Use:
    last: datetime | None = None
    sessions: int = 0

    def at(self, when: datetime) -> None:
        self.last = max(self.last or when, when)


class Projects:
    """`transcripts`: None where Claude's own directories are not to be looked at."""

    def __init__(
        self,
        *,
        roots: Sequence[Path],
        exclude: Sequence[str],
        transcripts: Transcripts | None,
        log: EventLog,
        git: Onlooker,
        clock: Clock,
        chosen: ProjectBook | None = None,
    ) -> None:
        self._roots = tuple(root.expanduser().resolve() for root in roots)
        self._exclude = exclude
        self._transcripts = transcripts
        self._log = log
        self._git = git
        self._clock = clock
        self._chosen = chosen
        self._facts: dict[str, tuple[float, Facts]] = {}

    async def all(self) -> list[Project]:
        """The one used last comes first. Without what git knows: `with_facts` adds it."""
        rows = await self._log.session_rows()
        chosen = self._chosen.all() if self._chosen else ()
        found = await asyncio.to_thread(self._found, rows, chosen)
        return sorted(found, key=lambda p: (p.last_used or NEVER, p.name), reverse=True)

    async def named(self, word: str) -> list[Project]:
        """By its id, else by its name as it is written, else in any case."""
        projects = await self.all()
        folded = word.casefold()
        return (
            [p for p in projects if p.id == word]
            or [p for p in projects if p.name == word]
            or [p for p in projects if p.name.casefold() == folded]
        )

    async def with_facts(self, projects: Iterable[Project]) -> list[Project]:
        known = list(projects)
        facts = await asyncio.gather(*(self.glance(p.path, LIST_SECONDS) for p in known))
        return [replace(p, facts=found) for p, found in zip(known, facts, strict=True)]

    async def glance(self, directory: str, seconds: float) -> Facts:
        """What git says within the time, so that a slow disk holds nobody up."""
        try:
            async with asyncio.timeout(seconds):
                return await self.facts(directory)
        except TimeoutError:
            return Facts()

    async def facts(self, directory: str) -> Facts:
        now = self._clock.monotonic()
        known = self._facts.get(directory)
        if known is not None and now - known[0] < FRESH_SECONDS:
            return known[1]
        found = await self._git.facts(directory)
        if len(self._facts) >= REMEMBERED:
            self._facts.clear()
        self._facts[directory] = (now, found)
        return found

    async def add(self, directory: str, caller: str) -> bool:
        """Somebody wants to see it, though nothing has been done there. False: they do already."""
        return self._chosen is not None and await self._chosen.add(directory, caller)

    def _found(self, rows: Sequence[SessionRow], chosen: Iterable[str]) -> list[Project]:
        uses = {path: _Use() for path in (*self._below_roots(), *chosen)}
        for row in rows:
            use = uses.setdefault(row.directory, _Use())
            use.at(row.updated_at)
            use.sessions += 1
        for conversation in self._transcripts.conversations() if self._transcripts else ():
            uses.setdefault(conversation.directory, _Use()).at(conversation.updated_at)
        return [
            _project(path, use)
            for path, use in _by_real_path(uses).items()
            if not self.is_excluded(path)
        ]

    def _below_roots(self) -> Iterator[str]:
        for root in self._roots:
            try:
                children = sorted(entry.path for entry in os.scandir(root) if entry.is_dir())
            except OSError:
                continue  # a root may come and go, as a disk does
            for child in children:
                if not PurePath(child).name.startswith("."):
                    yield child

    def is_excluded(self, path: str) -> bool:
        """By any name on the way to it, but for those of a root that somebody chose."""
        place = PurePath(path)
        chosen = [root for root in self._roots if place.is_relative_to(root)]
        names = place.relative_to(chosen[0]).parts if chosen else place.parts
        return any(fnmatchcase(name, glob) for name in names for glob in self._exclude)


def _by_real_path(uses: Mapping[str, _Use]) -> dict[str, _Use]:
    """Those that exist, each once, whatever links lead to it."""
    real: dict[str, _Use] = {}
    for path, use in uses.items():
        if os.path.isabs(path) and os.path.isdir(path):
            one = real.setdefault(os.path.realpath(path), _Use())
            one.sessions += use.sessions
            if use.last is not None:
                one.at(use.last)
    return real


def _project(path: str, use: _Use) -> Project:
    return Project(
        id=project_id(path),
        name=PurePath(path).name or path,
        path=path,
        last_used=use.last,
        sessions=use.sessions,
        changed=_changed(path),
        has_claude_config=any(os.path.exists(os.path.join(path, n)) for n in CLAUDE_CONFIG),
    )


def _changed(path: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except OSError:
        return None
