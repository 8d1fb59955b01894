"""Patterns for the web, for MCP and for whole tools; how rules are written and read."""

from __future__ import annotations

import pytest

from claude_sessions.approvals.rules import RuleError, format_rule, parse_rule
from claude_sessions.errors import BadRequest
from claude_sessions.model import Verdict
from tests.approvals.samples import allowed, call, denied

SAME_HOST = [
    "https://example.com",
    "https://example.com/",
    "http://example.com:8080/a?b#c",
    "https://EXAMPLE.com/x",
    "https://example.com./x",
    "https://example.com?x",
]
OTHER_HOST = [
    "https://sub.example.com/",
    "https://example.com.evil.org/",
    "https://example.comevil.org/",
    "https://evil.org/example.com",
    "https://evil.org#example.com",
    "https://evil.org?example.com",
    "https://evil-example.com/",
]
DISGUISED = [
    "https://example.com@evil.org/",
    "https://example.com:x@evil.org/",
    "https://evil.org\\@example.com/",
    "https://evil.org\n@example.com/",
    "https://example.com\\.evil.org/",
    "https://user@example.com/",
    " https://example.com/",
    "https://example.com/ x",
    "//example.com/",
    "example.com",
    "ftp://example.com/",
    "file://example.com/etc/passwd",
    "https://ex\u200bample.com/",
    "https://example\u3002com/",
    "https://ｅxample.com/",
    "https://[::1]/",
    "https://",
    "",
]


@pytest.mark.parametrize("url", SAME_HOST)
def test_a_domain_is_its_host(url: str) -> None:
    assert allowed("WebFetch(domain:example.com)", call("WebFetch", url=url))
    assert denied("WebFetch(domain:example.com)", call("WebFetch", url=url))


@pytest.mark.parametrize("url", OTHER_HOST)
def test_another_host_is_another_host(url: str) -> None:
    assert not allowed("WebFetch(domain:example.com)", call("WebFetch", url=url))
    assert not denied("WebFetch(domain:example.com)", call("WebFetch", url=url))


@pytest.mark.parametrize("url", DISGUISED)
def test_an_address_that_can_be_read_in_two_ways_is_not_allowed(url: str) -> None:
    assert not allowed("WebFetch(domain:example.com)", call("WebFetch", url=url))


@pytest.mark.parametrize(
    "url",
    [
        "https://user:x@example.com/",
        "https://example\u3002com/",
        "https://ｅxample.com/",
        "HTTPS://example.com/",
        "example.com/x",
        "//example.com/x",
        "https:\\\\example.com/",
        "https://exam\nple.com/",
    ],
)
def test_an_address_that_some_reader_takes_for_the_host_is_denied(url: str) -> None:
    assert denied("WebFetch(domain:example.com)", call("WebFetch", url=url))


def test_sub_domains_need_a_star() -> None:
    stars = "WebFetch(domain:*.example.com)"
    assert allowed(stars, call("WebFetch", url="https://a.b.example.com/"))
    assert not allowed(stars, call("WebFetch", url="https://example.com/"))
    assert not allowed(stars, call("WebFetch", url="https://evilexample.com/"))


MCP = [
    ("mcp__github__create", "mcp__github__create", True, True),
    ("mcp__github__create", "mcp__github__create_issue", False, False),
    ("mcp__github__*", "mcp__github__create", True, True),
    ("mcp__github", "mcp__github__create", True, True),
    ("mcp__github", "mcp__github2__create", False, False),
    ("mcp__git", "mcp__github__create", False, False),
    ("mcp__github", "Bash", False, False),
    # server `github__evil`, or tool `evil__create`? Nobody can tell.
    ("mcp__github", "mcp__github__evil__create", False, True),
    ("mcp__github__*", "mcp__github__evil__create", False, True),
    ("mcp__github__evil", "mcp__github__evil__create", False, True),
    ("mcp__github__evil__*", "mcp__github__evil__create", True, True),
    ("Bash", "BashOutput", False, False),
    ("WebSearch", "WebSearch", True, True),
    ("Task", "Agent", True, True),
]


@pytest.mark.parametrize(("text", "tool", "allows", "denies"), MCP)
def test_a_tool_is_named(text: str, tool: str, allows: bool, denies: bool) -> None:
    assert allowed(text, call(tool)) is allows
    assert denied(text, call(tool)) is denies


def test_everything_can_be_denied_and_never_allowed() -> None:
    assert denied("*", call("Anything"))
    assert denied("mcp__*", call("mcp__a__b"))
    for text in ("*", "mcp__*", "*(*)", "AskUserQuestion", "ExitPlanMode"):
        with pytest.raises(RuleError):
            parse_rule(text, verdict=Verdict.ALLOW)


def test_no_rule_answers_a_question() -> None:
    with pytest.raises(RuleError, match="question for a person"):
        allowed("AskUserQuestion", call("AskUserQuestion"))


def test_a_skill_or_an_agent_is_named() -> None:
    assert allowed("Skill(review)", call("Skill", skill="review"))
    assert allowed("Skill(review *)", call("Skill", skill="review pr"))
    assert not allowed("Skill(review)", call("Skill", skill="deploy"))
    assert denied("Task(Explore)", call("Agent", subagent_type="Explore"))


WRITTEN = [
    ("Bash", ("Bash", None)),
    ("Bash(*)", ("Bash", None)),
    (" Bash( npm test ) ", ("Bash", "npm test")),
    ("Bash(npm run:*)", ("Bash", "npm run:*")),
    ("Bash(echo (hi))", ("Bash", "echo (hi)")),
    ("Bash(echo \\(hi\\))", ("Bash", "echo (hi)")),
    ("Bash(echo \\*)", ("Bash", "echo \\*")),
    ("Edit(app/(group)/x)", ("Edit", "app/(group)/x")),
    ("mcp__server__*", ("mcp__server__*", None)),
    ("WebFetch(domain:a.b)", ("WebFetch", "domain:a.b")),
]


@pytest.mark.parametrize(("text", "pattern"), WRITTEN)
def test_a_rule_is_read(text: str, pattern: tuple[str, str | None]) -> None:
    assert parse_rule(text) == pattern
    assert parse_rule(format_rule(*pattern)) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "", "()", "(x)", "Bash()", "Bash( )", "Bash(x", "Bash)x(", "Ba sh", "Bash(:*)", "Bash(**)",
        "WebFetch(example.com)", "WebFetch(domain:)", "WebFetch(domain:*)", "WebFetch(domain:a/b)",
        "WebFetch(domain:*.*)", "mcp__a__b(x)", "WebSearch(x)", "Foo(x)", "mcp__a*", "Ba*", "1Bash",
        "Bash\n(x)", "\u202eBash",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(RuleError, match="Write"):
        parse_rule(text)


def test_a_rule_error_is_a_bad_request_and_a_value_error() -> None:
    assert issubclass(RuleError, BadRequest)
    assert issubclass(RuleError, ValueError)
