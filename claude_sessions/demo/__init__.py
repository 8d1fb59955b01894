"""A scripted model behind the real CLI: for the demo and for every test of the project."""

from claude_sessions.demo.conversation import ToolResult
from claude_sessions.demo.gate import Gate
from claude_sessions.demo.model import ScriptedModel
from claude_sessions.demo.request import Ending, Fate, Kind, Request
from claude_sessions.demo.sandbox import Sandbox
from claude_sessions.demo.script import Script, ScriptError
from claude_sessions.demo.words import (
    ask,
    bash,
    drop,
    edit,
    empty,
    error,
    hang,
    headers,
    malformed,
    overloaded,
    parallel,
    plan,
    question,
    questions,
    read,
    say,
    stall,
    stop,
    task,
    think,
    tool,
    usage,
    write,
)

__all__ = [
    "Ending",
    "Fate",
    "Gate",
    "Kind",
    "Request",
    "Sandbox",
    "Script",
    "ScriptError",
    "ScriptedModel",
    "ToolResult",
    "ask",
    "bash",
    "drop",
    "edit",
    "empty",
    "error",
    "hang",
    "headers",
    "malformed",
    "overloaded",
    "parallel",
    "plan",
    "question",
    "questions",
    "read",
    "say",
    "stall",
    "stop",
    "task",
    "think",
    "tool",
    "usage",
    "write",
]
