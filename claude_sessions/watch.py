"""What the router keeps of one session, and what each event is worth telling. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from claude_sessions import events as e
from claude_sessions import handed, wording
from claude_sessions.approvals.preview import tool_line
from claude_sessions.approvals.visible import one_line
from claude_sessions.channel import Action, Kind, Notification
from claude_sessions.model import Activity, Reason, Status
from claude_sessions.state import SessionState, fold

NEEDS_A_PERSON = frozenset(
    {
        "login",
        "may_be_waiting",
        "not_interrupted",
        "stalled",
        "elsewhere",
        "limit_over",
        "still_running",
    }
)  # codes of notices
SHOWN_AS_CARDS = frozenset({"AskUserQuestion", "ExitPlanMode"})
# Why a turn was cut off; else an ending says it.
WORTH_SAYING = frozenset({Reason.USER, Reason.PAUSED, Reason.ERROR})


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """For those that watch, and for the channel it came from when that one does not."""

    front: Notification | None = None
    back: Notification | None = None


NOTHING = News()


class Watch:
    """`state` is folded event by event: the live state may be ahead of the event at hand."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.cards: dict[str, Notification] = {}  # open, or decided and its result not yet seen
        self.card_of: dict[str, str] = {}  # tool use → the card that asked for it
        self._words = ""  # the last that Claude finished saying
        self._links: list[str] = []  # to files, in all that it said in this turn
        self._told_turn: str | None = None
        self._limits: set[tuple[str, float | None]] = set()
        self._limited = False  # a limit was told since the turn began: it explains any failure
        self._logged_out = False  # that was told since the turn began: it explains an API error
        self._reminded_run: str | None = None

    def take(self, event: e.Event) -> News:
        working_on = None
        if event.seq > self.state.last_seq:
            working_on = self.state.turn
            self.state = fold(self.state, event)
        match event.payload:
            case e.SessionCreated(adopted=True):
                pass  # whoever adopted it is answered; nothing has started
            case e.SessionCreated():
                actions = wording.launch_actions(self.state)
                return self._all(Kind.LAUNCHED, wording.launched(self.state), actions)
            case e.SessionResumed():
                self._limits.clear()
                actions = wording.launch_actions(self.state)
                return self._all(Kind.LAUNCHED, wording.resumed(self.state), actions)
            case e.SessionEnded() as ending:
                return self._ended(ending, event.caller)
            case e.LimitReached() as reached:
                return self._limit(reached)
            case e.TurnStarted():
                self._limited = self._logged_out = False
                self._links.clear()
            case e.TurnCompleted() as turn:
                beside = working_on not in (None, event.turn)
                return NOTHING if beside else self._turn_over(turn, event.turn)
            case e.TurnInterrupted() as turn:
                return self._interrupted(turn)
            case e.SlashResult(is_error=True, output=output):
                refused = event.turn is None  # else a turn failed, and that is said
                text = wording.about(self.state, output)
                return self._all(Kind.NOTICE, text) if refused else NOTHING
            case payload:
                return self._in_passing(payload)
        return NOTHING

    def stream(self) -> Notification:
        return self._say(Kind.STREAM, "")

    def sign(self, kind: Kind) -> Notification:
        """Of something that a channel shows in its own way."""
        return self._say(kind, "")

    def open_cards(self) -> dict[str, Notification]:
        return {i: n for i, n in self.cards.items() if not _is_decided(n)}

    def decided_cards(self) -> list[str]:
        return [i for i, n in self.cards.items() if _is_decided(n)]

    def remind(self, seconds: float) -> Notification | None:
        """Once a run, for a turn that goes on and on; not while it waits for a person."""
        state = self.state
        if state.activity is not Activity.WORKING or self._reminded_run == state.run:
            return None
        self._reminded_run = state.run
        return self._say(
            Kind.LONG_RUNNING,
            wording.long_running(state, seconds),
            wording.long_running_actions(state),
            foreground=False,
        )

    # --- what happens within a turn

    def _in_passing(self, payload: e.Payload) -> News:
        match payload:
            case e.AssistantMessage(parent_tool_use_id=None, text=text):
                self._words = text
                self._links += handed.links(text)
            case e.TerminalMessage(text=text):
                return self._front(Kind.TOOL, f"💻 {one_line(text, 200)}")
            case e.ToolRequested(tool_name=name) if name not in SHOWN_AS_CARDS:
                within = "↳ " if payload.parent_tool_use_id else ""
                return self._front(Kind.TOOL, within + self._tool(payload))
            case e.TaskStarted():
                return self._front(Kind.TOOL, wording.task_started(payload))
            case e.TaskEnded() if payload.status != "gone":
                return self._front(Kind.TOOL, wording.task_ended(payload))
            case e.SlashResult(output=output) if output != self._words:
                self._words = output
                return self._front(Kind.STREAM, output)
            case e.ContextCompacted():
                return self._front(Kind.NOTICE, wording.compacted(self.state, payload))
            case e.TurnUndone():
                return self._front(Kind.NOTICE, wording.turn_undone(self.state, payload))
            case e.Noticed():
                self._logged_out |= payload.code == "login"
                text = wording.about(self.state, payload.message)
                if payload.code in NEEDS_A_PERSON:
                    actions = wording.notice_actions(self.state, payload.code)
                    return self._all(Kind.NOTICE, text, actions, urgent=True)
                return self._front(Kind.NOTICE, text)
        return NOTHING

    def _tool(self, call: e.ToolRequested) -> str:
        return tool_line(call.tool_name, call.input, directory=self.state.spec.directory)

    # --- endings of a turn

    def _turn_over(self, turn: e.TurnCompleted, turn_id: str | None) -> News:
        state = self.state
        if state.spec.once or (turn_id is not None and turn_id == self._told_turn):
            return NOTHING  # a single turn ends the run, and that is said
        self._told_turn = turn_id
        if turn.is_error:
            return NOTHING if self._explained(turn) else self._turn_failed(turn)
        files = handed.actions(state, self._links)
        actions = wording.diff_action(state) + wording.undo_action(state) + files
        front = self._say(Kind.WAITING, wording.turn_over(state, turn), actions)
        if state.queue or state.budget_left == 0.0:
            return News(front=front)  # it goes on, or ends, by itself
        front = replace(front, seconds=turn.duration_ms / 1000)
        back = self._say(
            Kind.WAITING,
            wording.waiting(state, turn, self._words),
            wording.waiting_actions(state) + files,
            foreground=False,
        )
        return News(front=front, back=back)

    def _explained(self, turn: e.TurnCompleted) -> bool:
        """Why it failed is told on its own."""
        if turn.reason == "api_error" and self._logged_out:
            return True
        return self._limited or turn.reason == "budget_exhausted"

    def _turn_failed(self, turn: e.TurnCompleted) -> News:
        state, text = self.state, wording.turn_failed(self.state, turn)
        actions = wording.waiting_actions(state)
        front = self._say(Kind.WAITING, text, actions + wording.undo_action(state))
        return News(front=front, back=self._say(Kind.WAITING, text, actions, foreground=False))

    def _interrupted(self, turn: e.TurnInterrupted) -> News:
        self._words = turn.partial_text or self._words
        if turn.reason not in WORTH_SAYING or self.state.spec.once:
            return NOTHING
        actions = wording.diff_action(self.state) + wording.undo_action(self.state)
        text = wording.turn_interrupted(self.state, turn)
        return News(front=self._say(Kind.WAITING, text, actions))

    # --- endings of a run

    def _limit(self, reached: e.LimitReached) -> News:
        self._limited = True
        which = (reached.kind, reached.resets_at)
        if which in self._limits:
            return NOTHING
        self._limits.add(which)
        return self._all(Kind.LIMIT, wording.limit(self.state, reached))

    def _ended(self, ending: e.SessionEnded, by: str | None) -> News:
        if ending.reason is Reason.SHUTDOWN:
            return NOTHING  # the next start tells of all of them at once
        if ending.status is Status.FAILED and (self._limited or ending.reason is Reason.BUDGET):
            told = bool(self._limits)
            reached = e.LimitReached(kind="budget", message=ending.message)
            return NOTHING if told else self._limit(reached)
        kind, _, _ = wording.ENDINGS[ending.status]
        actions = wording.ended_actions(self.state)
        if ending.status is Status.COMPLETED:
            actions += handed.actions(self.state, self._links)
        front = self._say(kind, wording.ended(self.state, ending, by=by, said=""), actions)
        text = wording.ended(self.state, ending, by=by, said=self._words)
        return News(front=front, back=self._say(kind, text, actions, foreground=False))

    # --- words

    def _say(
        self, kind: Kind, text: str, actions: tuple[Action, ...] = (), *, foreground: bool = True
    ) -> Notification:
        return Notification(
            kind=kind,
            session=self.state.id,
            name=self.state.name,
            text=text,
            foreground=foreground,
            actions=actions,
            turn=self.state.turn,
            began=self.state.turn_started_at,
        )

    def _front(self, kind: Kind, text: str) -> News:
        return News(front=self._say(kind, text))

    def _all(
        self, kind: Kind, text: str, actions: tuple[Action, ...] = (), *, urgent: bool = False
    ) -> News:
        front = replace(self._say(kind, text, actions), urgent=urgent)
        return News(front=front, back=replace(front, foreground=False))


def _is_decided(notification: Notification) -> bool:
    return notification.card is None or bool(notification.card.decided)
