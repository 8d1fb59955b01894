"""Reading a chat line from the left: words, flags between them, then text kept as it was typed."""

from __future__ import annotations

import json
import re
from enum import Enum

from claude_sessions.approvals.visible import one_line
from claude_sessions.commands.usage import Usage
from claude_sessions.errors import UsageError

MAX_TEXT = 1_000_000

# Control characters other than tab and line ends, and halves of a surrogate pair.
JUNK = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# Phones turn -- into an em dash, and straight quotes into curly ones.
FLAG = re.compile(r"(?:--|—)([A-Za-z][^\s=]*)(=)?")
END_OF_FLAGS = re.compile(r"(?:--|—)(?:\r\n|\s|\Z)")
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
QUOTED = {
    opening: re.compile(rf"{opening}((?:[^\\{closing}]++|\\.)*+){closing}", re.DOTALL)
    for opening, closing in QUOTES.items()
}
PIECE = re.compile(r"\\([\s\\\"'“”‘’])|[^\s\\,()]+|.", re.DOTALL)
SPACE = re.compile(r"\s*")


class Takes(Enum):
    """What follows a flag."""

    NOTHING = "nothing"
    WORD = "word"
    WORDS = "words"  # a word each time it is given
    RULES = "rules"  # spaces inside parentheses belong to it; may be given again
    JSON = "json"


FLAGS: dict[str, Takes] = {
    **dict.fromkeys(("fg", "fork", "full", "interrupt", "list", "once", "steer"), Takes.NOTHING),
    **dict.fromkeys(("queue", "worktree", "yes"), Takes.NOTHING),
    **dict.fromkeys(("name", "dir", "model", "mode", "budget", "system"), Takes.WORD),
    **dict.fromkeys(("lines", "scope", "session", "for", "turn", "tz", "into"), Takes.WORD),
    "transport": Takes.WORD,
    **dict.fromkeys(("env", "header"), Takes.WORDS),
    "allow": Takes.RULES,
    "input": Takes.JSON,
}


def shown(text: str) -> str:
    """Somebody's own words in an error: short, on one line, nothing hidden."""
    return one_line(text[:200], 40)


