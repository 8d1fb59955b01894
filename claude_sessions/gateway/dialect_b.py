"""Our events in the words of the event-sourced seed (its dialect B). Pure, one event for one.

So a position there is a place in the session here. What has a counterpart has its name and fields:

    workflow:started      session.created, session.resumed (then with the input "")
    workflow:completed    session.ended, whatever the ending: `finalState.status` says which
    state:intent          the other moves of a session; its state is {status, reason}
    agent:started         turn.started               agent:completed   turn.completed
    text:delta            assistant.message          thinking:delta    assistant.thought
    tool:called           tool.requested             tool:result       tool.output
    input:requested       approval.requested (type approval), input.requested (type choice)
    input:received        approval.resolved of what was requested, input.received
    session:forked        session.forked

The agent is always `claude`. A finished block is one delta, live too, so that whoever replays gets
what others got. We keep no inverse of a move: `inversePatches` is empty. A decision that nobody was
asked for, and everything else, keeps our own name and payload, with `:` for the dots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from claude_sessions import events as e
from claude_sessions.approvals.desk import CANCELLED
from claude_sessions.codec import encode
from claude_sessions.feed import Item
from claude_sessions.gateway import sse
from claude_sessions.model import Status, Verdict

AGENT = "claude"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Told = tuple[str, Mapping[str, Any]]
Names = Callable[[str], str]  # of sessions, by their id


def frame(item: Item, names: Names, *, named: bool = True) -> bytes:
    if not isinstance(item, e.Event):
        return b""
    told = envelope(item, names)
    data = orjson.dumps(told, default=str)
    return sse.frame(data, name=told["name"] if named else None, id_=item.id)


def envelope(event: e.Event, names: Names) -> dict[str, Any]:
    name, payload = translated(event, names)
    known = {
        "id": event.id,
        "name": name,
        "payload": payload,
        "timestamp": round(event.at.timestamp() * 1000),
    }
    if event.caused_by is not None and UUID.fullmatch(event.caused_by):
        known["causedBy"] = event.caused_by
    return known


def translated(event: e.Event, names: Names) -> Told:
    if isinstance(event.payload, e.SessionResumed) and event.session:
        return _started(event.session, names(event.session), "")
    for family in (_session, _turn, _asked):
        if (told := family(event, event.payload)) is not None:
            return told
    return event.type.replace(".", ":"), encode(event.payload)


def _session(event: e.Event, payload: e.Payload) -> Told | None:
    match payload:
        case e.SessionCreated():
            return _started(event.session, payload.name, payload.prompt)
        case e.SessionEnded():
            final = {
                "status": payload.status,
                "reason": payload.reason,
                "message": payload.message,
                "costUsd": payload.cost_usd,
            }
            return "workflow:completed", {"sessionId": event.session, "finalState": final}
    if (stands := _STANDS.get(type(payload))) is not None:
        return "state:intent", _intent(event, stands(payload))
    return None


def _started(session: str | None, workflow: str, said: str) -> Told:
    return "workflow:started", {"sessionId": session, "workflow": workflow, "input": said}


# From the payload to how the session stands after it.
_STANDS: dict[type[e.Payload], Callable[[Any], dict[str, Any]]] = {
    e.SessionStarted: lambda payload: {"status": Status.RUNNING},
    e.SessionWoken: lambda payload: {"status": Status.STARTING},
    e.SessionAsleep: lambda payload: {"status": Status.ASLEEP, "reason": payload.reason},
    e.SessionQueued: lambda payload: {"status": Status.ASLEEP, "reason": "queued"},
    e.SessionParked: lambda payload: {"status": Status.PARKED, "reason": "limit"},
}


def _intent(event: e.Event, state: dict[str, Any]) -> Mapping[str, Any]:
    patches = [{"op": "replace", "path": [key], "value": state[key]} for key in state]
    return {"intentId": event.id, "state": state, "patches": patches, "inversePatches": []}


def _turn(event: e.Event, payload: e.Payload) -> Told | None:
    match payload:
        case e.TurnStarted():
            return "agent:started", {"agent": AGENT, "context": {"turn": event.turn}}
        case e.TurnCompleted():
            output = {
                "reason": payload.reason,
                "isError": payload.is_error,
                "costUsd": payload.cost_usd,
            }
            spent = payload.duration_ms
            return "agent:completed", {"agent": AGENT, "output": output, "durationMs": spent}
        case e.AssistantMessage():
            return "text:delta", {"agent": AGENT, "delta": payload.text}
        case e.AssistantThought():
            return "thinking:delta", {"agent": AGENT, "delta": payload.text}
        case e.ToolRequested():
            return "tool:called", {
                "agent": AGENT,
                "toolId": payload.tool_use_id,
                "toolName": payload.tool_name,
                "input": payload.input,
            }
        case e.ToolOutput():
            return "tool:result", {
                "agent": AGENT,
                "toolId": payload.tool_use_id,
                "output": payload.content,
                "isError": payload.is_error,
            }
    return None


def _asked(event: e.Event, payload: e.Payload) -> Told | None:
    match payload:
        case e.ApprovalRequested():
            # What would run; a description is only what Claude says of it.
            prompt = f"{payload.tool_name}: {orjson.dumps(payload.input, default=str).decode()}"
            return "input:requested", {
                "id": payload.approval_id,
                "prompt": prompt,
                "type": "approval",
            }
        case e.InputRequested():
            return "input:requested", {"id": payload.approval_id, **_question(payload.questions)}
        case e.ApprovalResolved() if event.caller is not None or payload.decision == CANCELLED:
            allowed = payload.decision == Verdict.ALLOW
            return "input:received", {
                "id": payload.approval_id,
                "value": "yes" if allowed else "no",
                "approved": allowed,
            }
        case e.InputReceived():
            answers = "\n".join(str(answer) for answer in payload.answers.values())
            return "input:received", {
                "id": payload.approval_id,
                "value": answers or payload.reason or payload.decision,
            }
    return None


def _question(questions: tuple[e.Json, ...]) -> Mapping[str, Any]:
    """Of several questions the first has its options told; the others are in the prompt."""
    prompt = "\n".join(str(each.get("question", "")) for each in questions)
    options = questions[0].get("options") if questions else None
    listed = options if isinstance(options, list | tuple) else ()
    labels = [str(each.get("label", "")) for each in listed if isinstance(each, Mapping)]
    return {"prompt": prompt, "type": "choice", "options": labels}
