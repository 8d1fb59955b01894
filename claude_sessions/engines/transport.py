"""The pipe to the CLI: an SDK `Transport` of our own.

The SDK keeps the control protocol (initialize, permission requests, interrupts); every other
frame, also those its parser would drop, comes to us as it is. Here is also known when an answer to
a permission request has really been written. Recording will attach here.
"""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import Process
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson
import structlog
from claude_agent_sdk import ClaudeAgentOptions, CLIConnectionError, ProcessError, Transport
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport

from claude_sessions.engines import process as processes
from claude_sessions.engines.ledger import Ledger

log = structlog.get_logger()

Frame = dict[str, Any]
CONTROL = frozenset({"control_request", "control_response", "control_cancel_request"})


class CliTransport(Transport):
    def __init__(
        self,
        options: ClaudeAgentOptions,
        *,
        env: Mapping[str, str],
        ledger: Ledger | None = None,
        on_frame: Callable[[Frame], None],
        on_answer: Callable[[str], None],
        on_withdrawn: Callable[[str], None],
        on_end: Callable[[], None],
    ) -> None:
        self._options = options
        self._env = env
        self._ledger = ledger
        self._on_frame = on_frame
        self._on_answer = on_answer
        self._on_withdrawn = on_withdrawn
        self._on_end = on_end
        self._process: Process | None = None
        self._stderr_task: asyncio.Task[None] | None = None
        self._write_lock = asyncio.Lock()
        self._asked: dict[str, str] = {}  # control request → tool use
        self._closing = False
        self._ended = False
        self.stderr: deque[str] = deque(maxlen=40)

    @property
    def cli(self) -> str:
        return command_line(self._options)[0]

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def returncode(self) -> int | None:
        return self._process.returncode if self._process else None

    async def connect(self) -> None:
        command = command_line(self._options)
        directory = str(self._options.cwd)
        self._process = await processes.spawn(command, directory=directory, env=self._env)
        if self._ledger is not None:
            self._ledger.add(self._process.pid)
        self._stderr_task = asyncio.create_task(self._read_stderr(), name="cli.stderr")

    async def _read_stderr(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(65536):
            for line in chunk.decode("utf-8", "replace").splitlines():
                if line.strip():
                    self.stderr.append(line.strip()[:2000])
                    log.debug("cli.stderr", pid=self.pid, line=self.stderr[-1])

    async def write(self, data: str) -> None:
        async with self._write_lock:
            stdin = self._process.stdin if self._process else None
            if stdin is None or stdin.is_closing() or self.returncode is not None:
                raise CLIConnectionError("Claude's process is gone")
            try:
                stdin.write(data.encode())
                await stdin.drain()
            except OSError as error:
                raise CLIConnectionError(f"Claude's process is gone: {error}") from error
        if self._asked and '"control_response"' in data[:64]:
            self._note_answer(data)

    def _note_answer(self, data: str) -> None:
        request = json.loads(data)["response"]["request_id"]
        if tool_use := self._asked.pop(request, None):
            self._on_answer(tool_use)

    async def read_messages(self) -> AsyncIterator[Frame]:
        try:
            async for frame in self._frames():
                if frame.get("type") not in CONTROL:
                    self._on_frame(frame)
                    continue
                self._note_control(frame)
                yield frame
            await self._judge_exit()
        finally:
            self._on_end()

    def _note_control(self, frame: Frame) -> None:
        request = frame.get("request") or {}
        if request.get("subtype") == "can_use_tool":
            self._asked[str(frame.get("request_id"))] = str(request.get("tool_use_id"))
        elif frame.get("type") == "control_cancel_request" and (
            tool_use := self._asked.pop(str(frame.get("request_id")), None)
        ):
            self._on_withdrawn(tool_use)

    async def _frames(self) -> AsyncIterator[Frame]:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            try:
                frame = orjson.loads(line)
            except orjson.JSONDecodeError:
                log.debug("cli.noise", pid=self.pid, line=line[:200].decode("utf-8", "replace"))
                continue
            if isinstance(frame, dict):
                yield frame

    async def _judge_exit(self) -> None:
        """An end nobody asked for is an error, also with exit code 0: else the SDK waits 60 s."""
        assert self._process is not None
        code = await self._process.wait()
        if self._stderr_task is not None:
            await asyncio.wait([self._stderr_task], timeout=1.0)
        if not self._closing:
            raise ProcessError("Claude's process ended", exit_code=code)

    async def end_input(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()

    async def close(self) -> None:
        self._closing = True
        if self._process is None:
            return
        if not self._ended:
            await processes.end(self._process)
            self._ended = True
            if self._ledger is not None:
                self._ledger.remove(self._process.pid)
        if self._stderr_task is not None:
            self._stderr_task.cancel()
            await asyncio.wait([self._stderr_task])
        # asyncio closes the pipe transport a moment after the exit; do not leave it to the GC
        self._process._transport.close()  # type: ignore[attr-defined]

    def is_ready(self) -> bool:
        return self._process is not None and self.returncode is None and not self._closing


def command_line(options: ClaudeAgentOptions) -> list[str]:
    """The SDK's own translation of options into flags; private there, so used only here."""
    streaming = replace(options, permission_prompt_tool_name="stdio")
    builder = SubprocessCLITransport(prompt="", options=streaming)
    builder._cli_path = str(options.cli_path) if options.cli_path else builder._find_cli()
    return builder._build_command()