def quote(word: str) -> str:
    """The word so that a chat line reads it back as it is."""
    if re.fullmatch(r"[\w./~:@+][\w./~:@+-]*", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def accepted(text: str, usage: str = "") -> str:
    if len(text) > MAX_TEXT:
        raise UsageError(
            f"A text may have {MAX_TEXT:,} characters and this one has {len(text):,}:"
            " put it in a file and name the file.",
            usage,
        )
    refuse_junk(text, usage)
    return text


def refuse_junk(text: str, usage: str = "") -> None:
    if found := JUNK.search(text):
        raise UsageError(
            f"This is not plain text (U+{ord(found[0]):04X} at character {found.start() + 1:,}):"
            " put it in a file and name the file.",
            usage,
        )


class Line:
    """`word` and `text` are called in the order of the usage line; flags are then in `given`.

    Flags stand anywhere before the free text. `--` ends them: the text after it, but for the one
    space or line break that follows, is kept whole. Raises nothing but UsageError.
    """

    def __init__(self, text: str, start: int, usage: Usage) -> None:
        self._line = text
        self._at = start
        self._usage = usage
        self._flags_over = False
        self._whole = False  # `--` was the last thing read
        self.given: dict[str, list[str]] = {}

    def error(self, message: str) -> UsageError:
        return UsageError(message, self._usage.line)

    def word(self, what: str, *, rule: bool = False) -> str:
        word = self.optional_word(rule=rule)
        if word is None:
            raise self.error(f"{what} is missing.")
        return word

    def optional_word(self, *, rule: bool = False) -> str | None:
        self._read_flags()
        self._skip_space()
        self._whole = False
        if self._at == len(self._line):
            return None
        if word := self._read_word(rule=rule):
            return word
        raise self.error("There is nothing between those quotes.")

    def text(self, what: str) -> str:
        text = self.optional_text()
        if text is None:
            raise self.error(f"{what} is missing.")
        return text

    def optional_text(self) -> str | None:
        self._read_flags()
        if not self._whole:
            self._skip_space()
        text = self._line[self._at :]
        self._at = len(self._line)
        return accepted(text, self._usage.line) if text.strip() else None

    def end(self) -> None:
        self._read_flags()
        if rest := self._line[self._at :].strip():
            raise self.error(
                f"“{shown(rest)}” is too much here (a value with spaces needs quotes)."
            )

    def has(self, flag: str) -> bool:
        return flag in self.given

    def value(self, flag: str) -> str | None:
        values = self.given.get(flag)
        return values[0] if values else None

    def _skip_space(self) -> None:
        if match := SPACE.match(self._line, self._at):
            self._at = match.end()

    def _read_flags(self) -> None:
        while not self._flags_over:
            self._skip_space()
            if end := END_OF_FLAGS.match(self._line, self._at):
                self._flags_over = self._whole = True
                self._at = end.end()
            elif flag := FLAG.match(self._line, self._at):
                self._at = flag.end()
                self._read_flag(flag[1], has_equals=bool(flag[2]))
            else:
                return

    def _read_flag(self, typed: str, *, has_equals: bool) -> None:
        name = typed.lower()
        if name not in self._usage.flags:
            hint = "If it belongs to your text, put -- before the text."
            raise self.error(f"There is no --{shown(typed)} here. {hint}")
        takes = FLAGS[name]
        if name in self.given and takes not in (Takes.WORDS, Takes.RULES):
            raise self.error(f"--{name} is given twice.")
        values = self.given.setdefault(name, [])
        if takes is not Takes.NOTHING:
            values.append(self._read_value(name, takes, has_equals=has_equals))
        elif has_equals:
            raise self.error(f"--{name} takes no value.")

    def _read_value(self, name: str, takes: Takes, *, has_equals: bool) -> str:
        if not has_equals:
            self._skip_space()
        if takes is Takes.JSON and self._line.startswith("{", self._at):
            return self._read_json(name)
        is_flag = not has_equals and FLAG.match(self._line, self._at)
        value = "" if is_flag else self._read_word(rule=takes is Takes.RULES)
        if not value:
            raise self.error(f"--{name} needs a value.")
        return accepted(value, self._usage.line)

    def _read_json(self, name: str) -> str:
        start = self._at
        try:
            _, self._at = json.JSONDecoder().raw_decode(self._line, start)
        except (ValueError, RecursionError):
            raise self.error(f"--{name} needs one JSON object, with straight quotes.") from None
        return accepted(self._line[start : self._at], self._usage.line)

    def _read_word(self, *, rule: bool) -> str:
        """Quotes count at the start of a word and, in a list of rules, after a comma."""
        pieces: list[str] = []
        depth = 0
        may_quote = True
        while piece := PIECE.match(self._line, self._at):
            found = piece[0]
            if depth == 0 and found.isspace():
                break
            if may_quote and found[0] in QUOTES:
                pieces.append(self._read_quoted(found[0]))
                may_quote = False
                continue
            self._at = piece.end()
            pieces.append(piece[1] if piece[1] and depth == 0 else found)
            may_quote = rule and found == "," and depth == 0
            if rule and found in "()":
                depth = max(depth + (1 if found == "(" else -1), 0)
        if depth:
            raise self.error("A parenthesis is never closed.")
        return accepted("".join(pieces), self._usage.line)

    def _read_quoted(self, opening: str) -> str:
        match = QUOTED[opening].match(self._line, self._at)
        if match is None:
            raise self.error(
                f"The quote {opening} is never closed (\\{opening} means it literally)."
            )
        self._at = match.end()
        return re.sub(rf"\\([\\{QUOTES[opening]}])", r"\1", match[1])
