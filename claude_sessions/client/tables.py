"""What the daemon answers, as lines for people. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.cells import cell_len, set_cell_size

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.figures import count, money, span

GAP = "  "
WORDS = 12  # columns that a prompt has at least
SHORTEST = len("DIRECTORY")

Told = Mapping[str, Any]


def sessions(
    told: Told, *, now: float, width: int | None = None, home: str | None = None
) -> list[str]:
    """`now`: in milliseconds. `width`: of the terminal; None: nothing is cut."""
    if not told["sessions"]:
        return ['No sessions. claude-sessions new "…" starts one.']
    rows = [_session(each, now, home or os.path.expanduser("~")) for each in told["sessions"]]
    head = ("NAME", "STATUS", "SINCE", "DIRECTORY", "COST", "PROMPT")
    fitting = [head, *rows] if width is None else _fitting([head, *rows], width)
    return [*aligned(fitting, width=width), count(told["count"], "session")]


def _fitting(rows: Sequence[tuple[str, ...]], width: int) -> list[tuple[str, ...]]:
    """Of a directory the end says most, so where there is no room it loses its beginning."""
    others = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    taken = sum(others[:3]) + others[4] + len(GAP) * 5 + WORDS
    room = max(width - taken, SHORTEST)
    return [(*row[:3], _end(row[3], room), *row[4:]) for row in rows]


def _end(text: str, room: int) -> str:
    text = one_line(text, 500)
    if cell_len(text) <= room:
        return text
    while cell_len(text) >= room:
        text = text[1:]
    return f"…{text}"


def _session(each: Told, now: float, home: str) -> tuple[str, ...]:
    icon = str(each["display"]).split(" ", 1)[0]
    since = each["completedAt"] or each["startedAt"]
    return (
        each["name"],
        f"{icon} {each['status']}",
        span((now - since) / 1000),
        _shortened(each["workdir"], home),
        money(each["costUsd"]),
        each["prompt"],
    )


def _shortened(directory: str, home: str) -> str:
    inside = directory == home or directory.startswith(home.rstrip("/") + "/")
    return "~" + directory.removeprefix(home.rstrip("/")) if inside else directory


def launched(told: Told, *, home: str | None = None) -> list[str]:
    facts = [told["name"], _shortened(told["workdir"], home or os.path.expanduser("~"))]
    facts += [told["model"]] if told["model"] else []
    return [f"{' · '.join(one_line(fact, 200) for fact in facts)} [{told['id']}]"]


def tokens(told: Told) -> list[str]:
    if not told["tokens"]:
        return ["No tokens. claude-sessions token new --role viewer --days 30 makes one."]
    head = ("ID", "NAME", "ROLE", "EXPIRES", "MADE BY")
    rows = [
        (each["id"], each["name"], each["role"], expiry(each), each["createdBy"])
        for each in told["tokens"]
    ]
    return aligned([head, *rows])


def expiry(token: Told) -> str:
    if token["expiresAt"] is None:
        return "never"
    at = datetime.fromisoformat(token["expiresAt"]).astimezone(UTC)
    return f"{at:%Y-%m-%d %H:%M} UTC" + (" (expired)" if token["expired"] else "")


def aligned(rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """Columns below each other, whatever the width of their characters; no line is wider."""
    shown = [[one_line(cell, 500) for cell in row] for row in rows]
    columns = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        *first, last = row
        cells = [set_cell_size(c, size) for c, size in zip(first, columns, strict=False)]
        lines.append(_cut(GAP.join([*cells, last]).rstrip(), width))
    return lines


def _cut(text: str, room: int | None) -> str:
    if room is None or cell_len(text) <= room:
        return text
    return set_cell_size(text, room - 1).rstrip() + "…"
