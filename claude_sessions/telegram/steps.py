"""What is left to be done until a chat shows a letter as it should look. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from claude_sessions.storage.mail import DOCUMENT
from claude_sessions.telegram.letters import Face, Letter


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    part: int
    face: Face


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    message: int
    face: Face


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    message: int


Step = Send | Edit | Delete  # each is one request


def steps(letter: Letter, faces: Sequence[Face]) -> list[Step]:
    """In their order. Text goes onto text only, and a document stays as it was sent."""
    texts = [face for face in faces if face.file is None]
    files = [face for face in faces if face.file is not None]
    found: list[Step] = []
    for part, face in enumerate(texts):
        if part >= len(letter.messages):
            found.append(Send(part=part, face=face))
        else:
            found += _changed(letter, letter.messages[part], face)
    if letter.document is None:
        found += [Send(part=DOCUMENT, face=face) for face in files]
    surplus = [*letter.doomed, *letter.messages[len(texts) :][::-1]] if texts else []
    if letter.document is not None and not files:
        surplus.append(letter.document)
    found += [Delete(message=message) for message in surplus]
    for copy in letter.copies:
        found += _changed(letter, copy, texts[-1]) if texts else []
    return found


def _changed(letter: Letter, message: int, face: Face) -> list[Step]:
    """What waits for words stays as it was sent."""
    if face.ask or letter.faces.get(message) == face:
        return []
    return [Edit(message=message, face=face)]
