"""What must hold for any command, any rule, any order."""

from __future__ import annotations

import shlex
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from claude_sessions.approvals.commands import started
from claude_sessions.approvals.overlap import overlap
from claude_sessions.approvals.paths import absolute, covers, escaped, is_inside
from claude_sessions.approvals.readonly import only_reads
from claude_sessions.approvals.risk import assess
from claude_sessions.approvals.rules import (
    Rule,
    RuleError,
    ToolCall,
    format_rule,
    judge,
    matches,
    parse_rule,
    suggest,
)
from claude_sessions.approvals.script import ANY
from claude_sessions.model import Scope, Verdict
from tests.approvals.samples import HOME, NOW, WEB, allowed, bash, call, denied, rule

WORDS = st.sampled_from(
    ["npm", "run", "test", "rm", "-rf", "x", "a b", "*", "'", '"', "$", ";", "\\"]
)
QUOTED = WORDS.map(shlex.quote)
JOINTS = st.sampled_from([";", "&&", "||", "|", "&", "\n", "|&", "; ", " && "])
TANGLE = st.lists(
    st.sampled_from([*"ab \t\n;&|<>(){}[]$`'\"\\#!*?~=-0", "rm ", "$(", "<<E\n", "eval ", "case "])
).map("".join)
SCOPES: list[dict[str, Any]] = [
    {"scope": Scope.ONCE, "session": "s1"},
    {"scope": Scope.SESSION, "session": "s1"},
    {"scope": Scope.SESSION, "session": "s2"},
    {"scope": Scope.PROJECT, "directory": WEB},
    {"scope": Scope.USER},
]
TEXTS = ["Bash", "Bash(npm *)", "Bash(npm test)", "Bash(npm t*)", "Edit", "Edit(src/**)"]
TEXTS += ["Edit(src/a.ts)", "Read(**)", "mcp__a", "mcp__a__b", "WebFetch(domain:a.b)"]


@st.composite
def rules(draw: st.DrawFn) -> list[Rule]:
    count = draw(st.integers(0, 6))
    return [
        rule(
            draw(st.sampled_from(TEXTS)),
            draw(st.sampled_from(Verdict)),
            id=str(number),
            **draw(st.sampled_from(SCOPES)),
        )
        for number in range(count)
    ]


CALLS = st.sampled_from(
    [
        bash("npm test"),
        bash("npm run x"),
        bash("ls; npm test"),
        call("Edit", file_path="src/a.ts"),
        call("Write", file_path="../x"),
        call("Read", file_path="src/a.ts"),
        call("mcp__a__b"),
        call("WebFetch", url="https://a.b/c"),
    ]
)


@given(rules(), CALLS)
def test_a_deny_that_speaks_always_decides(given_rules: list[Rule], request_: ToolCall) -> None:
    found = judge(given_rules, request_, NOW)
    speaking = [each for each in given_rules if matches(each, request_, NOW)]
    if any(each.verdict is Verdict.DENY for each in speaking):
        assert found is not None
        assert found.verdict is Verdict.DENY
    else:
        assert (found is None) is (not speaking)


@given(rules(), CALLS, st.randoms())
def test_the_order_of_rules_does_not_matter(
    given_rules: list[Rule], request_: ToolCall, random: Any
) -> None:
    shuffled = random.sample(given_rules, len(given_rules))
    assert judge(given_rules, request_, NOW) == judge(shuffled, request_, NOW)


@given(st.lists(QUOTED, min_size=1), JOINTS, st.lists(QUOTED, min_size=1))
def test_an_allow_never_matches_two_commands_however_quoted(
    left: list[str], joint: str, right: list[str]
) -> None:
    command = f"npm run {' '.join(left)}{joint}{' '.join(right)}"
    assert not allowed("Bash(npm run *)", bash(command))
    assert not allowed("Bash(npm * x*)", bash(command))
    assert suggest(bash(command)) is None


@given(st.lists(QUOTED, min_size=1), st.sampled_from(["$(rm)", "`rm`", '"$(rm)"', "<(rm)", "> f"]))
def test_an_allow_never_matches_a_substitution_or_a_written_file(
    words: list[str], tail: str
) -> None:
    assert not allowed("Bash(npm run *)", bash(f"npm run {' '.join(words)} {tail}"))


