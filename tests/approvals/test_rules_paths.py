"""Patterns for files: gitignore-like, by text alone, never out through `..`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from claude_sessions.approvals.rules import RuleError, parse_rule
from tests.approvals.samples import WEB, allowed, call, denied

MATCHING = [
    ("Edit(src/**)", "src/a.ts"),
    ("Edit(src/**)", "src/deep/er/a.ts"),
    ("Edit(src/**)", "./src/a.ts"),
    ("Edit(src/**)", f"{WEB}/src/a.ts"),
    ("Edit(src/**)", "lib/../src/a.ts"),
    ("Edit(src/**)", f"{WEB}//src///a.ts"),
    ("Edit(src/**)", "~/web/src/a.ts"),
    ("Edit(src)", "src/a.ts"),
    ("Edit(src/)", "src/a.ts"),
    ("Edit(./a.ts)", "a.ts"),
    ("Edit(*.ts)", "deep/er/a.ts"),
    ("Edit(a.ts)", "deep/a.ts"),
    ("Edit(src/*.ts)", "src/a.ts"),
    ("Edit(src/**/*.ts)", "src/a.ts"),
    ("Edit(src/**/*.ts)", "src/x/y/a.ts"),
    ("Edit(**/a.ts)", "x/a.ts"),
    ("Edit(src/[ab].ts)", "src/a.ts"),
    ("Edit(src/[!b].ts)", "src/a.ts"),
    ("Edit(src/?.ts)", "src/a.ts"),
    ("Edit(app/\\[id\\]/page.tsx)", "app/[id]/page.tsx"),
    ("Edit(**)", "x/y/z"),
    ("Edit(../api/**)", "../api/a.py"),
    ("Edit(//srv/data/**)", "/srv/data/x"),
    ("Edit(/srv/data/**)", "/srv/data/x"),
    ("Edit(~/notes/*)", "/home/me/notes/a.md"),
    ("Edit(//home/me/web/src/**)", "src/a.ts"),
    ("Edit", "/anywhere/at/all"),
    ("Edit(*)", "/anywhere/at/all"),
]
OTHER = [
    ("Edit(src/**)", "src"),
    ("Edit(src/**)", "source/a.ts"),
    ("Edit(src/**)", "lib/src/a.ts"),
    ("Edit(src/**)", "src/../secret"),
    ("Edit(src/**)", "src/../../other/src/a.ts"),
    ("Edit(src/**)", "src/x/../../../web2/src/a"),
    ("Edit(src/**)", "../web/../src/a.ts"),
    ("Edit(src/**)", "/src/a.ts"),
    ("Edit(src/**)", f"{WEB}2/src/a.ts"),
    ("Edit(**)", "../x"),
    ("Edit(**)", "/etc/passwd"),
    ("Edit(*.ts)", "a.tsx"),
    ("Edit(*.ts)", "../a.ts"),
    ("Edit(src/*.ts)", "src/deep/a.ts"),
    ("Edit(src/?.ts)", "src/ab.ts"),
    ("Edit(src/[ab].ts)", "src/c.ts"),
    ("Edit(src/[!b].ts)", "src/b.ts"),
    ("Edit(a?b)", "a/b"),
    ("Edit(./a.ts)", "deep/a.ts"),
    ("Edit(app/\\[id\\]/page.tsx)", "app/i/page.tsx"),
    ("Edit(~/notes/*)", "/home/you/notes/a.md"),
    ("Edit(~/notes/*)", "~/notes/../.ssh/x"),
    ("Edit(src/a.ts)", "src/a.ts\n"),
]


@pytest.mark.parametrize(("text", "path"), MATCHING)
def test_a_path_is_matched(text: str, path: str) -> None:
    assert allowed(text, call("Edit", file_path=path))
    assert denied(text, call("Edit", file_path=path))


@pytest.mark.parametrize(("text", "path"), OTHER)
def test_a_path_is_not_matched(text: str, path: str) -> None:
    assert not allowed(text, call("Edit", file_path=path))
    assert not denied(text, call("Edit", file_path=path))


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit", ".git/config", "sub/.git/hooks/x", ".GIT/hooks/x", ".mcp.json",
        ".claude/settings.json", ".claude/settings.local.json", ".vscode/tasks.json", ".envrc",
        ".husky/pre-commit", ".bashrc",
    ],
)  # fmt: skip
def test_a_wide_allow_does_not_mean_files_that_will_be_run(path: str) -> None:
    assert not allowed("Edit(**)", call("Edit", file_path=path))
    assert allowed(f"Edit({path})", call("Edit", file_path=path))
    assert denied("Edit(**)", call("Edit", file_path=path))


def test_a_home_wide_allow_does_not_mean_the_ssh_keys() -> None:
    assert allowed("Edit(~/**)", call("Edit", file_path="~/notes.md"))
    assert not allowed("Edit(~/**)", call("Edit", file_path="~/.ssh/authorized_keys"))
    assert not allowed("Edit(~/**)", call("Edit", file_path="~/.bashrc"))


def test_a_worktree_inside_a_claude_folder_is_a_directory_like_any_other() -> None:
    worktree = "/p/.claude/worktrees/x"
    assert allowed("Edit(src/**)", call("Edit", directory=worktree, file_path="src/a.ts"))


def test_edit_speaks_for_every_tool_that_edits() -> None:
    for tool in ("Edit", "MultiEdit", "Write"):
        assert allowed("Edit(src/**)", call(tool, file_path="src/a"))
    assert allowed("Edit(src/**)", call("NotebookEdit", notebook_path="src/a.ipynb"))
    assert not allowed("Write(src/**)", call("Edit", file_path="src/a"))
    assert not allowed("Edit(src/**)", call("Read", file_path="src/a"))


def test_a_deny_for_one_way_of_writing_is_a_deny_for_all() -> None:
    for tool in ("Edit", "MultiEdit", "Write"):
        assert denied("Write(secret/**)", call(tool, file_path="secret/a"))
        assert denied("Edit(secret/**)", call(tool, file_path="secret/a"))


def test_a_deny_holds_on_a_disk_that_ignores_case_and_composition() -> None:
    assert denied("Edit(secret/**)", call("Edit", file_path="SECRET/a"))
    assert denied("Edit(caf\u00e9/**)", call("Edit", file_path="cafe\u0301/a"))
    assert not allowed("Edit(secret/**)", call("Edit", file_path="SECRET/a"))


def test_where_a_link_leads_counts() -> None:
    inside = call("Edit", file_path="src/link/a")
    assert allowed("Edit(src/**)", replace(inside, resolved=f"{WEB}/src/real/a"))
    assert not allowed("Edit(src/**)", replace(inside, resolved="/etc/passwd"))
    assert denied("Edit(/etc/**)", replace(inside, resolved="/etc/passwd"))


def test_a_call_without_a_path_is_not_allowed_by_a_pattern() -> None:
    for values in ({}, {"file_path": None}, {"file_path": 5}, {"file_path": ["src/a"]}):
        assert not allowed("Edit(src/**)", call("Edit", **values))


def test_a_call_that_names_two_files_is_judged_by_both() -> None:
    both = call("NotebookEdit", file_path="src/a", notebook_path="/etc/passwd")
    assert not allowed("Edit(src/**)", both)
    assert denied("Edit(/etc/**)", both)


def test_searching_tools_are_judged_by_where_they_search() -> None:
    assert allowed("Read(src/**)", call("Grep", pattern="x", path="src"))
    assert allowed("Read(src/**)", call("Glob", pattern="**/*.ts", path="src"))
    assert not allowed("Read(src/**)", call("Grep", pattern="x"))
    assert not allowed("Read(src/*.ts)", call("Grep", pattern="x", path="src"))
    assert denied("Read(secret/**)", call("Grep", pattern="x", path="secret/deep"))
    assert denied("Read(secret/**)", call("Grep", pattern="x")), "it would read what is hidden"
    assert not denied("Read(secret/**)", call("Grep", pattern="x", path="src"))


@pytest.mark.parametrize(
    "pattern",
    ["../../**", "/etc/**", "*/../../../etc/*", "{a,../../etc}/*", "{/etc,x}/*", "~/.ssh/*"],
)
def test_a_glob_does_not_climb_out_of_where_it_searches(pattern: str) -> None:
    assert not allowed("Read(src/**)", call("Glob", pattern=pattern, path="src"))
    assert not allowed("Read(**)", call("Glob", pattern=pattern))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Edit(!src/**)", "deny rule"),
        ("Edit(src/../x)", "start"),
        ("Edit(src/..)", "start"),
        ("Edit(src/[z-a])", "cannot be read"),
        ("Edit()", "Write Edit for any input"),
        ("Edit(src", "closing bracket"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_refused(text: str, hint: str) -> None:
    with pytest.raises(RuleError, match=hint):
        parse_rule(text)
