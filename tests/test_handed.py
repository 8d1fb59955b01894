from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions import handed
from claude_sessions.commands import GetFile
from claude_sessions.commands.chat import parse
from tests.commands.test_replies import session


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("[report](out/report.pdf)", ["out/report.pdf"]),
        ("[a](a.py#L10), [b](src/b.py:42) and [c](c.ts:1-9)", ["a.py", "src/b.py", "c.ts"]),
        ("[x](<my file.txt>) [y](my%20other.txt 'y')", ["my file.txt"]),
        ('[y](my%20other.txt "the other")', ["my other.txt"]),
        ("[site](https://x.org/a.pdf) [mail](mailto:a@b.c) [top](#top) [n](//x/y)", []),
        ("`[code](a.txt)`\n```\n[code](b.txt)\n```\n[real](c.txt)", ["c.txt"]),
        ("![picture](plot.png)", ["plot.png"]),
    ],
)
def test_links_to_files_are_found_where_they_are_meant(said: str, found: list[str]) -> None:
    assert list(handed.links(said)) == found


def test_the_last_three_that_are_there_are_offered(tmp_path: Path) -> None:
    for name in ("a.txt", "b c.txt", "d.txt", "e.txt", ".env"):
        (tmp_path / name).write_text(name)
    state = session(spec={"directory": str(tmp_path)})
    links = ["a.txt", "b c.txt", ".env", "gone.txt", "../outside.txt", "d.txt", "e.txt", "d.txt"]
    offered = handed.actions(state, links)
    assert [action.label for action in offered] == ["📎 b c.txt", "📎 d.txt", "📎 e.txt"]
    assert parse(offered[0].line) == GetFile(session=state.id, path="b c.txt")
