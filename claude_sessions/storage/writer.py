"""The writer's thread: takes everything queued, writes it in one transaction, reports once.

Without room on the disk it is in *trouble*: new work is refused; what was asked to be held stays
here, in order and ahead of all that follows, until it can be written.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from claude_sessions.errors import SessionsError, StorageFull
from claude_sessions.events import Event
from claude_sessions.storage.rows import Fact
from claude_sessions.storage.sqlite import Store

NO_ROOM = {
    sqlite3.SQLITE_FULL: "the disk is full; make room on it",
    sqlite3.SQLITE_IOERR: "the disk reports an error; look at its health and its free space",
    sqlite3.SQLITE_BUSY: "another program holds the log's file; close it",
}


@dataclass(slots=True, eq=False)
class Request:
    facts: Sequence[Fact]
    hold: bool
    done: asyncio.Future[list[Event]]

    @property
    def size(self) -> int:
        return sum(len(fact.data) for fact in self.facts)


@dataclass(slots=True, eq=False)
class Chore:
    """Something else that changes the file; done between two commits."""

    act: Callable[[Store], Any]
    done: asyncio.Future[Any]
    result: Any = None
    error: SessionsError | None = None


@dataclass(slots=True, kw_only=True)
class Report:
    """What one round of the writer did, for the loop to tell."""

    written: list[Request] = field(default_factory=list)
    refused: list[tuple[Request, SessionsError]] = field(default_factory=list)
    chores: list[Chore] = field(default_factory=list)
    trouble: str | None = None  # as it stands after the round
    failure: BaseException | None = None
    ended: bool = False


class Writer:
    def __init__(
        self, store: Store, *, report: Callable[[Report], None], retry_seconds: float
    ) -> None:
        self._store = store
        self._report = report
        self._retry_seconds = retry_seconds
        self._queue: queue.SimpleQueue[list[Request] | Chore | None] = queue.SimpleQueue()
        self._held: list[Request] = []
        self._trouble: str | None = None
        self._thread = threading.Thread(target=self._run, name="log-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, item: list[Request] | Chore) -> None:
        """An empty list asks for another try at what is held."""
        self._queue.put(item)

    def stop(self) -> None:
        """It tries once more for what is held, then reports that it ended."""
        self._queue.put(None)

    def join(self, timeout: float) -> None:
        self._thread.join(timeout)

    def _run(self) -> None:
        ended = False
        while not ended:
            requests, chores, ended = self._take()
            try:
                report = self._round(requests)
                for chore in chores:
                    self._do(chore, report)
            except Exception as failure:  # noqa: BLE001 - whatever it is, the loop must hear of it
                report = Report(failure=failure)
                ended = True
            report.ended = ended
            self._report(report)

    def _take(self) -> tuple[list[Request], list[Chore], bool]:
        """All that is queued, and whether that is the end."""
        requests: list[Request] = []
        chores: list[Chore] = []
        try:
            item = self._queue.get(timeout=self._retry_seconds if self._trouble else None)
            while item is not None:
                if isinstance(item, Chore):
                    chores.append(item)
                else:
                    requests += item
                item = self._queue.get_nowait()
        except queue.Empty:
            return requests, chores, False
        return requests, chores, True

    def _do(self, chore: Chore, report: Report) -> None:
        """A chore that finds no room fails by itself: it troubles nobody else."""
        try:
            chore.result = chore.act(self._store)
        except sqlite3.OperationalError as error:
            chore.error = StorageFull(f"That could not be stored: {error}. Make room on the disk.")
        except Exception as error:  # noqa: BLE001 - whoever asked for it hears of it
            chore.error = SessionsError(f"That could not be stored: {error!r}.")
        report.chores.append(chore)

    def _round(self, requests: list[Request]) -> Report:
        report = Report()
        if self._trouble is None:
            try:
                self._write(requests, report)
            except sqlite3.OperationalError as error:
                self._trouble = explain(error)
            else:
                return report
        # Also right after the first failure: one request too large for the room that is left must
        # not stop the small ones.
        self._keep(requests, report)
        try:
            self._recover(report)
        except sqlite3.OperationalError as error:
            self._trouble = explain(error)
        report.trouble = self._trouble
        return report

    def _write(self, requests: list[Request], report: Report) -> None:
        if not requests:
            return
        refused = self._store.append([request.facts for request in requests])
        report.refused += [(requests[number], why) for number, why in refused.items()]
        report.written += (
            [request for number, request in enumerate(requests) if number not in refused]
            if refused
            else requests
        )

    def _keep(self, requests: list[Request], report: Report) -> None:
        self._held += [request for request in requests if request.hold]
        report.refused += [
            (request, StorageFull(f"Nothing new can be stored: {self._trouble}, then try again."))
            for request in requests
            if not request.hold
        ]

    def _recover(self, report: Report) -> None:
        self._write(self._held, report)
        self._held = []
        self._store.probe()
        self._trouble = None


def explain(error: sqlite3.OperationalError) -> str:
    """Why it cannot be written, and what to do. Raises again what we cannot wait out."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code not in NO_ROOM:
        raise error
    return NO_ROOM[code]
