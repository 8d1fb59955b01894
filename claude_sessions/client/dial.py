"""One connection to the daemon's terminal door."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from claude_sessions.client.address import Address
from claude_sessions.client.exits import Exit, Failed
from claude_sessions.client.rpc import unreachable

SECONDS = 10.0
REVOKED, RESTARTS, SLOW = 4401, 1012, 1013


async def dial(address: Address, name: str, *, watching: bool = False) -> ClientConnection:
    query = urlencode({"name": name, **({"watch": "1"} if watching else {})})
    try:
        return await connect(
            f"{address.socket}/terminal?{query}",
            additional_headers=address.headers,
            open_timeout=SECONDS,
            close_timeout=1.0,
            max_size=None,
            compression=None,
            proxy=None,
        )
    except InvalidStatus as error:
        body = bytes(error.response.body or b"")
        raise _refusal(address, error.response.status_code, body) from error
    except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed, ValueError) as error:
        raise unreachable(address, error) from error


def _refusal(address: Address, status: int, body: bytes) -> Failed:
    try:
        said = json.loads(body)["error"]
        return address.refused(str(said["code"]), str(said["message"]))
    except (ValueError, LookupError, TypeError):
        away = Exit.AWAY if status >= 500 else Exit.FAILED
        return Failed(f"The daemon answered {status} and did not say why.", away)


def why_over(error: ConnectionClosed) -> Failed:
    """What the end of a connection means to whoever had it."""
    closed = error.rcvd
    if closed is not None and closed.code == REVOKED:
        return Failed(f"The daemon ended this: {closed.reason}.", Exit.UNAUTHORISED)
    if closed is not None and closed.code == SLOW:
        return Failed("The daemon ended this: it was read too slowly.", Exit.AWAY)
    if closed is not None and closed.code == RESTARTS:
        return Failed("The daemon has stopped.", Exit.AWAY)
    return Failed("The connection to the daemon is lost.", Exit.AWAY)
