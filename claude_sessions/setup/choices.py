"""The questions that need no network: a name, and a place to work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from telegram import User

from claude_sessions.approvals.visible import has_hidden, one_line
from claude_sessions.settings import PersonSettings, Settings
from claude_sessions.setup.dialogue import Dialogue

LONGEST_NAME = 64


def choose_name(dialogue: Dialogue, people: Sequence[PersonSettings], owner: User) -> str:
    """One of the people, who gets the account, or somebody new."""
    if people:
        listed = ", ".join(f"{person.name} ({person.role})" for person in people)
        dialogue.say(f"People so far: {listed}. A new name is added, as admin.")
    default = likely_name(people, owner)
    while True:
        name = dialogue.ask("Your name, as others will see it", default)
        if problem := problem_with(name, people, owner):
            dialogue.say(problem)
        elif _may_move(dialogue, name, people, owner):
            return name


def likely_name(people: Sequence[PersonSettings], owner: User) -> str:
    theirs = [person.name for person in people if person.telegram == owner.id]
    without = [person.name for person in people if person.telegram is None]
    only = without if len(without) == len(people) == 1 else []
    return next(iter([*theirs, *only, one_line(owner.first_name, LONGEST_NAME)]))


def problem_with(name: str, people: Sequence[PersonSettings], owner: User) -> str | None:
    if not name or len(name) > LONGEST_NAME or has_hidden(name):
        return f"A name has 1 to {LONGEST_NAME} visible characters."
    for person in people:
        if person.telegram == owner.id and person.name.casefold() != name.casefold():
            return f"This account is {person.name}'s already: choose {person.name}."
    return None


def _may_move(dialogue: Dialogue, name: str, people: Sequence[PersonSettings], owner: User) -> bool:
    for person in people:
        if person.name.casefold() == name.casefold() and person.telegram not in (None, owner.id):
            question = f"{person.name} has the account {person.telegram} so far. Replace it?"
            return dialogue.agrees(question)
    return True


def choose_workdir(dialogue: Dialogue, settings: Settings) -> Path | None:
    """None if the configuration has said where sessions work."""
    sessions = settings.sessions
    if sessions.workdirs or "default_workdir" in sessions.model_fields_set:
        return None
    usual = Path("~/code")
    default = usual if usual.expanduser().is_dir() else Path.cwd()
    while True:
        answer = dialogue.ask("Sessions may work at and below this directory", str(default))
        if place := directory(answer):
            return place
        dialogue.say(f"There is no directory {answer}. Make it first, or name another.")


def directory(answer: str) -> Path | None:
    try:
        place = Path(answer).expanduser().absolute()
        return place if place.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # nobody's home, a NUL, a name too long
        return None
