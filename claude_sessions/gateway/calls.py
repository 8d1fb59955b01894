"""Calls carried out: each is answered with its result, or with why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from claude_sessions.errors import NoSession, SessionsError
from claude_sessions.gateway import rpc
from claude_sessions.gateway.discover import DISCOVER, document
from claude_sessions.gateway.house import House
from claude_sessions.gateway.methods import METHODS
from claude_sessions.gateway.methods.base import BadParams, Method, understood
from claude_sessions.gateway.refusals import code_of
from claude_sessions.people import Caller

log = structlog.get_logger(__name__)


async def answered(
    house: House, read: rpc.Read, caller: Caller, more: Mapping[str, Method[Any]] = METHODS
) -> bytes:
    """A batch is worked through in its order: what it does first is done first."""
    answers = []
    for each in read.calls:
        answer = await _answer(house, each, caller, more)
        if not (isinstance(each, rpc.Call) and each.notification):
            answers.append(answer)
    return rpc.together(answers, batch=read.batch)


async def _answer(
    house: House, call: rpc.Call | rpc.Fault, caller: Caller, methods: Mapping[str, Method[Any]]
) -> bytes:
    if isinstance(call, rpc.Fault):
        return rpc.fault(call)
    try:
        told = rpc.result(call.id, await _called(house, call, caller, methods))
        log.debug("rpc.called", method=call.method, by=str(caller))
        return told
    except SessionsError as error:
        log.info("rpc.refused", method=call.method[:80], by=str(caller), why=str(error))
        return rpc.fault(_fault(error, call))
    except Exception:
        log.exception("rpc.failed", method=call.method[:80])
        said = "That went wrong on our side. The log says more."
        return rpc.fault(rpc.Fault(code=rpc.INTERNAL_ERROR, message=said, id=call.id))


async def _called(
    house: House, call: rpc.Call, caller: Caller, methods: Mapping[str, Method[Any]]
) -> object:
    if call.method == DISCOVER:
        return document()
    method = methods.get(call.method)
    if method is None:
        raise NoMethod(f"There is no method {call.method[:80]!r}; {DISCOVER} lists those there are")
    return await method.act(house, understood(method.params, call.params), caller)


class NoMethod(SessionsError):
    pass


def _fault(error: SessionsError, call: rpc.Call) -> rpc.Fault:
    if isinstance(error, NoMethod):
        return rpc.Fault(code=rpc.METHOD_NOT_FOUND, message=str(error), id=call.id)
    code = code_of(error)
    data: dict[str, Any] = {"code": code.name}
    if isinstance(error, BadParams) and error.problems:
        data["problems"] = error.problems
    said = error.plain if isinstance(error, NoSession) else str(error)
    return rpc.Fault(code=code.rpc, message=said, id=call.id, data=data)
