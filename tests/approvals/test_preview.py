from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_sessions.approvals.preview import Preview, clip, preview, tool_line
from claude_sessions.approvals.visible import has_hidden
from tests.approvals.samples import HOME, WEB


def of(tool: str, current: str | None = None, **values: Any) -> Preview:
    return preview(tool, values, WEB, current=current, home=HOME)


def test_a_command() -> None:
    found = of("Bash", command="npm publish", description="Publish the package")
    assert found == Preview(
        title="Bash in ~/web",
        body="npm publish",
        kind="command",
        language="bash",
        summary="npm publish",
        note="Publish the package",
    )


def test_a_command_that_tries_to_look_harmless() -> None:
    found = of("Bash", command="echo ok\u202e\n\x1b[1A\x1b[2Krm -rf x")
    assert found.hidden
    assert found.body == "echo ok⟨U+202E⟩\n⟨U+001B⟩[1A⟨U+001B⟩[2Krm -rf x"
    assert found.summary == "echo ok⟨U+202E⟩ ⏎ ⟨U+001B⟩[1A⟨U+001B⟩[2Krm -rf x"


def test_an_edit_is_a_difference() -> None:
    found = of("Edit", file_path=f"{WEB}/src/a.ts", old_string="a\nb\nc", new_string="a\nB\nc\nd")
    assert found.title == "Edit src/a.ts"
    assert found.body == "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d"
    assert (found.added, found.removed) == (2, 1)
    assert found.summary == "src/a.ts +2 −1"
    assert (found.kind, found.language, found.hidden) == ("diff", "diff", False)


def test_an_edit_is_shown_in_its_place_when_the_file_is_known() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 30))
    found = of("Edit", text, file_path="a", old_string="line 20\n", new_string="")
    assert found.body.startswith("@@ -17,7 +17,6 @@")
    assert "-line 20" in found.body


def test_several_edits_and_every_occurrence() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    found = of("MultiEdit", file_path="x", edits=edits)
    assert (found.added, found.removed) == (2, 2)
    together = of("MultiEdit", "a\nc\n", file_path="x", edits=edits)
    assert together.body == "@@ -1,2 +1,2 @@\n-a\n-c\n+b\n+d"
    everywhere = of("Edit", "a a", file_path="x", old_string="a", new_string="b", replace_all=True)
    assert "+b b" in everywhere.body
    assert everywhere.note == "every occurrence"


def test_a_new_file_and_an_old_one() -> None:
    new = of("Write", file_path="a.txt", content="one\ntwo\n")
    assert new.title == "Write a.txt (new file)"
    assert (new.added, new.removed) == (2, 0)
    old = of("Write", "one\n", file_path="/etc/x", content="one\ntwo\n")
    assert old.title == "Write /etc/x"
    assert old.body == "@@ -1 +1,2 @@\n one\n+two"
    assert of("Write", "x\n", file_path="~/a", content="").body == "@@ -1 +0,0 @@\n-x"


def test_a_changed_line_cannot_pose_as_a_header() -> None:
    found = of("Write", "-- old\n", file_path="a", content="++ new\n")
    assert found.body == "@@ -1 +1 @@\n--- old\n+++ new"
    assert (found.added, found.removed) == (1, 1)


def test_a_lost_final_newline_is_seen() -> None:
    found = of("Write", "a\n", file_path="a", content="a")
    assert found.body == "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file"


def test_the_marker_in_words_is_not_the_character() -> None:
    found = of("Edit", file_path="a", old_string="a\u200b", new_string="a⟨U+200B⟩")
    assert (found.added, found.removed) == (1, 1)
    assert found.hidden


def test_hidden_characters_elsewhere_in_the_file_raise_no_alarm() -> None:
    text = "\u200b\n" + "x\n" * 20 + "a\n"
    assert not of("Edit", text, file_path="a", old_string="a", new_string="b").hidden


def test_a_huge_file_is_compared_in_one_block() -> None:
    lines = [f"{n}\n" for n in range(50_000)]
    found = of("Write", "".join(lines), file_path="a", content="".join([*lines[:9], "new\n"]))
    assert (found.added, found.removed) == (1, 49_991)


def test_a_notebook_cell() -> None:
    found = of("NotebookEdit", notebook_path="a.ipynb", cell_id="c1", new_source="x = 1")
    assert found.title == "NotebookEdit a.ipynb"
    assert found.note == "replace cell c1"
    assert "+x = 1" in found.body


@pytest.mark.parametrize(
    ("tool", "values", "summary"),
    [
        ("Read", {"file_path": f"{WEB}/src/a.ts"}, "src/a.ts"),
        ("Read", {"file_path": "/home/me/.ssh/id"}, "~/.ssh/id"),
        ("Read", {"file_path": "../../../etc/passwd"}, "/etc/passwd"),
        ("Grep", {"pattern": "TODO", "path": "src"}, "TODO in src"),
        ("Glob", {"pattern": "**/*.ts"}, "**/*.ts in ."),
    ],
)
def test_a_path(tool: str, values: dict[str, Any], summary: str) -> None:
    found = of(tool, **values)
    assert found.kind == "path"
    assert found.summary == summary


