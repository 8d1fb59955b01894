"""The daemon's own log lines: `noun.verb` with fields, secrets struck out here and nowhere else."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog

SECRET_KEYS = re.compile(r"token|secret|password|api_?key|authorization|cookie", re.IGNORECASE)
SECRET_VALUES = re.compile(r"sk-[A-Za-z0-9_-]{8,}|\b\d{6,12}:[A-Za-z0-9_-]{30,}|Bearer\s+\S+")
STRUCK = "[struck out]"


def strike_out(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in line.items():
        if SECRET_KEYS.search(key):
            line[key] = STRUCK
        elif isinstance(value, str):
            line[key] = SECRET_VALUES.sub(STRUCK, value)
    return line


def configure(*, level: str, as_json: bool, file: Path | None = None) -> None:
    """`file`: where the lines go while a chat has the terminal."""
    out: TextIO = file.open("a", encoding="utf-8", buffering=1) if file else sys.stderr
    if file is not None:
        file.chmod(0o600)
    last = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=out.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            strike_out,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(level=logging.WARNING, stream=out, force=True)
    # It logs as an error what we report as the end of a session.
    logging.getLogger("claude_agent_sdk").setLevel(logging.CRITICAL)
