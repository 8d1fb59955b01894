"""What is known of each session: its state and its last words, always as the log has them.

The book watches the log, so whoever appended an event, the state has it by the time the append
returns. States of sessions that nobody has touched since the start are read when asked for.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from claude_sessions import events as e
from claude_sessions.approvals.visible import one_line
from claude_sessions.errors import NoSession
from claude_sessions.eventlog import EventLog
from claude_sessions.model import ID
from claude_sessions.sessions.output import OutputBuffer
from claude_sessions.state import SessionState, absorb

LONGEST_TOLD = 100
BLOCKS = (e.AssistantMessage.TYPE, e.TerminalMessage.TYPE)


def block_of(payload: e.Payload) -> str | None:
    """The block of output that this is; None: it is none."""
    match payload:
        case e.AssistantMessage(parent_tool_use_id=None, text=text):
            return text
        case e.TerminalMessage(text=text):
            return f"💻 {text}"
    return None


class SessionBook:
    def __init__(self, log: EventLog, *, output_blocks: int) -> None:
        self._log = log
        self._output_blocks = output_blocks
        self._states: dict[str, SessionState] = {}
        self._outputs: dict[str, OutputBuffer] = {}
        self._used: set[str] = set()  # since memory was last tidied
        self._loading: dict[str, int] = {}  # session being read → last event seen meanwhile
        log.observe(self._see)

    def _see(self, event: e.Event) -> None:
        if event.session is None:
            return
        state = self._states.get(event.session)
        if state is None and not isinstance(event.payload, e.SessionCreated):
            if event.session in self._loading:
                self._loading[event.session] = event.seq
            return  # not loaded; the log has it
        if state is not None and event.seq <= state.last_seq:
            return  # already in, from a load that came between the commit and this
        after = absorb(state, event)
        if after is None:
            return
        self._states[event.session] = after
        match event.payload:
            case e.SessionCreated():
                self._outputs[event.session] = OutputBuffer(self._output_blocks)
            case e.AssistantMessage() | e.TerminalMessage() as said:
                if (words := block_of(said)) is not None:
                    self._outputs[event.session].add(words)

    def state(self, session_id: str) -> SessionState | None:
        return self._states.get(session_id)

    def known(self) -> list[SessionState]:
        return list(self._states.values())

    def drop_unused(self, before: datetime, *, but: Collection[str]) -> None:
        """What nobody has asked for of late, and did nothing since then, leaves the memory."""
        for state in self.known():
            kept = state.id in self._used or state.id in but
            if not kept and state.updated_at < before:
                self.drop(state.id)
        self._used.clear()

    def drop(self, session_id: str) -> None:
        """Out of memory; it is read again when somebody asks for it."""
        self._states.pop(session_id, None)
        self._outputs.pop(session_id, None)

    def output(self, session_id: str) -> OutputBuffer:
        return self._outputs[session_id]

    async def find(self, ref: str) -> SessionState:
        """By id, then name, then any of its Claude ids."""
        if (known := self._states.get(ref)) is not None:
            self._used.add(ref)
            return known
        row = await self._log.session_row(ref)
        if row is None and ID.fullmatch(ref):
            # The index keeps so many; the log keeps all, and the id is all that finds the others.
            await self._log.change(lambda store: store.bring_back(ref))
            row = await self._log.session_row(ref)
        if row is None:
            told = one_line(ref, LONGEST_TOLD)
            said = f'Session "{told}" not found. /sessions lists those there are.'
            raise NoSession(said, ref=told)
        return await self.load(row.id)

    async def load(self, session_id: str) -> SessionState:
        self._used.add(session_id)
        while (state := self._states.get(session_id)) is None:
            self._loading[session_id] = 0
            read = await self._log.state_at(session_id)
            last = await self._log.tail_of(session_id, BLOCKS, self._output_blocks)
            if self._loading.pop(session_id, 0) <= read.last_seq:
                self._adopt(read, last)
        return state

    def _adopt(self, state: SessionState, last: list[e.Event]) -> None:
        if state.id in self._states:
            return  # somebody else loaded it meanwhile
        blocks = [
            words
            for event in last
            if event.seq <= state.last_seq and (words := block_of(event.payload)) is not None
        ]
        self._states[state.id] = state
        self._outputs[state.id] = OutputBuffer(self._output_blocks)
        self._outputs[state.id].fill(blocks, state.blocks)
