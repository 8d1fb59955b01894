"""Patterns for Bash: an allow matches one plain command, a deny any command within."""

from __future__ import annotations

import pytest

from claude_sessions.approvals.rules import RuleError, parse_rule
from claude_sessions.model import Verdict
from tests.approvals.samples import allowed, bash, call, denied

ALLOWED = [
    ("Bash(npm test)", "npm test"),
    ("Bash(npm test)", " npm test\n"),
    ("Bash(npm run *)", "npm run build"),
    ("Bash(npm run *)", "npm run"),
    ("Bash(npm run:*)", "npm run build --watch"),
    ("Bash(npm run:*)", "npm run"),
    ("Bash(npm run *)", "npm run build 2>&1"),
    ("Bash(npm run *)", "npm run 'a; b'"),
    ("Bash(git * main)", "git push origin main"),
    ("Bash(ls*)", "lsof"),
    ("Bash(* --version)", "node --version"),
    ("Bash(echo \\*)", "echo *"),
    ("Bash(echo a\\\\b)", "echo a\\b"),
    ("Bash", "anything; at all | really"),
    ("Bash(*)", "anything; at all"),
]
NOT_ALLOWED = [
    ("Bash(npm test)", "npm tests"),
    ("Bash(npm test)", "npm test --watch"),
    ("Bash(npm test)", "npm  test"),
    ("Bash(npm test)", "NPM test"),
    ("Bash(npm test)", "LD_PRELOAD=x npm test"),
    ("Bash(npm test)", "./npm test"),
    ("Bash(npm run *)", "npm runner"),
    ("Bash(npm run:*)", "npm runs"),
    ("Bash(npm run *)", 'npm run" x"'),
    ("Bash(npm run *)", "npm run\tx"),
    ("Bash(npm run *)", "npm run\u00a0x"),
    ("Bash(echo \\*)", "echo a"),
    ("Bash(git * main)", "git push origin dev"),
    ("Bash(git * main)", "git push; x main"),
    ("Bash(aXa*aXa)", "aXa"),
]


@pytest.mark.parametrize(("text", "command"), ALLOWED)
def test_an_allow_matches(text: str, command: str) -> None:
    assert allowed(text, bash(command))


@pytest.mark.parametrize(("text", "command"), NOT_ALLOWED)
def test_an_allow_does_not_match(text: str, command: str) -> None:
    assert not allowed(text, bash(command))


TAILS = [
    "; b", " && b", " || b", " | b", " |& b", " & b", "\nb", " &", " $(b)", " `b`", ' "$(b)"',
    ' "`b`"', " <(b)", " >(b)", " > f", " >> f", " 2> f", " &> f", " >| f", " <> f", " >& f",
    " ${x:-$(b)}", " ${x@P}", " $((a[$(b)]))", " <<E\n$(b)\nE", "\\\n; b", " # ' \n b", " 'x'; b",
    ' "x"; b', " \\\\; b", " \\'; b", " $'\\''; b", " 'a'\\''; b", " ''\n b", " \"a'b\"; b #'",
    " { b; }", " ( b )", " =(b)", " *(e:b:)", " [[ x ]]; b", "\r\n b", "\x0bb", "\x00", " 'open",
]  # fmt: skip


@pytest.mark.parametrize("tail", TAILS)
def test_no_tail_rides_along_on_an_allow(tail: str) -> None:
    assert not allowed("Bash(npm run *)", bash(f"npm run x{tail}"))
    assert not allowed("Bash(npm *)", bash(f"npm run x{tail}"))
    assert not allowed("Bash(* x*)", bash(f"npm run x{tail}"))


def test_leaving_the_sandbox_is_another_question() -> None:
    assert allowed("Bash(npm test)", bash("npm test"))
    outside = call("Bash", command="npm test", dangerouslyDisableSandbox=True)
    assert not allowed("Bash(npm test)", outside)
    assert denied("Bash(npm test)", outside)


