"""What only matters while a turn runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.model import Reason
from claude_sessions.sessions.facts import completion, facts_of
from claude_sessions.state import QueuedMessage


@dataclass(slots=True)
class Turn:
    slash: str | None = None  # the slash command it carries out
    asked: QueuedMessage | None = None  # what it was begun with
    tools: dict[str, float] = field(default_factory=dict)  # tool use → when it began
    asking: bool = True  # the model is being asked: silence is normal
    warned: bool = False
    stalled: bool = False  # people have been told that nothing happens
    produced: bool = False  # it has said or done something
    stop_reason: Reason | None = None  # somebody asked for it to end
    last: bool = False  # its run ends with it

    @property
    def silence_is_odd(self) -> bool:
        """Nothing is expected of the model or a tool, and nobody has been told yet."""
        return not (self.asking or self.tools or self.warned)

    def facts(self, event: g.EngineEvent, now: float) -> list[e.Payload]:
        self.produced |= isinstance(event, g.Text | g.ToolCall)
        match event:
            case g.ToolCall():
                self.tools[event.id] = now
            case g.ToolResult():
                took = now - self.tools.pop(event.id, now)
                done = e.ToolCompleted(tool_use_id=event.id, duration_ms=round(took * 1000))
                return [*facts_of(event), done]
        return facts_of(event)

    def ending(self, over: g.TurnOver, *, partial: str, took_ms: int) -> list[e.Payload]:
        if over.interrupted:
            return [
                e.TurnInterrupted(
                    reason=self.stop_reason or Reason.USER,
                    partial_text=partial,
                    cost_usd=over.cost_usd,
                    duration_ms=took_ms,
                    last=self.last,
                )
            ]
        done = completion(over, took_ms)
        if self.slash is None:
            return [nothing_in_it(done, over) if self._is_empty(over) else done]
        output = over.text or over.error or "Done."
        return [e.SlashResult(command=self.slash, output=output, is_error=over.is_error), done]

    def _is_empty(self, over: g.TurnOver) -> bool:
        """Claude says that all went well, and nothing was asked, said or paid for."""
        return over.local and self.asked is not None and not self.produced and not over.cost_usd


def nothing_in_it(done: e.TurnCompleted, over: g.TurnOver) -> e.TurnCompleted:
    why = f" {over.remark}" if over.remark else ""
    told = f"Claude came back with nothing: no answer, no cost.{why} The conversation is as it was."
    return replace(done, reason="empty", is_error=True, error=told)
