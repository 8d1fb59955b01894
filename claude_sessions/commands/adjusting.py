"""Changing a session while it lives."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions.commands import replies
from claude_sessions.commands.lexer import quote
from claude_sessions.commands.pool import Pool, about, mode_for
from claude_sessions.errors import BadRequest, Conflict, Forbidden, NotFound
from claude_sessions.model import PermissionMode
from claude_sessions.people import Caller
from claude_sessions.state import SessionState


async def set_mode(pool: Pool, command: c.SetMode, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    mode_for(pool, command.mode, caller)
    if command.mode is PermissionMode.BYPASS and state.status.has_process:
        raise Conflict(
            f"A running session cannot be switched to {command.mode}: /kill {state.name}, then "
            f"/resume --mode {command.mode} {state.name}"
        )
    await pool.manager.set_mode(state, command.mode, caller=str(caller))
    return about(f"{state.name}: mode {command.mode}.", state)


async def set_model(pool: Pool, command: c.SetModel, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    await pool.manager.set_model(state, command.model, caller=str(caller))
    return about(f"{state.name}: model {command.model or 'default'}.", state)


async def list_modes(pool: Pool, command: c.ListModes, caller: Caller) -> c.Reply:
    """Those that this person may set it to, as it stands."""
    state = await pool.book.find(command.session)
    modes = [mode for mode in PermissionMode if _may_be_set(pool, state, mode, caller)]
    text, actions = replies.modes(state, modes)
    return about(text, state, actions, mode=state.spec.mode.value)


def _may_be_set(pool: Pool, state: SessionState, mode: PermissionMode, caller: Caller) -> bool:
    if mode is PermissionMode.BYPASS and state.status.has_process:
        return False
    try:
        mode_for(pool, mode, caller)
    except Forbidden:
        return False
    return mode is not state.spec.mode


async def list_models(pool: Pool, command: c.ListModels, caller: Caller) -> c.Reply:
    try:
        state = await pool.book.find(command.session)
    except NotFound as error:
        hint = f"If it is a model: /model NAME {command.session}"
        raise NotFound(f"{error} {hint}") from error
    text, actions = replies.models(state)
    return about(text, state, actions, model=state.spec.model)


async def set_budget(pool: Pool, command: c.SetBudget, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    budget = command.budget_usd
    if command.more:
        budget += max(state.spec.budget_usd or 0.0, state.cost_usd)
    if caller.agent and budget > (state.spec.budget_usd or 0.0):
        caller.must_be_admin_to_loosen("A larger budget")
    if budget <= state.cost_usd:
        raise BadRequest(f"{state.name} has spent {replies.money(state.cost_usd)} already.")
    await pool.manager.set_budget(state, budget, caller=str(caller))
    state = await pool.book.load(state.id)
    return about(replies.budget(state), state)


async def rename(pool: Pool, command: c.Rename, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    await pool.manager.rename(state, command.name, caller=str(caller))
    return about(f"{state.name} is now {command.name}.", state)


async def list_tasks(pool: Pool, command: c.ListTasks, caller: Caller) -> c.Reply:
    if command.session is not None:
        states = [await pool.book.find(command.session)]
    else:
        states = pool.manager.live()
    text, actions = replies.tasks(states)
    again = f"/tasks {quote(command.session)}" if command.session else "/tasks"
    return c.Reply(text=text, actions=actions, again=again)


async def stop_task(pool: Pool, command: c.StopTask, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    if all(task.id != command.task for task in state.tasks):
        raise NotFound(f"{state.name} has no task {command.task}. /tasks lists them.")
    await pool.manager.stop_task(state, command.task)
    return about(f"{state.name}: task {command.task} is being stopped.", state)


async def start(pool: Pool, command: c.Start, caller: Caller) -> c.Reply:
    return c.Reply(text=replies.GREETING)


async def help_(pool: Pool, command: c.Help, caller: Caller) -> c.Reply:
    return c.Reply(text=replies.help_text(command.topic))
