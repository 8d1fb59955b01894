"""JSON-RPC without I/O: whatever comes, there is an answer."""

from __future__ import annotations

import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.gateway import rpc
from claude_sessions.gateway.rpc import Call, Fault
from tests.effort import effort

words = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | anything,
        "id": anything,
        "method": st.text() | anything,
        "params": anything,
        "more": anything,
    },
)


@given(st.binary())
def test_any_bytes_are_read(body: bytes) -> None:
    assert rpc.read(body).calls


@given(anything | requests | st.lists(requests | anything, max_size=5))
def test_whatever_is_json_is_answered_as_json(asked: Any) -> None:
    for call in rpc.read(json.dumps(asked)).calls:
        told = rpc.fault(call) if isinstance(call, Fault) else rpc.result(call.id, {"a": 1})
        assert json.loads(told)["jsonrpc"] == "2.0"


@given(numbers | words)
def test_ids_are_echoed(id_: Any) -> None:
    (call,) = rpc.read(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "m"})).calls
    assert isinstance(call, Call)
    echoed = json.loads(rpc.result(call.id, None))["id"]
    assert (echoed, type(echoed)) == (id_, type(id_))


@given(st.lists(numbers | words | st.integers(2**64, 2**64 + 9), min_size=1, max_size=5))
def test_ids_of_a_batch_are_echoed_each_as_its_own(ids: list[Any]) -> None:
    calls = rpc.read(
        json.dumps([{"jsonrpc": "2.0", "id": id_, "method": "m"} for id_ in ids])
    ).calls
    assert [json.loads(rpc.result(call.id, None))["id"] for call in calls] == ids


def test_what_is_ready_made_is_passed_on_as_it_is() -> None:
    told = rpc.result("x", {"events": [orjson.Fragment(b'{"a": 1}')]})
    assert told == b'{"jsonrpc":"2.0","id":"x","result":{"events":[{"a": 1}]}}'


def test_ids_beyond_64_bits_come_back_as_they_were_sent_each_its_own() -> None:
    ids = [2**64 + 1, 2**64 + 2, 1.5, 7]
    batch = [{"jsonrpc": "2.0", "id": id_, "method": "x"} for id_ in ids]
    assert [call.id for call in rpc.read(json.dumps(batch)).calls] == ids


def test_a_batch_of_vague_ids_is_read_once_more_and_not_for_each() -> None:
    """It took seconds, in which nobody else was heard."""
    call = '{"jsonrpc": "2.0", "id": 1e300, "method": "x", "params": {"a": [%s]}}'
    calls = [call % ""] * 99 + [call % ",".join(["[1]"] * 200_000)]
    batch = f"[{','.join(calls)}]"
    assert effort(lambda: rpc.read(batch)) < 10 * effort(lambda: json.loads(batch))
