"""Bodies and queries that make no sense: each has its answer, and none is ours to be blamed for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_sessions.demo import Sandbox
from claude_sessions.gateway.rest import TABLE
from claude_sessions.gateway.rest.operation import BASE, NoBody
from tests.gateway.port import Port, RpcError, opened

POSTS = [f"{BASE}{o.path}" for o in TABLE if o.method == "POST" and o.body is not NoBody]
DEEP = b'{"approvalId": "a", "decision": "allow", "modifiedInput": {"a": %b%b}}'


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"content": "\xff"}',
        b'{"content": "\\ud800"}',
        b"[]",
        b"5",
        b"null",
        b'"x"',
        DEEP % (b"[" * 100_000, b"]" * 100_000),
        DEEP % (b"[" * 900, b"]" * 900),
        b'{"nonsense": 1}',
    ],
    ids=lambda body: repr(body[:20]),
)
async def test_a_body_that_is_no_request_is_refused(port: Port, body: bytes) -> None:
    for path in POSTS:
        answer = await port.http.post(path.replace("{id}", "abcdefgh"), content=body)
        assert answer.status_code == 400, (path, answer.text)
        assert answer.json()["error"]["code"] == "VALIDATION_ERROR"


async def test_details_say_where_and_why(port: Port) -> None:
    body = {"content": 5, "attachments": [{"type": "url"}]}
    answer = await port.http.post(f"{BASE}/sessions/abcdefgh/send", json=body)
    places = {problem["at"] for problem in answer.json()["error"]["details"]}
    assert places == {"content", "attachments.0.type", "attachments.0.path"}


async def test_of_a_list_that_is_wrong_at_every_place_the_first_is_told(port: Port) -> None:
    """A request of 1 MB was answered with 23 MB, and everybody waited for it."""
    body = {"content": "x", "attachments": [1] * 5000}
    answer = await port.http.post(f"{BASE}/sessions/abcdefgh/send", json=body)
    assert len(answer.json()["error"]["details"]) == 1
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.launch", prompt="x", allowedTools=[1] * 5000)
    assert len(refused.value.data["problems"]) == 1


async def test_of_many_names_that_are_wrong_the_first_are_told(port: Port) -> None:
    env = {f"NAME_{number}": number for number in range(90)}
    body = {"name": "s", "transport": "stdio", "config": {"command": "x", "env": env}}
    answer = await port.http.post(f"{BASE}/mcp/servers", json=body)
    assert len(answer.json()["error"]["details"]) == 20
    with pytest.raises(RpcError) as refused:
        await port.call("claude-code.mcp.add", name="s", transport="stdio", command="x", env=env)
    assert len(refused.value.data["problems"]) == 20


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=101", "limit=x", "status=tired", "cursor=nonsense", "nonsense=1"],
)
async def test_a_query_that_makes_no_sense_is_refused(
    port: Port, workdir: Path, query: str
) -> None:
    made = await port.http.post(f"{BASE}/projects", json={"path": str(workdir)})
    project = made.json()["data"]["id"]
    answer = await port.http.get(f"{BASE}/projects/{project}/sessions?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "VALIDATION_ERROR"


async def test_a_body_that_is_too_large_is_refused(port: Port) -> None:
    body = json.dumps({"content": "x" * 2_000_000})
    answer = await port.http.post(f"{BASE}/sessions/abcdefgh/send", content=body)
    assert answer.status_code == 413


FIELDS = st.sampled_from(
    [
        *("path", "content", "command", "args", "mode", "ptyOptions", "title", "prompt", "model"),
        *("permissionMode", "budgetUsd", "forkFromSnapshot", "approvalId", "toolUseId", "scope"),
        *("decision", "persist", "modifiedInput", "answers", "attachments", "type"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from(["allow", "deny", "sdk", "pty", "once", "user", "file", "~", ".", "/"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


async def test_no_body_is_too_odd_for_an_answer(sandbox: Sandbox, workdir: Path) -> None:
    """Hypothesis is asked for many bodies, and each is sent; what exists is one session, asleep."""
    async with opened(sandbox, workdir) as port:
        made = await port.http.post(f"{BASE}/projects", json={"path": str(workdir)})
        project = made.json()["data"]["id"]
        session = await port.http.post(
            f"{BASE}/projects/{project}/sessions", json={"title": "target"}
        )
        await port.chat.type("/kill target")
        ids = st.sampled_from([project, session.json()["data"]["id"], "nobody", "%00", "%ff", "ß"])
        for path, id_, body in asked(ids):
            text = json.dumps(body).encode()
            answer = await port.http.post(path.replace("{id}", id_), content=text)
            assert answer.status_code < 500, (path, body, answer.text)
            await ended(port)


async def ended(port: Port) -> None:
    """Whatever was begun by chance is stopped: this is not about Claude."""
    for state in port.daemon.manager.live():
        await port.daemon.manager.kill(state)


def asked(ids: st.SearchStrategy[str]) -> list[tuple[str, str, object]]:
    found: list[tuple[str, str, object]] = []

    @settings(
        max_examples=150,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.sampled_from(POSTS), ids, VALUES | st.dictionaries(FIELDS, VALUES, max_size=6))
    def collect(path: str, id_: str, body: object) -> None:
        found.append((path, id_, body))

    collect()
    return found
