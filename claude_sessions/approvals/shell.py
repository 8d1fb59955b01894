"""Reads a shell command far enough to know which simple commands it would start.

Two questions are asked of it, and each errs to its own safe side. "Is this one plain command?"
(allow rules) is answered yes only if nothing else can be in the text. "What might run?" (deny
rules, risk) names every command it sees, also inside `$(…)`, backticks, `<(…)`, subshells, groups,
loops and here-documents. Text that only the shell will know stands in the words as `ANY` (a
variable, a substitution: may become several words), `PART` (the same in quotes: stays within its
word) or `NAME` (a file-name pattern). Whatever is not understood makes the script not `certain`;
where even quotes and brackets do not add up, a command that could be anything is listed as well.
"""

from __future__ import annotations

import re
from functools import lru_cache

from claude_sessions.approvals.ansi import unescaped
from claude_sessions.approvals.script import ANY, NAME, PART, Draft, Script

DEPTH = 40  # nesting beyond this is nobody's honest command
HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})

_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[;&|\n]")
_REDIRECTION = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||>(?!\()|<(?!\())|(&>>?)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])|\$\{\w+\}")
_ARITHMETIC = re.compile(r"\(\(((?:[^#'\"\\`$<\n]|<(?![<(])|\$(?=\w))*?)\)\)")
_PARAMETER = re.compile(r"\$\{(?:[^'\"\\`{}$]|\$\w+|\$\{\w+\})*\}")
_MISLEADING = re.compile(r"#|<<|['\"\\`]")
_CLASS = re.compile(r"\[[^\s;&|()<>\"'`$\\\[\]]+\]")
_ODD = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f{ANY}{NAME}{PART}]")
_LEADING = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done"})
_NO_COMMAND = frozenset({"for", "select", "foreach", "case"})


@lru_cache(maxsize=256)
def read(text: str) -> Script:
    reader = _Reader(text.strip(" \t\n"))
    reader.script()
    commands = tuple(draft.freeze() for draft in reader.found)
    single = reader.certain and not reader.compound and len(commands) == 1
    return Script(
        commands=commands,
        single=single and bool(commands[0].words) and not commands[0].writes,
        certain=reader.certain,
    )


