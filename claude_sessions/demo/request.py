"""What the CLI asked of the model, and what became of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from claude_sessions.demo.conversation import (
    Json,
    ToolResult,
    Turn,
    newest_turn,
    plan_path,
    texts,
)

COMPACTION = "CRITICAL: Respond with TEXT ONLY."
RECAP = "The user stepped away and is coming back."
PROBE_TOKENS = 1024


class Kind(Enum):
    """What the CLI wants with a request."""

    TURN = "the next answer of a conversation"
    COMPACTION = "a summary of the conversation"
    SIDE = "a title, a recap or a probe"


class Ending(Enum):
    """How an exchange came to its end."""

    OPEN = "still being answered"
    FINISHED = "answered in full"
    FAULTED = "broken off by the script"
    DROPPED = "the client went away first"
    STOPPED = "the model was shut down"


@dataclass(slots=True)
class Fate:
    """What became of a request; the server writes it, tests read it."""

    status: int | None = None
    ending: Ending = Ending.OPEN
    _over: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def end(self, ending: Ending) -> None:
        self.ending = ending
        self._over.set()

    async def ended(self, *, timeout: float = 10) -> Ending:  # noqa: ASYNC109
        """Wait for the end, for instance until the server has seen an interrupt."""
        async with asyncio.timeout(timeout):
            await self._over.wait()
        return self.ending


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Request:
    """`at` is monotonic; `auth` names the header that carried a key, never the key."""

    at: float
    kind: Kind
    model: str
    messages: Sequence[Json]
    system: str
    tools: tuple[str, ...]
    max_tokens: int
    stream: bool
    session_id: str
    agent_id: str
    auth: str
    turn: Turn
    plan_path: str
    fate: Fate = field(default_factory=Fate)

    @property
    def side(self) -> bool:
        """Not part of a conversation: it takes no step of a script."""
        return self.kind is not Kind.TURN

    @property
    def prompt(self) -> str:
        """The newest prompt; the end of a background task is one too, `<task-notification>…`."""
        return self.turn.prompt

    @property
    def answers(self) -> int:
        """How many answers this turn has had already."""
        return self.turn.answers

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """All tool results of this turn."""
        return self.turn.tool_results

    @property
    def steered(self) -> tuple[str, ...]:
        """What the user has sent into the running turn."""
        return self.turn.steered

    @property
    def last_tool_result(self) -> str:
        return self.tool_results[-1].text if self.tool_results else ""

    @property
    def last_user_text(self) -> str:
        """The newest words of the user: steered into the turn, or else the prompt."""
        return self.steered[-1] if self.steered else self.prompt

    @property
    def notified(self) -> bool:
        """The turn was started by the end of a background task, not by the user."""
        return self.prompt.startswith("<task-notification>")


def read_request(body: Json, headers: Mapping[str, str], at: float) -> Request:
    messages: list[Json] = body["messages"]
    turn = newest_turn(messages)
    system = "\n".join(texts(body.get("system")))
    return Request(
        at=at,
        kind=kind_of(body, turn.prompt),
        model=body.get("model", ""),
        messages=messages,
        system=system,
        tools=tuple(tool.get("name", "") for tool in body.get("tools") or ()),
        max_tokens=body.get("max_tokens", 0),
        stream=bool(body.get("stream")),
        session_id=headers.get("x-claude-code-session-id", ""),
        agent_id=headers.get("x-claude-code-agent-id", ""),
        auth=next((name for name in ("x-api-key", "authorization") if headers.get(name)), ""),
        turn=turn,
        plan_path=plan_path(messages, system),
    )


def kind_of(body: Json, prompt: str) -> Kind:
    """A session may have no tools either, so that alone does not make a request a side one."""
    if prompt.startswith(COMPACTION):
        return Kind.COMPACTION
    small = body.get("max_tokens", 0) <= PROBE_TOKENS
    formatted = "format" in (body.get("output_config") or {})
    if prompt.startswith(RECAP) or (not body.get("tools") and (small or formatted)):
        return Kind.SIDE
    return Kind.TURN
