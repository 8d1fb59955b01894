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
from claude_sessions.errors import BadRequest, Conflict, StorageFull
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
from claude_sessions.sessions.abandoned import name_the_abandoned
from claude_sessions.sessions.beginnings import born, new_message
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.mailbox import Gone
from claude_sessions.sessions.process import Opening
from claude_sessions.sessions.session import Session, may_rest
from claude_sessions.sessions.stream import not_offered, slash_of
from claude_sessions.sessions.timers import Rhythm
from claude_sessions.state import SessionState, draft

log = structlog.get_logger()

STOP_SECONDS = 9.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What became of a message."""

    message_id: str
    queued: int  # its place in the queue, from 1; 0: it is being worked on
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
        max_sessions: int,
        trusted: Callable[[str], bool],
    ) -> None:
        self._log = log
        self._book = book
        self._engine = engine
        self._desk = desk
        self._clock = clock
        self._rhythm = rhythm
        self._max_sessions = max_sessions
        self._trusted = trusted
        self._live: dict[str, Session] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()
        self._beginning: set[asyncio.Task[Any]] = set()
        self._admission = asyncio.Lock()
        self._stopping = False

    async def __aenter__(self) -> SessionManager:
        await self._group.__aenter__()
        await name_the_abandoned(self._log, self._book)
        return self

    async def __aexit__(self, *failure: Any) -> None:
        """Turns are interrupted, sessions fall asleep; whoever does not within the time is cut."""
        self._stopping = True
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
    ) -> SessionState:
        refuse_name(name)
        birth = born(spec, prompt, origin)
        facts: list[e.Payload] = []
        if fork_of is not None:
            facts.append(e.SessionForked(from_session_id=fork_of.id, from_seq=fork_of.last_seq))
        facts.append(new_message(prompt, attachments))
        if foreground is not None:
            facts.append(e.Foregrounded(channel=foreground))
        source = fork_of.claude_id if fork_of is not None else None
        opening = Opening(resume=source, fork=source is not None)
        wanted = name or name_from(prompt)
        return await self._surely(self._launch(wanted, birth, facts, opening, caller))

    async def _launch(
        self,
        wanted: str,
        birth: e.SessionCreated,
        facts: list[e.Payload],
        opening: Opening,
        caller: str | None,
    ) -> SessionState:
        async with self._admission:
            await self._make_room()
            session_id, run = new_id(), new_id()
            named = replace(birth, name=await self._free_name(wanted))
            drafts = [
                e.Draft(
                    payload=fact,
                    session=session_id,
                    project=birth.project_id,
                    run=run,
                    caller=caller,
                )
                for fact in (named, *facts)
            ]
            await self._log.append(*drafts)
            self._start(session_id, opening)
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
    ) -> Heard:
        """A new run of a session that has ended; one that lives is just spoken to.

        `changes`: what is to be different from now on (model, mode, budget).
        """
        message = new_message(prompt, ())
        facts = [e.SessionResumed(claude_session_id=state.claude_id), *changes, message]
        if not await self._surely(self._resume(state, facts, caller)):
            return await self.say(state, prompt, caller=caller)
        return Heard(message_id=message.message_id, queued=0, state=self._state(state.id))

    async def restart(
        self, state: SessionState, facts: Sequence[e.Payload], *, caller: str | None = None
    ) -> SessionState:
        """A new run of a session that has ended; nothing is said to it but what `facts` say."""
        again = [e.SessionResumed(claude_session_id=state.claude_id), *facts]
        if not await self._surely(self._resume(state, again, caller)):
            raise Conflict(f"{state.name} has been taken up by somebody else meanwhile.")
        return self._state(state.id)

    async def _resume(
        self, state: SessionState, facts: list[e.Payload], caller: str | None
    ) -> bool:
        """False: it has not ended, or no longer."""
        async with self._admission:
            if not self._state(state.id).status.ended:
                return False
            await self._gone(state.id)
            await self._make_room()
            again = replace(self._state(state.id), run=new_id())
            await self._log.append(*(draft(again, fact, caller=caller) for fact in facts))
            self._start(state.id, Opening(resume=state.claude_id))
            return True

    async def _make_room(self) -> None:
        """At the cap the least recently used idle session gives its process back."""
        if self._stopping:
            raise Conflict("claude-sessions is stopping.")
        while True:
            counted = [s for s in self.live() if s.activity is not Activity.WAITING]
            if len(counted) < self._max_sessions:
                return
            idle = [s for s in counted if may_rest(s)]
            if not idle:
                names = ", ".join(s.name for s in counted)
                raise Conflict(
                    f"Max sessions reached ({self._max_sessions}): {names} are at work. "
                    "Kill a session first, or wait for one to finish."
                )
            oldest = min(idle, key=lambda s: s.updated_at)
            await self._rest(self._live[oldest.id], Reason.POOL)

    async def _free_name(self, wanted: str) -> str:
        name, n = wanted, 1
        while await self._log.session_row(name) is not None:
            n += 1
            name = f"{wanted[:44]}-{n}"
        return name

    def _start(self, session_id: str, opening: Opening) -> None:
        session = Session(
            session_id,
            book=self._book,
            log=self._log,
            engine=self._engine,
            desk=self._desk,
            clock=self._clock,
            rhythm=self._rhythm,
            opening=opening,
            trusted=self._trusted,
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
    ) -> Heard:
        self._check_slash(state, text)
        self._check_room()
        message = new_message(text, attachments, steer=steer, front=interrupt)
        while True:
            state = self._state(state.id)
            if (session := self._live.get(state.id)) is None:
                if await self._surely(self._wake(state.id, message, caller)):
                    break
                continue
            try:
                await session.say(message, caller, interrupt=interrupt)
                break
            except Gone:
                await self._gone(state.id)
        state = self._state(state.id)
        places = [m.id for m in state.queued]
        place = places.index(message.message_id) + 1 if message.message_id in places else 0
        if state.turn is None:
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

    async def _wake(self, session_id: str, message: e.UserMessage, caller: str | None) -> bool:
        """False: somebody else has just woken it."""
        async with self._admission:
            if session_id in self._live:
                return False
            state = self._state(session_id)
            if state.status is not Status.ASLEEP:
                raise Conflict(
                    f"{state.name} has ended ({state.status}). Go on with it: /resume {state.name}"
                )
            await self._make_room()
            woken = (draft(state, fact, caller=caller) for fact in (e.SessionWoken(), message))
            await self._log.append(*woken)
            self._start(state.id, Opening(resume=state.claude_id))
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
                    status=Status.KILLED, reason=Reason.USER, cost_usd=state.run_cost_usd
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
