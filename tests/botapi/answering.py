"""From a request to its response: the token, the faults on the way, the limits, the method."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import orjson

from .calls import OK, Call, Calls
from .chats import Chat
from .cloud import Cloud
from .faults import Drop, Fault, Faults, Hang, Status
from .forms import parameters
from .http import Request, Response
from .limits import FloodControl
from .messages import Json
from .methods import COUNTED, FREE, GET_UPDATES, NAMES
from .refusals import Refused, not_found, too_many_requests, unauthorized

LONGEST_POLL = 50.0

Params = dict[str, Any]


class Answering:
    def __init__(self, cloud: Cloud, *, token: str, clock: Callable[[], float]) -> None:
        self._cloud = cloud
        self._clock = clock
        self.token: str | None = token
        """None once it is revoked."""
        self.faults = Faults()
        self.calls = Calls()
        self.flood: FloodControl | None = None
        self.flooded = 0

    async def answer(self, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path.startswith("/file/bot"):
            token, _, rest = path.removeprefix("/file/bot").partition("/")
            return self._download(rest) if token == self.token else refusal(unauthorized())
        token, _, name = path.removeprefix("/bot").partition("/")
        if token != self.token:
            return refusal(unauthorized())
        if (method := NAMES.get(name.lower())) is None:
            return refusal(not_found())
        try:
            params = parameters(request.content_type, request.body)
        except Refused as refused:
            return refusal(refused)
        return await self._answer(method, params)

    def _download(self, path: str) -> Response:
        if (file := self._cloud.files.at(path)) is None:
            return refusal(Refused(code=404, description="Not Found"))
        return Response(body=file.content, content_type="application/octet-stream")

    async def _answer(self, method: str, params: Params) -> Response | None:
        at = self._clock()
        fault = self.faults.strikes(method, params, floods=method in COUNTED)
        response, outcome = await self._meeting(fault, method, params)
        self.calls.add(Call(method=method, params=params, at=at, outcome=outcome))
        if isinstance(fault, Hang):
            await asyncio.sleep(fault.seconds)
        return response

    async def _meeting(
        self, fault: Fault | None, method: str, params: Params
    ) -> tuple[Response | None, str]:
        match fault:
            case Drop.BEFORE:
                return None, fault.value
            case Drop.AFTER:
                await self._process(method, params)
                return None, fault.value
            case Status():
                refused = failure(fault)
                return refusal(refused), refused.description
            case Hang(processed=False):
                return None, "held, then dropped unprocessed"
            case _:
                return await self._process(method, params)

    async def _process(self, method: str, params: Params) -> tuple[Response, str]:
        try:
            result = await self._result(method, params)
        except Refused as refused:
            return refusal(refused), refused.description
        return Response(body=orjson.dumps({"ok": True, "result": result})), OK

    async def _result(self, method: str, params: Params) -> Any:
        if method == GET_UPDATES:
            return await self._updates(params)
        if (free := FREE.get(method)) is not None:
            return free(self._cloud, params)
        self._let_through(self._cloud.chat(params.get("chat_id")))
        return COUNTED[method](self._cloud, params)

    def _let_through(self, chat: Chat) -> None:
        """Whatever is asked of a chat counts, even if it is then refused."""
        seconds = self.flood and self.flood.retry_after(chat.id, private=chat.private)
        if seconds:
            self.flooded += 1
            raise too_many_requests(seconds)
        if chat.barred is not None:
            raise chat.barred.with_traceback(None)  # it is raised many times

    async def _updates(self, params: Params) -> list[Json]:
        return await self._cloud.updates.read(
            offset=params.get("offset", 0),
            limit=params.get("limit", 100),
            seconds=min(params.get("timeout", 0), LONGEST_POLL),
            allowed=params.get("allowed_updates"),
        )


def refusal(refused: Refused) -> Response:
    return Response(status=refused.code, body=orjson.dumps(refused.body()))


def failure(status: Status) -> Refused:
    if status.code == HTTPStatus.TOO_MANY_REQUESTS:
        return too_many_requests(status.retry_after or 1)
    return Refused(code=status.code, description=HTTPStatus(status.code).phrase)
