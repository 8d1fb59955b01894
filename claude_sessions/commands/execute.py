"""Carrying out commands: the role is checked here, once; each has a function of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from claude_sessions import commands as c
from claude_sessions.commands import adjusting, deciding, reading, starting, talking, worktrees
from claude_sessions.commands.pool import Pool
from claude_sessions.people import Caller

Function = Callable[[Pool, Any, Caller], Awaitable[c.Reply]]

FUNCTIONS: dict[type[c.Command], Function] = {
    c.Launch: worktrees.launch,
    c.Resume: starting.resume,
    c.Kill: starting.kill,
    c.Respond: talking.respond,
    c.Talk: talking.talk,
    c.Withdraw: talking.withdraw,
    c.Interrupt: talking.interrupt,
    c.Foreground: reading.foreground,
    c.Background: reading.background,
    c.Output: reading.output,
    c.ListSessions: reading.list_sessions,
    c.ListResumable: reading.list_resumable,
    c.Stats: reading.stats,
    c.Cost: reading.cost,
    c.ListApprovals: deciding.list_approvals,
    c.Decide: deciding.decide,
    c.Answer: deciding.answer,
    c.ListRules: deciding.list_rules,
    c.AddRule: deciding.add_rule,
    c.RevokeRule: deciding.revoke_rule,
    c.Trust: deciding.trust,
    c.Untrust: deciding.untrust,
    c.SetMode: adjusting.set_mode,
    c.SetModel: adjusting.set_model,
    c.Rename: adjusting.rename,
    c.ListTasks: adjusting.list_tasks,
    c.StopTask: adjusting.stop_task,
    c.ListWorktrees: worktrees.list_worktrees,
    c.MoveToWorktree: worktrees.move,
    c.MergeWorktree: worktrees.merge,
    c.RemoveWorktree: worktrees.remove,
    c.Help: adjusting.help_,
}


async def execute(pool: Pool, command: c.Command, caller: Caller) -> c.Reply:
    caller.must_be(command.ROLE, command.TO)
    return await FUNCTIONS[type(command)](pool, command, caller)
