"""The pool of sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.approvals.desk import ApprovalDesk
from claude_sessions.clock import Clock
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.errors import BadRequest, Conflict, PoolFull, StorageFull
from claude_sessions.eventlog import EventLog
from claude_sessions.model import (
    NAME,
    Activity,
    PermissionMode,
    Reason,
    SessionSpec,
    Status,
    name_from,
    new_id,
)
from claude_sessions.sessions.beginnings import born, new_message
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.line import Line
from claude_sessions.sessions.mailbox import Gone
from claude_sessions.sessions.purse import Purse
from claude_sessions.sessions.recovery import recover
from claude_sessions.sessions.room import Room
from claude_sessions.sessions.session import Session, may_rest
from claude_sessions.sessions.stream import not_offered, slash_of
from claude_sessions.sessions.timers import Rhythm
from claude_sessions.sessions.transcript import said_elsewhere
from claude_sessions.state import QueuedMessage, SessionState, draft

log = structlog.get_logger()

STOP_SECONDS = 9.0
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


class SessionManager:
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
        self._engine = engine
        self._desk = desk
        self._clock = clock
        self._rhythm = rhythm
        self._room = room
        self._line = Line()
        self._trusted = trusted
        self._transcripts = transcripts
        self._purse = purse
        self._live: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        self._beginning: set[asyncio.Task[Any]] = set()
        self._admission = asyncio.Lock()
        self._stopping = False

    async def __aenter__(self) -> SessionManager:
        await self._group.__aenter__()
        await recover(self._log, self._book, self._transcripts)
        self._log.observe(self._line.see)
        self._line.restore(row.id for row in self._log.store.line())
        self._server = self._group.create_task(self._serve_line(), name="pool.line")
        return self

    async def __aexit__(self, *failure: Any) -> None:
        """Turns are interrupted, sessions fall asleep; whoever does not within the time is cut."""
        self._stopping = True
        self._server.cancel()
        if self._beginning:
            await asyncio.wait(self._beginning)
        rests = [
            self._group.create_task(self._rest(session, Reason.SHUTDOWN), name=f"rest:{session.id}")
            for session in self._live.values()
        ]
        if rests:
            late = (await asyncio.wait(rests, timeout=STOP_SECONDS))[1]
            for task in (*late, *self._tasks.values()):
                task.cancel()
            if late:
                log.warning("pool.cut", sessions=len(late))
        await self._group.__aexit__(None, None, None)
        if not self._log.failed.is_set() and self._log.trouble is None:
            await self._log.append(e.Draft(payload=e.RunnerStopped()))

    async def _rest(self, session: Session, reason: Reason) -> None:
        slept = True
        with contextlib.suppress(Gone):
            slept = await session.sleep(reason)
        if slept:
            await self._gone(session.id)

    # --- looking

    def live(self) -> list[SessionState]:
        states = [session.state for session in self._live.values()]
        return [state for state in states if state.status.has_process]

    def working(self) -> list[SessionState]:
        """Those that hold a process for a turn; one that waits for a person does not count."""
        return [s for s in self.live() if s.activity is Activity.WORKING]

    def slash_commands(self, session_id: str) -> tuple[str, ...]:
        session = self._live.get(session_id)
        return session.slash_commands if session else ()

    def place_in_line(self, session_id: str) -> int:
        """From 1; 0: it does not wait for a process."""
        return self._line.place(session_id)

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
        async with self._admission:
            admitted = await self._admitted(queue)
            session_id, run = new_id(), new_id()
            named = replace(birth, name=await self._free_name(wanted))
            last = () if admitted else (e.SessionQueued(),)
            drafts = _drafts((named, *facts, *last), session_id, run, birth.project_id, caller)
            await self._log.append(*drafts)
            if admitted:
                self._start(session_id)
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
        async with self._admission:
            if (owner := await self._log.session_row(claude_id)) is not None:
                raise Conflict(f"That conversation is a session already: {owner.name}.")
            session_id, run = new_id(), new_id()
            facts = (
                replace(birth, name=await self._free_name(wanted)),
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
        facts = [e.SessionResumed(claude_session_id=state.claude_id), *changes, message]
        if not await self._surely(self._resume(state, facts, caller, queue)):
            return await self.say(state, prompt, caller=caller, queue=queue, now=True)
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
        async with self._admission:
            if not self._state(state.id).status.ended:
                return False
            await self._gone(state.id)
            await self._catch_up(state.id)
            admitted = await self._admitted(queue, state.id)
            again = replace(self._state(state.id), run=new_id())
            last = () if admitted else (e.SessionQueued(),)
            await self._log.append(*(draft(again, fact, caller=caller) for fact in (*facts, *last)))
            if admitted:
                self._start(state.id)
            return True

    # --- room

    async def _admitted(self, queue: bool, session_id: str | None = None) -> bool:
        """False: it has to wait in line, and may."""
        try:
            await self._make_room(session_id)
        except PoolFull:
            if not queue:
                raise
            return False
        return True

    async def _make_room(self, session_id: str | None = None) -> None:
        """Without room the least recently used idle session gives its process back."""
        if self._stopping:
            raise Conflict("claude-sessions is stopping.")
        self._purse.check()
        while (why := await self._room.lacks(self.live(), self._pids())) is not None:
            if not await self._rest_one():
                names = ", ".join(state.name for state in self.live() if not may_rest(state))
                raise PoolFull(
                    f"{why}: {names} at work. Wait in line for a place, or kill a session first.",
                    session=session_id,
                )

    async def _rest_one(self) -> bool:
        idle = [state for state in self.live() if may_rest(state)]
        if not idle:
            return False
        oldest = min(idle, key=lambda state: state.updated_at)
        await self._rest(self._live[oldest.id], Reason.POOL)
        return True

    async def keep_within_memory(self) -> None:
        """Those that grew while they worked give way once they are idle."""
        while await self._room.overfull(self._pids()):
            async with self._admission:
                if not await self._rest_one():
                    return

    def _pids(self) -> list[int]:
        return [pid for session in self._live.values() if (pid := session.pid) is not None]

    async def _serve_line(self) -> None:
        while True:
            await self._line.stirred()
            while (first := self._line.first()) is not None:
                if not await self._surely(self._call_up(first)):
                    break

    async def _call_up(self, session_id: str) -> bool:
        """False: there is no room yet."""
        async with self._admission:
            state = await self._book.load(session_id)
            if not state.in_line:
                return True
            if not state.queue:  # what it was to be told has been withdrawn
                await self._log.append(draft(state, e.SessionAsleep(reason=Reason.USER)))
                return True
            try:
                await self._make_room()
            except (PoolFull, Conflict):
                return False
            await self._log.append(draft(state, e.SessionWoken()))
            self._start(state.id)
            return True

    async def _free_name(self, wanted: str) -> str:
        name, n = wanted, 1
        while await self._log.session_row(name) is not None:
            n += 1
            name = f"{wanted[:44]}-{n}"
        return name

    def _start(self, session_id: str) -> None:
        session = Session(
            session_id,
            book=self._book,
            log=self._log,
            engine=self._engine,
            desk=self._desk,
            clock=self._clock,
            rhythm=self._rhythm,
            trusted=self._trusted,
            transcripts=self._transcripts,
            purse=self._purse,
        )
        self._live[session_id] = session
        name = f"session:{session_id}"
        self._tasks[session_id] = self._group.create_task(self._keep(session), name=name)

    async def _keep(self, session: Session) -> None:
        try:
            await session.run()
        except Exception as error:
            log.exception("session.lost", session=session.id)
            await self._end_lost(session.state, f"Internal error: {error!r}")
        finally:
            self._live.pop(session.id, None)
            self._tasks.pop(session.id, None)

    async def _end_lost(self, state: SessionState, message: str) -> None:
        if state.status.has_process:
            ending = e.SessionEnded(
                status=Status.FAILED, reason=Reason.CRASH, message=message, cost_unknown=True
            )
            await self._log.append(draft(state, ending))

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
        queue: bool = False,
        now: bool = False,
    ) -> Heard:
        """`now`: a parked session is woken too, whatever its limit says."""
        self._check_slash(state, text)
        self._check_room()
        message = new_message(text, attachments, steer=steer, front=interrupt)
        while True:
            state = self._state(state.id)
            if (session := self._live.get(state.id)) is None:
                if await self._surely(self._wake(state.id, message, caller, queue, now)):
                    break
                continue
            try:
                await session.say(message, caller, interrupt=interrupt)
                break
            except Gone:
                await self._gone(state.id)
        return self._heard(message, state.id)

    def _heard(self, message: e.UserMessage, session_id: str) -> Heard:
        state = self._state(session_id)
        places = [m.id for m in state.queued]
        place = places.index(message.message_id) + 1 if message.message_id in places else 0
        if state.turn is None and state.status.has_process:
            place = 0  # it is only starting
        return Heard(message_id=message.message_id, queued=place, state=state)

    def _check_room(self) -> None:
        """A session whose words wait for room on the disk cannot take an order."""
        if self._log.trouble is not None:
            raise StorageFull(f"Nothing new can be stored: {self._log.trouble}, then try again.")

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
        await self._surely(self._wake(state.id, None, caller, queue, now=True))
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
        async with self._admission:
            if session_id in self._live:
                return False
            state = self._state(session_id)
            facts: list[e.Payload] = [message] if message is not None else []
            if state.status is Status.PARKED and not now:
                await self._log.append(*(draft(state, fact, caller=caller) for fact in facts))
                return True
            if state.status not in (Status.ASLEEP, Status.PARKED):
                raise Conflict(
                    f"{state.name} has ended ({state.status}). Go on with it: /resume {state.name}"
                )
            await self._catch_up(session_id)
            admitted = await self._admitted(queue or state.in_line, session_id)
            if admitted:
                facts = [e.SessionWoken(), *facts]
            elif not state.in_line:
                facts.append(e.SessionQueued())
            await self._log.append(*(draft(state, fact, caller=caller) for fact in facts))
            if admitted:
                self._start(state.id)
            return True

    async def _gone(self, session_id: str) -> None:
        if (task := self._tasks.get(session_id)) is not None:
            await asyncio.wait([task])

    async def kill(self, state: SessionState, *, caller: str | None = None) -> bool:
        """False: it had ended already, which is fine."""
        if state.status.ended:
            return False
        while not self._state(state.id).status.ended:
            session = self._live.get(state.id)
            if session is None:
                await self._end_without_process(state.id, caller)
            elif self._log.trouble is not None:
                session.cut()
                break
            else:
                with contextlib.suppress(Gone):
                    await session.kill(Reason.USER, caller)
                await self._gone(state.id)
        return True

    async def _end_without_process(self, session_id: str, caller: str | None) -> None:
        async with self._admission:
            state = self._state(session_id)
            if session_id not in self._live and not state.status.ended:
                ending = e.SessionEnded(
                    status=Status.KILLED,
                    reason=Reason.USER,
                    duration_ms=round(state.duration(state.updated_at) * 1000),
                    cost_usd=state.run_cost_usd,
                    cost_unknown=state.run_cost_unknown,
                )
                await self._log.append(draft(state, ending, caller=caller))

    async def interrupt(self, state: SessionState, *, caller: str | None = None) -> bool:
        return await self._with_live(state, lambda s: s.interrupt(caller))

    async def withdraw(
        self, state: SessionState, message_id: str, *, caller: str | None = None
    ) -> None:
        if state.id in self._live:
            await self._with_live(state, lambda s: s.withdraw(message_id, caller))
        else:
            gone = e.MessageWithdrawn(message_id=message_id)
            await self._log.append(draft(state, gone, caller=caller))

    async def hasten(
        self,
        state: SessionState,
        message: QueuedMessage,
        *,
        caller: str | None = None,
        steer: bool = False,
    ) -> None:
        """Say what is queued now: into the running turn, or instead of it."""
        said = new_message(message.text, message.attachments, steer=steer, front=not steer)
        await self._with_live(state, lambda s: s.hasten(message.id, said, caller))

    async def wait(self, state: SessionState) -> None:
        await self._with_live(state, lambda s: s.wait())

    async def set_budget(
        self, state: SessionState, budget_usd: float, *, caller: str | None = None
    ) -> None:
        if state.id in self._live:
            await self._with_live(state, lambda s: s.set_budget(budget_usd, caller))
        else:
            await self._log.append(
                draft(state, e.BudgetChanged(budget_usd=budget_usd), caller=caller)
            )

    async def catch_up(self, state: SessionState) -> SessionState:
        """With what was said to it in a terminal meanwhile, which is in the log from now on."""
        async with self._admission:
            await self._catch_up(state.id)
        return self._state(state.id)

    async def _catch_up(self, session_id: str) -> None:
        if session_id not in self._live:
            state = self._state(session_id)
            facts = await said_elsewhere(self._transcripts, state)
            await self._log.append(*(draft(state, fact) for fact in facts))

    async def forget(self, state: SessionState, *, caller: str | None = None) -> int:
        """Delete all that the log has of it; gives how many events that were."""
        async with self._admission:
            if state.id in self._live:
                raise Conflict(f"{state.name} is {state.status}: /kill {state.name} first.")
            events = await self._log.change(lambda store: store.forget(state.id))
            self._book.drop(state.id)
            gone = e.SessionForgotten(session_id=state.id, name=state.name, events=events)
            await self._log.append(e.Draft(payload=gone, caller=caller))
            return events

    async def set_mode(
        self, state: SessionState, mode: PermissionMode, *, caller: str | None = None
    ) -> None:
        if state.id in self._live:
            await self._with_live(state, lambda s: s.set_mode(mode, caller))
        else:
            await self._log.append(draft(state, e.ModeChanged(permission_mode=mode), caller=caller))

    async def set_model(
        self, state: SessionState, model: str | None, *, caller: str | None = None
    ) -> None:
        if state.id in self._live:
            await self._with_live(state, lambda s: s.set_model(model, caller))
        else:
            await self._log.append(draft(state, e.ModelChanged(model=model), caller=caller))

    async def sleep(self, state: SessionState) -> bool:
        """Give its process back now; False: it has something to do, or none."""
        session = self._live.get(state.id)
        if session is None:
            return False
        with contextlib.suppress(Gone):
            return await session.sleep(Reason.USER)
        return False

    async def stop_task(self, state: SessionState, task_id: str) -> None:
        await self._with_live(state, lambda s: s.stop_task(task_id))

    async def rename(self, state: SessionState, name: str, *, caller: str | None = None) -> None:
        if not NAME.fullmatch(name):
            raise BadRequest(f"“{name[:60]}” cannot be a name: lower-case letters, digits, . _ -")
        row = await self._log.session_row(name)
        if row is not None and row.id != state.id:
            raise Conflict(f"The name {name} is taken by another session.")
        await self._log.append(draft(state, e.SessionRenamed(name=name), caller=caller))

    async def _with_live(self, state: SessionState, act: Callable[[Session], Awaitable[T]]) -> T:
        session = self._live.get(state.id)
        if session is None:
            raise Conflict(f"{state.name} has no process: it is {state.status}.")
        self._check_room()
        return await act(session)

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
