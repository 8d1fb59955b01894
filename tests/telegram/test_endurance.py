"""What nobody would write, and what goes on for very long."""

from __future__ import annotations

import pytest

from claude_sessions.telegram.render import Rich, from_markdown, split
from tests.effort import effort
from tests.telegram.rules import broken

ANSWER = """## Step

I changed **two** things in `auth.py`, see [docs](https://docs.example.org/a_b):

1. The *first* one:
   ```python
   def key(user: User) -> str:
       return f"{user.tenant}:{user.id}"
   ```
2. The second, with 👍 and ~~old~~ new.

| File | Lines |
|------|------:|
| a.py | 12 |

> Note: run it again.
"""


def in_steps(millions: int, markdown: str) -> list[Rich]:
    parts: list[Rich] = []
    assert effort(lambda: parts.extend(split(from_markdown(markdown)))) < millions
    return parts


def test_a_long_answer_is_ready_at_once() -> None:
    parts = in_steps(200, ANSWER * (200_000 // len(ANSWER)))
    assert [rule for part in parts for rule in broken(part, limit=4096, most=100)] == []


@pytest.mark.parametrize(
    "piece",
    [
        "*", "**a", "_a_ ", "a*b_", "[", "![", "[a](", "]", "`", "`` ` ", "~~", "> ", ">", "- ",
        "1. ", "|", "|a", "|\n", "- a\n", "> a\n", "a\n", "\n", " ", "\t", "<", "&", "\\", "# ",
        "```\n", "[x]: y\n", "👍", "🇩", "\u200d", "e\u0301", "\u0301", "\x00", "\ud800", "(", "a.",
        "[a.b](c) ", "![a](b)", "---\n", "|a|b|\n|-|-|\n", "* * ", "- [ ] a\n\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_any_repetition_is_taken(piece: str, size: int) -> None:
    parts = in_steps(800, piece * (size // len(piece)))
    checked = parts[:3] + parts[-3:]
    assert [rule for part in checked for rule in broken(part, limit=4096, most=100)] == []


@pytest.mark.parametrize(
    "markdown",
    [
        "".join(">" * (n % 80) + " a\n" for n in range(3000)),
        "".join("  " * (n % 80) + "- a\n" for n in range(3000)),
        "".join("*" * (n % 7) + "a" for n in range(20_000)),
        "".join("`" * (n % 300) + "a" for n in range(1500)),
        "[" * 20_000 + "a" + "](https://b.org)" * 5000,
        "|" * 3000 + "\n" + "|-" * 3000 + "|\n" + "|\n" * 3000,
        "[" + "a" * 100_000 + "](https://b.org)",
        "[" + "a." * 50_000 + "](https://b.org)",
        "**a `b` " * 10_000 + "**",
    ],
    ids=range(9),
)
def test_depth_and_width_are_taken(markdown: str) -> None:
    parts = in_steps(800, markdown)
    assert [rule for part in parts for rule in broken(part, limit=4096, most=100)] == []
