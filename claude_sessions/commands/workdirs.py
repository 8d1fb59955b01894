"""Where sessions may run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from claude_sessions.errors import BadRequest, Forbidden, SessionsError


class Workdirs:
    """At or below the allowed directories, with symbolic links resolved first."""

    def __init__(self, default: Path, allowed: Sequence[Path]) -> None:
        self._default = default.expanduser().resolve()
        self._allowed = tuple(path.expanduser().resolve() for path in allowed) or (self._default,)

    def holds(self, path: Path) -> bool:
        """Of a path whose links have been followed."""
        return any(path.is_relative_to(root) for root in self._allowed)

    def resolve(
        self,
        given: str | None,
        *,
        to: str = "start in",
        missing: type[SessionsError] = BadRequest,
    ) -> str:
        """`to`: what cannot be done with one that is outside."""
        path = self._default
        if given:
            path = self._path(given)
        if not self.holds(path):
            allowed = ", ".join(shown(root) for root in self._allowed)
            raise Forbidden(
                f"Cannot {to} {shown(path)}: it is outside the allowed directories.\n"
                f"Allowed: {allowed}. Add it under [sessions] workdirs."
            )
        if not path.exists():
            raise missing(f"{shown(path)} does not exist. Make it first, or name another.")
        if not path.is_dir():
            raise BadRequest(f"{shown(path)} is a file, not a directory.")
        return str(path)

    def _path(self, given: str) -> Path:
        try:
            path = (self._default / Path(given).expanduser()).resolve()
            path.exists()
        except (OSError, RuntimeError, ValueError) as error:  # too long, no such person, a NUL
            raise BadRequest(f"“{given[:60]!r}” cannot be a path: {error}.") from error
        return path


def shown(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
