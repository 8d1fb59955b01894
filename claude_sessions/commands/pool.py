"""What carrying out a command needs, and what several of them share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from claude_sessions import events as e
from claude_sessions.approvals.desk import ApprovalDesk
from claude_sessions.approvals.policy import looser
from claude_sessions.approvals.rulebook import RuleBook, TrustBook
from claude_sessions.attention.attention import Attention
from claude_sessions.channel import Action
from claude_sessions.clock import Clock
from claude_sessions.commands import Reply
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.errors import Forbidden
from claude_sessions.eventlog import EventLog
from claude_sessions.extensions.extensions import Extensions
from claude_sessions.health import Health
from claude_sessions.model import PermissionMode
from claude_sessions.origins import Origins
from claude_sessions.people import Caller
from claude_sessions.projects import Projects
from claude_sessions.schedules.timekeeper import Timekeeper
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.manager import SessionManager
from claude_sessions.state import SessionState, draft
from claude_sessions.tokens import TokenBook
from claude_sessions.worktrees.worktrees import Worktrees


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What a launch gets when it does not say."""

    model: str | None = None
    mode: PermissionMode = PermissionMode.DEFAULT
    budget_usd: float | None = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    manager: SessionManager
    book: SessionBook
    desk: ApprovalDesk
    rules: RuleBook
    trust: TrustBook
    log: EventLog
    workdirs: Workdirs
    projects: Projects
    transcripts: Transcripts
    defaults: Defaults
    clock: Clock
    worktrees: Worktrees
    schedules: Timekeeper
    origins: Origins
    attention: Attention
    health: Health
    tokens: TokenBook
    extensions: Extensions
    private: tuple[Path, ...] = ()  # this program's own: nobody is sent anything of it
    zone: tzinfo | None = None  # in which days are counted; None: this machine's


def mode_for(pool: Pool, wanted: PermissionMode | None, caller: Caller) -> PermissionMode:
    if wanted is not None and looser(wanted, pool.defaults.mode):
        caller.must_be_admin_to_loosen(f"The mode {wanted}")
    return wanted or pool.defaults.mode


def budget_for(pool: Pool, wanted: float | None, caller: Caller) -> float | None:
    """A program gets no more money than the configuration gives, unless a person says so."""
    default = pool.defaults.budget_usd
    if caller.agent and wanted is not None and default is not None and wanted > default:
        caller.must_be_admin_to_loosen("A larger budget")
    return wanted or default


def no_agent_into_looser(pool: Pool, state: SessionState, caller: Caller) -> None:
    """A program never sets a session to work that a person made looser than the configuration."""
    if caller.agent and looser(state.spec.mode, pool.defaults.mode):
        caller.must_be_admin_to_loosen(f"{state.name} runs in {state.spec.mode}, which")


def still_allowed(pool: Pool, state: SessionState) -> None:
    """Before a session may start again: the directories that are allowed may have changed."""
    if not state.status.has_process and pool.workdirs.resolve(state.spec.directory) != (
        state.spec.directory
    ):
        raise Forbidden(f"{state.spec.directory} now leads elsewhere. /resume with --dir.")


def about(text: str, state: SessionState, actions: tuple[Action, ...] = (), **data: Any) -> Reply:
    known = {"id": state.id, "name": state.name, "status": state.status.value}
    return Reply(text=text, data=known | data, session=state.id, actions=actions)


async def append(pool: Pool, state: SessionState, payload: e.Payload, caller: Caller) -> None:
    await pool.log.append(draft(state, payload, caller=str(caller)))
