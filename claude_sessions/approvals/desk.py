"""Where what a session waits on is judged: by mode, by rule, else by a person.

Each question is answered once. The first valid answer wins and is in the log before Claude is
told; "given" is said only after it has been written to Claude.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.approvals.calls import text_of
from claude_sessions.approvals.paths import is_inside
from claude_sessions.approvals.policy import Ruling, ruling_of_mode
from claude_sessions.approvals.risk import assess
from claude_sessions.approvals.rulebook import RuleBook
from claude_sessions.approvals.rules import Rule, ToolCall, suggest
from claude_sessions.clock import Clock
from claude_sessions.errors import BadRequest, Conflict, NotFound, SessionsError
from claude_sessions.eventlog import EventLog
from claude_sessions.model import AskKind, PermissionMode, Scope, Verdict, new_id
from claude_sessions.state import SessionState, draft

KINDS = {"AskUserQuestion": AskKind.QUESTION, "ExitPlanMode": AskKind.PLAN}
CANCELLED = "cancelled"
TIMEOUT = "timeout"  # who decided, where nobody did in time
REMEMBERED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    verdict: Verdict
    scope: Scope = Scope.ONCE
    reason: str = ""
    input: Mapping[str, Any] | None = None  # edited by the person
    mode: PermissionMode | None = None  # with a plan: what to go on in
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    approval_id: str
    session: str
    tool_name: str
    decision: str
    scope: Scope
    by: str
    at: datetime
    rule: Rule | None = None


@dataclass(slots=True, kw_only=True)
class Waiting:
    """An open question. `taken_by` is set the moment an answer is accepted."""

    id: str
    look: Callable[[], SessionState]  # the session as it is now: it may be renamed while it waits
    ask: g.Ask
    kind: AskKind
    call: ToolCall
    answer: asyncio.Future[g.Answer]
    suggestion: str | None = None
    asked_at: datetime
    taken_by: str | None = None

    @property
    def state(self) -> SessionState:
        return self.look()

    @property
    def questions(self) -> list[dict[str, Any]]:
        found = self.ask.input.get("questions")
        return [q for q in found if isinstance(q, dict)] if isinstance(found, list) else []


class ApprovalDesk:
    def __init__(
        self,
        *,
        log: EventLog,
        rules: RuleBook,
        states: Callable[[str], SessionState | None],
        clock: Clock,
        timeout_seconds: float = 0,
        uploads: str | None = None,
    ) -> None:
        """`uploads`: where people's files lie; who was told the path of one may read it."""
        self._states = states
        self._log = log
        self._rules = rules
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._uploads = uploads
        self._waiting: dict[str, Waiting] = {}
        self._decided: OrderedDict[str, Receipt] = OrderedDict()
        self._settling: set[asyncio.Task[Receipt]] = set()
        self._undelivered: dict[tuple[str, str], str] = {}  # (session, tool use) → approval

    def waiting(self) -> list[Waiting]:
        return list(self._waiting.values())

    # --- the session's side

    async def ask(self, state: SessionState, ask: g.Ask) -> g.Answer | Waiting:
        """Judged at once, or put to people: the log has it when this returns."""
        kind = KINDS.get(ask.tool_name, AskKind.TOOL)
        call = ToolCall(
            tool_name=ask.tool_name,
            input=ask.input,
            directory=state.spec.directory,
            session=state.id,
            project_directory=state.spec.directory,
            resolved=_leads_to(ask.input, state.spec.directory),
        )
        if (judged := self._judge(state, call, kind)) is not None:
            await self._log.append(_automatic(state, ask, judged), hold=True)
            return g.Answer(allow=judged.verdict is Verdict.ALLOW, message=judged.reason)
        waiting = Waiting(
            id=new_id(),
            look=lambda: self._states(state.id) or state,
            ask=ask,
            kind=kind,
            call=call,
            answer=asyncio.get_running_loop().create_future(),
            suggestion=suggest(call) if kind is AskKind.TOOL else None,
            asked_at=self._clock.now(),
        )
        self._waiting[waiting.id] = waiting
        await self._log.append(draft(state, self.request(waiting)), hold=True)
        return waiting

    async def answered(self, waiting: Waiting) -> g.Answer:
        """By a person, or when nobody did in time."""
        if not self._timeout_seconds:
            return await waiting.answer
        alarm = asyncio.ensure_future(self._clock.sleep(self._timeout_seconds))
        both: set[asyncio.Future[Any]] = {waiting.answer, alarm}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        if not waiting.answer.done() and waiting.taken_by is None:
            said = f"Nobody answered within {self._timeout_seconds:.0f} s."
            denied = Decision(verdict=Verdict.DENY, reason=f"timeout: {said}")
            await self._settle(waiting, denied, by=TIMEOUT)
        return await waiting.answer

    def _judge(self, state: SessionState, call: ToolCall, kind: AskKind) -> Ruling | None:
        """Mode as the CLI means it, then rules, then what the mode says of the rest."""
        mode = ruling_of_mode(state.spec.mode, call)
        if mode is not None and mode.final:
            return mode
        if kind is AskKind.TOOL and (found := self._rules.judge(call)) is not None:
            rule = found.rule
            said = "" if found.verdict is Verdict.ALLOW else f"A rule refuses this ({rule.id})."
            return Ruling(verdict=found.verdict, reason=said, by=f"rule {rule.id}", rule=rule.id)
        return self._of_uploads(call) or mode

    def _of_uploads(self, call: ToolCall) -> Ruling | None:
        """Only reading, only a file, and only where its path leads by itself."""
        place = self._uploads
        if place is None or call.tool_name != "Read" or call.resolved is None:
            return None
        given = all(path != place and is_inside(path, place) for path in call.paths)
        return Ruling(verdict=Verdict.ALLOW, by="a person sent it") if given else None

    async def given(self, session: str, tool_use_id: str) -> None:
        """The answer has been written to Claude."""
        approval = self._undelivered.pop((session, tool_use_id), None)
        if approval is not None:
            delivered = e.ApprovalDelivered(approval_id=approval, tool_use_id=tool_use_id)
            state = self._states(session)
            assert state is not None
            await self._log.append(draft(state, delivered), hold=True)

    async def cancel(self, session: str, *, tool_use_id: str | None = None) -> None:
        """Nobody waits any longer: the turn was interrupted, or the run ends."""
        for waiting in self.waiting():
            mine = waiting.state.id == session
            if mine and waiting.taken_by is None and tool_use_id in (None, waiting.ask.tool_use_id):
                waiting.taken_by = CANCELLED
                self._waiting.pop(waiting.id, None)
                gone = Decision(verdict=Verdict.DENY, reason="The question was withdrawn.")
                fact = _resolution(waiting, gone, by="Claude", word=CANCELLED)
                await self._log.append(fact, hold=True)
                waiting.answer.cancel()
        for key in [key for key in self._undelivered if key[0] == session]:
            if tool_use_id in (None, key[1]):
                del self._undelivered[key]

    # --- people's side

    def find(self, ref: str) -> Waiting:
        """By its id, the start of it, the tool use, or a session that waits on one thing only."""
        if ref in self._waiting:
            return self._waiting[ref]
        found = [
            w
            for w in self.waiting()
            if (ref and w.id.startswith(ref))
            or ref in (w.ask.tool_use_id, w.state.name, w.state.id)
        ]
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            ids = ", ".join(w.id for w in found)
            raise Conflict(f"{ref} could be several: {ids}. Name one of them.")
        if (receipt := self._decided.get(ref)) is not None:
            raise Conflict(already(receipt))
        raise NotFound(f"Nothing waits under {ref}. /approvals lists what does.")

    async def decide(self, ref: str, decision: Decision, by: str) -> Receipt:
        waiting = self.find(ref)
        if waiting.taken_by is not None:
            raise Conflict(f"Already answered by {waiting.taken_by}.")
        _check(waiting, decision)
        return await self._settle(waiting, decision, by=by)

    async def _settle(self, waiting: Waiting, decision: Decision, *, by: str) -> Receipt:
        """Once begun it is finished, also when whoever decided has gone meanwhile."""
        rule = self._rule_for(waiting, decision, by)
        waiting.taken_by = by
        settling = asyncio.create_task(
            self._record(waiting, decision, by, rule), name="desk.settle"
        )
        self._settling.add(settling)
        settling.add_done_callback(self._settling.discard)
        return await asyncio.shield(settling)

    async def _record(
        self, waiting: Waiting, decision: Decision, by: str, rule: Rule | None
    ) -> Receipt:
        try:
            await self._log.append(_resolution(waiting, decision, by=by, rule=rule))
        except SessionsError:
            waiting.taken_by = None  # it was not stored, so it was not decided
            raise
        receipt = self._close(waiting, decision, by, rule)
        if rule is not None:
            await self._rules.add(rule, caller=by)
            await self.apply(rule)
        return receipt

    def _rule_for(self, waiting: Waiting, decision: Decision, by: str) -> Rule | None:
        if decision.scope is Scope.ONCE:
            return None
        if waiting.suggestion is None:
            raise BadRequest("This cannot be made a rule: decide it once, each time it comes.")
        return self._rules.make(
            waiting.suggestion,
            verdict=decision.verdict,
            scope=decision.scope,
            by=by,
            session=waiting.state.id,
            directory=waiting.state.spec.directory,
        )

    def _close(self, waiting: Waiting, decision: Decision, by: str, rule: Rule | None) -> Receipt:
        self._waiting.pop(waiting.id, None)
        receipt = Receipt(
            approval_id=waiting.id,
            session=waiting.state.id,
            tool_name=waiting.ask.tool_name,
            decision=decision.verdict.value,
            scope=decision.scope,
            by=by,
            at=self._clock.now(),
            rule=rule,
        )
        self._decided[waiting.id] = receipt
        while len(self._decided) > REMEMBERED:
            self._decided.popitem(last=False)
        if not waiting.answer.done():
            self._undelivered[waiting.state.id, waiting.ask.tool_use_id] = waiting.id
            waiting.answer.set_result(_answer(waiting, decision))
        return receipt

    async def apply(self, rule: Rule) -> None:
        """A new rule also answers what already waits and it covers."""
        for waiting in self.waiting():
            if waiting.kind is not AskKind.TOOL or waiting.taken_by is not None:
                continue
            judged = self._rules.judge(waiting.call)
            if judged is not None and judged.rule.id == rule.id:
                same = Decision(verdict=judged.verdict)
                await self._settle(waiting, same, by=f"rule {rule.id}")

    def request(self, waiting: Waiting) -> e.ApprovalRequested | e.InputRequested:
        """What the log says is asked."""
        expires = None
        if self._timeout_seconds:
            expires = (waiting.asked_at + timedelta(seconds=self._timeout_seconds)).timestamp()
        ask, state = waiting.ask, waiting.state
        if waiting.kind is AskKind.QUESTION:
            return e.InputRequested(
                approval_id=waiting.id,
                tool_use_id=ask.tool_use_id,
                questions=tuple(waiting.questions),
                expires_at=expires,
            )
        assessed = assess(ask.tool_name, ask.input, state.spec.directory)
        return e.ApprovalRequested(
            approval_id=waiting.id,
            tool_use_id=ask.tool_use_id,
            tool_name=ask.tool_name,
            input=ask.input,
            kind=waiting.kind,
            risk_level=assessed.risk,
            risk_reasons=assessed.reasons,
            permission_mode=state.spec.mode,
            suggestion=waiting.suggestion,
            description=ask.description,
            agent_id=ask.agent_id,
            expires_at=expires,
        )


