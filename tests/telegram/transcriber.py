"""An endpoint that understands OpenAI's way of asking for a transcription: real HTTP, our words."""

from __future__ import annotations

import asyncio
import re
from types import TracebackType
from typing import Self

import orjson


class Transcriber:
    """`heard`: of each request the authorization, the model and the audio."""

    def __init__(self, words: str, *, status: int = 200) -> None:
        self._words = words
        self._status = status
        self.heard: list[tuple[str, str, bytes]] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1/audio/transcriptions"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1]) if length else 0)
        key = re.search(r"(?i)authorization: (.+)\r\n", head)
        model, audio = _field(body, b"model"), _field(body, b"file")
        self.heard.append((key[1] if key else "", model.decode(), audio))
        answer = orjson.dumps({"text": self._words})
        writer.write(
            f"HTTP/1.1 {self._status} Answered\r\ncontent-length: {len(answer)}\r\n"
            "content-type: application/json\r\nconnection: close\r\n\r\n".encode()
            + answer
        )
        await writer.drain()
        writer.close()
        await writer.wait_closed()


def _field(body: bytes, name: bytes) -> bytes:
    found = re.search(rb'name="' + name + rb'".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
    return found[1] if found else b""
