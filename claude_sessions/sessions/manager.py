"""The pool of sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.approvals.desk import ApprovalDesk
from claude_sessions.clock import Clock
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.errors import BadRequest, Conflict
from claude_sessions.eventlog import EventLog
from claude_sessions.model import (
    NAME,
    Activity,
    Reason,
    SessionSpec,
    Status,
    name_from,
    new_id,
)
from claude_sessions.sessions.admission import Admission
from claude_sessions.sessions.beginnings import born, new_message
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.live import LiveSessions
from claude_sessions.sessions.mailbox import Gone
from claude_sessions.sessions.orders import Orders
from claude_sessions.sessions.purse import Purse
from claude_sessions.sessions.recovery import recover
from claude_sessions.sessions.room import Room
from claude_sessions.sessions.session import Session
from claude_sessions.sessions.stream import not_offered, slash_of
from claude_sessions.sessions.timers import Rhythm
from claude_sessions.sessions.undo import Undone, Unsure, refuse_undo
from claude_sessions.state import SessionState, draft

log = structlog.get_logger()

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of a message."""

    message_id: str
    queued: int  # its place in the session's queue, from 1; 0: it is being worked on
    state: SessionState


def refuse_name(name: str | None) -> None:
    if name is not None and not NAME.fullmatch(name):
        raise BadRequest(
            f"“{name[:60]}” cannot be a name: use lower-case letters, digits and . _ - "
            "(48 at most, a letter or digit first)."
        )


