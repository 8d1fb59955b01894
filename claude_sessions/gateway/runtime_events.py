"""Our events and signals in the words of the runtime envelope. Pure.

A session is a flow of one node: `flowName` is its name, `nodeId` its id, and each of its runs has
one `runId`, from which the session can be read (`SESSION.RUN`). A process that answers is an
`agent:start`, a turn that ends an `agent:complete` or an `agent:error`; the node and the flow are
complete when the run ends. A pause is `flow:paused` and `agent:paused`, an end by somebody's hand
`flow:aborted` and `agent:aborted`, in this order. A turn that was only interrupted is an
`agent:paused` alone: the flow goes on.

The seed has no event for a question that somebody has to answer. It is told as a `state:patch`
that sets `approvals.ID`; its value has the `promptId` and the `runId` that a `reply` needs. When it
is answered the same path is set again, with a `status` that is no longer `waiting`. (`agent:paused`
would say that a `resume` is needed, which would be said to Claude as a message.)

A finished block whose deltas were not told, as in a replay, is told with one delta for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from claude_sessions import events as e
from claude_sessions.codec import encode
from claude_sessions.feed import Item
from claude_sessions.model import Reason, Status
from claude_sessions.state import SessionState, absorb

Told = dict[str, Any]

BY_HAND = frozenset({Reason.USER, Reason.IDLE})  # a run that ends so is no failure
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
}
ALWAYS = ("inputTokens", "outputTokens")


def run_id(session: str, run: str | None) -> str:
    return f"{session}.{run}"


def read_run_id(text: str) -> tuple[str, str]:
    """The session and its run; both may be anything."""
    session, _, run = text.partition(".")
    return session, run


def millis(at: datetime) -> int:
    return int(at.timestamp() * 1000)


@dataclass(slots=True)
class _Call:
    """A tool that has not come back."""

    name: str = "unknown"
    input: Any = None
    output: e.ToolOutput | None = None


class Telling:
    """One session's. It is given all of its events in order, and its signals."""

    def __init__(self) -> None:
        self._state: SessionState | None = None
        self._begun: str | None = None  # the run that was told to have begun
        self._stopped: Reason | None = None  # told to be paused or aborted since it last went on
        self._started = False  # its process was told to have started
        self._calls: dict[str, _Call] = {}
        self._blocks: dict[str, int] = {}  # open ones → characters told
        self._words = ""  # the last that was said
        self._result = ""  # of the last turn

    def hear(self, item: Item, now: datetime) -> list[Told]:
        """`now` is for signals, which do not know when they were."""
        if isinstance(item, e.Event):
            told, at = self._event(item), millis(item.at)
        else:
            told, at = self._signal(item), millis(now)
        return [each | {"timestamp": at} for each in told]

    @property
    def _now(self) -> SessionState:
        assert self._state is not None
        return self._state

    def _node(self, kind: str, **more: Any) -> Told:
        state = self._now
        own = {"type": kind, "nodeId": state.id, "runId": run_id(state.id, state.run)}
        return own | {key: value for key, value in more.items() if value is not None}

    # --- live

    def _signal(self, signal: e.Signal) -> Iterator[Told]:
        if self._state is None:
            return
        match signal:
            case e.AssistantDelta():
                yield from self._delta("agent:text:delta", signal)
            case e.ThinkingDelta():
                yield from self._delta("agent:thinking:delta", signal)

    def _delta(self, kind: str, delta: e.AssistantDelta | e.ThinkingDelta) -> Iterator[Told]:
        told = self._blocks.get(delta.block, 0)
        new = delta.text[max(told - delta.offset, 0) :]
        self._blocks[delta.block] = max(told, delta.offset + len(delta.text))
        if new:
            yield self._node(kind, content=new)

    # --- what happened

    def _event(self, event: e.Event) -> Iterator[Told]:
        before, self._state = self._state, absorb(self._state, event)
        if self._state is None:
            return
        match event.payload:
            case (
                e.SessionCreated()
                | e.SessionResumed()
                | e.SessionWoken()
                | e.SessionStarted()
                | e.ConversationIdentified()
                | e.SessionAsleep()
                | e.SessionEnded()
            ):
                yield from self._lifecycle(event.payload)
            case e.TurnStarted() | e.TurnCompleted() | e.TurnInterrupted():
                yield from self._turn(event.payload)
            case e.ApprovalRequested() | e.InputRequested() as asked:
                yield self._asked(asked)
            case e.ApprovalResolved() | e.InputReceived() as answered:
                if before and any(p.id == answered.approval_id for p in before.pending):
                    yield self._answered(answered)
            case payload:
                yield from self._work(payload)

    def _lifecycle(self, payload: e.Payload) -> Iterator[Told]:
        match payload:
            case e.SessionCreated(adopted=False) | e.SessionResumed():
                yield from self._begin()
            case e.SessionWoken():
                yield from self._go_on()
            case e.SessionStarted() | e.ConversationIdentified():
                yield from self._start(anew=isinstance(payload, e.SessionStarted))
            case e.SessionAsleep(reason=Reason.PAUSED) if self._begun:
                yield from self._pause()
            case e.SessionEnded() if self._begun:  # else it was adopted, and never woken
                yield from self._end(payload)

    def _begin(self) -> Iterator[Told]:
        self._begun, self._stopped = self._now.run, None
        yield {"type": "flow:start", "flowName": self._now.name}
        yield self._node("node:start")

    def _go_on(self) -> Iterator[Told]:
        if self._begun != self._now.run:  # it was adopted, and this is its first process
            yield from self._begin()
        elif self._stopped is Reason.PAUSED:
            self._stopped = None
            yield {"type": "flow:resumed"}

    def _start(self, *, anew: bool) -> Iterator[Told]:
        self._started = self._started and not anew
        state = self._now
        if self._started or state.claude_id is None or state.status is not Status.RUNNING:
            return
        self._started = True
        prompt = state.queued[0].text if state.queued else state.prompt
        yield self._node(
            "agent:start", sessionId=state.claude_id, model=state.spec.model, prompt=prompt
        )

    # --- endings

    def _turn(self, payload: e.Payload) -> Iterator[Told]:
        match payload:
            case e.TurnStarted():
                self._words = ""
            case e.TurnCompleted(is_error=True) as turn:
                yield self._node(
                    "agent:error",
                    errorType=turn.reason,
                    message=turn.error or f"The turn ended with {turn.reason}.",
                    details=encode(turn),
                )
            case e.TurnCompleted() as turn:
                self._result = self._words
                yield self._complete(turn)
            case e.TurnInterrupted() as turn:
                self._calls.clear()
                yield from self._interrupted(turn)
        self._blocks.clear()

    def _complete(self, turn: e.TurnCompleted) -> Told:
        models = {name: _tokens(used, ALWAYS) for name, used in turn.model_usage.items()}
        usage = {ours: int(turn.usage.get(theirs) or 0) for ours, theirs in USAGE.items()}
        return self._node(
            "agent:complete",
            result=self._words,
            usage={key: value for key, value in usage.items() if value or key in ALWAYS},
            modelUsage=models or None,
            totalCostUsd=self._now.run_cost_usd,
            durationMs=turn.duration_ms,
            numTurns=turn.num_turns,
        )

    def _interrupted(self, turn: e.TurnInterrupted) -> Iterator[Told]:
        if turn.reason is Reason.PAUSED:
            yield from self._pause()
        elif not turn.last:
            yield self._agent_paused()
        elif turn.reason in BY_HAND:
            yield from self._abort(turn.reason)

    def _pause(self) -> Iterator[Told]:
        if self._stopped is not Reason.PAUSED:
            self._stopped = Reason.PAUSED
            yield {"type": "flow:paused"}
            yield self._agent_paused()

    def _agent_paused(self) -> Told:
        state = self._now
        return self._node("agent:paused", sessionId=state.claude_id, numTurns=state.turns)

    def _abort(self, reason: Reason) -> Iterator[Told]:
        if self._stopped not in BY_HAND:
            self._stopped = Reason.USER
            yield {"type": "flow:aborted"}
            yield self._node("agent:aborted", reason=reason.value)

    def _end(self, ending: e.SessionEnded) -> Iterator[Told]:
        self._calls.clear()
        match ending.status:
            case Status.KILLED:
                yield from self._abort(ending.reason)
            case Status.COMPLETED:
                yield self._node("node:complete", output={"result": self._result})
                yield self._flow_complete("complete")
            case _:
                message = ending.message or f"The run ended: {ending.reason}."
                if ending.reason is not Reason.ERROR:  # else the turn has said it
                    yield self._node("agent:error", errorType="exception", message=message)
                yield self._node("node:error", error=message)
                yield self._flow_complete("failed")

    def _flow_complete(self, status: str) -> Told:
        return {"type": "flow:complete", "flowName": self._now.name, "status": status}

    # --- within a turn

    def _work(self, payload: e.Payload) -> Iterator[Told]:
        match payload:
            case e.AssistantMessage():
                yield from self._said("agent:text", payload)
            case e.AssistantThought():
                yield from self._said("agent:thinking", payload)
            case e.SlashResult(output=output):
                self._words = output
            case e.ToolRequested(tool_use_id=id_, tool_name=name):
                self._calls[id_] = _Call(name, payload.input)
            case e.ToolOutput(tool_use_id=id_):
                self._calls.setdefault(id_, _Call()).output = payload
            case e.ToolCompleted(tool_use_id=id_):
                yield self._tool(self._calls.pop(id_, _Call()), payload.duration_ms)

    def _said(self, kind: str, said: e.AssistantMessage | e.AssistantThought) -> Iterator[Told]:
        told = self._blocks.pop(said.block, 0)
        if said.parent_tool_use_id is None:
            if isinstance(said, e.AssistantMessage):
                self._words = said.text
            if rest := said.text[told:]:
                yield self._node(f"{kind}:delta", content=rest)
        yield self._node(kind, content=said.text)

    def _tool(self, call: _Call, duration_ms: int) -> Told:
        output = call.output.content if call.output is not None else ""
        failed = call.output is not None and call.output.is_error
        return self._node(
            "agent:tool",
            toolName=call.name,
            toolInput=call.input if call.input is not None else {},
            toolOutput=output,
            durationMs=duration_ms,
            error=output if failed else None,
        )

    # --- questions

    def _asked(self, asked: e.ApprovalRequested | e.InputRequested) -> Told:
        if isinstance(asked, e.InputRequested):
            about: Told = {"kind": "question", "questions": asked.questions}
        else:
            about = {
                "kind": asked.kind.value,
                "toolName": asked.tool_name,
                "toolInput": asked.input,
                "riskLevel": asked.risk_level.value,
            }
        return self._patched(asked.approval_id, "waiting", toolUseId=asked.tool_use_id, **about)

    def _answered(self, answer: e.ApprovalResolved | e.InputReceived) -> Told:
        said = {"reason": answer.reason, "by": answer.by}
        more = {key: value for key, value in said.items() if value}
        return self._patched(answer.approval_id, answer.decision, **more)

    def _patched(self, approval: str, status: str, **more: Any) -> Told:
        where = {"nodeId": self._now.id, "runId": run_id(self._now.id, self._now.run)}
        value = {"promptId": approval, "status": status, **where, **more}
        return {
            "type": "state:patch",
            "patch": {"op": "set", "path": f"approvals.{approval}", "value": value},
        }


def _tokens(used: Any, names: tuple[str, ...]) -> Told:
    """Of another program's words, which may be anything."""
    known = used if isinstance(used, dict) else {}
    return {name: int(known.get(name) or 0) for name in names}
