"""What made something happen: the request behind the events that it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

CAUSE: ContextVar[str | None] = ContextVar("cause", default=None)


@contextmanager
def because(cause: str | None) -> Iterator[None]:
    """Every event that is appended meanwhile, here or in a task begun here, says so."""
    token = CAUSE.set(cause)
    try:
        yield
    finally:
        CAUSE.reset(token)
