"""What a turn changed in files: shown, and put back."""

from __future__ import annotations

from dataclasses import dataclass, field

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.approvals.paths import absolute, home_directory
from claude_sessions.commands import diffs
from claude_sessions.commands.pool import Pool, about, no_agent_into_looser, still_allowed
from claude_sessions.errors import NotFound
from claude_sessions.people import Caller
from claude_sessions.sessions.undo import Unsure
from claude_sessions.state import SessionState


@dataclass(slots=True)
class Edited:
    """What one turn did, as the log has it."""

    number: int
    outputs: list[e.ToolOutput] = field(default_factory=list)
    undone: bool = False

    def files(self, directory: str) -> list[tuple[str, int, int]]:
        sums: dict[str, tuple[int, int]] = {}
        for output in self.outputs:
            path = absolute(output.file, directory, home_directory())
            added, removed = sums.get(path, (0, 0))
            sums[path] = (added + output.added, removed + output.removed)
        return [(path, *counts) for path, counts in sums.items()]


async def diff(pool: Pool, command: c.Diff, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    turn = await _edited(pool, state, command.turn)
    directory = state.spec.directory
    files, whole = turn.files(directory), diffs.unified(turn.outputs, directory)
    text = diffs.nothing(state, turn.number)
    if files:
        text = diffs.told(state, turn.number, files, whole, undone=turn.undone)
    listed = [{"path": path, "added": added, "removed": gone} for path, added, gone in files]
    return about(text, state, diff=whole, files=listed, turn=turn.number, undone=turn.undone)


async def _edited(pool: Pool, state: SessionState, wanted: int | None) -> Edited:
    """`wanted`: among the turns a person began, from 1; None: the last."""
    turn, after = Edited(0), 0
    while page := await pool.log.events(state.id, after=after):
        for event in page:
            if isinstance(event.payload, e.TurnStarted) and event.payload.message_ids:
                if turn.number == wanted:
                    return turn
                turn = Edited(turn.number + 1)
            _take(turn, event.payload)
        after = page[-1].seq
    if not turn.number or wanted not in (None, turn.number):
        which = f"turn {wanted}" if wanted else "turns yet"
        raise NotFound(f"{state.name} has no {which}. /turns {state.name} lists them.")
    return turn


def _take(turn: Edited, payload: e.Payload) -> None:
    match payload:
        case e.ToolOutput(file=file) if file:
            if turn.undone:  # it went on by itself
                turn.outputs, turn.undone = [], False
            turn.outputs.append(payload)
        case e.TurnUndone():
            turn.undone = True


async def undo(pool: Pool, command: c.Undo, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    no_agent_into_looser(pool, state, caller)
    still_allowed(pool, state)
    found = await pool.manager.undo(state, caller=str(caller), confirmed=command.confirmed)
    if isinstance(found, Unsure):
        text, actions = diffs.unsure(state, found.files)
        return about(text, state, actions, undone=False, files=list(found.files))
    text = diffs.undone(state, found.files, found.kept)
    files, kept = list(found.files), list(found.kept)
    return about(text, state, undone=True, files=files, kept=kept)