def test_the_web() -> None:
    page = of("WebFetch", url="https://a.b/c", prompt="Summarise")
    assert (page.kind, page.body) == ("url", "https://a.b/c\nSummarise")
    assert of("WebSearch", query="cats").summary == "cats"


def test_an_mcp_tool() -> None:
    found = of("mcp__github__create_issue", title="Bug", labels=["a"])
    assert found.title == "github: create_issue (MCP)"
    assert found.kind == "json"
    assert found.body == '{\n  "title": "Bug",\n  "labels": [\n    "a"\n  ]\n}'
    assert found.summary == "Bug"


def test_a_question() -> None:
    options = [{"label": "Cookie", "description": "httpOnly"}, {"label": "localStorage"}]
    asked = {"question": "Which store?", "header": "Store", "options": options}
    found = of("AskUserQuestion", questions=[asked])
    assert (found.title, found.kind) == ("Question", "question")
    assert found.body == "Which store?\n1. Cookie — httpOnly\n2. localStorage"
    assert of("AskUserQuestion", questions=[asked, asked]).title == "2 questions"


def test_a_plan() -> None:
    found = of("ExitPlanMode", plan="# Fix it\n\n1. Do", planFilePath="/x")
    assert (found.kind, found.language, found.summary) == ("plan", "markdown", "Fix it")
    assert of("ExitPlanMode").body == "(Claude wrote no plan.)"


@pytest.mark.parametrize(
    ("tool", "values", "line"),
    [
        ("Bash", {"command": "npm test"}, "🔧 Bash — npm test"),
        ("Bash", {"command": "x" * 100}, "🔧 Bash — " + "x" * 79 + "…"),
        ("Read", {"file_path": "src/a.ts"}, "🔧 Read — src/a.ts"),
        ("LS", {"path": "p" * 70}, "🔧 LS — " + "p" * 59 + "…"),
        ("Grep", {"pattern": "TODO"}, "🔧 Grep — TODO"),
        ("Glob", {"glob": "*.ts"}, "🔧 Glob — *.ts"),
        ("WebSearch", {"n": 3, "query": "cats"}, "🔧 WebSearch — cats"),
        ("Task", {}, "🔧 Task"),
        ("Bash", {"command": "a\nb\tc\u202e"}, "🔧 Bash — a ⏎ b c⟨U+202E⟩"),
        ("Ev\nil", {}, "🔧 Ev ⏎ il"),
        ("Read", {"file_path": 7}, "🔧 Read"),
    ],
)
def test_a_tool_line(tool: str, values: dict[str, Any], line: str) -> None:
    assert tool_line(tool, values) == line


def test_a_tool_line_knows_the_directory() -> None:
    assert tool_line("Read", {"file_path": f"{WEB}/a"}, directory=WEB) == "🔧 Read — a"


def test_a_long_difference_is_clipped_and_says_so() -> None:
    found = clip(of("Write", file_path="a", content="x\n" * 100), lines=10, chars=1000)
    assert found.body.endswith("… 91 more lines")
    assert found.body.count("\n") == 10
    assert found.added == 100


def test_a_long_line_is_clipped_and_says_so() -> None:
    found = clip(of("ExitPlanMode", plan="x" * 500), chars=100)
    assert found.body == "x" * 100 + "\n… 400 more characters"


def test_the_end_of_a_long_command_is_kept() -> None:
    padded = of("Bash", command="npm test" + "\n" * 300 + "rm -rf ~")
    assert clip(padded, lines=12).body.endswith("rm -rf ~")
    padded = of("Bash", command="npm test" + " " * 9000 + "; rm -rf ~")
    assert clip(padded, chars=300).body.endswith("; rm -rf ~")


def test_what_fits_is_left_alone() -> None:
    found = of("Bash", command="a\nb")
    assert clip(found, lines=2, chars=3) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([
    "command", "file_path", "path", "pattern", "url", "query", "questions", "options", "plan",
    "edits", "old_string", "new_string", "content", "notebook_path", "description", "label",
])  # fmt: skip
TOOLS = st.sampled_from([
    "Bash", "Edit", "MultiEdit", "Write", "NotebookEdit", "Read", "Glob", "Grep", "WebFetch",
    "WebSearch", "AskUserQuestion", "ExitPlanMode", "mcp__a__b", "Else",
])  # fmt: skip


@given(TOOLS, st.dictionaries(KEYS, JSON), st.none() | st.text())
def test_any_input_gives_a_preview_with_nothing_unseen(
    tool: str, values: dict[str, Any], current: str | None
) -> None:
    found = of(tool, current, **values)
    for text in (found.title, found.body, found.summary, found.note, tool_line(tool, values)):
        assert not has_hidden(text)
    for text in (found.title, found.summary, found.note, tool_line(tool, values)):
        assert "\n" not in text


@given(st.text(), st.sampled_from(["Bash", "ExitPlanMode"]), st.integers(1, 9), st.integers(1, 60))
def test_a_clipped_body_is_bounded(text: str, tool: str, lines: int, chars: int) -> None:
    found = clip(of(tool, command=text, plan=text), lines=lines, chars=chars)
    assert found.body.count("\n") <= lines + 1
    assert len(found.body) <= chars + 40
