"""Claude's own conversation files, whoever began them: found, listed, read, judged.

`<config>/projects/<slug>/<session id>.jsonl`. Slugs are lossy, so the directory is read from the
lines. Everything here reads files on the spot: call it in a thread.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from claude_sessions.engines.lines import (
    Fields,
    Prompt,
    Said,
    Title,
    directory,
    entry,
    load,
    message_id,
)

ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
LINE_LIMIT = 64 << 20  # one line may carry several images; a longer one is passed over
EDGE = 64 << 10  # read of each end for a listing: the CLI keeps titles within its last 64 KiB
TITLE = 120
TELLING = tuple(b'"type":"%s"' % kind for kind in (b"user", b"custom-title", b"ai-title"))
TELLING += (b'"type":"summary"', b'"type":"last-prompt"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A conversation on disk."""

    claude_id: str
    title: str
    directory: str
    updated_at: datetime
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalTurn:
    """`prompt` and `uuid` are empty where reading began in the middle of a turn."""

    prompt: str
    blocks: tuple[str, ...]
    uuid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """`end`: where the next reading begins, always at the start of a line."""

    end: int
    turns: tuple[TerminalTurn, ...]


def config_directory(environ: Mapping[str, str]) -> Path:
    own = environ.get("CLAUDE_CONFIG_DIR")
    home = environ.get("HOME") or os.path.expanduser("~")
    return Path(own) if own else Path(home) / ".claude"


