"""JSON-RPC, over a real socket to a real daemon."""

from __future__ import annotations

import pytest

from tests.gateway.port import Port, RpcError


async def test_a_session_is_launched_listed_read_and_killed(port: Port) -> None:
    made = await port.call("claude-code.launch", prompt="hello", name="maker")
    assert made["name"] == "maker"
    await port.chat.idle("maker")
    listed = await port.call("claude-code.sessions")
    assert [each["id"] for each in listed["sessions"]] == [made["id"]]
    output = await port.call("claude-code.output", session="maker")
    assert output["lines"] == ["You said: hello"]
    killed = await port.call("claude-code.kill", id=made["id"])
    assert killed["status"] == "killed"


async def test_without_a_token_nothing_is_answered(port: Port) -> None:
    answer = await port.http.post("/rpc", json={}, headers={"Authorization": ""})
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "UNAUTHORIZED"


async def test_the_sentence_of_an_error_is_the_seeds(port: Port) -> None:
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.kill", session="nobody")
    assert refused.value.message == 'Session "nobody" not found'
