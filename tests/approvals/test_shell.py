from __future__ import annotations

import pytest

from claude_sessions.approvals.commands import started
from claude_sessions.approvals.risk import assess
from claude_sessions.approvals.script import ANY, NAME, PART
from claude_sessions.approvals.shell import read
from tests.approvals.samples import allowed, bash, denied
from tests.effort import effort

PLAIN = [
    "npm test",
    "  npm test  ",
    "npm test\n",
    "echo 'a; b' \"c && d\" e\\;f",
    "git commit -m 'fix | > < & `x` $(y)'",
    "FOO=1 BAR='a b' make",
    "npm test 2>&1",
    "npm test >/dev/null 2>/dev/null",
    "cat < input.txt",
    "cat <<< word",
    "echo $HOME ${HOME} $1 $?",
    "ls *.py [ab].c {a,b}",
    "grep 'a[$(x)]' file",
    "time npm test",
    "sudo rm x",
    "bash -c 'npm test'",
]
COMPOUND = [
    "a; b", "a;b", "a && b", "a || b", "a | b", "a |& b", "a & b", "a &", "a\nb", "a;", "a \\\n b",
    "echo 'two\nlines'", "(a)", "{ a; }", "$(a)", "a $(b)", 'a "$(b)"', "a `b`", 'a "`b`"',
    "a <(b)", "a >(b)", "a > f", "a >> f", "a >| f", "a &> f", "a >& f", "a 2> f", "a <> f",
    "a {fd}> f", "a $((1))", "a $[1]", "a ${x:-y}", "a ${x@P}", "a ${!x}", "x=(b)", "x=$(b)", "x=1",
    "if a; then b; fi", "for x in 1; do a; done", "while a; do b; done", "case x in x) a;; esac",
    "f() { a; }", "function f { a; }", "a # comment", "a <<E\nb\nE", "a 'open", 'a "open',
    "a `open", "a $(open", "a \\", "a )", "a\x00b", "a\rb", "a\x1b", "a\ue000", "", "   ",
    "# only",
    "eval 'a; b'", 'eval "$x"', "bash -c 'a | b'", 'sh -c "$x"', "sudo sh -c 'a > f'",
    "echo x | sh", "bash <<< 'a; b'", "su -c 'a; b'", "env -S 'sh -c \"a; b\"'",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_one_plain_command(text: str) -> None:
    assert started(text).plain


@pytest.mark.parametrize("text", COMPOUND)
def test_not_one_plain_command(text: str) -> None:
    assert not started(text).plain


WORDS = [
    ("r''m x", ("rm", "x")),
    ('"rm" x', ("rm", "x")),
    ("\\rm x", ("rm", "x")),
    ("r\\\nm x", ("rm", "x")),
    ("$'\\x72\\155' x", ("rm", "x")),
    ("$'\\u0072m' x", ("rm", "x")),
    ("$'\\x{72}m' x", ("rm", "x")),
    ("echo 'a'\"b\"c", ("echo", "abc")),
    ('echo "a\\"b\\$c\\d"', ("echo", 'a"b$c\\d')),
    ("echo 'it'\\''s'", ("echo", "it's")),
    ("echo $'it\\'s'", ("echo", "it's")),
    ("echo a#b", ("echo", "a#b")),
    ("echo $x", ("echo", ANY)),
    ('echo "a$x"', ("echo", "a" + PART)),
    ('echo "$@"', ("echo", ANY)),
    ("ls *.py", ("ls", NAME + ".py")),
    ("ls '*.py'", ("ls", "*.py")),
    ("r[m] x", ("r" + NAME, "x")),
    ("{rm,-rf,x}", (ANY,)),
    ('r["m"] x', (ANY, "x")),
    ("find . -exec rm {} ;", ("find", ".", "-exec", "rm", "{}")),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_quotes_are_taken_off_words(text: str, words: tuple[str, ...]) -> None:
    assert read(text).commands[0].words == words


def test_a_here_document_is_data_unless_it_expands() -> None:
    quoted = read("cat <<'E'\nrm $(b)\nE\nls")
    assert [c.words for c in quoted.commands] == [("cat",), ("ls",)]
    assert quoted.commands[0].fed == "rm $(b)"
    assert ("b",) in [c.words for c in read("cat <<E\n$(b)\nE").commands]
    assert ("b",) in [c.words for c in read("cat <<-E\n\t`b`\n\tE").commands]


def test_a_commit_message_in_a_here_document_is_understood() -> None:
    script = read("git commit -m \"$(cat <<'EOF'\nFix (a) the 'b\n\nEOF\n)\"")
    assert script.certain
    assert [c.words[0] for c in script.commands] == ["cat", "git"]


def test_what_a_case_runs_is_found_and_its_patterns_are_not_commands() -> None:
    script = read("case $x in *) a;; (b|c) d;; esac; e")
    assert [c.words for c in script.commands if c.words] == [("a",), ("d",), ("e",)]
    assert ("a",) in [c.words for c in read('echo "$(case x in x) a;; esac)"').commands]


@pytest.mark.parametrize(
    "text",
    [
        "$(" * 3000,
        "`" * 3001,
        "${x:-" * 3000,
        '"$(' * 3000,
        "(" * 5000,
        "eval " * 3000,
        "sudo -a " * 3000 + "x",
        "a;" * 20000,
        "<<E " * 2000,
        "case x in " * 2000,
        "'" + "x" * 300_000,
        "bash -c '" * 50,
        "$x" * 20000,
    ],
)
def test_a_hostile_text_is_read_in_bounded_time(text: str) -> None:
    def read() -> None:
        denied("Bash(git push *)", bash(text))
        allowed("Bash(git push *)", bash(text))
        assess("Bash", {"command": text}, "/w", home="/h")

    assert effort(read) < 1500
