from __future__ import annotations

import pytest

from claude_sessions.approvals.readonly import only_reads

READS = [
    "ls", "ls -la src", "cat a b | head -20 | wc -l", "git status", "git log --oneline -5",
    "git diff HEAD~1 -- src", "git show HEAD:a.py", "git --no-pager log", "git branch -a",
    "git branch", "git remote -v", "git stash list", "git blame a.py", "grep -rn 'a; b' src",
    "rg TODO src", "find . -name '*.py' -type f", "cd src && ls", "ls; pwd && whoami || true",
    "cat a 2>/dev/null", "ls 2>&1", "cat < a", "echo $HOME", "LC_ALL=C sort a", "/bin/ls",
    "sed -n 10,20p a.py", "sed -n '5p' a", "sort a | uniq -c", "ls | xargs cat",
    'echo "$(git log)"', "command ls", "command -v node", "timeout 5 ls", "time ls",
    "node --version",
    "[ -f a ] && cat a", "test -d src", "jq .a b.json", "diff a b", "tree -L 2",
    "for f in a b; do cat $f; done",
    "if [ -f a ]; then cat a; fi", "(ls)", "{ ls; }", "ls &", "cat <(ls)", "date +%s",
    "cat <<'E'\nrm -rf x > y\nE", "cat *.py", "ls # a comment", "cat -- -x", "git diff --stat",
]  # fmt: skip

MORE_THAN_READS = [
    "", "rm x", "ls; rm x", "ls && rm x", "ls | tee f", "ls > f", "ls >> f", "ls >| f", "ls &> f",
    "ls 2> f", "cat <> f", "ls $(rm x)", "ls `rm x`", "cat <(rm x)", "(rm x)", "ls\nrm x",
    "if rm x; then ls; fi", "for f in a; do rm $f; done", "cat <<E\n$(rm x)\nE",
    # programs that can be made to do something
    "find . -delete", "find . -exec rm {} +", "find . -fprint f", "find . -ok rm {} ;",
    "find . -execdir x ;", "find $X", "find . *", "fd x -x rm", "fd x -Hx rm", "fd x --exec rm",
    "sort -o f a", "sort -rof a", "sort --output=f a", "sort --outp=f a", "sort --compress-p=x a",
    "sort $X", "uniq a b", "tree -o f", "sed -i s/a/b/ f", "sed -n 'w f' a", "sed -n '1e rm x' a",
    "sed -n 1p -i f", "sed s/a/b/ f", "awk 1 f", "rg --pre x y", "rg --pr=x y", "file -C -m x",
    "printf -v 'a[$(rm x)]' y", "test -v 'a[$(rm x)]'", "[ -v x ]", "[[ a ]]", "date -s x",
    "date 010203", "jq -i . f", "xxd -r a b", "env", "env ls x", "printenv", "tee f", "less f",
    # git
    "git", "git stash", "git worktree", "git config", "git config a b", "git push", "git branch x",
    "git branch -D x", "git tag v1", "git remote add a b", "git reflog expire", "git checkout a",
    "git -C /x status", "git -c core.pager=x log", "git --git-dir=x status", "git diff --output=f",
    "git log --outpu=f", "git grep -O x", "git grep --open-files=x y", "git diff --ext-diff",
    "git show --textconv", "git $X", "git log $X", "cd /x && git status", "cd x; git log",
    "git --exec-path=x status", "git fetch", "git ls-remote x",
    # where the program comes from
    "./ls", "/tmp/ls", "bin/cat x", "PATH=/tmp ls", "PATH=/tmp; ls", "LD_PRELOAD=x ls",
    "GIT_PAGER=x git log", "LC_ALL=$X sort a", "alias ls=rm; ls", "ls() { rm x; }; ls", "$X",
    "$X ls", "l? x", "sudo ls", "nohup ls", "eval ls", "bash -c ls", "source a", ". a",
    "exec ls", "xargs rm", "ls | xargs sort", "ls | xargs -I{} {} x", "python --version x",
    "python -c x", "node x",
    "nice -n 5 ls", "curl x", "ssh h ls", "cat < /dev/tcp/h/1", "exec 3<>/dev/tcp/h/1",
    # not understood
    "ls 'open", "ls $(", "cat ${x:-y}", "case x in x) ls;; esac", "ls \x00", "ls \ue000", "x=1",
    "x=(ls)", "ls )", "cat <<E\nx",
]  # fmt: skip


@pytest.mark.parametrize("command", READS)
def test_it_only_reads(command: str) -> None:
    assert only_reads(command)


@pytest.mark.parametrize("command", MORE_THAN_READS)
def test_it_may_do_more(command: str) -> None:
    assert not only_reads(command)