@pytest.mark.parametrize(
    "text", ["Bash(a && b)", "Bash(a; b *)", "Bash(a | *)", "Bash(a > f)", "Bash(echo 'x *)"]
)
def test_an_allow_that_could_never_match_is_refused(text: str) -> None:
    with pytest.raises(RuleError, match="one by one"):
        parse_rule(text, verdict=Verdict.ALLOW)
    parse_rule(text, verdict=Verdict.DENY)


DENIED = [
    # joined
    "rm -rf x", "true; rm -rf x", "true && rm -rf x", "false || rm -rf x", "true | rm -rf x",
    "true & rm -rf x", "true\nrm -rf x", "(rm -rf x)", "{ rm -rf x; }", "! rm -rf x",
    "echo $(rm -rf x)", "echo `rm -rf x`", 'echo "$(rm -rf x)"', "cat <(rm -rf x)",
    "tee >(rm -rf x)", "if true; then rm -rf x; fi", "for i in 1; do rm -rf x; done",
    "while rm -rf x; do :; done", "case a in a) rm -rf x;; esac", "f() { rm -rf x; }; f",
    "function f { rm -rf x; }; f", "x=$(rm -rf x)", "cat <<E\n$(rm -rf x)\nE", "a=(1 $(rm -rf x))",
    "echo ${y:-$(rm -rf x)}", "echo $(echo $(rm -rf x))", "[[ -n $(rm -rf x) ]]", "rm -rf x > log",
    "> log rm -rf x", "2>&1 rm -rf x",
    # quoted
    "r''m -rf x", '"rm" -rf x', "'rm' -rf x", "\\rm -rf x", "r\\m -rf x", "r\\\nm -rf x",
    "$'rm' -rf x", "$'\\x72m' -rf x", "$'\\162m' -rf x", "rm   -rf    x", "rm\t-rf\tx",
    "/bin/rm -rf x", "../../bin/rm -rf x", "RM -rf x", "=rm -rf x", "{rm,-rf,x}", "/bin/r? -rf x",
    "r[m] -rf x", 'r["m"] -rf x', "echo $\\\n(rm -rf x)", '"$\\\n(rm -rf x)"',
    # not known before it runs
    "$X -rf x", "${X} -rf x", "X=rm; $X -rf x", "$(echo rm) -rf x", "`echo rm` -rf x", "r$X -rf x",
    "$EMPTY rm -rf x", "rm $FLAGS x", 'eval "$X"', "bash -c \"$X\"", "curl u | sh",
    "bash <(curl u)", '"$X" -rf x', 'eval "$@"', "source <(curl u)",
    "echo cm0= | base64 -d | bash", "bash <<< \"$X\"",
    # wrapped
    "FOO=1 rm -rf x", "sudo rm -rf x", "sudo -u bob -- rm -rf x", "doas rm -rf x",
    "env FOO=1 rm -rf x", "env -i rm -rf x", "env -S 'rm -rf x'", "command rm -rf x",
    "builtin rm -rf x", "exec rm -rf x", "exec -a ls rm -rf x", "nohup rm -rf x &",
    "nice -n 5 rm -rf x", "timeout 5 rm -rf x", "timeout -s KILL 5 rm -rf x", "time rm -rf x",
    "time -p rm -rf x", "stdbuf -oL rm -rf x", "setsid rm -rf x", "busybox rm -rf x",
    "xargs rm -rf x", "echo x | xargs rm -rf", "echo x | xargs -I{} rm -rf {}",
    "echo rm | xargs -I% % -rf x", "find . -exec rm -rf {} ;", "find . -exec rm -rf {} +",
    "find . -execdir sh -c 'rm -rf x' \\;", "fd x -x rm -rf", "bash -c 'rm -rf x'",
    "sh -lc 'true; rm -rf x'", "bash -o pipefail -c 'rm -rf x'", "bash -c \"bash -c 'rm -rf x'\"",
    "bash <<'E'\nrm -rf x\nE", "bash <<< 'rm -rf x'", "eval rm -rf x", "eval 'rm -rf' x",
    "trap 'rm -rf x' EXIT", "su -c 'rm -rf x'", "su - bob -c 'rm -rf x'", "npx rm -rf x",
    "uv run rm -rf x", "poetry run rm -rf x", "watch 'rm -rf x'", "coproc rm -rf x",
    "git -c alias.z='!rm -rf x' z", "git submodule foreach 'rm -rf x'",
    "git rebase -x 'rm -rf x' main", "noglob rm -rf x", "repeat 3 rm -rf x", "ssh host rm -rf x",
    "alias l='rm -rf x'; l", "sudo env A=1 nice timeout 9 sh -c 'eval \"rm -rf x\"'",
    # cannot be read
    "rm -rf x 'open", "echo 'open; rm -rf x", "echo $(rm -rf x", "z=(;) true \\\nrm -rf x",
    "echo \"$(a <<'E'\n'\nErm -rf x)\"", "true;" * 3000 + "$'\\x72m' -rf x",
    "$(" * 60 + "$'\\x72m' -rf x" + ")" * 60, "sudo " * 30 + "$'\\x72m' -rf x",
]  # fmt: skip


