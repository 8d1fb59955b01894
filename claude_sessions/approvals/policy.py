"""What the permission mode says of a call that reached us, before and after the rules.

The order at the desk: a final ruling of the mode, then the rules, then its other ruling, then
people. Only plan mode rules finally, and only to refuse: no rule loosens it. In every other mode a
rule is heard first, so a deny holds in bypassPermissions and an allow in dontAsk.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from claude_sessions.approvals.calls import (
    COMMAND_TOOLS,
    EDIT_TOOLS,
    MCP_TOOL,
    PEOPLE_TOOLS,
    READ_TOOLS,
    ToolCall,
)
from claude_sessions.approvals.guarded import is_plan, why_guarded
from claude_sessions.approvals.paths import absolute, is_inside
from claude_sessions.approvals.readonly import only_reads
from claude_sessions.model import PermissionMode, Verdict

_STRICTEST_FIRST = (
    PermissionMode.PLAN,
    PermissionMode.DONT_ASK,
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.AUTO,
    PermissionMode.BYPASS,
)
# Tools that neither write nor run; a subagent's own calls reach us one by one.
_PLANNING_TOOLS = READ_TOOLS | PEOPLE_TOOLS | {
    "WebFetch", "WebSearch", "TodoWrite", "TodoRead", "Task", "Agent", "EnterPlanMode", "Skill",
    "ToolSearch", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "BashOutput",
    "ListMcpResourcesTool", "ReadMcpResourceTool", "ReadMcpResourceDirTool", "LSP",
}  # fmt: skip
_GO_ON = "Go on reading and planning, then present the plan with ExitPlanMode."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """An answer without a person. `final`: not even a rule is asked."""

    verdict: Verdict
    reason: str = ""
    by: str = ""
    rule: str | None = None
    final: bool = False


def ruling_of_mode(
    mode: PermissionMode, call: ToolCall, *, known_readers: Collection[str] = ()
) -> Ruling | None:
    """None: the mode leaves it to rules and people.

    `known_readers` are MCP tools known to change nothing; all others are refused in plan mode.
    """
    by = f"mode {mode}"
    match mode:
        case PermissionMode.PLAN:
            why = _why_not_while_planning(call, known_readers)
            return Ruling(verdict=Verdict.DENY, reason=why, by=by, final=True) if why else None
        case PermissionMode.DONT_ASK:
            why = f"No rule allows {call.tool_name} here and nobody is asked. Do without it."
            return Ruling(verdict=Verdict.DENY, reason=why, by=by)
        case PermissionMode.BYPASS if call.tool_name not in PEOPLE_TOOLS:
            return Ruling(verdict=Verdict.ALLOW, by=by)
        case PermissionMode.ACCEPT_EDITS if _edits_inside(call):
            return Ruling(verdict=Verdict.ALLOW, by=by)
        case _:
            return None


def looser(mode: PermissionMode, than: PermissionMode) -> bool:
    """Whether `mode` lets more happen unasked; a mode is not looser than itself."""
    return _STRICTEST_FIRST.index(mode) > _STRICTEST_FIRST.index(than)


def _why_not_while_planning(call: ToolCall, known_readers: Collection[str]) -> str:
    name = call.tool_name
    if name in _PLANNING_TOOLS or name in known_readers:
        return ""
    if name in COMMAND_TOOLS:
        if only_reads(call.command):
            return ""
        return f"Plan mode: only commands that read may run. {_GO_ON}"
    if name in EDIT_TOOLS:
        if call.paths and all(is_plan(path, call.home) for path in call.paths):
            return ""
        return f"Plan mode: no file may be changed except the plan itself. {_GO_ON}"
    if MCP_TOOL.fullmatch(name):
        return f"Plan mode: {name} is not known to leave everything as it is. {_GO_ON}"
    return f"Plan mode: {name} may change or run something. {_GO_ON}"


def _edits_inside(call: ToolCall) -> bool:
    directory = absolute(call.directory, "/", call.home)
    return (
        call.tool_name in EDIT_TOOLS
        and bool(call.paths)
        and all(is_inside(path, directory) for path in call.paths)
        and not any(why_guarded(path, directory, call.home) for path in call.paths)
    )
