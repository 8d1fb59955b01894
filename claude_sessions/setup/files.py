"""Files that are either as they were or as they should be, and that nobody else can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


def write(file: Path, text: str, mode: int = 0o600) -> None:
    """All of it or nothing, through a symlink too; a directory that is missing is made, closed."""
    real = file.resolve()
    real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _replace(real, text.encode(), mode)


@contextmanager
def as_they_were_on(failure: type[BaseException], *files: Path) -> Iterator[None]:
    """Should the block end in it, these files and their directories are given back."""
    before = [_Before.of(file.resolve()) for file in files]
    try:
        yield
    except failure:
        for each in before:
            each.put_back()
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    file: Path
    content: bytes | None  # None: there was none
    mode: int
    missing: tuple[Path, ...]  # directories that were not there, the innermost first

    @classmethod
    def of(cls, file: Path) -> _Before:
        missing = tuple(above for above in file.parents if not above.exists())
        if not file.exists():
            return cls(file=file, content=None, mode=0, missing=missing)
        mode = file.stat().st_mode & 0o777
        return cls(file=file, content=file.read_bytes(), mode=mode, missing=missing)

    def put_back(self) -> None:
        if self.content is not None:
            _replace(self.file, self.content, self.mode)
            return
        self.file.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else has put something there
            for directory in self.missing:
                directory.rmdir()


def _replace(file: Path, content: bytes, mode: int) -> None:
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # 0600
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(draft, mode)
        os.replace(draft, file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    _settle(file.parent)


def _settle(directory: Path) -> None:
    """Only then does a power cut not bring the old name back."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
