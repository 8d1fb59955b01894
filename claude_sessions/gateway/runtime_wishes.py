"""What a client of the runtime envelope wants, as commands of ours."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.approvals.desk import Waiting
from claude_sessions.errors import NotFound
from claude_sessions.gateway.house import House
from claude_sessions.gateway.runtime_commands import Abort, Reply, Resume, Send, Wish
from claude_sessions.gateway.runtime_events import read_run_id
from claude_sessions.model import ID, AskKind, Reason, Status, Verdict
from claude_sessions.people import Caller

YES = frozenset({"yes", "y", "allow", "approve"})
RUNS = (e.SessionCreated.TYPE, e.SessionResumed.TYPE)
ASKED = (e.ApprovalRequested.TYPE, e.InputRequested.TYPE)
LOOKED_AT = 1000  # runs of a session, and questions


class NotDone(Exception):
    """Nothing to act on. The seed has no word for that, so only the log hears it."""


class Wishes:
    """`session`: what `abort` and `resume` act on; None: the only one there is."""

    def __init__(self, house: House, caller: Caller, session: str | None) -> None:
        self._house = house
        self._caller = caller
        self._session = session

    async def fulfil(self, wish: Wish) -> None:
        command = await self._command(wish)
        await self._house.perform(command, self._caller)

    async def _command(self, wish: Wish) -> c.Command:
        """Whoever cannot be told that every process is at work waits in line for one."""
        match wish:
            case Send():
                session = await self._of_run(wish.run_id)
                return c.Respond(session=session, text=wish.message, queue=True)
            case Reply():
                return await self._reply(await self._of_run(wish.run_id), wish)
            case Abort(resumable=True):
                return c.Pause(session=await self._meant())
            case Abort():
                return c.Kill(session=await self._meant())
            case Resume():
                session = await self._meant()
                return c.Resume(session=session, prompt=wish.message, queue=True)

    async def _reply(self, session: str, reply: Reply) -> c.Command:
        """To what nobody asked it is a message; to what is decided or withdrawn it comes too late.

        An approval is allowed with yes, y, allow or approve; anything else denies it and is the
        reason.
        """
        waiting = self._waiting(reply.prompt_id)
        if waiting is None:
            if await self._was_asked(session, reply.prompt_id):
                raise NotDone("The prompt was answered already, or withdrawn.")
            return c.Respond(session=session, text=reply.content, queue=True)
        if waiting.state.id != session:
            raise NotDone("The prompt is another session's.")
        return _answer(waiting, reply.content)

    def _waiting(self, prompt_id: str) -> Waiting | None:
        """The desk also knows it by part of its id, which is no `promptId`."""
        try:
            waiting = self._house.pool.desk.find(prompt_id)
        except NotFound:
            return None
        return waiting if prompt_id in (waiting.id, waiting.ask.tool_use_id) else None

    async def _was_asked(self, session: str, prompt_id: str) -> bool:
        """Also before a restart: a `yes` that comes late is not to be said to Claude."""
        asked = await self._house.log.tail_of(session, ASKED, LOOKED_AT)
        return any(
            prompt_id in (each.payload.approval_id, each.payload.tool_use_id)
            for each in asked
            if isinstance(each.payload, e.ApprovalRequested | e.InputRequested)
        )

    async def _of_run(self, run_id: str) -> str:
        """The session; an older run of it will do."""
        session, run = read_run_id(run_id)
        if not (ID.fullmatch(session) and ID.fullmatch(run)):
            raise NotDone("No run has this runId.")
        try:
            state = await self._house.pool.book.find(session)
        except NotFound:
            raise NotDone("No run has this runId.") from None
        if run != state.run:
            begun = await self._house.log.tail_of(state.id, RUNS, LOOKED_AT)
            if all(event.run != run for event in begun):
                raise NotDone("No run has this runId.")
        return state.id

    async def _meant(self) -> str:
        """One that is paused has no process, but is waited for."""
        if self._session is not None:
            return self._session
        asleep = await self._house.log.session_rows(statuses=(Status.ASLEEP,))
        paused = [row.id for row in asleep if row.reason is Reason.PAUSED]
        found = {*paused, *(state.id for state in self._house.pool.manager.live())}
        if len(found) != 1:
            raise NotDone(f"{len(found)} sessions could be meant: bind with /ws?session=NAME.")
        return found.pop()


def _answer(waiting: Waiting, content: str) -> c.Command:
    if waiting.kind is AskKind.QUESTION:
        return c.Answer(approval=waiting.id, answers=(content,))
    if content.strip().lower() in YES:
        return c.Decide(approval=waiting.id, verdict=Verdict.ALLOW)
    return c.Decide(approval=waiting.id, verdict=Verdict.DENY, reason=content)
