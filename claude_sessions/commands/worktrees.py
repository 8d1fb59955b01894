"""Two sessions in one repository: saying so, and giving each a worktree of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.commands import starting, together
from claude_sessions.commands.finding import branches, directory_for
from claude_sessions.commands.pool import Pool, about, mode_for, no_agent_into_looser
from claude_sessions.commands.unanswered import unanswered
from claude_sessions.errors import Conflict, SessionsError
from claude_sessions.model import Status, name_from
from claude_sessions.people import Caller
from claude_sessions.sessions.manager import refuse_name
from claude_sessions.state import SessionState
from claude_sessions.worktrees.book import Worktree
from claude_sessions.worktrees.repository import uncommitted
from claude_sessions.worktrees.trees import tree_of

AT_WORK = (Status.STARTING, Status.RUNNING, Status.IN_TERMINAL)
ALIVE = (*AT_WORK, Status.ASLEEP, Status.PARKED)
LATELY = timedelta(hours=24)
LOOKED_AT = 200
READS = frozenset({
    "Read", "Grep", "Glob", "LS", "NotebookRead", "WebFetch", "WebSearch", "TodoWrite", "Task",
    "Agent", "AskUserQuestion", "ExitPlanMode", "BashOutput", "KillShell", "ToolSearch",
})  # fmt: skip


async def launch(pool: Pool, command: c.Launch, caller: Caller) -> c.Reply:
    if command.worktree:
        return await _launch_apart(pool, command, caller)
    reply = await starting.launch(pool, command, caller)
    state = await pool.book.load(reply.session or "")
    others = await _others_in_tree(pool, state)
    if not others:
        return reply
    directory = state.spec.directory
    branch = (await branches(pool, [directory])).get(directory, "")
    text, action = together.warned(state, others, branch)
    return replace(
        reply,
        text=f"{reply.text}\n{text}",
        data={**reply.data, "alsoHere": [other.name for other in others]},
        actions=(*reply.actions, action),
    )


async def _launch_apart(pool: Pool, command: c.Launch, caller: Caller) -> c.Reply:
    refuse_name(command.name)
    directory = await directory_for(pool, command.directory)
    wanted = command.name or name_from(command.prompt)
    name = await pool.manager.free_name(wanted)
    made = await pool.worktrees.make(directory, name, caller=str(caller))
    worktree = made.worktree
    there = replace(
        command,
        directory=made.directory,
        name=worktree.name,
        worktree=False,
        origin=pool.origins.of(command.origin, caller.channel, directory),
    )
    try:
        reply = await starting.launch(pool, there, caller)
    except SessionsError:
        if not _sessions_in(pool, worktree):
            await pool.worktrees.undo(worktree)
        raise
    pool.worktrees.book.assign(worktree, reply.session or "")
    lines = [reply.text, together.apart(worktree)]
    if command.name is not None and worktree.name != command.name:
        lines.insert(1, f"The name {command.name} is taken; this one is {worktree.name}.")
    return replace(
        reply,
        text="\n".join(lines),
        data={**reply.data, "worktree": worktree.directory, "branch": worktree.branch},
    )


def _sessions_in(pool: Pool, worktree: Worktree) -> list[SessionState]:
    return [
        state
        for state in pool.book.known()
        if Path(state.spec.directory).is_relative_to(worktree.directory)
    ]


async def _others_in_tree(pool: Pool, state: SessionState) -> list[SessionState]:
    """Who else may be changing the same files; one in a worktree of its own is not."""
    tree = await asyncio.to_thread(tree_of, state.spec.directory)
    if tree is None:
        return []
    rows = await pool.log.session_rows(statuses=ALIVE, limit=LOOKED_AT)
    since = pool.clock.now() - LATELY
    near = [row for row in rows if row.status.has_process or row.updated_at >= since]
    here = await asyncio.to_thread(lambda: [r for r in near if tree_of(r.directory) == tree])
    return [await pool.book.load(row.id) for row in here if row.id != state.id]


async def move(pool: Pool, command: c.MoveToWorktree, caller: Caller) -> c.Reply:
    """Its run is ended and begun again elsewhere; what it has not answered is asked again."""
    state = await pool.book.find(command.session)
    no_agent_into_looser(pool, state, caller)
    mode_for(pool, state.spec.mode, caller)  # a looser mode was given for the other place
    directory = pool.workdirs.resolve(state.spec.directory)
    if any(Path(directory).is_relative_to(w.directory) for w in pool.worktrees.book.all()):
        raise Conflict(f"{state.name} is in a worktree of its own already. /worktrees lists it.")
    left = await _left_behind(pool, state)
    made = await pool.worktrees.make(directory, state.name, caller=str(caller))
    try:
        before = await pool.book.load(state.id)
        await pool.manager.kill(before, caller=str(caller))
        asked = await unanswered(pool.log, before, await pool.book.load(state.id))
        facts: list[e.Payload] = [e.DirectoryChanged(directory=made.directory), *asked]
        moved = await pool.manager.restart(
            await pool.book.load(state.id), facts, caller=str(caller)
        )
    except SessionsError:
        if not _sessions_in(pool, made.worktree):
            await pool.worktrees.undo(made.worktree)
        raise
    pool.worktrees.book.assign(made.worktree, state.id)
    return about(together.moved(moved, made.worktree, left), moved)


async def _left_behind(pool: Pool, state: SessionState) -> int:
    """Files in no commit do not come along; if they may be its own, it stays."""
    tree = await asyncio.to_thread(tree_of, state.spec.directory)
    if tree is None:
        return 0
    files = await uncommitted(pool.worktrees.git, tree)
    if not files:
        return 0
    used = await pool.log.tail_of(state.id, [e.ToolRequested.TYPE], 1000)
    if any(getattr(event.payload, "tool_name", "") not in READS for event in used):
        raise Conflict(together.stays(state, tree, files))
    return len(files)


async def list_worktrees(pool: Pool, command: c.ListWorktrees, caller: Caller) -> c.Reply:
    standing, gone = await pool.worktrees.look()
    sessions = {s.worktree.name: await _session_of(pool, s.worktree) for s in standing}
    text, actions = together.listing(standing, sessions, gone, pool.clock.now())
    data = {"worktrees": [together.data(s, sessions[s.worktree.name]) for s in standing]}
    return c.Reply(text=text, data=data, actions=actions)


async def _session_of(pool: Pool, worktree: Worktree) -> SessionState | None:
    """A crash right after the launch may have left only the session's own word for it."""
    if worktree.session is not None:
        known = await pool.log.session_row(worktree.session)  # None: it has been forgotten
        return await pool.book.load(known.id) if known else None
    for row in await pool.log.session_rows():
        if Path(row.directory).is_relative_to(worktree.directory):
            return await pool.book.load(row.id)
    return None


