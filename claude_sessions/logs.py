"""The daemon's own log lines: `noun.verb` with fields, secrets struck out here and nowhere else."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.stdlib import ProcessorFormatter

# Not `tokens`: those are only counted.
SECRET_KEYS = re.compile(
    r"token(?!s)|secret|passw|api[_-]?key|authorization|cookie|credential", re.IGNORECASE
)
SECRET_VALUES = re.compile(
    r"sk-[A-Za-z0-9_-]{8,}"
    r"|(?<!\d)\d{6,12}:[A-Za-z0-9_-]{30,}"  # a bot's token stands right behind /bot
    r"|(?i:bearer)\s+\S+"
    r"|(?<=://)[^\s/@]+(?=@)"
)
STRUCK = "[struck out]"


def strike_out(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in line.items():
        line[key] = STRUCK if SECRET_KEYS.search(key) else _struck(value)
    return line


def _struck(value: object) -> object:
    match value:
        case str() | Path() | BaseException():
            return SECRET_VALUES.sub(STRUCK, str(value))
        case Mapping():
            return {
                key: STRUCK if SECRET_KEYS.search(str(key)) else _struck(each)
                for key, each in value.items()
            }
        case list() | tuple():
            return [_struck(each) for each in value]
    return value


def configure(*, level: str, as_json: bool, file: Path | None = None) -> None:
    """`file`: where the lines go while a chat has the terminal."""
    out: TextIO = file.open("a", encoding="utf-8", buffering=1) if file else sys.stderr
    if file is not None:
        file.chmod(0o600)
    last: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=out.isatty())
    )
    chain: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        strike_out,
    ]
    structlog.configure(
        processors=[*chain, last],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    _configure_libraries(out, [*chain, last])


def _configure_libraries(out: TextIO, processors: list[structlog.typing.Processor]) -> None:
    """What libraries say looks like our own lines, and keeps as few secrets."""
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name],
            processors=[ProcessorFormatter.remove_processors_meta, *processors],
        )
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    # It logs as an error what we report as the end of a session.
    logging.getLogger("claude_agent_sdk").setLevel(logging.CRITICAL)
