"""Events and signals as JSON. Whoever reads the same event shares its bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from typing import Any

import orjson

from claude_sessions import events as e
from claude_sessions.codec import camel, encode
from claude_sessions.feed import Item

REMEMBERED = 64

# As the runner calls them; the others have our own names.
SIGNAL_KEYS = {"text": ("delta",), "offset": ("offset", "seq")}
SIGNAL_FIELDS = {
    kind: [
        (name, key)
        for name in kind.__dataclass_fields__
        if name != "session"
        for key in SIGNAL_KEYS.get(name, (camel(name),))
    ]
    for kind in e.Signal.__subclasses__()
}


def timestamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(event: e.Event) -> dict[str, Any]:
    """The runner's, and what is ours beside it."""
    told = {
        "id": event.id,
        "seq": event.session_seq or event.seq,
        "position": event.seq,
        "epoch": event.epoch,
        "type": event.type,
        "version": event.version,
        "ts": timestamp(event.at),
        "sessionId": event.session,
        "projectId": event.project,
        "runnerId": event.runner,
        "mode": "sdk",
        "runId": event.run,
        "correlationId": event.turn,
        "caller": event.caller,
        "causedBy": event.caused_by,
        "payload": encode(event.payload),
    }
    return {key: value for key, value in told.items() if value is not None}


def signal(item: e.Signal) -> dict[str, Any]:
    payload = {key: getattr(item, name) for name, key in SIGNAL_FIELDS[type(item)]}
    return {"type": item.TYPE, "sessionId": item.session, "payload": payload}


def as_json(item: Item) -> bytes:
    told = envelope(item) if isinstance(item, e.Event) else signal(item)
    return orjson.dumps(told, default=str)


class Shared:
    """A form of events that is made once for all who are about to read it."""

    def __init__(self, form: Callable[[Item], bytes]) -> None:
        self._form = form
        self._made: OrderedDict[int, tuple[Item, bytes]] = OrderedDict()

    def __call__(self, item: Item) -> bytes:
        known = self._made.get(id(item))
        if known is not None and known[0] is item:
            return known[1]
        made = self._form(item)
        self._made[id(item)] = (item, made)  # which keeps it, so that the id stays its own
        if len(self._made) > REMEMBERED:
            self._made.popitem(last=False)
        return made
