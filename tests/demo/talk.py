"""A conversation with the real CLI in a sandbox, as short as a test wants to write it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    Message,
    PermissionResultAllow,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolPermissionContext,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
)

from claude_sessions.demo import Sandbox, ScriptedModel

M = TypeVar("M", bound=Message)
B = TypeVar("B", TextBlock, ThinkingBlock, ToolUseBlock, ToolResultBlock)


@dataclass(frozen=True, slots=True)
class Heard:
    """All messages up to a result."""

    messages: list[Message]

    @property
    def result(self) -> ResultMessage:
        return self.of(ResultMessage)[-1]

    @property
    def texts(self) -> list[str]:
        """What the model said; the CLI's own remarks come as messages of the user."""
        return [
            block.text
            for message in self.of(AssistantMessage)
            for block in message.content
            if isinstance(block, TextBlock)
        ]

    @property
    def called(self) -> list[str]:
        return [block.name for block in self.blocks(ToolUseBlock)]

    @property
    def tool_results(self) -> list[str]:
        return [str(block.content) for block in self.blocks(ToolResultBlock)]

    def of(self, kind: type[M]) -> list[M]:
        return [message for message in self.messages if isinstance(message, kind)]

    def system(self, subtype: str) -> list[SystemMessage]:
        return [message for message in self.of(SystemMessage) if message.subtype == subtype]

    def blocks(self, kind: type[B]) -> list[B]:
        spoken = [m for m in self.messages if isinstance(m, AssistantMessage | UserMessage)]
        return [block for m in spoken for block in m.content if isinstance(block, kind)]


@dataclass(frozen=True, slots=True)
class Talk:
    client: ClaudeSDKClient

    async def turn(self, prompt: str) -> Heard:
        await self.client.query(prompt)
        return await self.result()

    async def result(self) -> Heard:
        return Heard([message async for message in self.client.receive_response()])

    async def until(self, fits: Callable[[Message], bool]) -> None:
        async for message in self.client.receive_messages():
            if fits(message):
                return


def says(text: str) -> Callable[[Message], bool]:
    """Fits the first piece of streamed text that contains `text`."""

    def fits(message: Message) -> bool:
        if not isinstance(message, StreamEvent):
            return False
        return text in message.event.get("delta", {}).get("text", "")

    return fits


@asynccontextmanager
async def talking(
    model: ScriptedModel,
    root: Path,
    *,
    answers: Mapping[str, str] | None = None,
    sandbox: Sandbox | None = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """A session that may use every tool and answers questions with `answers`."""

    async def allow(
        name: str, given: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow:
        asked = name == "AskUserQuestion"
        return PermissionResultAllow(updated_input={**given, "answers": answers} if asked else None)

    work = root / "work"
    work.mkdir(exist_ok=True)
    surroundings = sandbox or Sandbox(root, model.url)
    chosen = ClaudeAgentOptions(
        cli_path=surroundings.cli(),
        cwd=work,
        can_use_tool=allow,
        stderr=lambda line: None,
        **options,
    )
    async with ClaudeSDKClient(chosen) as client:
        yield Talk(client)
