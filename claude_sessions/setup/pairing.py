"""Who owns the bot: whoever types, on their phone, the code that only the terminal shows."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto

LIFETIME = 5 * 60.0
TRIES = 5


class Verdict(Enum):
    PAIRED = auto()
    WRONG = auto()  # the account is told so, and nothing else
    SILENCE = auto()  # no code, an account that has tried too often, or a code that has expired


def new_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"


@dataclass(slots=True, kw_only=True)
class Pairing:
    """One code and its life; times are in seconds, of any clock that never goes back."""

    code: str = field(default_factory=new_code, repr=False)
    expires: float
    _wrong: Counter[int] = field(default_factory=Counter)

    def hears(self, account: int, text: str, now: float) -> Verdict:
        said = code_in(text)
        if said is None or now >= self.expires or self._wrong[account] >= TRIES:
            return Verdict.SILENCE
        if secrets.compare_digest(said, self.code):
            return Verdict.PAIRED
        self._wrong[account] += 1
        return Verdict.WRONG


def code_in(text: str) -> str | None:
    """The digits of what may be a try, also in groups or behind /start; None for other talk."""
    tried = text.strip().removeprefix("/start")
    if not re.fullmatch(r"[\s-]*[0-9][0-9\s-]*", tried):
        return None
    return re.sub(r"[^0-9]", "", tried)
