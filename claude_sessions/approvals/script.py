"""What was read of a shell text: its simple commands, with what only the shell knows marked."""

from __future__ import annotations

from dataclasses import dataclass, field

ANY = "\ue000"
NAME = "\ue001"
PART = "\ue002"
UNKNOWN = frozenset({ANY, NAME, PART})


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command: words with quotes removed, redirections and assignments apart."""

    raw: str = ""
    words: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    fed: str | None = None  # what a here-document or here-string puts on its standard input
    piped: bool = False  # a pipe stands somewhere before it
    inner: tuple[Simple, ...] = ()  # the commands of its substitutions


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    commands: tuple[Simple, ...]
    single: bool  # one simple command, no substitution, no redirection that writes, no comment
    certain: bool


@dataclass(slots=True, eq=False)
class Draft:
    """A simple command while it is being read; a here-document may still come."""

    start: int
    words: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    inner: list[Draft] = field(default_factory=list)
    fed: str | None = None
    piped: bool = False
    raw: str = ""

    def freeze(self, *, deep: bool = True) -> Simple:
        """`inner` is flat already; freezing it deeply would double with every level."""
        return Simple(
            raw=self.raw,
            words=tuple(self.words),
            assignments=tuple(self.assignments),
            writes=tuple(self.writes),
            reads=tuple(self.reads),
            fed=self.fed,
            piped=self.piped,
            inner=tuple(draft.freeze(deep=False) for draft in self.inner) if deep else (),
        )

    @property
    def empty(self) -> bool:
        parts = (self.words, self.assignments, self.writes, self.reads, self.inner)
        return not any(parts) and self.fed is None