class Transcripts:
    """`environ` is the environment Claude gets: it decides where Claude keeps its files."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._projects = config_directory(environ) / "projects"
        self._paths: dict[str, Path] = {}
        self._listed: dict[Path, tuple[tuple[int, int], Found | None]] = {}

    def find(self, claude_id: str) -> Path | None:
        if not ID.fullmatch(claude_id):
            return None  # also what would lead out of the directory
        known = self._paths.get(claude_id)
        if known is not None and known.is_file():
            return known
        there = [path for path in self._projects.glob(f"*/{claude_id}.jsonl") if path.is_file()]
        if not there:
            return None
        self._paths[claude_id] = max(there, key=lambda path: _stamp(path) or (0, 0))
        return self._paths[claude_id]

    def size(self, claude_id: str) -> int | None:
        path = self.find(claude_id)
        stamp = _stamp(path) if path else None
        return stamp[1] if stamp else None

    def conversations(self) -> list[Found]:
        """All that a person could go on with, the newest first."""
        files = [path for path in self._projects.glob("*/*.jsonl") if ID.fullmatch(path.stem)]
        listed = {path: self._look(path) for path in files}
        self._listed = {path: seen for path, seen in listed.items() if seen is not None}
        found = [seen[1] for seen in self._listed.values() if seen[1] is not None]
        return sorted(found, key=lambda one: one.updated_at, reverse=True)

    def _look(self, path: Path) -> tuple[tuple[int, int], Found | None] | None:
        stamp = _stamp(path)
        if stamp is None or not path.is_file():
            return None
        known = self._listed.get(path)
        return known if known is not None and known[0] == stamp else (stamp, _listed(path, stamp))

    def turns(self, claude_id: str, after: int = 0) -> Tail:
        """What was said since; words that are still being written are left for the next time."""
        turns: list[TerminalTurn] = []
        end = after
        for line, reached in self._lines(claude_id, after):
            end = reached
            match entry(_fields(line)):
                case Prompt() as prompt:
                    turns.append(TerminalTurn(prompt=prompt.text, blocks=(), uuid=prompt.uuid))
                case Said(blocks=blocks):
                    last = turns.pop() if turns else TerminalTurn(prompt="", blocks=(), uuid="")
                    blocks = (*last.blocks, *blocks)
                    turns.append(TerminalTurn(prompt=last.prompt, blocks=blocks, uuid=last.uuid))
        return Tail(end=end, turns=tuple(turns))

    def has_message(self, claude_id: str, uuid: str) -> bool:
        """Whether Claude has taken in the message that was sent under this uuid."""
        return any(_is_message(line, uuid) for line, _ in self._lines(claude_id))

    def answer_after(self, claude_id: str, uuid: str) -> tuple[str, ...]:
        """Claude's words from there to the next prompt; what is steered in does not end a turn."""
        lines = self._lines(claude_id)
        if not any(_is_message(line, uuid) for line, _ in lines):
            return ()
        blocks: list[str] = []
        for line, _ in lines:
            match entry(_fields(line)):
                case Prompt(steered=False):
                    break
                case Said(blocks=said):
                    blocks += said
        return tuple(blocks)

    def check(self, claude_id: str) -> str | None:
        """None: healthy. Else what is wrong with it, in a few words."""
        path = self.find(claude_id)
        if path is None:
            return "is missing"
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                # What is too long to be read comes as nothing: that is not damage.
                lines = [(bool(line) and load(line) is None, end) for line, end in _lines(file)]
        except OSError as error:
            return f"cannot be read ({error.strerror})"
        damaged = sum(is_damaged for is_damaged, _ in lines)
        if not size:
            return "is empty"
        if damaged:
            return f"has {damaged:,} damaged {'line' if damaged == 1 else 'lines'}"
        return None if lines and lines[-1][1] >= size else "ends in the middle of a line"

    def _lines(self, claude_id: str, after: int = 0) -> Iterator[tuple[bytes, int]]:
        path = self.find(claude_id)
        if path is None:
            return
        try:
            with path.open("rb") as file:
                file.seek(after)
                yield from _lines(file)
        except OSError:
            return  # gone or shut meanwhile: as if it ended here


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Each whole line and where it ends; one that is too long comes as an empty one."""
    end = file.tell()
    while line := file.readline(LINE_LIMIT):
        length, too_long = len(line), False
        while line and not line.endswith(b"\n"):
            too_long = True
            line = file.readline(LINE_LIMIT)
            length += len(line)
        if not line:
            return  # the last one is not finished
        end += length
        yield (b"" if too_long else line), end


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def _is_message(line: bytes, uuid: str) -> bool:
    return uuid.encode() in line and message_id(_fields(line)) == uuid


def _listed(path: Path, stamp: tuple[int, int]) -> Found | None:
    lines = _edges(path)
    telling = [_fields(line) for line in lines if any(mark in line for mark in TELLING)]
    title, place = _title(telling), _directory(telling) or _directory(map(_fields, lines))
    if title is None or place is None:
        return None
    return Found(
        claude_id=path.stem,
        title=" ".join(title[: TITLE * 4].split())[:TITLE],
        directory=place,
        updated_at=datetime.fromtimestamp(stamp[0] / 1e9, UTC),
        size=stamp[1],
    )


def _title(telling: Iterable[Fields]) -> str | None:
    """The latest of the best kind, or the first prompt. None: nobody ever asked anything."""
    entries = [entry(fields) for fields in telling]
    titles = [one for one in entries if isinstance(one, Title)]
    prompts = [one.text for one in entries if isinstance(one, Prompt)]
    if not prompts and all(title.is_given for title in titles):
        return None
    best = max(reversed(titles), key=lambda title: title.rank, default=None)
    if prompts and (best is None or not best.is_given):
        return prompts[0]
    return best.text if best else None


def _directory(telling: Iterable[Fields]) -> str | None:
    return next(filter(None, map(directory, telling)), None)


def _fields(line: bytes) -> Fields:
    return load(line) or {}


def _edges(path: Path) -> list[bytes]:
    """The whole lines at the beginning and at the end of the file."""
    try:
        with path.open("rb") as file:
            head = file.read(2 * EDGE)
            end = file.seek(0, os.SEEK_END)
            if end <= len(head):
                return head.split(b"\n")
            file.seek(max(end - EDGE, EDGE))
            tail = file.read(EDGE)
    except OSError:
        return []
    return [*head[:EDGE].split(b"\n")[:-1], *tail.split(b"\n")[1:]]
