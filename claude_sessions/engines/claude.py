"""Claude through the Agent SDK and the CLI its wheel ships."""

from __future__ import annotations

import asyncio
import contextlib
import re
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

import structlog
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    CLINotFoundError,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)

from claude_sessions import engines as g
from claude_sessions.engines.agents import elsewhere, live_sessions, may_be_elsewhere
from claude_sessions.engines.ledger import Ledger
from claude_sessions.engines.translate import Translator
from claude_sessions.engines.transport import CliTransport, Frame
from claude_sessions.errors import EngineError, LiveElsewhere, LoginExpired
from claude_sessions.model import PermissionMode, SessionSpec

log = structlog.get_logger()

CONTROL_SECONDS = 8.0
CLOSE_SECONDS = 2.0
SEND_SECONDS = 30.0
REWIND_SECONDS = 30.0
START_SECONDS = 60.0
SLOT_SECONDS = 5.0
MINIMUM_CLI = (2, 1, 300)  # older ones were never tried with what we expect of the stream
LOGIN_REMEDY = (
    "Claude is not logged in. Run `claude` once in a terminal and log in, then try again."
)


class ClaudeEngine:
    def __init__(
        self,
        *,
        env: Mapping[str, str],
        setting_sources: Sequence[str],
        cli_path: str | None = None,
        ledger: Ledger | None = None,
        parallel_starts: int = 3,
    ) -> None:
        self._env = {
            **env,
            "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1",
            # The SDK's option only sets this for a process of its own making; ours is not.
            "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "true",
        }
        self._setting_sources = tuple(setting_sources)
        self._cli_path = cli_path
        self._ledger = ledger
        # A start costs half a second of CPU: many at once only make each other late.
        self._starts = asyncio.Semaphore(parallel_starts)

    async def open(
        self,
        spec: SessionSpec,
        *,
        ask: g.Asker,
        claude_id: str,
        resume: str | None = None,
        fork: bool = False,
        fork_at: str | None = None,
        budget_usd: float | None = None,
    ) -> ClaudeConversation:
        options = self._options(spec, claude_id, resume, fork, fork_at, budget_usd)
        conversation = ClaudeConversation(options, env=self._env, ask=ask, ledger=self._ledger)
        await self._starts.acquire()
        # One that hangs must not keep the others from starting.
        slot = asyncio.get_running_loop().call_later(SLOT_SECONDS, self._starts.release)
        try:
            if resume and not fork and await asyncio.to_thread(may_be_elsewhere, self._env, resume):
                await self._connect_alone(conversation, resume)
            else:
                await conversation.connect()
        finally:
            if not slot.cancelled() and slot.when() > asyncio.get_running_loop().time():
                slot.cancel()
                self._starts.release()
        return conversation

    async def _connect_alone(self, conversation: ClaudeConversation, claude_id: str) -> None:
        """Who else has it is asked beside the start, which takes longer; nothing is said yet."""
        asking = asyncio.create_task(live_sessions(conversation.cli, self._env), name="agents")
        try:
            await conversation.connect()
            where = elsewhere(await asking, claude_id, own_pid=conversation.pid)
            if where is not None:
                raise LiveElsewhere(
                    f"Its conversation is open in another program ({where}). Close it there, then "
                    "say it again; or branch off with /resume --fork."
                )
        except BaseException:  # also a cancellation: nobody else knows of this process yet
            await conversation.close()
            raise
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    def _options(
        self,
        spec: SessionSpec,
        claude_id: str,
        resume: str | None,
        fork: bool,
        fork_at: str | None,
        budget_usd: float | None,
    ) -> ClaudeAgentOptions:
        extra: dict[str, str | None] = {}
        if spec.mode is PermissionMode.BYPASS:
            extra["allow-dangerously-skip-permissions"] = None
        prompt: Any = {"type": "preset", "preset": "claude_code"}
        if spec.system_prompt:
            prompt["append"] = spec.system_prompt
        return ClaudeAgentOptions(
            cwd=spec.directory,
            cli_path=self._cli_path,
            model=spec.model,
            permission_mode=cli_mode(spec.mode).value,
            max_budget_usd=budget_usd,
            system_prompt=prompt,
            include_partial_messages=True,
            # A project nobody has trusted could run its own hooks and MCP servers unasked.
            setting_sources=list(self._setting_sources) if spec.trusted else ["user"],  # type: ignore[arg-type]
            resume=resume,
            fork_session=fork,
            resume_session_at=fork_at,
            session_id=claude_id if fork or not resume else None,
            extra_args=extra,
        )


