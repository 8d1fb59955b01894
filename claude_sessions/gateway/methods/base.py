"""What a method is: its words, and the models that check what goes in and describe what comes out.

`rpc.discover` is made from the same models, so that it cannot say anything else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from claude_sessions.errors import BadRequest
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import TOLD
from claude_sessions.people import Caller


class Params(BaseModel):
    """By name, in either spelling: `maxBudgetUsd` or `max_budget_usd`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


class Shape(BaseModel):
    """Of a result. It describes; what is given back is not checked against it, but for in tests."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )


class Nothing(Params):
    pass


MISSING = ("missing", "string_too_short", "string_pattern_mismatch")  # empty: as in the seed

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
P = TypeVar("P", bound=Params)
Act = Callable[[House, Any, Caller], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[P]):
    name: str
    summary: str
    params: type[P]
    result: type[BaseModel]
    act: Act


class BadParams(BadRequest):
    def __init__(self, message: str, problems: list[dict[str, Any]]) -> None:
        self.problems = problems
        super().__init__(message)


def understood(model: type[P], given: Any, *, strict: bool = True) -> P:
    """As JSON, because that is strict about kinds and lenient about none of ours.

    What is null is not given: many a client sends all it knows of.
    """
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if value is not None}
    try:
        return model.model_validate_json(orjson.dumps(given), strict=strict)
    except ValidationError as error:
        raise _problem(error) from None
    except TypeError as error:
        raise BadParams(f"Invalid params: {error}", []) from None


def _problem(error: ValidationError) -> BadParams:
    found = error.errors(include_url=False, include_input=False, include_context=False)[:TOLD]
    problems = [
        {"at": ".".join(map(str, each["loc"])) or None, "why": each["msg"]} for each in found
    ]
    missing = next((each for each in found if each["type"] in MISSING), None)
    own = next((each for each in found if each["type"] == "value_error"), None)
    if missing is not None:
        said = f"Missing required parameter: {'.'.join(map(str, missing['loc']))}"
    elif own is not None:
        said = own["msg"].removeprefix("Value error, ")
    else:
        told = "; ".join(": ".join(filter(None, (p["at"], p["why"]))) for p in problems[:3])
        said = f"Invalid params: {told}"
    return BadParams(said, problems)
