"""The small things people own (rules, trusted directories, …): one readable JSON file.

`{"rules": {"k3v9x2ab": {…}}, "trust": {"/srv/app": {…}}}`. Written whole and atomically, read anew
each time, so that it may be edited by hand. Documents are pydantic models at this edge.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson
import structlog
import tinydb
from pydantic import BaseModel, ValidationError
from tinydb.table import Document

from claude_sessions.errors import SessionsError, StorageFull

Model = TypeVar("Model", bound=BaseModel)
Tables = dict[str, dict[str, Any]]

logger = structlog.get_logger(__name__)


def utc_now() -> datetime:
    return datetime.now(UTC)


class AtomicStorage(tinydb.Storage):
    """A crash leaves the old file or the new one. A damaged file is set aside, never emptied."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self._path = path
        self._clock = clock

    def read(self) -> Tables | None:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            tables = orjson.loads(data)
            if not all(isinstance(table, dict) for table in tables.values()):
                raise ValueError("a table is not an object")
        except (ValueError, AttributeError) as error:
            self._set_aside(str(error))
            return None
        return dict(tables)

    def write(self, data: Tables) -> None:
        text = orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        try:
            _replace(self._path, text)
        except OSError as error:
            problem = f"{self._path} could not be written: {error.strerror}."
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(f"{problem} Make room on the disk, then try again.") from error
            raise SessionsError(problem) from error

    def _set_aside(self, problem: str) -> None:
        stamp = self._clock().strftime("%Y%m%dT%H%M%S%f")
        aside = self._path.with_name(f"{self._path.name}.damaged-{stamp}")
        self._path.rename(aside)
        logger.error(
            "documents.damaged",
            problem=problem,
            kept_as=str(aside),
            remedy=f"mend it and move it back to {self._path} while claude-sessions is stopped",
        )


class _NamedTable(tinydb.table.Table):
    document_id_class = str  # type: ignore[assignment]  # our ids are words, not numbers


class _NamedDB(tinydb.TinyDB):
    table_class = _NamedTable


class Table(Generic[Model]):
    def __init__(self, table: tinydb.table.Table, model: type[Model], path: Path) -> None:
        self._table: Any = table  # TinyDB declares its ids as numbers
        self._model = model
        self._path = path

    def all(self) -> dict[str, Model]:
        return {str(found.doc_id): self._typed(found) for found in self._table.all()}

    def get(self, id_: str) -> Model | None:
        found = self._table.get(doc_id=id_)
        return None if found is None else self._typed(found)

    def put(self, id_: str, document: Model) -> None:
        """Adds it, or takes the place of the one with this id."""
        fields = document.model_dump(mode="json")
        if self._table.contains(doc_id=id_):
            self._table.update(fields, doc_ids=[id_])
        else:
            self._table.insert(Document(fields, doc_id=id_))  # type: ignore[arg-type]

    def remove(self, id_: str) -> bool:
        """Whether it was there."""
        if not self._table.contains(doc_id=id_):
            return False
        self._table.remove(doc_ids=[id_])
        return True

    def _typed(self, found: Document) -> Model:
        try:
            return self._model.model_validate(dict(found))
        except ValidationError as error:
            # Not passed over: a rule that says no must not vanish because of a typing mistake.
            first = error.errors()[0]
            where = ".".join(str(part) for part in (self._table.name, found.doc_id, *first["loc"]))
            raise SessionsError(f"{self._path}: {where}: {first['msg']}. Mend it.") from error


class Documents:
    """Reading and writing are small and happen on the spot."""

    def __init__(self, path: Path, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._db = _NamedDB(path, clock, storage=AtomicStorage)

    def table(self, name: str, model: type[Model]) -> Table[Model]:
        return Table(self._db.table(name, cache_size=0), model, self._path)


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # the rename too must survive a power cut
    finally:
        os.close(directory)
