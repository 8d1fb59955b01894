"""Carrying out commands: the role is checked here, once; each has a function of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from claude_sessions import commands as c
from claude_sessions.channel import Action
from claude_sessions.commands import (
    access,
    adjusting,
    adopting,
    attending,
    connecting,
    deciding,
    extending,
    finding,
    getting,
    here,
    preparing,
    reading,
    scheduling,
    standing,
    starting,
    talking,
    undoing,
    worktrees,
)
from claude_sessions.commands.lines import line_of
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import PoolFull
from claude_sessions.people import Caller

Function = Callable[[Pool, Any, Caller], Awaitable[c.Reply]]

FUNCTIONS: dict[type[c.Command], Function] = {
    c.Launch: worktrees.launch,
    c.Resume: starting.resume,
    c.Kill: starting.kill,
    c.Sleep: starting.sleep,
    c.Pause: starting.pause,
    c.Forget: starting.forget,
    c.Prepare: preparing.prepare,
    c.Respond: talking.respond,
    c.Talk: talking.talk,
    c.Withdraw: talking.withdraw,
    c.ListQueue: talking.list_queue,
    c.Wait: talking.wait,
    c.Interrupt: talking.interrupt,
    c.Foreground: reading.foreground,
    c.Background: reading.background,
    c.Output: reading.output,
    c.ListSessions: reading.list_sessions,
    c.ListResumable: reading.list_resumable,
    c.ListProjects: finding.list_projects,
    c.AddProject: finding.add_project,
    c.ListFound: adopting.list_found,
    c.Adopt: adopting.adopt,
    c.Stats: reading.stats,
    c.Cost: reading.cost,
    c.ListTurns: reading.list_turns,
    c.Diff: undoing.diff,
    c.Undo: undoing.undo,
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
    c.ListModes: adjusting.list_modes,
    c.ListModels: adjusting.list_models,
    c.SetBudget: adjusting.set_budget,
    c.Rename: adjusting.rename,
    c.ListTasks: adjusting.list_tasks,
    c.StopTask: adjusting.stop_task,
    c.ListSchedules: scheduling.list_schedules,
    c.AddSchedule: scheduling.add,
    c.PauseSchedule: scheduling.pause,
    c.ResumeSchedule: scheduling.resume,
    c.DeleteSchedule: scheduling.delete,
    c.RunSchedule: scheduling.run,
    c.ListWorktrees: worktrees.list_worktrees,
    c.MoveToWorktree: worktrees.move,
    c.MergeWorktree: worktrees.merge,
    c.RemoveWorktree: worktrees.remove,
    c.ListPlugins: extending.list_plugins,
    c.ListMarketplaces: extending.list_marketplaces,
    c.InstallPlugin: extending.change_plugin,
    c.UpdatePlugin: extending.change_plugin,
    c.UninstallPlugin: extending.uninstall_plugin,
    c.EnablePlugin: extending.change_plugin,
    c.DisablePlugin: extending.change_plugin,
    c.AddMarketplace: extending.add_marketplace,
    c.RemoveMarketplace: extending.remove_marketplace,
    c.ListMcpServers: connecting.list_servers,
    c.McpServerStatus: connecting.status,
    c.AddMcpServer: connecting.add,
    c.RemoveMcpServer: connecting.remove,
    c.AuthMcpServer: connecting.authenticate,
    c.Quiet: attending.quiet,
    c.Digest: attending.digest,
    c.Status: standing.status,
    c.GetFile: getting.get,
    c.ListTokens: access.list_tokens,
    c.MakeToken: access.make,
    c.RevokeToken: access.revoke,
    c.Start: adjusting.start,
    c.Help: adjusting.help_,
}


async def execute(pool: Pool, command: c.Command, caller: Caller) -> c.Reply:
    caller.must_be(command.ROLE, command.TO)
    command = await here.resolved(pool, command, caller)
    try:
        return await FUNCTIONS[type(command)](pool, command, caller)
    except PoolFull as full:
        full.actions = _wait_in_line(command, full.session)
        raise


def _wait_in_line(command: c.Command, session: str | None) -> tuple[Action, ...]:
    if isinstance(command, c.Talk) and session is not None:
        command = c.Respond(session=session, text=command.text, attachments=command.attachments)
    if not isinstance(command, c.Launch | c.Respond | c.Resume):
        return ()
    line = line_of(replace(command, queue=True))
    return (Action(label="Wait in line", line=line),) if line else ()
