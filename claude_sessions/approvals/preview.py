"""A tool call as a person needs to see it. Nothing in it is invisible."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from claude_sessions.approvals.calls import COMMAND_TOOLS, EDIT_TOOLS, MCP_TOOL, text_of
from claude_sessions.approvals.difference import difference
from claude_sessions.approvals.paths import home_directory, shown
from claude_sessions.approvals.visible import has_hidden, one_line, visible

Kind = Literal["command", "diff", "path", "url", "question", "plan", "json"]

SUMMARY = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    title: str
    body: str
    kind: Kind
    language: str  # a hint for whoever colours the body: bash, diff, json, markdown or nothing
    summary: str  # one short line
    note: str = ""  # what Claude says it is for
    added: int = 0
    removed: int = 0
    hidden: bool = False  # characters that cannot be seen were spelled out


def preview(
    tool_name: str,
    input: Mapping[str, Any],
    directory: str,
    *,
    current: str | None = None,
    home: str | None = None,
) -> Preview:
    """`current` is what the file holds now; None, that it is new (or nobody looked)."""
    home = home_directory() if home is None else home
    if tool_name in COMMAND_TOOLS:
        made = _of_command(tool_name, input, shown(directory, "", home))
    elif tool_name in EDIT_TOOLS:
        made = _of_edit(tool_name, input, directory, home, current)
    elif tool_name in ("Read", "NotebookRead", "Glob", "Grep", "LS"):
        made = _of_search(tool_name, input, directory, home)
    elif tool_name in ("WebFetch", "WebSearch"):
        made = _of_web(tool_name, input)
    elif tool_name == "AskUserQuestion":
        made = _of_questions(input)
    elif tool_name == "ExitPlanMode":
        made = _of_plan(input)
    else:
        made = _of_anything(tool_name, input)
    return _spelled_out(made)


def tool_line(tool_name: str, input: Mapping[str, Any], *, directory: str = "") -> str:
    """`🔧 Bash — npm test`"""
    name = one_line(tool_name, 60) or "?"
    said = _summary(input, directory)
    return f"🔧 {name} — {said}" if said else f"🔧 {name}"


def _summary(values: Mapping[str, Any], directory: str) -> str:
    if path := text_of(values, "file_path", "notebook_path", "path"):
        return one_line(shown(path, directory, home_directory()) if directory else path, 60)
    if command := text_of(values, "command"):
        return one_line(command, 80)
    if pattern := text_of(values, "pattern", "glob"):
        return one_line(pattern, 60)
    texts = (value for value in values.values() if isinstance(value, str) and value.strip())
    return one_line(next(texts, ""), 60)


def clip(preview: Preview, *, lines: int = 40, chars: int = 3000) -> Preview:
    """At most so many lines and characters of body, and a line that says what was left out.

    Of a command the end is kept too: that is where one would hide something.
    """
    body = preview.body
    if body.count("\n") < lines and len(body) <= chars:
        return preview
    tail = (lines // 3, chars // 3) if preview.kind == "command" else (0, 0)
    head = _fitting(body, lines - tail[0], chars - tail[1])
    end = _fitting(body[len(head) :][::-1], *tail)[::-1]
    gone = _left_out(body[len(head) : len(body) - len(end)])
    parts = [head.rstrip("\n"), gone, end.lstrip("\n")]
    return replace(preview, body="\n".join(part for part in parts if part))


def _left_out(text: str) -> str:
    if "\n" not in text:
        return f"… {len(text)} more characters"
    count = text.strip("\n").count("\n") + 1
    return f"… {count} more lines" if count > 1 else "… 1 more line"


def _fitting(text: str, lines: int, chars: int) -> str:
    kept = text[: max(chars, 0)]
    parts = kept.split("\n")
    if len(parts) > lines:
        return "\n".join(parts[:lines]) + ("\n" if lines else "")
    return kept


def _spelled_out(made: Preview) -> Preview:
    hidden = any(has_hidden(text) for text in (made.title, made.body, made.note))
    return replace(
        made,
        title=one_line(made.title, 120),
        body=visible(made.body),
        summary=one_line(made.summary, SUMMARY),
        note=one_line(made.note, 200),
        hidden=hidden,
    )


def _of_command(tool_name: str, values: Mapping[str, Any], where: str) -> Preview:
    command = text_of(values, "command")
    return Preview(
        title=f"{tool_name} in {where}",
        body=command,
        kind="command",
        language="bash",
        summary=command,
        note=text_of(values, "description"),
    )


def _of_edit(
    tool_name: str, values: Mapping[str, Any], directory: str, home: str, current: str | None
) -> Preview:
    path = text_of(values, "file_path", "notebook_path")
    name = shown(path, directory, home) if path else "?"
    found = difference(tool_name, values, current)
    new = " (new file)" if tool_name == "Write" and current is None else ""
    return Preview(
        title=f"{tool_name} {name}{new}",
        body=found.text,
        kind="diff",
        language="diff",
        summary=f"{name}  +{found.added} −{found.removed}",
        note=_edit_note(tool_name, values),
        added=found.added,
        removed=found.removed,
    )


def _edit_note(tool_name: str, values: Mapping[str, Any]) -> str:
    if tool_name == "NotebookEdit":
        cell = text_of(values, "cell_id") or str(values.get("cell_number", ""))
        return f"{text_of(values, 'edit_mode') or 'replace'} cell {cell}".strip()
    return "every occurrence" if values.get("replace_all") else ""


def _of_search(tool_name: str, values: Mapping[str, Any], directory: str, home: str) -> Preview:
    path = text_of(values, "file_path", "notebook_path", "path")
    where = shown(path or ".", directory, home)
    what = text_of(values, "pattern")
    details = [f"{key}: {values[key]}" for key in values if key not in ("file_path", "path")]
    return Preview(
        title=f"{tool_name} {where}",
        body="\n".join([where, *details]),
        kind="path",
        language="",
        summary=f"{what} in {where}" if what else where,
    )


def _of_web(tool_name: str, values: Mapping[str, Any]) -> Preview:
    target = text_of(values, "url", "query")
    prompt = text_of(values, "prompt")
    return Preview(
        title="Fetch a page" if tool_name == "WebFetch" else "Search the web",
        body="\n".join(part for part in (target, prompt) if part),
        kind="url",
        language="",
        summary=target,
    )


def _of_questions(values: Mapping[str, Any]) -> Preview:
    questions = _mappings(values.get("questions"))
    body = "\n\n".join("\n".join(_question_lines(question)) for question in questions)
    return Preview(
        title="Question" if len(questions) == 1 else f"{len(questions)} questions",
        body=body,
        kind="question",
        language="",
        summary=text_of(questions[0], "question") if questions else "",
    )


def _question_lines(question: Mapping[str, Any]) -> Iterator[str]:
    several = " (several may be chosen)" if question.get("multiSelect") else ""
    yield text_of(question, "question") + several
    for number, option in enumerate(_mappings(question.get("options")), 1):
        described = text_of(option, "description")
        yield f"{number}. {text_of(option, 'label')}" + (f" — {described}" if described else "")


def _mappings(value: object) -> list[Mapping[str, Any]]:
    items = value if isinstance(value, list | tuple) else ()
    return [item for item in items if isinstance(item, Mapping)]


def _of_plan(values: Mapping[str, Any]) -> Preview:
    plan = text_of(values, "plan").strip()
    first = plan.split("\n", 1)[0].lstrip("# ")
    return Preview(
        title="Plan",
        body=plan or "(Claude wrote no plan.)",
        kind="plan",
        language="markdown",
        summary=first or "no plan",
    )


def _of_anything(tool_name: str, values: Mapping[str, Any]) -> Preview:
    match = MCP_TOOL.fullmatch(tool_name)
    return Preview(
        title=f"{match['server']}: {match['tool']} (MCP)" if match else tool_name,
        body=json.dumps(dict(values), indent=2, ensure_ascii=False, default=str),
        kind="json",
        language="json",
        summary=_summary(values, "") or tool_name,
    )
