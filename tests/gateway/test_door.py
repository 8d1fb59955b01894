"""Who gets in, from where, and with how much; each no has its words."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack, ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from claude_sessions.agreed import LONGEST
from claude_sessions.client.address import Given, locate
from claude_sessions.clock import ManualClock
from claude_sessions.demo import Sandbox
from claude_sessions.errors import ConfigError, SessionsError, StorageFull
from claude_sessions.gateway import patience
from claude_sessions.gateway.auth import Doorkeeper, Visitor
from claude_sessions.gateway.rates import Rates
from claude_sessions.gateway.refusals import Refused
from claude_sessions.gateway.visits import MOST_OF_ONE, Over, Visits
from claude_sessions.model import Role
from claude_sessions.places import ADDRESS
from claude_sessions.token_file import FILE
from tests.disk import no_file_longer_than
from tests.gateway.ear import listening
from tests.gateway.port import Port, opened
from tests.gateway.raw import Raw, raw
from tests.log.words import said
from tests.waiting import eventually

LIST = {"jsonrpc": "2.0", "id": 1, "method": "claude-code.sessions"}


async def test_the_token_is_made_once_and_only_its_owner_can_read_it(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir) as first:
        assert (first.home / FILE).stat().st_mode & 0o777 == 0o600
        assert len(first.token) >= 32
        assert (first.home / ADDRESS).exists()
    assert not (first.home / ADDRESS).exists()
    async with opened(sandbox, workdir) as again:
        assert again.token == first.token


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [("short", 0o600, "32 characters"), ("x" * 40, 0o644, "others can read it"), ("", 0o600, "32")],
)
async def test_a_token_that_is_no_secret_refuses_to_start(
    sandbox: Sandbox, workdir: Path, content: str, mode: int, why: str
) -> None:
    file = sandbox.root / "token"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=why):
        async with opened(sandbox, workdir, gateway={"token_file": file}):
            pass


async def test_a_port_that_is_taken_is_told_with_what_to_do(
    sandbox: Sandbox, workdir: Path, port: Port
) -> None:
    taken = int(port.url.rpartition(":")[2])
    other = Sandbox(sandbox.root / "other", sandbox.model_url)
    with pytest.raises(ConfigError, match=r"choose another gateway\.port"):
        async with opened(other, workdir, gateway={"port": taken}):
            pass


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", "UNAUTHORIZED"),
        ("Basic abc", "UNAUTHORIZED"),
        ("Bearer", "UNAUTHORIZED"),
        ("Bearer wrong", "INVALID_TOKEN"),
        ("Bearer cs_abcdefgh_" + "x" * 43, "INVALID_TOKEN"),
        ("Bearer " + "x" * 2000, "INVALID_TOKEN"),
    ],
)
async def test_without_a_good_token_nothing_is_said(
    port: Port, authorization: str, code: str
) -> None:
    answer = await port.http.post("/rpc", json=LIST, headers={"Authorization": authorization})
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == code
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_scoped_token_has_its_role_and_its_end(sandbox: Sandbox, workdir: Path) -> None:
    clock = ManualClock()
    async with opened(sandbox, workdir, clock=clock) as port:
        token = await port.scoped(Role.VIEWER, days=30, name="phone")
        kept = (port.home / "documents.json").read_text()
        assert token not in kept
        assert (await port.post(LIST, token)).status_code == 200
        clock.advance(timedelta(days=31).total_seconds())
        late = await port.post(LIST, token)
        assert (late.status_code, late.json()["error"]["code"]) == (401, "TOKEN_EXPIRED")
        await port.call("claude-code.tokens.revoke", ref="phone")
        gone = await port.post(LIST, token)
        assert gone.json()["error"]["code"] == "INVALID_TOKEN"


async def test_a_token_is_revoked_also_where_that_cannot_be_stored(port: Port) -> None:
    token = await port.scoped(Role.VIEWER, name="phone")
    async with listening(port, token=token) as ear:
        await ear.call("claude-code.sessions")
        with no_file_longer_than(10), pytest.raises(SessionsError, match="phone opens nothing"):
            await port.daemon.pool.tokens.revoke("phone", "owner")
        with pytest.raises(ConnectionClosed):
            await ear.hears()
    assert (await port.post(LIST, token)).json()["error"]["code"] == "INVALID_TOKEN"
    await port.call("claude-code.tokens.revoke", ref="phone")
    assert (await port.call("claude-code.tokens"))["tokens"] == []


async def test_a_token_that_ends_while_the_machine_sleeps_ends_its_connections() -> None:
    clock = ManualClock()
    visitor = Visitor(
        name="phone", role=Role.VIEWER, token="t", until=clock.now() + timedelta(days=30)
    )
    with Visits(clock, look_seconds=0.01).begun(visitor) as visit:
        clock.advance(timedelta(days=31).total_seconds())  # no timer of ours went on meanwhile
        assert await asyncio.wait_for(visit.over, 10) is Over.EXPIRED


async def test_one_program_that_leaks_connections_shuts_nobody_else_out() -> None:
    visits = Visits(ManualClock())
    leaky, other, owner = (Visitor(name="p", role=Role.VIEWER, token=t) for t in ("a", "b", None))
    with ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            stack.enter_context(visits.begun(leaky))
        with pytest.raises(Refused, match="500 open connections with this token"):
            stack.enter_context(visits.begun(leaky))
        for visitor in (other, owner):
            stack.enter_context(visits.begun(visitor))
    stack.enter_context(visits.begun(leaky))
    stack.close()


async def test_a_scoped_token_may_stand_in_the_address_the_owners_never(port: Port) -> None:
    token = await port.scoped(Role.VIEWER)
    bare: dict[str, Any] = {"headers": {"Authorization": ""}, "json": LIST}
    assert (await port.http.post(f"/rpc?token={token}", **bare)).status_code == 200
    assert (await port.http.post(f"/rpc?token={port.token}", **bare)).status_code == 401


async def test_health_says_its_state_to_everybody_and_nothing_else(port: Port) -> None:
    for path, state in (("/health", "ok"), ("/ready", "ready")):
        answer = await port.http.get(path, headers={"Authorization": ""})
        assert answer.json() == {"status": state}


async def test_it_is_not_ready_while_nothing_can_be_stored(port: Port) -> None:
    log = port.daemon.log
    log.store.allow_pages(1)
    for _ in range(100):
        with suppress(StorageFull):
            await log.append(said("x" * 20_000, "filler"))
    full = await port.http.get("/ready", headers={"Authorization": ""})
    assert (full.status_code, full.json()) == (503, {"status": "unavailable"})
    assert (await port.http.get("/health")).status_code == 200
    assert "claude_sessions_log_trouble 1.0" in (await port.http.get("/metrics")).text
    log.store.allow_pages(1_000_000)
    log.retry()
    await eventually(lambda: log.trouble is None)
    assert (await port.http.get("/ready")).status_code == 200


@pytest.mark.parametrize(("everywhere", "here"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
async def test_who_listens_everywhere_is_found_by_this_machines_own_programs(
    sandbox: Sandbox, workdir: Path, everywhere: str, here: str
) -> None:
    gateway = {"host": everywhere, "open_paths": ["/ws"]}
    async with opened(sandbox, workdir, gateway=gateway) as port:
        assert port.url.startswith(f"http://{here}:")
        found = locate(Given(home=port.home), {})
        assert (found.url, found.token) == (port.url, port.token)
        async with connect(f"ws://127.0.0.1:{port.url.rpartition(':')[2]}/ws"):
            pass


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:42069"}, 421),
        ({"Host": "localhost:9"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_pages_of_others_reach_nothing(
    port: Port, headers: dict[str, str], status: int
) -> None:
    answer = await port.http.post("/rpc", json=LIST, headers=headers | {"X-Request-Id": "mine-7"})
    assert answer.status_code == status
    assert answer.headers["x-request-id"] == "mine-7"
    if "Origin" in headers:
        assert "access-control-allow-origin" not in (await port.http.get("/health")).headers
        with pytest.raises(InvalidStatus) as refused:
            await connect(port.ws + "/rpc", origin=headers["Origin"])  # type: ignore[arg-type]
        assert refused.value.response.status_code == 403
        assert refused.value.response.headers["x-request-id"]


async def test_names_and_pages_that_are_configured_are_let_in(
    sandbox: Sandbox, workdir: Path
) -> None:
    page = "https://console.example.org"
    gateway = {"allowed_hosts": ["box.example.org"], "allowed_origins": [page]}
    async with opened(sandbox, workdir, gateway=gateway) as port:
        headers = {"Host": "box.example.org", "Origin": page}
        answer = await port.http.post("/rpc", json=LIST, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == page
        asked = {"Origin": page, "Access-Control-Request-Method": "POST", "Authorization": ""}
        assert (await port.http.options("/rpc", headers=asked)).status_code == 200
        more = {"Access-Control-Request-Headers": "mcp-session-id, mcp-protocol-version"}
        assert (await port.http.options("/mcp", headers=asked | more)).status_code == 200
        assert "mcp-session-id" in answer.headers["access-control-expose-headers"].lower()


async def test_a_websocket_without_a_token_is_not_opened(port: Port) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(port.ws + "/rpc")
    answer = refused.value.response
    told = json.loads(answer.body)["error"]
    assert (answer.status_code, told["code"]) == (401, "UNAUTHORIZED")
    assert answer.headers["x-request-id"] == told["requestId"]


@pytest.mark.parametrize("size", [LONGEST + 1, 10 * LONGEST])
async def test_a_body_that_is_too_large_is_refused_also_when_it_does_not_say_so(
    port: Port, size: int
) -> None:
    """By a client that reads nothing before it has sent all."""
    large = b"x" * size

    async def pieces() -> Any:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for content in (large, pieces()):
        answer = await port.http.post("/rpc", content=content)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"
        assert answer.headers["x-request-id"] == answer.json()["error"]["requestId"]
    assert (await port.post(LIST)).status_code == 200


async def test_a_body_without_end_is_passed_over_only_so_long(port: Port) -> None:
    async def endless(line: Raw) -> None:
        with suppress(ConnectionError):
            while True:
                await line.send(b"x" * 65536)
                await asyncio.sleep(0.05)

    async with raw(port) as line:
        length = b"1" + b"0" * 12
        await line.send(
            b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %b\r\n\r\n" % length
        )
        sending = asyncio.create_task(endless(line))
        assert (await line.rest()).startswith(b"HTTP/1.1 413")
        await sending


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe\x00", -32700),
        (b'"\xc3\x28"', -32700),
        (b"[" * 200_000 + b"]" * 200_000, -32700),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
        (b'{"jsonrpc":"2.0","id":[1],"method":"x"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"nothing.there"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"claude-code.kill","params":["a"]}', -32602),
    ],
)
async def test_what_is_no_call_has_its_number(port: Port, body: bytes, code: int) -> None:
    answer = await port.http.post("/rpc", content=body)
    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == code


async def test_a_batch_of_ten_thousand_is_refused_whole(port: Port) -> None:
    answer = await port.post([LIST] * 10_000)
    assert answer.json()["error"]["code"] == -32600
    answers = (await port.post([LIST] * 100)).json()
    assert len(answers) == 100


async def test_a_batch_is_answered_call_by_call_and_notifications_not_at_all(port: Port) -> None:
    silent = {"jsonrpc": "2.0", "method": "claude-code.sessions"}
    wrong = {"jsonrpc": "2.0", "id": "b", "method": "no.such"}
    answers = (await port.post([LIST, silent, wrong, 5])).json()
    assert [each.get("id") for each in answers] == [1, "b", None]
    assert (await port.post(silent)).status_code == 204
    assert (await port.post([silent])).status_code == 204


@pytest.mark.parametrize(
    "id_", ["x", "", 0, -7, 1.5, 2**53 + 1, 2**70, -(2**70), "ümläut \U0001f600", None]
)
async def test_an_id_comes_back_as_it_was_sent(port: Port, id_: object) -> None:
    answer = await port.post({**LIST, "id": id_})
    assert answer.json()["id"] == id_
    assert type(answer.json()["id"]) is type(id_)


async def test_headers_without_end_are_refused(port: Port) -> None:
    async with raw(port) as line:
        await line.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000)
        assert b"400" in (await line.rest()).split(b"\r\n")[0]


@pytest.mark.parametrize("long", ["/health?{}", "/health HTTP/1.1\r\nX: {}\r\nY:"])
async def test_headers_that_come_whole_have_a_limit_too(port: Port, long: str) -> None:
    asked = f"GET {long.format('x' * 40_000)} HTTP/1.1\r\nHost: localhost\r\nConnection: close"
    async with raw(port) as line:
        await line.send(f"{asked}\r\n\r\n".encode())
        assert b"HEADERS_TOO_LARGE" in await line.rest()


async def test_a_socket_that_is_refused_is_no_error_of_ours(
    port: Port, caplog: pytest.LogCaptureFixture
) -> None:
    for headers in ({"Authorization": "Bearer wrong"}, {"Origin": "https://evil.example"}):
        with pytest.raises(InvalidStatus):
            await connect(f"{port.ws}/rpc", additional_headers=headers)
    assert [record.getMessage() for record in caplog.records] == []


async def test_one_who_connects_and_says_nothing_is_hung_up_on_and_slows_nobody(
    port: Port,
) -> None:
    async with raw(port) as silent, raw(port) as half:
        await half.send(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\n")
        assert (await port.post(LIST)).status_code == 200
        ends = await asyncio.gather(silent.rest(), half.rest())
        assert all(b"408" in end for end in ends)
    assert patience.SILENT_SECONDS <= 10


async def test_half_a_body_is_waited_for_only_so_long_and_slows_nobody(port: Port) -> None:
    async with raw(port) as half:
        token = f"Authorization: Bearer {port.token}\r\n".encode()
        await half.send(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\n" + token)
        await half.send(b"Content-Length: 100\r\n\r\n{")
        assert (await port.post(LIST)).status_code == 200
        assert b"408" in await half.rest()


async def test_half_a_request_does_not_hold_up_the_end(sandbox: Sandbox, workdir: Path) -> None:
    async with AsyncExitStack() as stack:
        async with opened(sandbox, workdir) as port:
            one = await stack.enter_async_context(raw(port))
            head = (
                f"POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {port.token}\r\n"
            )
            await one.send(f"{head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n".encode())
            assert b"100" in await one.reader.readuntil(b"\r\n\r\n")  # it is being read
            await one.send(b"x")
        assert await one.rest() == b""


async def test_half_a_frame_slows_nobody(port: Port) -> None:
    async with listening(port) as ear:
        ear.connection.transport.write(b"\x81\xfe\x00\x7e\x00")  # a text frame, cut off
        assert (await port.post(LIST)).status_code == 200


async def test_a_frame_that_is_too_large_ends_the_connection_with_its_code(port: Port) -> None:
    async with listening(port) as ear:
        await ear.connection.send("x" * 2_000_000)
        await ear.connection.wait_closed()
        assert ear.connection.close_code == 1009


async def test_an_address_where_nothing_is_says_so(port: Port) -> None:
    assert (await port.http.get("/nothing")).json()["error"]["code"] == "NOT_FOUND"
    wrong = await port.http.get("/rpc")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "METHOD_NOT_ALLOWED")


async def test_too_many_requests_with_one_token_wait_others_do_not(
    sandbox: Sandbox, workdir: Path
) -> None:
    clock = ManualClock()
    async with opened(sandbox, workdir, clock=clock, gateway={"requests_per_second": 5}) as port:
        eager = await port.scoped(Role.VIEWER, name="eager")
        calm = await port.scoped(Role.VIEWER, name="calm")
        answers = [await port.post(LIST, eager) for _ in range(11)]
        assert [each.status_code for each in answers] == [200] * 10 + [429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await port.post(LIST, calm)).status_code == 200
        clock.advance(1)
        assert (await port.post(LIST, eager)).status_code == 200


async def test_a_batch_counts_as_the_calls_it_has(sandbox: Sandbox, workdir: Path) -> None:
    clock = ManualClock()
    async with opened(sandbox, workdir, clock=clock, gateway={"requests_per_second": 5}) as port:
        token = await port.scoped(Role.VIEWER)
        assert len((await port.post([LIST] * 20, token)).json()) == 20
        for _ in range(2):
            assert (await port.post(LIST, token)).status_code == 429
            clock.advance(2.1)
        assert (await port.post(LIST, token)).status_code == 200


async def test_nor_does_a_batch_on_a_socket_get_around_it(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir, gateway={"requests_per_second": 20}) as port:
        began = time.monotonic()
        async with listening(port, token=await port.scoped(Role.VIEWER)) as ear:
            await ear.connection.send(json.dumps([LIST] * 60))
            await ear.hears()
            await ear.connection.send(json.dumps(LIST))
            await ear.hears()
        assert time.monotonic() - began > 0.9


async def test_a_socket_that_says_too_much_is_read_more_slowly_and_loses_nothing(
    sandbox: Sandbox, workdir: Path
) -> None:
    async with opened(sandbox, workdir, gateway={"requests_per_second": 20}) as port:
        token = await port.scoped(Role.VIEWER)
        began = time.monotonic()
        async with listening(port, token=token) as ear:
            for _ in range(60):
                await ear.connection.send(json.dumps(LIST))
            told = [await ear.hears() for _ in range(60)]
        assert all("result" in each for each in told)
        assert time.monotonic() - began > 0.9  # two seconds' worth at once, the rest in its time


async def _asked(connection: Any) -> str:
    await connection.send(json.dumps(LIST))
    return str(await connection.recv())


def test_a_bucket_fills_as_time_goes_by() -> None:
    clock = ManualClock()
    rates = Rates(clock, 2.0)
    assert [rates.wait("a") for _ in range(4)] == [0.0] * 4
    assert rates.wait("a") == pytest.approx(0.5)
    clock.advance(0.5)
    assert rates.wait("a") == 0.0
    assert Rates(clock, None).wait("a") == 0.0


async def test_no_secret_is_in_any_log_line(
    sandbox: Sandbox, workdir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(sandbox, workdir) as port:
        token = await port.scoped(Role.VIEWER)
        for query in (f"?token={token}", "?token=cs_wrong_token_of_somebody_else_entirely"):
            await port.http.post(f"/rpc{query}", json=LIST, headers={"Authorization": ""})
            with pytest.raises(InvalidStatus):
                await connect(f"{port.ws}/nothing{query}")
        async with connect(f"{port.ws}/rpc?token={token}") as connection:
            await _asked(connection)
        secrets = [port.token, token, "somebody_else"]
    said = "".join(capfd.readouterr())
    assert not [secret for secret in secrets if secret in said]


async def test_it_is_shut_once_the_daemon_is_down(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir) as port:
        url = port.url
    async with httpx.AsyncClient() as anybody:
        with pytest.raises(httpx.ConnectError):
            await anybody.get(f"{url}/health")


async def test_status_says_where_the_gateway_is_and_who_listens(port: Port) -> None:
    async with connect(f"{port.ws}/rpc", additional_headers=port.headers) as socket:
        await socket.send('{"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}')
        await socket.recv()
        told = await port.call("claude-code.chat", line="/status")
    assert f"Gateway: {port.url} · 1 open connection" in told["text"].splitlines()
    assert told["data"]["doors"]["gateway"] == {"url": port.url, "connections": 1}


async def test_those_who_need_no_token_share_one_allowance(port: Port) -> None:
    """Each of their frames is a line in the log."""
    keeper = Doorkeeper(
        owner=lambda: port.chat.caller,
        owners_token=port.token,
        tokens=port.daemon.pool.tokens,
        clock=ManualClock(),
        requests_per_second=5,
    )
    anybody = Visitor(name="anybody here", role=Role.VIEWER, open=True)
    for _ in range(10):
        keeper.count(anybody)
    with pytest.raises(Refused):
        keeper.count(anybody)
    keeper.count(Visitor(name="owner", role=Role.ADMIN))