def _names(commands: object) -> Iterator[str]:
    for command in commands if isinstance(commands, list) else ():
        if isinstance(command, dict) and isinstance(command.get("name"), str):
            yield command["name"]
            yield from (str(alias) for alias in command.get("aliases") or ())


def too_old(version: str | None) -> bool:
    """A version that cannot be read is given the benefit of the doubt."""
    numbers = re.findall(r"\d+", version or "")[:3]
    return len(numbers) == 3 and tuple(map(int, numbers)) < MINIMUM_CLI


def cli_mode(mode: PermissionMode) -> PermissionMode:
    """`dontAsk` is judged by our own rules, so the CLI must ask us."""
    return PermissionMode.DEFAULT if mode is PermissionMode.DONT_ASK else mode


class ClaudeConversation:
    """One process, read for as long as it lives."""

    def __init__(
        self,
        options: ClaudeAgentOptions,
        *,
        env: Mapping[str, str],
        ask: g.Asker,
        ledger: Ledger | None = None,
    ) -> None:
        self._ask = ask
        self._events: asyncio.Queue[g.EngineEvent | None] = asyncio.Queue()
        self._translator = Translator()
        self._last_error = ""
        self._working = False
        self._closing: asyncio.Task[None] | None = None
        self._transport = CliTransport(
            options,
            env=env,
            ledger=ledger,
            on_frame=self._on_frame,
            on_answer=lambda tool_use: self._events.put_nowait(g.AnswerGiven(tool_use_id=tool_use)),
            on_withdrawn=lambda tool_use: self._events.put_nowait(
                g.AskWithdrawn(tool_use_id=tool_use)
            ),
            on_end=lambda: self._events.put_nowait(None),
        )
        options.can_use_tool = self._can_use_tool
        self._client = ClaudeSDKClient(options, transport=self._transport)
        self.version: str | None = None
        self.commands: tuple[str, ...] = ()

    @property
    def cli(self) -> str:
        return self._transport.cli

    @property
    def pid(self) -> int | None:
        return self._transport.pid

    async def connect(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._client.connect()
        except BaseException as error:
            await self.close()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise self._start_failure(error) from error
        info = await self._client.get_server_info() or {}
        self.version = info.get("claude_code_version")
        self.commands = tuple(_names(info.get("commands")))
        if too_old(self.version):
            await self.close()
            wanted = ".".join(map(str, MINIMUM_CLI))
            raise EngineError(
                f"Claude's program is too old ({self.version}; {wanted} or later is needed). "
                "Update it, or clear [sessions] cli_path to use the one that comes along."
            )

    def _start_failure(self, error: BaseException) -> EngineError:
        said = self._last_error or "\n".join(list(self._transport.stderr)[-5:])
        if isinstance(error, TimeoutError):
            return EngineError(f"Claude did not start within {START_SECONDS:.0f} s. {said}".strip())
        if isinstance(error, NotADirectoryError):
            return EngineError(f"Claude could not be started: {error}.")
        if isinstance(error, CLINotFoundError | OSError):
            return EngineError(
                f"Claude's program cannot be run ({error}). "
                "Set [sessions] cli_path, or reinstall claude-agent-sdk, which ships it."
            )
        if "log in" in said or "/login" in said:
            return LoginExpired(LOGIN_REMEDY)
        code = self._transport.returncode
        text = said or str(error)
        return EngineError(f"Claude could not be started (exit code {code}): {text}")

    def _on_frame(self, frame: Frame) -> None:
        if frame.get("type") == "result":
            self._working = False
            if frame.get("is_error"):
                self._last_error = "; ".join(map(str, frame.get("errors") or ())) or str(
                    frame.get("result") or ""
                )
        for event in self._translator.feed(frame):
            if isinstance(event, g.TurnBegan):
                self._working = True
            self._events.put_nowait(event)

    async def _can_use_tool(
        self, tool_name: str, given: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        answer = await self._ask(
            g.Ask(
                tool_use_id=context.tool_use_id or str(uuid.uuid4()),
                tool_name=tool_name,
                input=given,
                suggestions=tuple(s.to_dict() for s in context.suggestions),
                description=context.description or "",
                reason=context.decision_reason or "",
                agent_id=context.agent_id,
            )
        )
        if not answer.allow:
            return PermissionResultDeny(message=answer.message or "Refused.")
        updates = None
        if answer.set_mode is not None:
            mode = PermissionUpdate(
                type="setMode", mode=answer.set_mode.value, destination="session"
            )
            updates = [mode]
        return PermissionResultAllow(
            updated_input=answer.input if answer.input is not None else given,
            updated_permissions=updates,
        )

    async def __aiter__(self) -> AsyncIterator[g.EngineEvent]:
        while (event := await self._events.get()) is not None:
            yield event
        if self._closing is None:
            raise self._death()

    def _death(self) -> EngineError:
        code = self._transport.returncode
        said = " ".join(list(self._transport.stderr)[-3:])
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return EngineError(f"Claude's process ended unexpectedly ({how}). {said}".strip())

    async def send(self, message: g.Message) -> None:
        self._working = True
        frame: dict[str, Any] = {
            "type": "user",
            "uuid": message.id,
            "message": {"role": "user", "content": content_of(message)},
            "parent_tool_use_id": None,
            "priority": "next" if message.steer else "later",
        }

        async def one() -> AsyncIterator[dict[str, Any]]:
            yield frame

        async with _answered("message", SEND_SECONDS):
            await self._client.query(one())

    async def interrupt(self) -> None:
        async with _answered("interrupt"):
            await self._client.interrupt()

    async def set_mode(self, mode: PermissionMode) -> None:
        async with _answered("change of mode"):
            await self._client.set_permission_mode(cli_mode(mode).value)

    async def set_model(self, model: str | None) -> None:
        async with _answered("change of model"):
            await self._client.set_model(model)

    async def stop_task(self, task_id: str) -> None:
        async with _answered("stop of a task"):
            await self._client.stop_task(task_id)

    async def rewindable(self, message_id: str) -> tuple[str, ...]:
        query: Any = self._client._query
        request = {"subtype": "rewind_files", "user_message_id": message_id, "dry_run": True}
        async with _answered("question about its file checkpoints"):
            answer = await query._send_control_request(request)
        if not answer.get("canRewind"):
            raise EngineError(str(answer.get("error") or "There is no file checkpoint."))
        return tuple(str(path) for path in answer.get("filesChanged") or ())

    async def rewind(self, message_id: str) -> None:
        async with _answered("order to put files back", REWIND_SECONDS):
            await self._client.rewind_files(message_id)

    async def close(self) -> None:
        """Runs in a task of its own: a second cancellation must not leak the process."""
        self.abandon()
        assert self._closing is not None
        await asyncio.shield(self._closing)

    def abandon(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="engine.close")

    async def _close(self) -> None:
        if self._working and self._transport.is_ready():
            # Mid-turn the CLI would work on for seconds after its input closed.
            with contextlib.suppress(EngineError):
                async with _answered("interrupt", CLOSE_SECONDS):
                    await self._stop_and_drop()
        await self._client.disconnect()
        await self._transport.close()  # when connect failed the SDK may not have come that far

    async def _stop_and_drop(self) -> None:
        """The SDK's own interrupt would let the CLI begin what it has queued meanwhile."""
        query: Any = self._client._query
        await query._send_control_request({"subtype": "interrupt", "cancel_queued": True})


@contextlib.asynccontextmanager
async def _answered(what: str, seconds: float = CONTROL_SECONDS) -> AsyncIterator[None]:
    """The SDK waits a minute and raises bare `Exception` for a control request that failed."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise EngineError(f"Claude did not react to the {what} within {seconds:.0f} s.") from error
    except (ClaudeSDKError, OSError) as error:
        raise EngineError(str(error)) from error
    except Exception as error:
        if type(error) is Exception:
            raise EngineError(str(error)) from error
        raise


def content_of(message: g.Message) -> str | list[dict[str, Any]]:
    if not message.attachments:
        return message.text
    return [{"type": "text", "text": message.text}, *(dict(a) for a in message.attachments)]
