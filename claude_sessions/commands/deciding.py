"""What sessions wait on, and what need not be asked again."""

from __future__ import annotations

import contextlib

from claude_sessions import cards
from claude_sessions import commands as c
from claude_sessions.approvals.desk import Decision
from claude_sessions.commands import replies
from claude_sessions.commands.chat import split_answers
from claude_sessions.commands.finding import directory_for
from claude_sessions.commands.pool import Pool, mode_for
from claude_sessions.errors import BadRequest, Conflict, Forbidden, NotFound
from claude_sessions.model import Scope, Verdict
from claude_sessions.people import Caller


async def list_approvals(pool: Pool, command: c.ListApprovals, caller: Caller) -> c.Reply:
    if command.approval is not None:
        return _whole(pool, command.approval)
    waiting = pool.desk.waiting()
    text, actions = replies.approvals(waiting, pool.clock.now())
    data = {"approvals": [w.id for w in waiting]}
    return c.Reply(text=text, data=data, actions=actions, again="/approvals")


def _whole(pool: Pool, ref: str) -> c.Reply:
    """The card once more."""
    waiting = pool.desk.find(ref)
    card = cards.asked(waiting.state, pool.desk.request(waiting))
    return c.Reply(
        text=card.text,
        data={"approvals": [waiting.id]},
        session=waiting.state.id,
        actions=card.actions,
        card=card,
        again=f"/approvals {waiting.id}",
    )


async def decide(pool: Pool, command: c.Decide, caller: Caller) -> c.Reply:
    if caller.agent:
        caller.must_be_admin_to_loosen("Deciding for a person")
    waiting = pool.desk.find(command.approval)
    if command.mode is not None:
        mode_for(pool, command.mode, caller)
    if command.scope is Scope.USER and command.verdict is Verdict.ALLOW:
        caller.must_be_admin_to_loosen("A rule for every project")
    decision = Decision(
        verdict=command.verdict,
        scope=command.scope,
        reason=command.reason,
        input=command.input,
        mode=command.mode,
    )
    receipt = await pool.desk.decide(waiting.id, decision, str(caller))
    return c.Reply(
        text=replies.decided(waiting.state, receipt),
        data={"approvalId": receipt.approval_id, "decision": receipt.decision},
        session=receipt.session,
    )


async def answer(pool: Pool, command: c.Answer, caller: Caller) -> c.Reply:
    waiting = pool.desk.find(command.approval)
    answers = command.answers
    if len(answers) == 1:
        answers = split_answers(answers[0], len(waiting.questions))
    decision = Decision(verdict=Verdict.ALLOW, answers=answers)
    receipt = await pool.desk.decide(waiting.id, decision, str(caller))
    return c.Reply(
        text=f"{waiting.state.name}: answered.",
        data={"approvalId": receipt.approval_id},
        session=receipt.session,
    )


async def list_rules(pool: Pool, command: c.ListRules, caller: Caller) -> c.Reply:
    rules = pool.rules.active()
    text, actions = replies.rules(rules, pool.trust.all())
    data = {"rules": [rule.id for rule in rules]}
    return c.Reply(text=text, data=data, actions=actions, again="/rules")


async def add_rule(pool: Pool, command: c.AddRule, caller: Caller) -> c.Reply:
    if command.verdict is Verdict.ALLOW and (caller.agent or command.scope is Scope.USER):
        caller.must_be_admin_to_loosen("Such a rule")
    if command.scope is Scope.ONCE:
        raise BadRequest("A rule lasts: choose --scope session, project or user.")
    state = await pool.book.find(command.session) if command.session else None
    if command.scope is Scope.SESSION and state is None:
        raise BadRequest("A rule for a session needs to know which: --session NAME.")
    directory = state.spec.directory if state else await directory_for(pool, command.directory)
    rule = pool.rules.make(
        command.pattern,
        verdict=command.verdict,
        scope=command.scope,
        by=str(caller),
        session=state.id if state else None,
        directory=directory,
        expires_at=pool.clock.now() + command.lifetime if command.lifetime else None,
    )
    await pool.rules.add(rule, caller=str(caller))
    await pool.desk.apply(rule)
    return c.Reply(text=f"Rule {rule.id} added.", data={"rule": rule.id})


async def revoke_rule(pool: Pool, command: c.RevokeRule, caller: Caller) -> c.Reply:
    rule = pool.rules.find(command.rule)
    if rule.verdict is Verdict.DENY and (caller.agent or rule.scope is Scope.USER):
        caller.must_be_admin_to_loosen("Revoking a denial")
    await pool.rules.revoke(rule.id, str(caller))
    return c.Reply(text=f"Rule {rule.id} revoked.", data={"rule": rule.id})


async def trust(pool: Pool, command: c.Trust, caller: Caller) -> c.Reply:
    directory = await _directory_of(pool, command.directory)
    await pool.trust.give(directory, str(caller))
    return c.Reply(
        text=f"{directory} is trusted: its hooks, MCP servers and CLAUDE.md take part "
        "from a session's next start on.",
        data={"directory": directory},
    )


async def untrust(pool: Pool, command: c.Untrust, caller: Caller) -> c.Reply:
    directory = await _directory_of(pool, command.directory)
    await pool.trust.revoke(directory, str(caller))
    return c.Reply(text=f"{directory} is no longer trusted.", data={"directory": directory})


async def _directory_of(pool: Pool, ref: str) -> str:
    """A session's id or name, or a path; a word that is a name and a path is neither."""
    try:
        state = await pool.book.find(ref)
    except NotFound:
        return pool.workdirs.resolve(ref)
    own = state.spec.directory
    if ref in (state.id, *state.claude_ids):
        return own
    with contextlib.suppress(BadRequest, Forbidden):
        if (other := pool.workdirs.resolve(ref)) != own:
            raise Conflict(
                f"{ref} is a session, in {own}, and a directory, {other}."
                f" Write ./{ref} for the directory, or {state.id} for the session's."
            )
    return own
