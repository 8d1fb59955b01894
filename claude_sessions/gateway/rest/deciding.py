"""Deciding what a session waits on, by the approval's id or by that of the tool use.

`persist` without a `scope` means: always, in this project; `persist: false` means once, whatever
`scope` says beside it. An answer to a question of Claude's own is an approval with `answers`.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import FailFast, Field, JsonValue, model_validator

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.approvals.desk import CANCELLED, TIMEOUT, Waiting
from claude_sessions.errors import Conflict, NotFound
from claude_sessions.gateway.asking import Body
from claude_sessions.gateway.house import House
from claude_sessions.gateway.refusals import (
    APPROVAL_TIMEOUT,
    CONFLICT,
    FORBIDDEN,
    INVALID,
    NOT_FOUND,
    Refused,
)
from claude_sessions.gateway.rest.operation import Asked, NoQuery, Operation, Resource
from claude_sessions.model import Scope, Verdict

LOOKED_AT = 200

Ref = Annotated[str | None, Field(min_length=1, max_length=200)]
Input = Annotated[dict[str, JsonValue] | None, Field(max_length=1000)]


class Approval(Body):
    approval_id: Ref = None
    """This or toolUseId, one of them."""
    tool_use_id: Ref = None
    decision: Verdict
    persist: bool | None = None
    """true: make a rule, without a scope for the project; false: once, whatever the scope."""
    scope: Scope | None = None
    modified_args: Input = None
    """Another name for modifiedInput."""
    modified_input: Input = None
    """To run instead of Claude's own."""
    reason: Annotated[str, Field(max_length=10_000)] = ""
    """Told to Claude with a denial."""
    answers: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...], FailFast(), Field(max_length=20)
    ] = ()
    """One a question, in their order: an option's label or number, or words of one's own."""

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if (self.approval_id is None) == (self.tool_use_id is None):
            raise ValueError("give approvalId or toolUseId, one of them")
        if self.modified_args is not None and self.modified_input is not None:
            raise ValueError("modifiedArgs and modifiedInput are the same: give one of them")
        if self.decision is Verdict.DENY and (self.edited is not None or self.answers):
            raise ValueError("what is denied is neither changed nor answered")
        if self.answers and (self.edited is not None or self.reach is not Scope.ONCE):
            raise ValueError("an answer changes no input and makes no rule: give answers alone")
        if self.persist and self.scope is Scope.ONCE:
            raise ValueError("what is decided once does not persist: leave persist out")
        return self

    @property
    def ref(self) -> str:
        return self.approval_id or self.tool_use_id or ""

    @property
    def edited(self) -> dict[str, JsonValue] | None:
        return self.modified_args if self.modified_args is not None else self.modified_input

    @property
    def reach(self) -> Scope:
        if self.persist is False:
            return Scope.ONCE
        return self.scope or (Scope.PROJECT if self.persist else Scope.ONCE)


class Decided(Resource):
    approval_id: str
    decision: Verdict
    persisted: bool
    scope: Scope


async def approve(house: House, asked: Asked[NoQuery, Approval]) -> Any:
    asked.caller.must_be(c.Decide.ROLE, c.Decide.TO)
    body = asked.body
    state = await house.pool.book.find(asked.id)
    waiting = _waiting(house, state.id, body)
    if waiting is None:
        raise await _over(house, state.id, body)
    await house.perform(_command(waiting, body), asked.caller)
    return {
        "approvalId": waiting.id,
        "decision": body.decision,
        "persisted": body.reach is not Scope.ONCE,
        "scope": body.reach,
    }


def _waiting(house: House, session: str, body: Approval) -> Waiting | None:
    for waiting in house.pool.desk.waiting():
        ref = waiting.id if body.approval_id is not None else waiting.ask.tool_use_id
        if waiting.state.id == session and ref == body.ref:
            return waiting
    return None


def _command(waiting: Waiting, body: Approval) -> c.Command:
    if body.answers:
        return c.Answer(approval=waiting.id, answers=body.answers)
    return c.Decide(
        approval=waiting.id,
        verdict=body.decision,
        scope=body.reach,
        reason=body.reason,
        input=body.edited,
    )


async def _over(house: House, session: str, body: Approval) -> Exception:
    """Why there is nothing to decide: it has been, its time was up, or it never was."""
    types = [e.ApprovalResolved.TYPE, e.InputReceived.TYPE]
    for event in await house.log.tail_of(session, types, LOOKED_AT):
        payload = event.payload
        if not isinstance(payload, e.ApprovalResolved | e.InputReceived):
            continue
        ref = payload.approval_id if body.approval_id is not None else payload.tool_use_id
        if ref == body.ref:
            if payload.by == TIMEOUT:
                return Refused(APPROVAL_TIMEOUT, f"It was denied: {payload.reason}")
            if payload.decision == CANCELLED:
                return Conflict(f"It is not asked any more: {payload.reason}")
            return Conflict(f"Already decided ({payload.decision}) by {payload.by}.")
    return NotFound(f"Nothing of this session waits under {body.ref[:60]}.")


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/sessions/{id}/approve",
        summary="Allow or deny what it waits on. Without a changed input its own is used.",
        act=approve,
        query=NoQuery,
        body=Approval,
        result=Decided,
        refusals=(INVALID, FORBIDDEN, NOT_FOUND, CONFLICT, APPROVAL_TIMEOUT),
    ),
)
