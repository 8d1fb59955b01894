"""Connections of those who do not keep up: silent ones, half requests, readers that do not read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
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
EACH = 1024  # that a message costs beside its text, be it empty
PIECE = 16 * 1024  # bytes that are read at once: few can ask for much, and others wait meanwhile
FIRST = 128 * 1024  # until there is a request: what is not read when we hang up eats our refusal
WORK_SECONDS = 0.005  # that a piece may take
RESTS = 4  # times as long is not read from one whose pieces take longer
ABORT = "abort"  # in the state of a request: ends its connection at once


class Patient(H11Protocol):
    """Whoever connects and says nothing, or half of something, is not waited for."""

    slow_seconds = SLOW_SECONDS  # in which something of an answer has to be taken

    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.max_size = FIRST  # type: ignore[attr-defined]
        transport.set_write_buffer_limits(0)  # so that we hear of all that is not taken
        self._expect()

    def data_received(self, data: bytes) -> None:
        began = time.thread_time()
        super().data_received(data)
        _rest(self.transport, time.thread_time() - began, self._go_on)
        if self.scope is not None:  # its task has not begun yet
            self.transport.max_size = PIECE  # type: ignore[attr-defined]
            self.scope["state"][ABORT] = self.transport.abort
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._calm()
        self._taken()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Half a request is not waited for: whoever reads it hears that its sender is gone."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_complete:
            self.transport.abort()
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def _look(self, before: int) -> None:
        """Also at one that is being closed: asyncio would wait for its reader without end."""
        if (left := self.transport.get_write_buffer_size()) < before:
            self._stalled = self.loop.call_later(self.slow_seconds, self._look, left)
        else:
            self.transport.abort()

    def _taken(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._calm()
        self._taken()
        self.transport.set_write_buffer_limits()
        super().handle_websocket_upgrade(event)

    def _go_on(self) -> None:
        if not self.flow.read_paused:
            self.transport.resume_reading()

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

    def data_received(self, data: bytes) -> None:
        began = time.thread_time()
        super().data_received(data)
        _rest(self.transport, time.thread_time() - began, self._go_on)

    def _go_on(self) -> None:
        if not self.read_paused:
            self.transport.resume_reading()

    def handle_cont(self, event: Any) -> None:
        if event.data or event.fin:  # what has nothing in it would be kept all the same
            super().handle_cont(event)

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
        self._ahead += EACH + sum(map(len, self.frames))
        super().send_receive_event_to_app()
        if self.read_paused and self._ahead < AHEAD:
            self.read_paused = False
            self.transport.resume_reading()

    async def receive(self) -> Any:
        message: Any = await super().receive()
        if message["type"] == "websocket.receive":
            text = message.get("text")
            self._ahead -= EACH + len(message["bytes"] if text is None else text.encode())
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


def _rest(transport: asyncio.Transport, took: float, go_on: Callable[[], None]) -> None:
    if took > WORK_SECONDS:
        transport.pause_reading()
        asyncio.get_running_loop().call_later(RESTS * took, go_on)
