"""What a request asks, checked against its model: a query is words, a body is strict JSON."""

from __future__ import annotations

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import Request

from claude_sessions.gateway.entrance import body_of
from claude_sessions.gateway.refusals import INVALID, TOLD, Refused

TOKEN = "token"


class Query(BaseModel):
    """As it stands in an address."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Body(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=False,
        use_attribute_docstrings=True,
    )


Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)


def queried(model: type[Q], request: Request) -> Q:
    given = {key: value for key, value in request.query_params.items() if key != TOKEN}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _invalid("query", error) from None


async def told(model: type[B], request: Request) -> B:
    body = await body_of(request) or b"{}"
    try:
        given = orjson.loads(body)
    except ValueError:
        raise Refused(INVALID, "The body is not JSON.") from None
    if not isinstance(given, dict):
        raise Refused(INVALID, "The body has to be a JSON object.")
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise _invalid("body", error) from None


def _invalid(where: str, error: ValidationError) -> Refused:
    found = error.errors(include_url=False, include_input=False, include_context=False)[:TOLD]
    problems: list[dict[str, Any]] = [
        {"at": ".".join(map(str, each["loc"])), "why": _why(each["msg"])} for each in found
    ]
    told = "; ".join(": ".join(filter(None, (p["at"], p["why"]))) for p in problems[:3])
    return Refused(INVALID, f"The {where} is not valid: {told}", details=problems)


def _why(message: str) -> str:
    return message.removeprefix("Value error, ")