async def _find(pool: Pool, ref: str) -> Worktree:
    row = await pool.log.session_row(ref)
    return pool.worktrees.book.find(ref, row.id if row else None)


async def merge(pool: Pool, command: c.MergeWorktree, caller: Caller) -> c.Reply:
    if caller.agent:
        caller.must_be_admin_to_loosen("Merging for a person")
    worktree = await _find(pool, command.worktree)
    into, commits = await pool.worktrees.merge(worktree, command.into, caller=str(caller))
    text, actions = together.merged(worktree, into, commits)
    data = {"worktree": worktree.name, "into": into, "commits": commits}
    return c.Reply(text=text, data=data, actions=actions)


async def remove(pool: Pool, command: c.RemoveWorktree, caller: Caller) -> c.Reply:
    worktree = await _find(pool, command.worktree)
    for row in await pool.log.session_rows(statuses=AT_WORK):
        if Path(row.directory).is_relative_to(worktree.directory):
            raise Conflict(f"{row.name} is at work there. /kill {row.name} first.")
    kept = await pool.worktrees.remove(
        worktree, keep_branch=command.keep_branch, caller=str(caller)
    )
    data = {"worktree": worktree.name, "branchKept": kept}
    return c.Reply(text=together.removed(worktree, kept), data=data)