class SessionManager(Orders):
    """Open it with `async with`: leaving puts every session to sleep within a deadline."""

    def __init__(
        self,
        *,
        log: EventLog,
        book: SessionBook,
        engine: g.Engine,
        desk: ApprovalDesk,
        clock: Clock,
        rhythm: Rhythm,
        room: Room,
        trusted: Callable[[str], bool],
        transcripts: Transcripts,
        purse: Purse,
    ) -> None:
        self._log = log
        self._book = book
        self._transcripts = transcripts
        self._live = LiveSessions(
            log,
            lambda session_id: Session(
                session_id,
                book=book,
                log=log,
                engine=engine,
                desk=desk,
                clock=clock,
                rhythm=rhythm,
                trusted=trusted,
                transcripts=transcripts,
                purse=purse,
            ),
        )
        self._admission = Admission(
            log=log,
            book=book,
            live=self._live,
            room=room,
            purse=purse,
            transcripts=transcripts,
        )
        self._beginning: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> SessionManager:
        await recover(self._log, self._book, self._transcripts)
        await self._live.__aenter__()
        self._admission.open()
        self._server = asyncio.create_task(self._serve_line(), name="pool.line")
        return self

    async def __aexit__(self, *failure: Any) -> None:
        self._admission.close()
        self._server.cancel()
        await asyncio.wait([self._server, *self._beginning])
        await self._live.__aexit__(*failure)
        if not self._log.failed.is_set() and self._log.trouble is None:
            await self._log.append(e.Draft(payload=e.RunnerStopped()))

    async def _serve_line(self) -> None:
        line = self._admission.line
        while True:
            await line.stirred()
            try:
                while (first := line.first()) is not None:
                    if not await self._surely(self._admission.call_up(first)):
                        break
            except Exception:  # a full disk, say; it is tried again when something stirs
                log.exception("line.stuck")

    # --- looking

    def live(self) -> list[SessionState]:
        return self._live.states()

    def working(self) -> list[SessionState]:
        """Those that hold a process for a turn; one that waits for a person does not count."""
        return [s for s in self.live() if s.activity is Activity.WORKING]

    def slash_commands(self, session_id: str) -> tuple[str, ...]:
        session = self._live.get(session_id)
        return session.slash_commands if session else ()

    def place_in_line(self, session_id: str) -> int:
        """From 1; 0: it does not wait for a process."""
        return self._admission.line.place(session_id)

    def in_line(self) -> int:
        """How many wait for a process."""
        return len(self._admission.line)

    # --- launching

    async def launch(
        self,
        spec: SessionSpec,
        prompt: str,
        *,
        name: str | None = None,
        origin: str | None = None,
        caller: str | None = None,
        attachments: tuple[Mapping[str, Any], ...] = (),
        foreground: str | None = None,
        fork_of: SessionState | None = None,
        fork_at: str | None = None,
        queue: bool = False,
    ) -> SessionState:
        """`queue`: when every process is at work, it waits in line for one."""
        refuse_name(name)
        birth = born(spec, prompt, origin)
        facts: list[e.Payload] = []
        if fork_of is not None:
            facts.append(
                e.SessionForked(
                    from_session_id=fork_of.id,
                    from_seq=fork_of.last_seq,
                    source=fork_of.claude_id,
                    source_leaf=fork_at,
                )
            )
        facts.append(new_message(prompt, attachments))
        if foreground is not None:
            facts.append(e.Foregrounded(channel=foreground))
        wanted = name or name_from(prompt)
        return await self._surely(self._launch(wanted, birth, facts, caller, queue))

    async def _launch(
        self,
        wanted: str,
        birth: e.SessionCreated,
        facts: list[e.Payload],
        caller: str | None,
        queue: bool,
    ) -> SessionState:
        async with self._admission.lock:
            admitted = await self._admission.admitted(queue)
            session_id, run = new_id(), new_id()
            named = replace(birth, name=await self.free_name(wanted))
            last = () if admitted else (e.SessionQueued(),)
            drafts = _drafts((named, *facts, *last), session_id, run, birth.project_id, caller)
            await self._log.append(*drafts)
            if admitted:
                self._live.start(session_id)
            return self._state(session_id)

    async def prepare(
        self, spec: SessionSpec, name: str, *, origin: str | None, caller: str | None
    ) -> SessionState:
        """Asleep from the beginning: the first message to it begins its conversation."""
        refuse_name(name)
        return await self._surely(self._prepare(name, born(spec, "", origin), caller))

    async def _prepare(
        self, wanted: str, birth: e.SessionCreated, caller: str | None
    ) -> SessionState:
        async with self._admission.lock:
            session_id, run = new_id(), new_id()
            named = replace(birth, name=await self.free_name(wanted))
            facts = (named, e.SessionAsleep(reason=Reason.USER))
            await self._log.append(*_drafts(facts, session_id, run, birth.project_id, caller))
            return self._state(session_id)

    async def adopt(
        self,
        spec: SessionSpec,
        claude_id: str,
        title: str,
        *,
        name: str | None = None,
        origin: str | None = None,
        caller: str | None = None,
    ) -> SessionState:
        """A conversation that was begun without us becomes a session, asleep."""
        refuse_name(name)
        birth = replace(born(spec, title, origin), adopted=True)
        return await self._surely(self._adopt(name or name_from(title), birth, claude_id, caller))

    async def _adopt(
        self, wanted: str, birth: e.SessionCreated, claude_id: str, caller: str | None
    ) -> SessionState:
        async with self._admission.lock:
            if (owner := await self._log.session_row(claude_id)) is not None:
                raise Conflict(f"That conversation is a session already: {owner.name}.")
            session_id, run = new_id(), new_id()
            facts = (
                replace(birth, name=await self.free_name(wanted)),
                e.ConversationIdentified(claude_session_id=claude_id),
                # Nothing of its file is in the log yet: the first who looks brings it in.
                e.SessionAsleep(reason=Reason.ADOPTED, transcript_bytes=0),
            )
            drafts = _drafts(facts, session_id, run, birth.project_id, caller)
            await self._log.append(*drafts)
            return self._state(session_id)

    async def _surely(self, begin: Coroutine[Any, Any, T]) -> T:
        """What is logged is also started, even if whoever asked for it has gone meanwhile."""
        task = asyncio.create_task(begin, name="pool.begin")
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        return await asyncio.shield(task)

    async def resume(
        self,
        state: SessionState,
        prompt: str,
        *,
        caller: str | None = None,
        changes: Sequence[e.Payload] = (),
        queue: bool = False,
    ) -> Heard:
        """A new run of a session that has ended; one that lives is just spoken to.

        `changes`: what is to be different from now on (model, mode, budget).
        """
        message = new_message(prompt, ())
        paused = state.paused
        facts = [e.SessionResumed(claude_session_id=state.claude_id), *changes, message]
        if not await self._surely(self._resume(state, facts, caller, queue)):
            return await self.say(state, prompt, caller=caller, front=paused, queue=queue, now=True)
        return self._heard(message, state.id)

    async def restart(
        self,
        state: SessionState,
        facts: Sequence[e.Payload],
        *,
        caller: str | None = None,
        queue: bool = True,
    ) -> SessionState:
        """A new run of a session that has ended; nothing is said to it but what `facts` say."""
        again = [e.SessionResumed(claude_session_id=state.claude_id), *facts]
        if not await self._surely(self._resume(state, again, caller, queue)):
            raise Conflict(f"{state.name} has been taken up by somebody else meanwhile.")
        return self._state(state.id)

    async def _resume(
        self, state: SessionState, facts: list[e.Payload], caller: str | None, queue: bool
    ) -> bool:
        """False: it has not ended, or no longer."""
        async with self._admission.lock:
            if not (await self._book.load(state.id)).status.ended:
                return False
            await self._live.gone(state.id)
            await self._admission.catch_up(state.id)
            admitted = await self._admission.admitted(queue, state.id)
            again = replace(self._state(state.id), run=new_id())
            last = () if admitted else (e.SessionQueued(),)
            await self._log.append(*(draft(again, fact, caller=caller) for fact in (*facts, *last)))
            if admitted:
                self._live.start(state.id)
            return True

    async def check_room(self) -> None:
        """Now and then: those that grew give way, and those in line try again."""
        await self._admission.keep_within_memory()
        self._admission.line.stir()

    async def free_name(self, wanted: str) -> str:
        name, n = wanted, 1
        while await self._log.session_row(name) is not None:
            n += 1
            name = f"{wanted[:44]}-{n}"
        return name

    # --- speaking to one

    async def say(
        self,
        state: SessionState,
        text: str,
        *,
        caller: str | None = None,
        attachments: tuple[Mapping[str, Any], ...] = (),
        steer: bool = False,
        interrupt: bool = False,
        front: bool = False,
        queue: bool = False,
        now: bool = False,
    ) -> Heard:
        """`now`: a parked or paused session is woken too, whatever holds it."""
        self._check_slash(state, text)
        self._check_room()
        message = new_message(text, attachments, steer=steer, front=interrupt or front)
        while True:
            state = await self._book.load(state.id)
            if (session := self._live.get(state.id)) is None:
                if await self._surely(self._wake(state.id, message, caller, queue, now)):
                    break
                continue
            try:
                await session.say(message, caller, interrupt=interrupt)
                break
            except Gone:
                await self._live.gone(state.id)
        return self._heard(message, state.id)

    def _heard(self, message: e.UserMessage, session_id: str) -> Heard:
        state = self._state(session_id)
        places = [m.id for m in state.queued]
        place = places.index(message.message_id) + 1 if message.message_id in places else 0
        if state.turn is None and state.status.has_process:
            place = 0  # it is only starting
        return Heard(message_id=message.message_id, queued=place, state=state)

    def _check_slash(self, state: SessionState, text: str) -> None:
        slash, offered = slash_of(text), self.slash_commands(state.id)
        if slash and offered and slash[0] not in offered:
            raise BadRequest(not_offered(slash[0], offered))

    async def wake(
        self, state: SessionState, *, caller: str | None = None, queue: bool = False
    ) -> SessionState:
        """For what it has queued; one that has ended begins a new run."""
        if state.status.ended:
            return await self.restart(state, (), caller=caller, queue=queue)
        while not await self._surely(self._wake(state.id, None, caller, queue, now=True)):
            if self._state(state.id).status.has_process:
                break  # somebody else has woken it
            await self._live.gone(state.id)  # it is only just falling asleep
        return self._state(state.id)

    async def _wake(
        self,
        session_id: str,
        message: e.UserMessage | None,
        caller: str | None,
        queue: bool,
        now: bool,
    ) -> bool:
        """False: somebody else has just woken it."""
        async with self._admission.lock:
            if session_id in self._live:
                return False
            state = await self._book.load(session_id)
            facts: list[e.Payload] = [message] if message is not None else []
            if (state.status is Status.PARKED or state.paused) and not now:
                await self._log.append(*(draft(state, fact, caller=caller) for fact in facts))
                return True
            if state.status not in (Status.ASLEEP, Status.PARKED):
                raise Conflict(
                    f"{state.name} has ended ({state.status}). Go on with it: /resume {state.name}"
                )
            await self._admission.catch_up(session_id)
            admitted = await self._admission.admitted(queue or state.in_line, session_id)
            if admitted:
                facts = [e.SessionWoken(), *facts]
            elif not state.in_line:
                facts.append(e.SessionQueued())
            await self._log.append(*(draft(state, fact, caller=caller) for fact in facts))
            if admitted:
                self._live.start(state.id)
            return True

    async def undo(
        self, state: SessionState, *, caller: str | None = None, confirmed: bool = False
    ) -> Undone | Unsure:
        """Wakes it if need be, but says nothing to it."""
        refuse_undo(state)
        for _ in range(2):  # it may be only just falling asleep
            if state.id not in self._live:
                await self.wake(state, caller=caller)
            try:
                return await self._with_live(state, lambda s: s.undo(caller, confirmed=confirmed))
            except Gone:
                await self._live.gone(state.id)
                state = await self._book.load(state.id)
                if state.status.ended:
                    break  # it could not be started: once more would change nothing
        raise Conflict(f"{state.name} is {state.status}. {state.message}".strip())

    async def pause(self, state: SessionState, *, caller: str | None = None) -> SessionState:
        """It sleeps, its turn is interrupted, and all that is queued waits for `resume`."""
        while not (state := await self._book.load(state.id)).paused:
            if state.status.ended:
                raise Conflict(f"{state.name} has ended ({state.status}); nothing is to be paused.")
            session = self._live.get(state.id)
            if session is None:
                await self._pause_without_process(state.id, caller)
                continue
            self._check_room()
            with contextlib.suppress(Gone):
                await session.sleep(Reason.PAUSED, caller)
            await self._live.gone(state.id)
        return state

    async def _pause_without_process(self, session_id: str, caller: str | None) -> None:
        async with self._admission.lock:
            state = await self._book.load(session_id)
            if session_id not in self._live and not (state.status.ended or state.paused):
                asleep = e.SessionAsleep(reason=Reason.PAUSED)
                await self._log.append(draft(state, asleep, caller=caller))

    async def kill(self, state: SessionState, *, caller: str | None = None) -> bool:
        """False: it had ended already, which is fine."""
        if state.status.ended:
            return False
        while not (await self._book.load(state.id)).status.ended:
            session = self._live.get(state.id)
            if session is None:
                await self._end_without_process(state.id, caller)
            elif self._log.trouble is not None:
                session.cut()
                break
            else:
                with contextlib.suppress(Gone):
                    await session.kill(Reason.USER, caller)
                await self._live.gone(state.id)
        return True

    async def _end_without_process(self, session_id: str, caller: str | None) -> None:
        async with self._admission.lock:
            state = await self._book.load(session_id)
            if session_id not in self._live and not state.status.ended:
                ending = e.SessionEnded(
                    status=Status.KILLED,
                    reason=Reason.USER,
                    duration_ms=round(state.duration(state.updated_at) * 1000),
                    cost_usd=state.run_cost_usd,
                    cost_unknown=state.run_cost_unknown,
                )
                await self._log.append(draft(state, ending, caller=caller))

    async def catch_up(self, state: SessionState) -> SessionState:
        """With what was said to it in a terminal meanwhile, which is in the log from now on."""
        if state.id not in self._live:
            async with self._admission.lock:
                await self._admission.catch_up(state.id)
        return await self._book.load(state.id)

    async def unpark(self, session_id: str, *, go_on: bool) -> None:
        """Its limit has reset: it goes on by itself, or is offered to."""
        async with self._admission.lock:
            state = await self._book.load(session_id)
            if state.status is not Status.PARKED:
                return  # somebody was quicker
            told = f"The limit has reset. /resume {state.name} goes on."
            facts: tuple[e.Payload, ...] = (
                e.SessionAsleep(reason=Reason.LIMIT),
                e.Noticed(code="limit_over", message=told),
            )
            if go_on:
                facts = (e.SessionQueued(),)
            await self._log.append(*(draft(state, fact) for fact in facts))

    async def forget(self, state: SessionState, *, caller: str | None = None) -> int:
        """Delete all that the log has of it; gives how many events that were."""
        async with self._admission.lock:
            if (await self._book.load(state.id)).status.has_process:
                raise Conflict(f"{state.name} is {state.status}: /kill {state.name} first.")
            await self._live.gone(state.id)
            self._admission.line.leave(state.id)
            gone = e.SessionForgotten(session_id=state.id, name=state.name)
            await self._log.append(e.Draft(payload=gone, caller=caller))
            self._book.drop(state.id)
            return await self._log.change(lambda store: store.forget(state.id))

    # --- the log

    def _state(self, session_id: str) -> SessionState:
        state = self._book.state(session_id)
        assert state is not None
        return state


def _drafts(
    facts: Sequence[e.Payload], session: str, run: str, project: str, caller: str | None
) -> list[e.Draft]:
    """The first facts of a session: there is no state yet to draft them from."""
    return [
        e.Draft(payload=fact, session=session, project=project, run=run, caller=caller)
        for fact in facts
    ]