class _Reader:
    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.found: list[Draft] = []
        self.compound = "\n" in text  # also quoted: nobody means a pattern to span lines
        self.certain = _ODD.search(text) is None
        self.piped = False
        self.pending: list[tuple[Draft, str, bool, bool]] = []
        self.cases: list[bool] = []  # open `case`s; whether each expects a pattern now

    def script(self, closing: str = "") -> None:
        """Commands up to `closing`, or to the end of the text."""
        self.depth += 1
        if self.depth > DEPTH:
            self.at = len(self.text)
            self._lose_track()
        draft = Draft(self.at)
        outer, self.cases = self.cases, []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closing and not self._in_pattern:
                break
            draft = self._step(draft, char)
        else:
            if closing:
                self._lose_track()
        self._finish(draft)
        self.cases = outer
        self.at += 1
        self.depth -= 1
        if self.pending:
            self._lose_track()

    def _lose_track(self) -> None:
        """Quotes or brackets do not add up: what else is in the text cannot be said."""
        self.certain, self.compound = False, True
        self.found.append(Draft(self.at, words=[ANY]))

    @property
    def _in_pattern(self) -> bool:
        return bool(self.cases) and self.cases[-1]

    def _step(self, draft: Draft, char: str) -> Draft:
        if char in " \t":
            self.at += 1
        elif char == "#":
            self.compound = True
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif self.text.startswith("\\\n", self.at):
            self.at += 2
        elif char in "()":
            return self._group(draft, char)
        elif redirection := _REDIRECTION.match(self.text, self.at):
            self._redirect(draft, redirection)
        elif operator := _OPERATOR.match(self.text, self.at):
            return self._separate(draft, operator.group())
        else:
            return self._take_word(draft)
        return draft

    def _group(self, draft: Draft, char: str) -> Draft:
        self.compound = True
        if char == "(" and self.text[self.at - 1 : self.at] == "=" and not draft.words:
            # An array: its words are data, its substitutions run, and after a mistake in it bash,
            # unlike after any other, goes on with the next line.
            self.certain = False
            self.at += 1
            self.script(")")
            self._word(draft)
            return draft
        self._finish(draft)
        if char == "(" and not self._in_pattern and self._arithmetic(draft):
            return Draft(self.at)
        self.at += 1
        if self._in_pattern:
            self.cases[-1] = char == "("
        elif char == "(":
            self.script(")")
        else:
            self._lose_track()
        return Draft(self.at)

    def _arithmetic(self, draft: Draft) -> bool:
        """`((…))` by itself, for neither `#` nor `<<` mean there what they mean elsewhere."""
        if not self.text.startswith("((", self.at):
            return False
        match = _ARITHMETIC.match(self.text, self.at)
        if not match:
            if _MISLEADING.search(self.text, self.at):
                self._lose_track()
            return False
        self.compound = True
        self.at = match.end()
        self._read_apart(match.group(1), draft)
        return True

    def _read_apart(self, text: str, draft: Draft) -> None:
        inside = _Reader(text, self.depth)
        inside.piped = self.piped
        inside.script()
        self._adopt(inside)
        draft.inner.extend(inside.found)

    def _separate(self, draft: Draft, operator: str) -> Draft:
        self.compound = True
        self._finish(draft)
        self.at += len(operator)
        if operator in ("|", "|&") and not self._in_pattern:
            self.piped = True
        if operator in (";;", ";&", ";;&") and self.cases:
            self.cases[-1] = True
        if operator == "\n":
            self._here_documents()
        return Draft(self.at)

    def _take_word(self, draft: Draft) -> Draft:
        start = self.at
        text = self._word(draft)
        raw = self.text[start : self.at]
        if raw in ("{", "}") or (raw == "in" and draft.words[:1] == ["case"]):
            return self._split(draft, start)
        if draft.words:
            draft.words.append(text)
        elif raw == "esac" and self.cases:
            self.cases.pop()
        elif raw in _LEADING:
            self.compound = True
        elif _ASSIGNMENT.match(raw):
            draft.assignments.append(text)
        elif raw != "!":
            draft.words.append(text)
        return draft

    def _split(self, draft: Draft, start: int) -> Draft:
        """A word that only separates: a brace of a group, the `in` of a `case`."""
        self.compound = True
        end, self.at = self.at, start
        if draft.words[:1] == ["case"]:
            self.certain = False
            self.cases.append(True)
        self._finish(draft)
        self.at = end
        return Draft(self.at)

    def _finish(self, draft: Draft) -> None:
        if self._in_pattern or (draft.words and draft.words[0] in _NO_COMMAND):
            self.compound = True
            draft.words.clear()
        if draft.empty:
            return
        draft.raw = self.text[draft.start : self.at].strip()
        draft.piped = self.piped
        self.found.append(draft)

    def _redirect(self, draft: Draft, match: re.Match[str]) -> None:
        operator = match.group(1) or match.group(2)
        self.at = match.end()
        while self.text[self.at : self.at + 1] in (" ", "\t") or self.text.startswith(
            "\\\n", self.at
        ):
            self.at += 2 if self.text[self.at] == "\\" else 1
        start = self.at
        if operator in (">&", "<&") and self.text.startswith("-", start):
            self.at += 1  # `>&-` closes; what follows is the next word, blank or not
            return
        target = self._word(draft)
        raw = self.text[start : self.at]
        if not raw:
            self.certain = False
        elif operator in ("<<", "<<-"):
            self.compound = True
            quoted = any(mark in raw for mark in "'\"\\")
            self.pending.append((draft, target, operator == "<<-", quoted))
        elif operator == "<<<":
            draft.fed = target
        elif operator in (">&", "<&") and re.fullmatch(r"\d+-?", target):
            pass
        elif operator == "<":
            draft.reads.append(target)
        elif target not in HARMLESS_TARGETS:
            draft.writes.append(target)

    def _here_documents(self) -> None:
        pending, self.pending = self.pending, []
        for draft, delimiter, dedent, quoted in pending:
            body: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                line = line.lstrip("\t") if dedent else line
                if line == delimiter:
                    break
                body.append(line)
            else:
                # Inside $(…) bash then ends it at a line that merely begins like the delimiter.
                self._lose_track()
            draft.fed = "\n".join(body) if quoted else self._expanded("\n".join(body), draft)

    def _expanded(self, body: str, draft: Draft) -> str:
        inside = _Reader(body, self.depth)
        out: list[str] = []
        inside._quoted(out, draft, closing="")
        self._adopt(inside)
        return "".join(out)

    def _adopt(self, other: _Reader) -> None:
        self.found.extend(other.found)
        self.certain = self.certain and other.certain
        self.compound = self.compound or other.compound

    def _word(self, draft: Draft) -> str:
        out: list[str] = []
        bracket = brace = comma = unknown = False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                self.at += 2
                self._nested(out, draft)
                continue
            if char in " \t\n;&|()<>":
                break
            if char in "\\'\"`$":
                self._marked(char, out, draft)
                continue
            if char in "*?":
                out.append(NAME)
            elif char == "[" and (found := _CLASS.match(self.text, self.at)):
                out.append(NAME)
                self.at = found.end()
                continue
            else:
                out.append(char)
            bracket = bracket or char == "["
            comma = comma or (brace and char in ",.")
            brace = brace or char == "{"
            unknown = unknown or (bracket and char == "]") or (comma and char == "}")
            self.at += 1
        return ANY if unknown else "".join(out)

    def _marked(self, char: str, out: list[str], draft: Draft) -> None:
        """A character that quotes or expands, outside double quotes."""
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            self.certain = self.certain and bool(following)
            out.append("" if following == "\n" else following)
            self.at += 2
        elif char == "'":
            out.append(self._until_quote(self.at + 1))
        elif char == '"':
            self.at += 1
            self._quoted(out, draft)
        elif char == "`":
            self._backticks(out, draft)
        elif self.text.startswith("$'", self.at):
            out.append(self._ansi())
        elif self.text.startswith('$"', self.at):
            self.at += 2
            self._quoted(out, draft)
        else:
            self._dollar(out, draft)

    def _until_quote(self, start: int) -> str:
        end = self.text.find("'", start)
        if end < 0:
            self._lose_track()
            end = len(self.text)
        self.at = end + 1
        return self.text[start:end]

    def _ansi(self) -> str:
        match = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.S).match(self.text, self.at)
        if not match:
            self._lose_track()
            return self._until_quote(self.at + 2)
        self.at = match.end()
        decoded = unescaped(match.group(1))
        if _ODD.search(decoded):
            self.certain = False
        return decoded

    def _quoted(self, out: list[str], draft: Draft, closing: str = '"') -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == closing:
                self.at += 1
                return
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                following = self.text[self.at + 1]
                out.append("" if following == "\n" else following)
                self.at += 2
            elif char == "`":
                self._backticks(out, draft, PART)
            elif char == "$":
                self._dollar(out, draft, PART)
            else:
                out.append(char)
                self.at += 1
        if closing:
            self._lose_track()

    def _dollar(self, out: list[str], draft: Draft, mark: str = ANY) -> None:
        if variable := _VARIABLE.match(self.text, self.at):
            self.at = variable.end()
            out.append(ANY if variable.group() in ("$@", "$*") else mark)
        elif self.text.startswith("$(", self.at):
            self.at += 1
            if self._arithmetic(draft):
                out.append(mark)
            else:
                self.at += 1
                self._nested(out, draft, mark)
        elif self.text.startswith(("${", "$["), self.at):
            self._parameter(out, draft)
        else:
            out.append("$")
            self.at += 1

    def _nested(self, out: list[str], draft: Draft, mark: str = ANY) -> None:
        self.compound = True
        if self.pending:
            self.certain = False
        known = len(self.found)
        self.script(")")
        draft.inner.extend(self.found[known:])
        out.append(mark)

    def _parameter(self, out: list[str], draft: Draft) -> None:
        """`${…}` beyond a plain name can run commands (`${x@P}`, `${x:-$(y)}`): never certain."""
        self.compound, self.certain = True, False
        if not _PARAMETER.match(self.text, self.at) and _MISLEADING.search(self.text, self.at):
            self._lose_track()
        closing = "}" if self.text[self.at + 1] == "{" else "]"
        self.depth += 1
        self.at += 2
        while self.at < len(self.text) and self.text[self.at] != closing:
            if self.text[self.at] in '\\"`$' and self.depth < DEPTH:
                self._marked(self.text[self.at], [], draft)
            else:
                self.at += 1
        self.depth -= 1
        self.at += 1
        out.append(ANY)

    def _backticks(self, out: list[str], draft: Draft, mark: str = ANY) -> None:
        self.compound = True
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.S).match(self.text, self.at)
        if not match:
            self._lose_track()
            self.at = len(self.text)
            return
        self.at = match.end()
        self._read_apart(re.sub(r"\\([`$\\\"])", r"\1", match.group(1)), draft)
        out.append(mark)
