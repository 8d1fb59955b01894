"""Each no has the code, the status and the number that docs/gateway.md says."""

from __future__ import annotations

import json
import re
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from claude_sessions.demo import Sandbox
from claude_sessions.errors import StorageFull
from claude_sessions.gateway import refusals
from claude_sessions.gateway.refusals import Code
from claude_sessions.model import Role
from tests.gateway.port import Port, RpcError, opened
from tests.gateway.raw import raw
from tests.log.words import said

DOCUMENT = Path(__file__).parents[2] / "docs" / "gateway.md"
ROW = re.compile(r"^\| (\d{3}) \| (.*?) \| (.*?) *\|$", re.MULTILINE)


async def refused(port: Port, method: str, **params: Any) -> tuple[int, str]:
    with pytest.raises(RpcError) as error:
        await port.call(f"claude-code.{method}", **params)
    return error.value.code, error.value.data["code"]


def test_the_document_has_every_code_with_its_status() -> None:
    codes = {each for each in vars(refusals).values() if isinstance(each, Code)}
    told = {
        (name, int(status))
        for status, words, _ in ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
        for name in re.findall(r"`([A-Z_]+)`", words)
    }
    assert told == {(code.name, code.status) for code in codes}


def test_the_document_has_the_number_of_whatever_a_call_is_refused_with() -> None:
    numbers = {
        int(status): number.replace("−", "-")
        for status, _, number in ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    }
    for _, code in refusals.TREE:
        assert str(code.rpc) in numbers[code.status]


async def test_what_cannot_be_done_as_things_stand_is_a_conflict(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    await port.call("claude-code.kill", session="maker")
    code = await refused(port, "respond", session="maker", message="x")
    assert code == (-32002, "CONFLICT")
    answer = await port.http.post("/api/v1/sessions/maker/send", json={"content": "x"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "CONFLICT")


async def test_a_full_disk_is_told_as_that(port: Port) -> None:
    await port.call("claude-code.launch", prompt="hello", name="maker")
    await port.chat.idle("maker")
    log = port.daemon.log
    log.store.allow_pages(1)
    for _ in range(100):
        with suppress(StorageFull):
            await log.append(said("x" * 20_000, "filler"))
    code = await refused(port, "respond", session="maker", message="x" * 20_000)
    assert code == (-32009, "STORAGE_FULL")
    body = {"content": "x" * 20_000}
    answer = await port.http.post("/api/v1/sessions/maker/send", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "STORAGE_FULL")
    log.store.allow_pages(1_000_000)
    log.retry()


async def test_who_asks_too_often_and_who_is_too_slow_are_told_so(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir, gateway={"requests_per_second": 0.1}) as port:
        token = await port.scoped(Role.VIEWER)
        headers = {"Authorization": f"Bearer {token}"}
        answers = [await port.http.get("/api/v1/projects", headers=headers) for _ in range(2)]
        assert answers[1].status_code == 429
        assert answers[1].json()["error"]["code"] == "RATE_LIMITED"
        async with raw(port) as half:
            head = f"Authorization: Bearer {port.token}\r\nContent-Length: 100\r\n\r\n{{"
            await half.send(f"POST /rpc HTTP/1.1\r\nHost: localhost\r\n{head}".encode())
            assert b"REQUEST_TIMEOUT" in await half.rest()


@pytest.mark.parametrize("path", ["/rpc", "/ws"])
async def test_a_text_that_is_not_utf_8_ends_its_connection_with_1007(
    port: Port, path: str
) -> None:
    async with connect(port.ws + path, additional_headers=port.headers, proxy=None) as socket:
        await socket.send(b'{"a": "\xff"}', text=True)
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1007


@pytest.mark.parametrize("path", ["/rpc", "/ws", "/terminal"])
async def test_a_daemon_that_stops_ends_its_connections_with_1012(
    sandbox: Sandbox, workdir: Path, path: str
) -> None:
    async with AsyncExitStack() as client:
        async with opened(sandbox, workdir) as port:
            connecting = connect(port.ws + path, additional_headers=port.headers, proxy=None)
            socket = await client.enter_async_context(connecting)
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}))
        await socket.wait_closed()
        assert socket.close_code == 1012
