"""One session while it has a process: one task, one engine, one state machine.

Everything that happens to it, from outside (`Order`) or from Claude (`EngineEvent`), goes through
one mailbox and is handled in order by one task. The state lives in the book, as the log has it;
this object keeps only what a process needs. It lives from launch, wake or resume until the session
falls asleep or the run ends, and it catches its own failures: a neighbour never hears of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from claude_sessions import engines as g
from claude_sessions import events as e
from claude_sessions.approvals.desk import ApprovalDesk
from claude_sessions.cause import CAUSE
from claude_sessions.clock import Clock
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.errors import Conflict, EngineError, LiveElsewhere
from claude_sessions.eventlog import EventLog
from claude_sessions.model import Activity, PermissionMode, Reason, Status, new_id
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.facts import login_needed, news_of, signal_of
from claude_sessions.sessions.mailbox import Mailbox, Order
from claude_sessions.sessions.next import Next, kept_for_later, what_next
from claude_sessions.sessions.process import ClaudeProcess, Died, Item, Opened, Opening
from claude_sessions.sessions.purse import Purse
from claude_sessions.sessions.stream import MessageStream
from claude_sessions.sessions.timers import Alarms, Rhythm
from claude_sessions.sessions.transcript import given_back, never_began, size, trouble
from claude_sessions.sessions.turn import Turn
from claude_sessions.sessions.undo import Undone, Unsure, put_back
from claude_sessions.state import SessionState, draft

log = structlog.get_logger()


class Session:
    def __init__(
        self,
        session_id: str,
        *,
        book: SessionBook,
        log: EventLog,
        engine: g.Engine,
        desk: ApprovalDesk,
        clock: Clock,
        rhythm: Rhythm,
        trusted: Callable[[str], bool],
        transcripts: Transcripts,
        purse: Purse,
    ) -> None:
        self.id = session_id
        self._book = book
        self._log = log
        self._desk = desk
        self._clock = clock
        self._rhythm = rhythm
        self._trusted = trusted
        self._transcripts = transcripts
        self._purse = purse
        self._stream = MessageStream(log)
        self._mailbox: Mailbox[Item] = Mailbox()
        self._process = ClaudeProcess(engine, self._mailbox.post, self._mailbox.__len__)
        self._turn = Turn()
        self._resumes: str | None = None  # the conversation it is to go on with
        self._resets_at: float | None = None  # a usage limit of the account
        self._renewed = False  # its budget was changed while its process ran
        self._login_told = False
        self._told_of_tasks = False
        self._over = False
        self._opened_or_over = asyncio.Event()
        self._alarms = Alarms(
            clock,
            rhythm,
            idle=self._mailbox.ring(self._idle_rang),
            silent=self._mailbox.ring(self._safety_net_rang),
            stalled=self._mailbox.ring(self._stalled),
        )

    @property
    def state(self) -> SessionState:
        state = self._book.state(self.id)
        assert state is not None
        return state

    # --- what others may ask of it; each is done in order, in the session's own task

    async def say(
        self, message: e.UserMessage, caller: str | None, *, interrupt: bool = False
    ) -> None:
        await self._mailbox.order(lambda: self._say(message, caller, interrupt))

    async def withdraw(self, message_id: str, caller: str | None) -> None:
        await self._mailbox.order(lambda: self._withdraw(message_id, caller))

    async def hasten(self, old: str, message: e.UserMessage, caller: str | None) -> None:
        """What is queued as `old` is said now: the message steers, or else interrupts."""
        await self._mailbox.order(lambda: self._hasten(old, message, caller))

    async def interrupt(self, caller: str | None) -> bool:
        """False: there was no turn to interrupt."""
        return bool(await self._mailbox.order(lambda: self._interrupt(Reason.USER)))

    async def kill(self, reason: Reason = Reason.USER, caller: str | None = None) -> None:
        await self._mailbox.order(lambda: self._end(Status.KILLED, reason, caller=caller))

    async def sleep(self, reason: Reason, caller: str | None = None) -> bool:
        """False: meanwhile it has something to do (only asked when its room is wanted)."""
        return bool(await self._mailbox.order(lambda: self._sleep(reason, caller)))

    async def set_mode(self, mode: PermissionMode, caller: str | None) -> None:
        await self._mailbox.order(lambda: self._set_mode(mode, caller))

    async def set_model(self, model: str | None, caller: str | None) -> None:
        await self._mailbox.order(lambda: self._set_model(model, caller))

    async def set_budget(self, budget_usd: float, caller: str | None) -> None:
        await self._mailbox.order(lambda: self._set_budget(budget_usd, caller))

    async def wait(self) -> None:
        """A turn that gave no sign of life may go on for as long again."""
        await self._mailbox.order(self._wait)

    async def stop_task(self, task_id: str) -> None:
        await self._mailbox.order(lambda: self._process.live.stop_task(task_id))

    async def undo(self, caller: str | None, *, confirmed: bool) -> Undone | Unsure:
        """Put the files of its last turn back; waits for a process that is only starting."""
        await self._opened_or_over.wait()
        found: Undone | Unsure = await self._mailbox.order(lambda: self._undo(caller, confirmed))
        return found

    @property
    def pid(self) -> int | None:
        conversation = self._process.conversation
        return conversation.pid if conversation else None

    def cut(self) -> None:
        """End its process at once, whatever its task is waiting for; the ending follows."""
        self._mailbox.ring(lambda: self._end(Status.KILLED, Reason.USER))()
        self._process.abandon()

    @property
    def slash_commands(self) -> tuple[str, ...]:
        conversation = self._process.conversation
        return conversation.commands if conversation else ()

    # --- the one task

    async def run(self) -> None:
        CAUSE.set(None)  # whoever woke it has not caused all that it does from here on
        try:
            async with asyncio.TaskGroup() as children:
                tasks = [
                    children.create_task(self._alarms.run(), name=f"alarms:{self.id}"),
                    children.create_task(self._open(), name=f"claude:{self.id}"),
                ]
                await self._attend()
                for task in tasks:
                    task.cancel()
        finally:
            self._over = True
            self._mailbox.close()
            self._opened_or_over.set()

    async def _attend(self) -> None:
        while not self._over:
            try:
                await self._handle(await self._mailbox.take())
            except asyncio.CancelledError:
                await asyncio.shield(self._process.close())
                raise
            except EngineError as error:
                await self._end(Status.FAILED, Reason.CRASH, str(error))
            except Exception as error:  # its own failure, and nobody else's
                log.exception("session.failed", session=self.id)
                await self._end(Status.FAILED, Reason.CRASH, f"Internal error: {error!r}")

    async def _handle(self, item: Item | Order) -> None:
        match item:
            case Order():
                await item.carry_out()
            case Opened():
                await self._opened(item)
            case Died(error=LiveElsewhere() as error):
                told = e.Noticed(code="elsewhere", message=str(error))
                await self._record(told, caller=self._last_speaker)
                await self._sleep(Reason.ELSEWHERE)
            case Died(while_starting=True):
                told_to = self._last_speaker
                await self._end(Status.FAILED, Reason.START, str(item.error), caller=told_to)
            case Died():
                await self._end(Status.FAILED, Reason.CRASH, str(item.error))
            case _:
                await self._hear(item)

    @property
    def _last_speaker(self) -> str | None:
        """Whoever wanted it awake hears why it is not."""
        return self.state.queued[-1].by if self.state.queued else None

    # --- the process

    async def _open(self) -> None:
        state = self.state
        opening = Opening.of(state)
        if opening.resume and not opening.fork:
            if await asyncio.to_thread(never_began, self._transcripts, state):
                opening = Opening.of(replace(state, claude_ids=()))
            elif (told := await trouble(self._transcripts, state)) is not None:
                # Before Claude is started: it would write to the file.
                self._mailbox.post(Died(error=EngineError(told), while_starting=True))
                return
        self._resumes = None if opening.fork else opening.resume
        await self._process.run(
            replace(state.spec, trusted=self._trusted(state.spec.directory)),
            ask=self._asked,
            opening=opening,
            budget_usd=least(state.budget_left, self._purse.left()),
        )

    async def _asked(self, ask: g.Ask) -> g.Answer:
        """A question comes after all that Claude said before it, also in the log."""
        put = await self._mailbox.order(lambda: self._desk.ask(self.state, ask))
        return put if isinstance(put, g.Answer) else await self._desk.answered(put)

    async def _opened(self, opened: Opened) -> None:
        """The conversation's id is ours and is in the log before anything is said in it."""
        await self._record(
            e.SessionStarted(
                claude_session_id=opened.claude_id,
                model=self.state.spec.model,
                pid=opened.conversation.pid,
                cli_version=opened.conversation.version,
            )
        )
        self._alarms.spoken_to()
        await self._advance()
        self._opened_or_over.set()

    # --- messages

    async def _say(self, message: e.UserMessage, caller: str | None, interrupt: bool) -> None:
        self._alarms.spoken_to()
        await self._record(message, caller=caller, hold=False)
        await self._hurry(message, interrupt=interrupt)

    async def _hurry(self, message: e.UserMessage, *, interrupt: bool) -> None:
        if interrupt:
            # In the same breath: a moment later it could be this message's own turn.
            await self._interrupt_for(message)
        elif message.steer and self.state.turn:
            await self._stream.steer(self.state, message, self._process.live)
        await self._advance()

    async def _interrupt_for(self, message: e.UserMessage) -> None:
        try:
            await self._interrupt(Reason.USER)
        except EngineError as error:
            told = f"{error} “{message.text[:80]}” is queued."
            await self._record(e.Noticed(code="not_interrupted", message=told))

    async def _hasten(self, old: str, message: e.UserMessage, caller: str | None) -> None:
        self._must_be_queued(old)
        gone = e.MessageWithdrawn(message_id=old)
        await self._record(gone, message, caller=caller, hold=False)  # in one: nothing gets lost
        await self._hurry(message, interrupt=not message.steer)

    async def _withdraw(self, message_id: str, caller: str | None) -> None:
        self._must_be_queued(message_id)
        await self._record(e.MessageWithdrawn(message_id=message_id), caller=caller)

    def _must_be_queued(self, message_id: str) -> None:
        if all(m.id != message_id for m in self.state.queued):
            raise Conflict("That message is no longer queued: Claude has it.")

    async def _advance(self) -> None:
        """Between turns, the next queued message begins one."""
        conversation = self._process.conversation
        if conversation is None or self._over:
            return
        if self.state.queued and self.state.turn is None and self._purse.left() == 0.0:
            await self._park(self._purse.refills_at(), kind="daily", message=self._purse.told())
            return
        turn = await self._stream.begin_turn(self.state, conversation)
        if turn is not None:
            self._turn = Turn(slash=turn.slash, asked=turn.message)
            self._alarms.turn_began()
        elif self.state.spec.once and not self.state.turns and not self.state.queue:
            await self._end(Status.FAILED, Reason.ERROR, "There was nothing it could be asked.")

    async def _interrupt(self, reason: Reason) -> bool:
        if self.state.turn is None:
            return False
        self._turn.stop_reason = reason
        await self._process.live.interrupt()
        return True

    async def _set_mode(self, mode: PermissionMode, caller: str | None) -> None:
        await self._process.live.set_mode(mode)
        await self._record(e.ModeChanged(permission_mode=mode), caller=caller)

    async def _set_model(self, model: str | None, caller: str | None) -> None:
        await self._process.live.set_model(model)
        await self._record(e.ModelChanged(model=model), caller=caller)

    async def _set_budget(self, budget_usd: float, caller: str | None) -> None:
        await self._record(e.BudgetChanged(budget_usd=budget_usd), caller=caller)
        self._renewed = True
        if may_rest(self.state):
            await self._sleep(Reason.BUDGET)  # the next process is told the new one

    async def _undo(self, caller: str | None, confirmed: bool) -> Undone | Unsure:
        self._alarms.spoken_to()
        found = await put_back(self.state, self._process.live, confirmed=confirmed)
        if isinstance(found, Undone):
            undone = e.TurnUndone(files=found.files, kept=found.kept)
            await self._record(undone, turn=self.state.changes.turn, caller=caller)
        return found

    # --- what Claude does

    async def _hear(self, event: g.EngineEvent) -> None:
        if self.state.turn:
            self._alarms.sign_of_life()
        match event:
            case g.TextDelta() | g.ToolProgressed():
                self._turn.asking = False
                self._log.signal(signal_of(event, self.id, self.state.turn))
            case g.Asking():
                self._turn.asking = True
            case g.TurnBegan():
                await self._turn_began(event)
            case g.MessageTaken():
                await self._message_taken(event.id)
            case g.TurnOver():
                await self._turn_over(event)
            case g.AnswerGiven():
                await self._desk.given(self.id, event.tool_use_id)
            case g.AskWithdrawn():
                await self._desk.cancel(self.id, tool_use_id=event.tool_use_id)
            case g.LoginNeeded():
                await self._login_needed(event)
            case g.Notice(code="unreadable_frame"):
                log.debug("engine.unreadable_frame", session=self.id, type=event.message)
            case g.ModeSet() | g.TasksListed():
                await self._record(*news_of(event, self.state))
            case _:
                if isinstance(event, g.Limited):  # it says so once, not for each refusal
                    self._resets_at = event.resets_at
                await self._record(*self._turn.facts(event, self._clock.monotonic()))

    async def _turn_began(self, event: g.TurnBegan) -> None:
        if self._resumes is not None and event.claude_id != self._resumes:
            raise EngineError(
                f"Claude began another conversation instead of going on with {self._resumes}. "
                f"That one is kept; /resume {self.state.name} tries again."
            )
        self._resumes = None  # from here on it may change: /clear
        facts: list[e.Payload] = []
        if event.claude_id != self.state.claude_id:
            facts.append(e.ConversationIdentified(claude_session_id=event.claude_id))
        if self.state.turn is None:
            self._turn = Turn()
            self._alarms.turn_began()
            await self._record(e.TurnStarted(injected=True), turn=new_id())
        await self._record(*facts)

    async def _message_taken(self, message_id: str) -> None:
        if self.state.turn is None:
            # It was to steer, but the turn ended first: it has one of its own now.
            self._turn = Turn()
            self._alarms.turn_began()
            await self._record(e.TurnStarted(message_ids=(message_id,)), turn=new_id())
        await self._record(e.MessageConsumed(message_id=message_id))

    async def _login_needed(self, event: g.LoginNeeded) -> None:
        if not self._login_told:
            self._login_told = True
            log.warning("engine.login_needed", session=self.id, said=event.message)
            await self._record(login_needed(event))

    # --- endings of a turn

    async def _turn_over(self, over: g.TurnOver) -> None:
        state = self.state
        beside = over.injected and state.turn is not None and bool(state.given)
        turn = new_id() if beside or state.turn is None else state.turn
        partial = self._log.open_text(self.id)
        ending = self._turn.ending(over, partial=partial, took_ms=self._elapsed_ms())
        if beside or self._over:
            cut_off = () if beside else self._cut_off()
            await self._record(*cut_off, *ending, turn=turn)
            return
        next_ = self._what_next(over)
        kept = kept_for_later(self._turn, over, next_)
        # In one: a crash in between would forget what it was to do.
        await self._record(*self._cut_off(), *ending, *kept, turn=turn)
        past = self._turn
        self._turn = Turn()
        self._alarms.turn_over()
        await self._go_on(next_, over, past.stop_reason)

    def _what_next(self, over: g.TurnOver) -> Next:
        """As things will stand when the turn is paid for."""
        state, today = self.state, self._purse.left()
        return what_next(
            replace(state, cost_usd=state.cost_usd + over.cost_usd),
            over,
            limited=(self._resets_at or 0.0) > self._clock.now().timestamp(),
            today_left=None if today is None else max(today - over.cost_usd, 0.0),
            renewed=self._renewed,
        )

    def _cut_off(self) -> list[e.Payload]:
        """What was said in blocks that nobody will finish: it is output like any other."""
        return [
            e.AssistantMessage(text=delta.text, block=delta.block)
            for delta in self._log.open_deltas(self.id)
            if isinstance(delta, e.AssistantDelta)
        ]

    def _elapsed_ms(self) -> int:
        began = self.state.turn_started_at
        return round((self._clock.now() - began).total_seconds() * 1000) if began else 0

    async def _go_on(self, next_: Next, over: g.TurnOver, stop_reason: Reason | None) -> None:
        match next_:
            case Next.SPENT:
                await self._out_of_budget()
            case Next.OVER:
                await self._end_once(over, stop_reason)
            case Next.PARK:
                await self._park(self._resets_at)
            case Next.PARK_TODAY:
                resets_at = self._purse.refills_at()
                await self._park(resets_at, kind="daily", message=self._purse.told())
            case Next.RENEW:
                await self._renew()
            case Next.GO_ON:
                await self._advance()

    async def _renew(self) -> None:
        """Let go of a process that knows an old budget; the line wakes it if there is more."""
        await self._release(Reason.BUDGET)
        length = await size(self._transcripts, self.state)
        if self.state.queue:
            await self._record(e.SessionQueued(transcript_bytes=length))
        else:
            await self._record(e.SessionAsleep(reason=Reason.BUDGET, transcript_bytes=length))

    async def _park(
        self, resets_at: float | None, *, kind: str = "usage", message: str = ""
    ) -> None:
        if message:
            await self._record(e.LimitReached(kind=kind, message=message, resets_at=resets_at))
        await self._release(Reason.LIMIT)
        length = await size(self._transcripts, self.state)
        await self._record(e.SessionParked(resets_at=resets_at, transcript_bytes=length))
        log.info("session.parked", session=self.id, resets_at=resets_at)

    async def _out_of_budget(self) -> None:
        budget = self.state.spec.budget_usd or 0.0
        message = f"The budget of ${budget:.2f} is spent (${self.state.cost_usd:.2f} so far)."
        await self._record(e.LimitReached(kind="budget", message=message))
        await self._end(Status.FAILED, Reason.BUDGET, message)

    async def _end_once(self, over: g.TurnOver, stop_reason: Reason | None) -> None:
        if over.interrupted:
            await self._end(Status.KILLED, stop_reason or Reason.USER)
        elif over.is_error:
            await self._end(Status.FAILED, Reason.ERROR, over.error or over.reason)
        else:
            await self._end(Status.COMPLETED, Reason.DONE)

    # --- endings of the process

    async def _end(
        self, status: Status, reason: Reason, message: str = "", *, caller: str | None = None
    ) -> None:
        """The one path to an ending, whatever its cause."""
        if self._over:
            return
        self._turn.last = True
        await self._release(reason)
        state = self.state
        await self._record(
            e.SessionEnded(
                status=status,
                reason=reason,
                message=message,
                duration_ms=round(state.duration(self._clock.now()) * 1000),
                cost_usd=state.run_cost_usd,
                cost_unknown=state.run_cost_unknown,
                transcript_bytes=await size(self._transcripts, state),
            ),
            caller=caller,
        )
        log.info("session.ended", session=self.id, name=state.name, status=status, reason=reason)

    async def _sleep(self, reason: Reason, caller: str | None = None) -> bool:
        unasked = reason in (Reason.POOL, Reason.USER)
        if self._over or (unasked and not may_rest(self.state)):
            return False
        await self._release(reason)
        length = await size(self._transcripts, self.state)
        asleep = e.SessionAsleep(reason=reason, transcript_bytes=length)
        await self._record(asleep, caller=caller)
        return True

    async def _release(self, reason: Reason) -> None:
        """Give the process back; what it still said on the way out is kept."""
        self._over = True
        self._turn.stop_reason = self._turn.stop_reason or reason
        self._alarms.clear()
        partial = self._log.open_text(self.id)
        await self._process.close()
        await self._desk.cancel(self.id)
        await self._hear_the_rest()
        unwanted = reason not in (Reason.USER, Reason.BUDGET)
        back = await given_back(self._transcripts, self.state, also_taken=unwanted)
        await self._record(*back)
        if self.state.turn is not None:
            await self._record(
                *self._cut_off(),
                e.TurnInterrupted(
                    reason=reason,
                    partial_text=self._log.open_text(self.id) or partial,
                    duration_ms=self._elapsed_ms(),
                    last=self._turn.last,
                ),
            )

    async def _hear_the_rest(self) -> None:
        items = self._mailbox.take_all()
        for item in items:
            if isinstance(item, Order):
                self._mailbox.post(item)  # too late for it: it is told so
        for item in items:
            if isinstance(item, g.EngineEvent):
                await self._hear(item)

    # --- alarms

    async def _idle_rang(self) -> None:
        state = self.state
        if not may_rest(state):
            self._alarms.spoken_to()
            await self._tell_what_runs()
        elif self._rhythm.idle_kills:
            await self._end(Status.KILLED, Reason.IDLE, "Nobody spoke to it for a while.")
        else:
            await self._sleep(Reason.IDLE)

    async def _tell_what_runs(self) -> None:
        """A dev server that was left running keeps its process; people may not know of it."""
        state = self.state
        if state.tasks and state.turn is None and not self._told_of_tasks:
            self._told_of_tasks = True
            names = ", ".join(task.description or task.id for task in state.tasks)
            told = f"{state.name} stays awake, because this still runs: {names[:200]}"
            await self._record(e.Noticed(code="still_running", message=told))

    async def _safety_net_rang(self) -> None:
        state = self.state
        if state.turn is None or state.pending or not self._turn.silence_is_odd:
            return
        self._turn.warned = True
        seconds = self._rhythm.safety_net_seconds or 0
        await self._record(
            e.Noticed(
                code="may_be_waiting",
                message=f"{state.name} has been silent for {seconds:.0f} s and may be waiting.",
            )
        )

    async def _stalled(self) -> None:
        state = self.state
        if state.turn is None or state.pending or self._turn.stalled:
            return
        self._turn.stalled = True
        minutes = (self._rhythm.stall_seconds or 0) / 60
        told = f"{state.name} has given no sign of life for {minutes:.0f} min."
        await self._record(e.Noticed(code="stalled", message=told))

    async def _wait(self) -> None:
        self._turn.stalled = False
        self._alarms.sign_of_life()

    # --- the log

    async def _record(
        self,
        *payloads: e.Payload,
        turn: str | None = None,
        caller: str | None = None,
        hold: bool = True,
    ) -> None:
        state = self.state
        drafts = [draft(state, payload, turn=turn, caller=caller) for payload in payloads]
        await self._log.append(*drafts, hold=hold)


def may_rest(state: SessionState) -> bool:
    """Nothing is under way and nothing is waiting."""
    idle = state.status is Status.RUNNING and state.activity is Activity.IDLE
    return idle and not state.queue and not state.tasks


def least(*amounts: float | None) -> float | None:
    return min((amount for amount in amounts if amount is not None), default=None)
