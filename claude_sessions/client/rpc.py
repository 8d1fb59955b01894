"""JSON-RPC to the daemon, one call at a time."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any

from claude_sessions.agreed import LONGEST
from claude_sessions.client.address import START, Address
from claude_sessions.client.exits import Exit, Failed

SECONDS = 120.0
NO_METHOD = -32601


class Rpc:
    def __init__(self, address: Address, *, seconds: float = SECONDS) -> None:
        self._address = address
        self._seconds = seconds

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The result; `Failed`, with its exit code, if there is none."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        status, body = self._posted(json.dumps(asked, ensure_ascii=False).encode())
        try:
            told = json.loads(body)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise Failed(f"{self._address.url} does not speak JSON-RPC (it answered {status}).")
        if "result" in told:
            return told["result"]
        raise _refusal(self._address, told.get("error"), status)

    def chat(self, line: str) -> dict[str, Any]:
        """What a line of chat does, as `{text, data, session, actions}`."""
        said: dict[str, Any] = self.call("claude-code.chat", {"line": line})
        return said

    def _posted(self, body: bytes) -> tuple[int, bytes]:
        if len(body) > LONGEST:
            raise Failed("That is too long: put it in a file and name the file.", Exit.USAGE)
        parts = self._address.parts
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self._seconds)
        headers = {**self._address.headers, "Content-Type": "application/json"}
        try:
            connection.connect()
        except (OSError, ValueError) as error:
            raise unreachable(self._address, error) from error
        try:
            connection.request("POST", f"{parts.path}/rpc", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except TimeoutError:
            raise self._lost(f"did not answer in {self._seconds:g} s") from None
        except (OSError, HTTPException) as error:
            raise self._lost(f"was lost before it had answered ({_why(error)})") from error
        finally:
            connection.close()

    def _lost(self, how: str) -> Failed:
        said = (
            f"The daemon at {self._address.url} {how}: what you asked may have been done, or not."
        )
        return Failed(f"{said} Look before you ask it again.", Exit.AWAY)


def unreachable(address: Address, error: Exception) -> Failed:
    said = f"The daemon at {address.url} cannot be reached ({_why(error)})."
    return Failed(f"{said} {START}", Exit.AWAY)


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):  # asyncio has its own words for it
        return os.strerror(errno.ECONNREFUSED)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _refusal(address: Address, error: Any, status: int) -> Failed:
    """Of a call, or of the door, which speaks in another envelope."""
    if not isinstance(error, dict):
        return Failed(f"The daemon answered {status} and did not say why.")
    message = str(error.get("message", f"The daemon answered {status}."))
    if error.get("code") == NO_METHOD:
        return Failed.told("METHOD_NOT_FOUND", message)
    data = error.get("data")
    code = data.get("code", "") if isinstance(data, dict) else error.get("code")
    return address.refused(str(code), message)