def _leads_to(given: Mapping[str, Any], directory: str) -> str | None:
    """Where a path really leads, links followed: a link inside may point outside."""
    path = text_of(given, "file_path", "notebook_path", "path")
    if not path or "\0" in path:
        return None
    return os.path.realpath(os.path.join(directory, os.path.expanduser(path)))


def already(receipt: Receipt) -> str:
    word = "allowed" if receipt.decision == Verdict.ALLOW else "denied"
    return f"Already {word} by {receipt.by} at {receipt.at.astimezone():%H:%M}."


def _automatic(state: SessionState, ask: g.Ask, ruling: Ruling) -> e.Draft:
    return draft(
        state,
        e.ApprovalResolved(
            approval_id=new_id(),
            tool_use_id=ask.tool_use_id,
            tool_name=ask.tool_name,
            decision=ruling.verdict.value,
            reason=ruling.reason,
            by=ruling.by,
            rule=ruling.rule,
        ),
    )


def _check(waiting: Waiting, decision: Decision) -> None:
    allows = decision.verdict is Verdict.ALLOW
    if waiting.kind is AskKind.QUESTION and allows and not decision.answers:
        raise BadRequest(f"That is a question: /answer {waiting.id} and your answer.")
    if waiting.kind is not AskKind.QUESTION and decision.answers:
        raise BadRequest(f"That is not a question: /allow {waiting.id} or /deny {waiting.id}.")
    if decision.mode is not None and waiting.kind is not AskKind.PLAN:
        raise BadRequest("Only a plan can be approved into a mode.")
    if decision.answers and len(decision.answers) != len(waiting.questions):
        count = len(waiting.questions)
        raise BadRequest(f"There are {count} questions: give {count} answers, split by “ ; ”.")


