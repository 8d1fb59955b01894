"""Connections of those who do not keep up: silent ones, half requests, readers that do not read."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from claude_sessions.gateway.sockets import CODES, SLOW_SECONDS
from claude_sessions.gateway.visits import Over

SILENT_SECONDS = 10.0  # in which a request has to be there, whole but for its body
LEAVING_SECONDS = 5.0  # for a peer to take our last words
AHEAD = 1024 * 1024  # bytes that are read before they are asked for: pings lie among them
MESSAGE = 512  # bytes that each of them takes at least, also an empty one
ABORT = "abort"  # in the state of a request: ends its connection at once


class Patient(H11Protocol):
    """Whoever connects and says nothing, or half of something, is not waited for."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.scope is not None:  # its task has not begun yet
            self.scope["state"][ABORT] = self.transport.abort
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._calm()
        super().handle_websocket_upgrade(event)

    def _expect(self) -> None:
        asking = self.cycle is not None and not self.cycle.response_complete
        upgraded = self.transport.get_protocol() is not self
        if asking or upgraded or self.transport.is_closing():
            self._calm()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(SILENT_SECONDS, self._hang_up)

    def _calm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n")
            self.transport.close()


class Impatient(WebSocketsSansIOProtocol):
    """A closing is not held up by what its peer has not read, and not waited for without end.

    A connection that is refused is answered whole: uvicorn would log that as an error of ours.
    """

    _ahead = 0
    _pong = b""  # that waits until what was said before is taken

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.send" and self.close_sent:
            raise ClientDisconnected
        if message["type"] == "websocket.close":
            self.writable.set()
            slow = message.get("code") == CODES[Over.SLOW]  # or it would never read why
            self.loop.call_later(SLOW_SECONDS if slow else LEAVING_SECONDS, self.transport.abort)
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True

    def send_receive_event_to_app(self) -> None:
        self._ahead += sum(map(len, self.frames)) + MESSAGE
        super().send_receive_event_to_app()
        if self.read_paused and self._ahead < AHEAD:
            self.read_paused = False
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message: Any = await super().receive()
        if message["type"] == "websocket.receive":
            text = message.get("text")
            self._ahead -= len(message["bytes"] if text is None else text.encode()) + MESSAGE
        return message

    def handle_ping(self) -> None:
        """While nothing is taken, of many the last are answered: the peer knows what that means."""
        pongs = b"".join(self.conn.data_to_send())
        if self.writable.is_set() or self.conn.state is not State.OPEN:
            self.transport.write(pongs)
        elif pongs:
            self._pong = pongs

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._pong and not self.close_sent:
            self.transport.write(self._pong)
        self._pong = b""

    def keepalive_timeout(self) -> None:
        """While we do not read ourselves, an answer may lie there: who is slow is then not they."""
        self.pong_timer = self.pending_ping_payload = None
        if self.read_paused:
            self.schedule_ping()
        elif not (self.close_sent or self.transport.is_closing()):
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CODES[Over.SLOW]})
            self.conn.fail(CODES[Over.SLOW], Over.SLOW)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.loop.call_later(SLOW_SECONDS, self.transport.abort)
            self.transport.close()
