"""Beginning and ending sessions."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.approvals.policy import looser
from claude_sessions.approvals.rules import parse_rule
from claude_sessions.channel import Action
from claude_sessions.commands import replies
from claude_sessions.commands.adopting import adopt
from claude_sessions.commands.finding import branches, directory_for
from claude_sessions.commands.lasting import only_admins_change_what_lasts
from claude_sessions.commands.lines import line_of
from claude_sessions.commands.pool import (
    Pool,
    about,
    budget_for,
    mode_for,
    no_agent_into_looser,
)
from claude_sessions.commands.turns import leaf_of
from claude_sessions.engines.transcripts import ID
from claude_sessions.errors import BadRequest, Conflict, Forbidden, NotFound
from claude_sessions.model import PermissionMode, Reason, Role, Scope, SessionSpec, Verdict
from claude_sessions.people import Caller
from claude_sessions.state import SessionState, draft

CHOICES = 8


async def launch(pool: Pool, command: c.Launch, caller: Caller) -> c.Reply:
    only_admins_change_what_lasts(command.prompt, caller)
    directory = await directory_for(pool, command.directory)
    mode = mode_for(pool, command.mode, caller)
    rules = _checked(command.allowed_tools, caller)
    spec = SessionSpec(
        directory=directory,
        model=command.model or pool.defaults.model,
        mode=mode,
        budget_usd=budget_for(pool, command.budget_usd, caller),
        system_prompt=command.system_prompt,
        allowed_tools=command.allowed_tools,
        once=command.once,
        trusted=pool.trust.covers(directory),
    )
    state = await pool.manager.launch(
        spec,
        command.prompt,
        name=command.name,
        origin=pool.origins.of(command.origin, caller.channel, directory),
        caller=str(caller),
        attachments=command.attachments,
        foreground=caller.channel if command.foreground else None,
        queue=command.queue,
    )
    await _allow(pool, rules, state, caller)
    branch = (await branches(pool, [directory])).get(directory)
    text, actions = replies.launched(state, warnings=_taken(command.name, state), branch=branch)
    return about(text, state, actions)


def _checked(patterns: tuple[str, ...], caller: Caller) -> tuple[str, ...]:
    if patterns:
        caller.must_be(Role.APPROVER, "allow tools in advance")
    for pattern in patterns:  # refuse a bad one before anything exists
        parse_rule(pattern, verdict=Verdict.ALLOW)
    return patterns


async def _allow(
    pool: Pool, patterns: tuple[str, ...], state: SessionState, caller: Caller
) -> None:
    rules = [
        pool.rules.make(
            pattern,
            verdict=Verdict.ALLOW,
            scope=Scope.SESSION,
            by=str(caller),
            session=state.id,
        )
        for pattern in patterns
    ]
    if rules:
        await pool.rules.add(*rules, caller=str(caller))


async def resume(pool: Pool, command: c.Resume, caller: Caller) -> c.Reply:
    only_admins_change_what_lasts(command.prompt, caller)
    state = await _found(pool, command, caller)
    no_agent_into_looser(pool, state, caller)
    _no_way_around_its_mode(state, command.mode, caller)
    directory = await directory_for(pool, command.directory or state.spec.directory)
    if command.fork:
        return await _fork(pool, state, command, directory, caller)
    if command.name is not None:
        raise BadRequest(f"--name goes with --fork. To rename it: /rename {state.name} NAME")
    if command.turn is not None:
        raise BadRequest("--turn goes with --fork: a branch may leave out what came later.")
    was = state.status
    if _only_to_be_woken(state, command):
        waiting = state.queued[0].text
        state = await pool.manager.wake(state, caller=str(caller), queue=command.queue)
        return about(replies.resumed(state, was, waiting), state)
    mode = mode_for(pool, command.mode, caller) if command.mode else None
    moved = directory != state.spec.directory
    if moved and mode is None:
        mode_for(pool, state.spec.mode, caller)  # a looser mode was given for the other place
    if command.budget_usd is not None and caller.agent:
        caller.must_be_admin_to_loosen("More money")
    changes = _changes(state, command, mode, directory if moved else None)
    if not state.status.ended:  # it only sleeps: its run goes on, with these
        await pool.log.append(*(draft(state, fact, caller=str(caller)) for fact in changes))
    heard = await pool.manager.resume(
        state, command.prompt, caller=str(caller), changes=changes, queue=command.queue
    )
    if (place := pool.manager.place_in_line(state.id)) > 0:
        text, actions = replies.held(heard.state, heard.message_id, place, pool.clock.now())
        return about(text, heard.state, actions)
    return about(replies.resumed(heard.state, was, command.prompt), heard.state)


def _no_way_around_its_mode(
    state: SessionState, wanted: PermissionMode | None, caller: Caller
) -> None:
    """To resume it out of plan mode is to accept its plan: whoever may not set a mode may not."""
    if wanted is None or not looser(wanted, state.spec.mode):
        return
    if caller.agent:
        raise Forbidden(
            f"{state.name} is in {state.spec.mode}: only a person may set it to {wanted}."
        )
    caller.must_be(c.SetMode.ROLE, c.SetMode.TO)


async def _found(pool: Pool, command: c.Resume, caller: Caller) -> SessionState:
    """Also by a part of its name, if only one has it; else there is a list to choose from.

    A conversation of Claude's that is nobody's session becomes one.
    """
    try:
        return await pool.book.find(command.session)
    except NotFound:
        if ID.fullmatch(command.session):
            adopted = await adopt(pool, c.Adopt(conversation=command.session), caller)
            return await pool.book.load(adopted.session or "")
        rows = await pool.log.sessions_like(command.session, CHOICES + 1)
        if not rows:
            raise
        if len(rows) == 1:
            return await pool.book.load(rows[0].id)
    names = [row.name for row in rows[:CHOICES]]
    several = Conflict(replies.several(command.session, names))
    several.actions = tuple(
        Action(label=row.name, line=line_of(replace(command, session=row.id)) or "")
        for row in rows[:CHOICES]
    )
    raise several


def _only_to_be_woken(state: SessionState, command: c.Resume) -> bool:
    """What it is to do is queued: there is no need to tell it to go on."""
    plain = command.prompt == c.DEFAULT_RESUME_PROMPT and not _wants_changes(command)
    if state.paused and state.cut_off is Reason.PAUSED:
        return False  # what it was doing comes before what is queued
    return plain and bool(state.queued) and not state.status.has_process and has_money(state)


def _wants_changes(command: c.Resume) -> bool:
    wanted = (command.directory, command.model, command.mode, command.budget_usd)
    return any(value is not None for value in wanted)


def has_money(state: SessionState) -> bool:
    return state.budget_left != 0.0


def _changes(
    state: SessionState, command: c.Resume, mode: PermissionMode | None, directory: str | None
) -> list[e.Payload]:
    """What is to be different in the new run; the rest is as it was."""
    changes: list[e.Payload] = []
    if directory is not None:
        changes.append(e.DirectoryChanged(directory=directory))
    if command.model is not None:
        changes.append(e.ModelChanged(model=command.model))
    if mode is not None:
        changes.append(e.ModeChanged(permission_mode=mode))
    if command.budget_usd is not None:
        changes.append(e.BudgetChanged(budget_usd=state.cost_usd + command.budget_usd))
    elif not has_money(state):
        raise Conflict(
            f"The budget of {state.name} is spent. "
            f"Give it more: /budget {state.name} +5, or resume it with --budget 5."
        )
    if changes and state.status.has_process:
        raise Conflict(
            f"{state.name} is {state.status}: use /mode or /model, or kill it and resume it."
        )
    return changes


async def _fork(
    pool: Pool, source: SessionState, command: c.Resume, directory: str, caller: Caller
) -> c.Reply:
    """The branch has what its source has, as far as whoever branches may give it."""
    if source.claude_id is None or not (source.turns or source.reason is Reason.ADOPTED):
        raise Conflict(f"{source.name} has no conversation yet to branch from.")
    rules = _checked(source.spec.allowed_tools, caller)
    spec = SessionSpec(
        directory=directory,
        model=command.model or source.spec.model,
        mode=mode_for(pool, command.mode or source.spec.mode, caller),
        budget_usd=budget_for(pool, command.budget_usd or source.spec.budget_usd, caller),
        system_prompt=source.spec.system_prompt,
        allowed_tools=rules,
        trusted=pool.trust.covers(directory),
    )
    state = await pool.manager.launch(
        spec,
        command.prompt,
        name=command.name or f"{source.name[:42]}-fork",
        origin=pool.origins.of(caller.channel, source.origin, directory),
        caller=str(caller),
        fork_of=source,
        fork_at=await leaf_of(pool, source, command.turn) if command.turn else None,
        queue=command.queue,
    )
    await _allow(pool, rules, state, caller)
    warnings = (f"Branched from {source.name}.", *_taken(command.name, state))
    text, actions = replies.launched(state, warnings=warnings)
    return about(text, state, actions)


def _taken(wanted: str | None, state: SessionState) -> tuple[str, ...]:
    if wanted is None or state.name == wanted:
        return ()
    return (f"The name {wanted} is taken; this one is {state.name}.",)


async def sleep(pool: Pool, command: c.Sleep, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    if state.status.has_process and not await pool.manager.sleep(state):
        raise Conflict(f"{state.name} has something to do. /interrupt {state.name} stops it.")
    state = await pool.book.load(state.id)
    return about(f"{replies.icon(state)} {state.name} is {state.status}.", state)


async def pause(pool: Pool, command: c.Pause, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    state = await pool.manager.pause(state, caller=str(caller))
    return about(replies.paused(state), state)


async def forget(pool: Pool, command: c.Forget, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    if not command.confirmed:
        text, actions = replies.forget(state)
        return about(text, state, actions)
    events = await pool.manager.forget(state, caller=str(caller))
    for rule in pool.rules.all():
        if rule.session == state.id:
            await pool.rules.revoke(rule.id, str(caller))
    return c.Reply(text=f"{state.name} is forgotten ({events:,} events).", data={"events": events})


async def kill(pool: Pool, command: c.Kill, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    killed = await pool.manager.kill(state, caller=str(caller))
    state = await pool.book.load(state.id)
    return about(replies.killed(state, already=not killed), state)