def _resolution(
    waiting: Waiting,
    decision: Decision,
    *,
    by: str,
    rule: Rule | None = None,
    word: str = "",
) -> e.Draft:
    word = word or decision.verdict.value
    payload: e.Payload
    if waiting.kind is AskKind.QUESTION:
        payload = e.InputReceived(
            approval_id=waiting.id,
            tool_use_id=waiting.ask.tool_use_id,
            answers=_answers(waiting, decision),
            decision=word,
            reason=decision.reason,
            by=by,
        )
    else:
        payload = e.ApprovalResolved(
            approval_id=waiting.id,
            tool_use_id=waiting.ask.tool_use_id,
            tool_name=waiting.ask.tool_name,
            decision=word,
            scope=decision.scope,
            persist=decision.scope is not Scope.ONCE,
            reason=decision.reason,
            by=by,
            rule=rule.id if rule else None,
            modified_input=decision.input,
            set_mode=decision.mode,
        )
    return draft(waiting.state, payload, caller=by)


def _answers(waiting: Waiting, decision: Decision) -> dict[str, str]:
    return {
        str(question.get("question", "")): _chosen(question, said)
        for question, said in zip(waiting.questions, decision.answers, strict=False)
    }


def _chosen(question: Mapping[str, Any], said: str) -> str:
    """An option's number stands for its label; anything else is the person's own words."""
    labels = [str(option.get("label", "")) for option in question.get("options") or ()]
    parts = (
        [part.strip() for part in said.split(",")]
        if question.get("multiSelect")
        else [said.strip()]
    )
    numbers = [int(part) for part in parts if part.isdigit()]
    if len(numbers) == len(parts) and all(1 <= n <= len(labels) for n in numbers):
        return ", ".join(labels[n - 1] for n in numbers)
    return said.strip()


def _answer(waiting: Waiting, decision: Decision) -> g.Answer:
    if decision.verdict is Verdict.DENY:
        return g.Answer(allow=False, message=decision.reason or "The user refused this.")
    given = dict(decision.input) if decision.input is not None else None
    if waiting.kind is AskKind.QUESTION:
        given = {**waiting.ask.input, "answers": _answers(waiting, decision)}
    return g.Answer(allow=True, input=given, set_mode=decision.mode)