@given(st.lists(QUOTED))
def test_an_allow_matches_plain_words_however_quoted(words: list[str]) -> None:
    command = " ".join(["npm run", *words])
    assume("\n" not in command)
    assert allowed("Bash(npm run *)", bash(command))


@given(
    st.lists(QUOTED), JOINTS, st.sampled_from(["rm", "r''m", '"rm"', "\\rm", "/bin/rm", "A=1 rm"])
)
def test_a_deny_finds_a_command_after_any_others(words: list[str], joint: str, name: str) -> None:
    assert denied("Bash(rm *)", bash(f"{' '.join(['true', *words])}{joint}{name} x"))


@given(TANGLE)
def test_any_tangle_is_read_without_an_error(text: str) -> None:
    running = started(text)
    assert not (running.plain and not running.certain)
    assess("Bash", {"command": text}, WEB, home=HOME)
    denied("Bash(rm *)", bash(text))
    if only_reads(text):
        assert running.certain
        assert not any(each.writes for each in running.commands)


@given(TANGLE, TANGLE)
def test_what_runs_first_is_found_whatever_follows(head: str, tail: str) -> None:
    assert denied("Bash(rm *)", bash(f"rm {head}\n{tail}"))


@given(TANGLE)
def test_an_exact_suggestion_allows_its_command_and_is_denied_alike(text: str) -> None:
    offered = suggest(bash(text))
    assert (offered is not None) is started(text).plain
    if offered is not None:
        assert allowed(offered, bash(text))
        assert denied(offered, bash(text))


PATTERNS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.sampled_from(["Bash", "Edit", "Read", "Skill"]), PATTERNS)
def test_a_rule_written_and_read_is_the_same_rule(tool: str, pattern: str) -> None:
    written = format_rule(tool, pattern)
    try:
        Rule(id="r", verdict=Verdict.DENY, tool=tool, pattern=pattern, scope=Scope.USER,
             by="x", at=NOW)  # fmt: skip
    except RuleError:
        return
    assert parse_rule(written) == (tool, pattern)


@given(st.text())
def test_any_text_is_a_rule_or_a_rule_error(text: str) -> None:
    try:
        tool, pattern = parse_rule(text)
    except RuleError:
        return
    assert parse_rule(format_rule(tool, pattern)) == (tool, pattern)


PIECES = st.sampled_from(["a", "src", "..", ".", "", "*", "[a]", "x y", "~", "\\", "A"])
PATHS = st.lists(PIECES, min_size=1).map("/".join)


@given(PATHS)
def test_no_inside_glob_matches_a_path_that_leads_out(path: str) -> None:
    full = absolute(path, WEB, HOME)
    for pattern in ("**", "src/**", "*", "src", "**/a", "./a"):
        if covers(pattern, full, directory=WEB, home=HOME):
            assert is_inside(full, WEB)


@given(PATHS)
def test_an_absolute_path_stays_as_it_is(path: str) -> None:
    full = absolute(path, WEB, HOME)
    assert absolute(full, "/elsewhere", HOME) == full
    assert ".." not in full.split("/")


@given(PATHS)
def test_an_escaped_path_means_itself(path: str) -> None:
    full = absolute(path, WEB, HOME)
    assert covers("/" + escaped(full), full, directory=WEB, home=HOME)


@given(PATHS, st.sampled_from(["Edit", "Write", "Read", "Glob", "Grep"]))
def test_what_is_suggested_for_a_path_answers_it(path: str, tool: str) -> None:
    request = call(tool, file_path=path, pattern="*")
    offered = suggest(request)
    if offered is not None:
        assert allowed(offered, request)


LETTERS = st.text(st.sampled_from("ab "), max_size=6)


@given(LETTERS, LETTERS, LETTERS)
def test_unknown_text_could_be_any_text(start: str, middle: str, end: str) -> None:
    assert overlap(start + ANY + end, start + middle + end)
    assert overlap(start + middle + end, start + ANY + end)


@given(LETTERS, LETTERS)
def test_known_texts_overlap_only_if_equal(left: str, right: str) -> None:
    assert overlap(left, right) is (left == right)
