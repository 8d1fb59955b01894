"""What a tool is: its words for an agent, and the model that its parameters are checked against."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from claude_sessions.gateway.house import House
from claude_sessions.gateway.mcp.cap import AutoResponds
from claude_sessions.people import Caller


class Params(BaseModel):
    """Their docstrings are what the agent reads of them."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What tools work with. `workspace`: the directory the agent works in, if it said so."""

    house: House
    responds: AutoResponds
    workspace: str | None = None


P = TypeVar("P", bound=Params)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[P]):
    """`reads`: it changes nothing."""

    name: str
    summary: str
    params: type[P]
    act: Callable[[Desk, P, Caller], Awaitable[str]]
    reads: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        return self.params.model_json_schema()
