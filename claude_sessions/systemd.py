"""What systemd hears of us, if it has started us."""

from __future__ import annotations

import os
import socket

import structlog

log = structlog.get_logger(__name__)


def tell_systemd(word: str) -> None:
    """`READY=1`, `STOPPING=1`; nothing without systemd."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
            door.connect(address)
            door.sendall(word.encode())
    except OSError as error:  # nobody to tell is no reason to stop
        log.warning("systemd.unreachable", word=word, why=str(error))
