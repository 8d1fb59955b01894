"""JSON-RPC 2.0, without any I/O: bytes to calls, outcomes to bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
MOST = 100  # calls in a batch

Id = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """`notification`: nobody waits for an answer."""

    method: str
    params: Mapping[str, Any]
    id: Id = None
    notification: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    code: int
    message: str
    id: Id = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was asked. `batch`: several at once, whose answers are a list too."""

    calls: Sequence[Call | Fault]
    batch: bool = False


def read(body: bytes | str) -> Read:
    """Total: what cannot be read is a fault."""
    try:
        asked = orjson.loads(body)
    except ValueError:
        return Read(calls=[Fault(code=PARSE_ERROR, message="Parse error: this is not JSON")])
    if not isinstance(asked, list):
        return Read(calls=[_call(_as_sent([asked], body)[0])])
    if not asked:
        return Read(calls=[_invalid("the batch is empty")])
    if len(asked) > MOST:
        return Read(calls=[_invalid(f"a batch may have {MOST} calls, this one has {len(asked)}")])
    return Read(calls=[_call(each) for each in _as_sent(asked, body)], batch=True)


def _call(asked: Any) -> Call | Fault:
    if not isinstance(asked, dict):
        return _invalid("a request is an object")
    id_ = asked.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int | float | None):
        return _invalid("an id is a string, a number or null")
    if asked.get("jsonrpc") != "2.0":
        return _invalid('jsonrpc has to be "2.0"', id_)
    method, params = asked.get("method"), asked.get("params", {})
    if not isinstance(method, str):
        return _invalid("method has to be a string", id_)
    if isinstance(params, list) and not params:
        params = {}
    silent = "id" not in asked
    if not isinstance(params, dict | list):
        return _invalid("params has to be an object", id_)
    if isinstance(params, list):
        if silent:
            return Call(method="", params={}, notification=True)
        return Fault(code=INVALID_PARAMS, message="Invalid params: give them by name", id=id_)
    return Call(method=method, params=params, id=id_, notification=silent)


def _invalid(why: str, id_: Id = None) -> Fault:
    return Fault(code=INVALID_REQUEST, message=f"Invalid request: {why}", id=id_)


def _as_sent(asked: list[Any], body: bytes | str) -> list[Any]:
    """An integer beyond 64 bits is read as what it is, so that it is echoed as it was sent."""
    if not any(map(_is_vague, asked)):
        return asked
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return asked
    sent = found if isinstance(found, list) else [found]
    return [
        {**each, "id": exact["id"]} if _is_vague(each) else each
        for each, exact in zip(asked, sent, strict=True)
    ]


def _is_vague(asked: Any) -> bool:
    number = asked.get("id") if isinstance(asked, dict) else None
    return isinstance(number, float) and abs(number) >= 2**53 and number.is_integer()


def result(id_: Id, value: object) -> bytes:
    """`value` may be, or have, an `orjson.Fragment`."""
    told = orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_id(id_), told)


def fault(problem: Fault) -> bytes:
    error: dict[str, Any] = {"code": problem.code, "message": problem.message}
    if problem.data is not None:
        error["data"] = problem.data
    told = orjson.dumps(error, default=_plain)
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_id(problem.id), told)


def notification(method: str, params: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (orjson.dumps(method), params)


def together(answers: Sequence[bytes], *, batch: bool) -> bytes:
    """Empty: nobody waits for any."""
    if not answers:
        return b""
    return b"[%b]" % b",".join(answers) if batch else answers[0]


def _id(id_: Id) -> bytes:
    return json.dumps(id_).encode()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)
