"""A scripted model in a temporary place, with the daemon and bare clients beside each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from claude_agent_sdk import ClaudeSDKClient

from bench import bare
from bench.product import PATIENCE, daemon_in
from claude_sessions.daemon import Daemon
from claude_sessions.demo import Sandbox, Script, ScriptedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    model: ScriptedModel
    sandbox: Sandbox
    workdir: Path
    cli: Path

    def daemon(self, *, max_sessions: int = 50) -> AbstractAsyncContextManager[Daemon]:
        return daemon_in(self.sandbox.root, self.sandbox.env, max_sessions=max_sessions)

    def client(self, resume: str | None = None) -> AbstractAsyncContextManager[ClaudeSDKClient]:
        return bare.connected(self.cli, self.workdir, resume)

    async def conversation(self) -> str:
        """One with a turn in it that no process has open: its id."""
        async with self.client() as client:
            await client.query("hello")
            return (await bare.turn_over(client)).session_id

    async def asked(self, text: str) -> float:
        """When the model was asked this."""
        return (await self.model.asked(text, timeout=PATIENCE)).at


@asynccontextmanager
async def staged(
    script: Script | None = None, directory: Path | None = None
) -> AsyncIterator[Stage]:
    with TemporaryDirectory(prefix="claude-sessions-bench-", dir=directory) as root:
        workdir = Path(root) / "work"
        workdir.mkdir()
        async with ScriptedModel(script or Script()) as model:
            sandbox = Sandbox(Path(root), model.url)
            yield Stage(model=model, sandbox=sandbox, workdir=workdir, cli=sandbox.cli())