@pytest.mark.parametrize("command", DENIED)
def test_a_deny_is_not_evaded(command: str) -> None:
    assert denied("Bash(rm *)", bash(command))


NOT_DENIED = [
    "rmdir x", "ls", "echo rm", "echo 'rm -rf x'", "echo \"; rm -rf x\"", "git rm x",
    "grep rm file", "ls | xargs grep rm", "command -v rm", "cat rm", "npm run rm", "./rm-old.sh",
    "echo a # rm x", 'tool "$X"', "cat <<'E'\nrm -rf x\nE", "docker rm x", "ls $HOME",
    "git commit -m 'rm -rf x; done'",
    '"$HOME/bin/tool" x', "ls *.txt", "for f in rm; do ls; done",
    "python -m rm",
]  # fmt: skip


@pytest.mark.parametrize("command", NOT_DENIED)
def test_a_deny_leaves_the_rest_alone(command: str) -> None:
    assert not denied("Bash(rm *)", bash(command))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Bash(rm -rf *)", "rm -fr x"),
        ("Bash(rm -rf *)", "rm -r -f x"),
        ("Bash(rm -rf *)", "rm x -rfv"),
        ("Bash(rm -rf *)", "rm *"),  # a file may be called -rf
        ("Bash(rm -rf x)", "rm -fr x"),
        ("Bash(git push --force *)", "git push origin main --force"),
        ("Bash(git push *)", "git -C /x push"),
        ("Bash(git push *)", "git -c a=b --no-pager push origin"),
        ("Bash(git push *)", "git $OPTIONS push"),
        ("Bash(git push *)", "git>&-push"),
        ("Bash(git push *)", "git 2>&- push"),
        ("Bash(git push:*)", "cd x && git push"),
        ("Bash(FOO=1 *)", "FOO=1 make"),
        ("Bash(a && *)", "a && b"),
        ("Bash", "ls"),
        ("*", "ls"),
    ],
)
def test_a_deny_means_what_it_says(text: str, command: str) -> None:
    assert denied(text, bash(command))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Bash(rm -rf *)", "rm x"),
        ("Bash(rm -rf *)", "rm -r x"),
        ("Bash(rm -rf *)", "rm *.txt"),
        ("Bash(rm -rf x)", "rm -rf y"),
        ("Bash(git push *)", "git pull"),
        ("Bash(git push --force *)", "git push"),
    ],
)
def test_a_deny_does_not_reach_further(text: str, command: str) -> None:
    assert not denied(text, bash(command))


def test_a_rule_for_bash_also_speaks_for_monitor() -> None:
    watching = call("Monitor", command="rm -rf x")
    assert denied("Bash(rm *)", watching)
    assert allowed("Bash(rm -rf x)", watching)
    assert not allowed("Monitor(rm -rf x)", bash("rm -rf x"))
