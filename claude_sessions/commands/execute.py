"""Carrying out commands: the role is checked here, once; then one function a command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.approvals.desk import ApprovalDesk, Decision
from claude_sessions.approvals.policy import looser
from claude_sessions.approvals.rulebook import RuleBook, TrustBook
from claude_sessions.approvals.rules import parse_rule
from claude_sessions.clock import Clock
from claude_sessions.commands import replies
from claude_sessions.commands.chat import split_answers
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.errors import BadRequest, Conflict, NotFound
from claude_sessions.eventlog import EventLog
from claude_sessions.model import AskKind, PermissionMode, Role, Scope, SessionSpec, Verdict
from claude_sessions.people import Caller
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.manager import SessionManager
from claude_sessions.state import SessionState

LISTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What a launch gets when it does not say."""

    model: str | None = None
    mode: PermissionMode = PermissionMode.DEFAULT
    budget_usd: float | None = 5.0


class Commands:
    def __init__(
        self,
        *,
        manager: SessionManager,
        book: SessionBook,
        desk: ApprovalDesk,
        rules: RuleBook,
        trust: TrustBook,
        log: EventLog,
        workdirs: Workdirs,
        defaults: Defaults,
        clock: Clock,
    ) -> None:
        self._manager = manager
        self._book = book
        self._desk = desk
        self._rules = rules
        self._trust = trust
        self._log = log
        self._workdirs = workdirs
        self._defaults = defaults
        self._clock = clock
        self._do: dict[type[c.Command], Callable[[Any, Caller], Awaitable[c.Reply]]] = {
            c.Launch: self._launch,
            c.Respond: self._respond,
            c.Talk: self._talk,
            c.Withdraw: self._withdraw,
            c.Interrupt: self._interrupt,
            c.Foreground: self._foreground,
            c.Background: self._background,
            c.Kill: self._kill,
            c.Output: self._output,
            c.ListSessions: self._list,
            c.ListResumable: self._resumable,
            c.Stats: self._stats,
            c.Cost: self._cost,
            c.Resume: self._resume,
            c.ListApprovals: self._approvals,
            c.Decide: self._decide,
            c.Answer: self._answer,
            c.SetMode: self._set_mode,
            c.SetModel: self._set_model,
            c.Rename: self._rename,
            c.ListRules: self._list_rules,
            c.AddRule: self._add_rule,
            c.RevokeRule: self._revoke_rule,
            c.Trust: self._give_trust,
            c.Untrust: self._revoke_trust,
            c.ListTasks: self._list_tasks,
            c.StopTask: self._stop_task,
            c.Help: self._help,
        }

    async def execute(self, command: c.Command, caller: Caller) -> c.Reply:
        caller.must_be(command.ROLE, command.TO)
        return await self._do[type(command)](command, caller)

    # --- beginning and ending

    async def _launch(self, command: c.Launch, caller: Caller) -> c.Reply:
        directory = self._workdirs.resolve(command.directory)
        mode = self._mode(command.mode, caller)
        rules = self._session_rules(command.allowed_tools, caller)
        spec = SessionSpec(
            directory=directory,
            model=command.model or self._defaults.model,
            mode=mode,
            budget_usd=command.budget_usd or self._defaults.budget_usd,
            system_prompt=command.system_prompt,
            allowed_tools=command.allowed_tools,
            once=command.once,
            trusted=self._trust.covers(directory),
        )
        state = await self._manager.launch(
            spec,
            command.prompt,
            name=command.name,
            origin=command.origin or caller.channel,
            caller=str(caller),
            attachments=command.attachments,
            foreground=caller.channel if command.foreground else None,
        )
        await self._allow(rules, state, caller)
        taken = command.name is not None and state.name != command.name
        warnings = [f"The name {command.name} is taken; this one is {state.name}."] if taken else []
        text, actions = replies.launched(state, warnings=tuple(warnings))
        return self._reply(text, state, actions)

    def _mode(self, wanted: PermissionMode | None, caller: Caller) -> PermissionMode:
        if wanted is not None and looser(wanted, self._defaults.mode):
            caller.must_be_admin_to_loosen(f"The mode {wanted}")
        return wanted or self._defaults.mode

    def _session_rules(self, patterns: tuple[str, ...], caller: Caller) -> tuple[str, ...]:
        if patterns:
            caller.must_be(Role.APPROVER, "allow tools in advance")
        for pattern in patterns:  # refuse a bad one before anything exists
            parse_rule(pattern, verdict=Verdict.ALLOW)
        return patterns

    async def _allow(self, patterns: tuple[str, ...], state: SessionState, caller: Caller) -> None:
        rules = [
            self._rules.make(
                pattern,
                verdict=Verdict.ALLOW,
                scope=Scope.SESSION,
                by=str(caller),
                session=state.id,
            )
            for pattern in patterns
        ]
        if rules:
            await self._rules.add(*rules, caller=str(caller))

    async def _resume(self, command: c.Resume, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        mode = self._mode(command.mode, caller) if command.mode else None
        if command.fork:
            return await self._fork(state, command, mode, caller)
        was = state.status
        heard = await self._manager.resume(
            state, command.prompt, caller=str(caller), model=command.model, mode=mode
        )
        return self._reply(replies.resumed(heard.state, was, command.prompt), heard.state)

    async def _fork(
        self,
        source: SessionState,
        command: c.Resume,
        mode: PermissionMode | None,
        caller: Caller,
    ) -> c.Reply:
        if source.claude_id is None:
            raise Conflict(f"{source.name} has no conversation yet to branch from.")
        spec = SessionSpec(
            directory=source.spec.directory,
            model=command.model or source.spec.model,
            mode=mode or source.spec.mode,
            budget_usd=command.budget_usd or source.spec.budget_usd,
            system_prompt=source.spec.system_prompt,
            allowed_tools=source.spec.allowed_tools,
            trusted=self._trust.covers(source.spec.directory),
        )
        state = await self._manager.launch(
            spec,
            command.prompt,
            name=command.name or f"{source.name[:42]}-fork",
            origin=caller.channel or source.origin,
            caller=str(caller),
            fork_of=source,
        )
        await self._allow(source.spec.allowed_tools, state, caller)
        text, actions = replies.launched(state, warnings=(f"Branched from {source.name}.",))
        return self._reply(text, state, actions)

    async def _kill(self, command: c.Kill, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        killed = await self._manager.kill(state, caller=str(caller))
        state = await self._book.load(state.id)
        return self._reply(replies.killed(state, already=not killed), state)

    # --- talking

    async def _respond(self, command: c.Respond, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        busy_since = state.turn_started_at
        heard = await self._manager.say(
            state,
            command.text,
            caller=str(caller),
            attachments=command.attachments,
            steer=command.steer,
            interrupt=command.interrupt,
        )
        data = {"messageId": heard.message_id, "queued": heard.queued}
        if heard.queued and busy_since is not None and not (command.steer or command.interrupt):
            elapsed = (self._clock.now() - busy_since).total_seconds()
            text, actions = replies.queued(heard.state, heard.message_id, heard.queued, elapsed)
            return c.Reply(text=text, data=data, session=state.id, actions=actions)
        text = replies.responded(heard.state, command.text)
        return c.Reply(text=text, data=data, session=state.id)

    async def _talk(self, command: c.Talk, caller: Caller) -> c.Reply:
        state = self._in_front(caller)
        question = next((p for p in state.pending if p.kind is AskKind.QUESTION), None)
        if question is not None:
            return await self.execute(
                c.Answer(approval=question.id, answers=(command.text,)), caller
            )
        return await self.execute(
            c.Respond(session=state.id, text=command.text, attachments=command.attachments), caller
        )

    def _in_front(self, caller: Caller) -> SessionState:
        channel = caller.channel or ""
        here = [s for s in self._book.known() if channel in s.foreground]
        if not here:
            raise BadRequest(
                "No session is in the foreground here. /fg NAME, or /new and a prompt."
            )
        return max(here, key=lambda s: s.foreground[channel])

    async def _withdraw(self, command: c.Withdraw, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        message = next((m for m in state.queued if m.id == command.message), None)
        if message is None:
            raise Conflict("That message is no longer queued: Claude has it.")
        await self._manager.withdraw(state, message.id, caller=str(caller))
        if not (command.steer or command.interrupt):
            return self._reply(f"{state.name}: withdrawn.", state)
        again = c.Respond(
            session=state.id,
            text=message.text,
            attachments=message.attachments,
            steer=command.steer,
            interrupt=command.interrupt,
        )
        return await self.execute(again, caller)

    async def _interrupt(self, command: c.Interrupt, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        stopped = await self._manager.interrupt(state, caller=str(caller))
        word = "interrupted." if stopped else "was not working; nothing to interrupt."
        return self._reply(f"{state.name} {word}", state)

    # --- reading

    async def _foreground(self, command: c.Foreground, caller: Caller) -> c.Reply:
        channel = _channel(caller)
        state = await self._book.find(command.session)
        position = state.bookmarks.get(channel)
        missed: tuple[str, ...] = ()
        if position is not None and channel not in state.foreground:
            missed = await self._since(state, position)
        last = self._book.output(state.id).last(command.lines)
        await self._append(state, e.Foregrounded(channel=channel), caller)
        text = replies.foreground(state, missed, last, self._clock.now())
        data = {"missed": list(missed), "lines": list(last)}
        return c.Reply(text=text, data=data, session=state.id)

    async def _since(self, state: SessionState, position: int) -> tuple[str, ...]:
        caught = self._book.output(state.id).since(position)
        if not caught.before:
            return caught.blocks
        return (await self._blocks_from_log(state.id))[position:]

    async def _blocks_from_log(self, session_id: str) -> tuple[str, ...]:
        """Every block there ever was: the buffer has turned over."""
        blocks: list[str] = []
        after = 0
        while page := await self._log.events(session_id, after=after):
            blocks += [
                event.payload.text
                for event in page
                if isinstance(event.payload, e.AssistantMessage)
                and event.payload.parent_tool_use_id is None
            ]
            after = page[-1].seq
        return tuple(blocks)

    async def _background(self, command: c.Background, caller: Caller) -> c.Reply:
        channel = _channel(caller)
        if command.session is not None:
            states = [await self._book.find(command.session)]
        else:
            states = [s for s in self._book.known() if channel in s.foreground]
        watched = [s for s in states if channel in s.foreground]
        for state in watched:
            seen = self._book.output(state.id).end
            await self._append(state, e.Backgrounded(channel=channel, position=seen), caller)
        names = ", ".join(s.name for s in watched)
        text = f"In the background: {names}." if names else "Nothing was in the foreground here."
        return c.Reply(text=text, data={"sessions": [s.id for s in watched]})

    async def _output(self, command: c.Output, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        buffer = self._book.output(state.id)
        lines = buffer.last(buffer.end if command.full else command.lines)
        return self._reply(replies.output(state, lines, self._clock.now()), state, lines=lines)

    async def _list(self, command: c.ListSessions, caller: Caller) -> c.Reply:
        states = await self._states()
        if command.status != "all":
            states = [s for s in states if s.status == command.status]
        text = replies.listing(states, self._clock.now(), full=command.full)
        return c.Reply(text=text, data={"sessions": [s.id for s in states]})

    async def _states(self) -> list[SessionState]:
        rows = await self._log.session_rows(limit=LISTED)
        return [await self._book.load(row.id) for row in rows]

    async def _resumable(self, command: c.ListResumable, caller: Caller) -> c.Reply:
        states = [s for s in await self._states() if not s.status.has_process and s.claude_id]
        text = replies.resumable(states, self._clock.now())
        return c.Reply(text=text, data={"sessions": [s.id for s in states]})

    async def _stats(self, command: c.Stats, caller: Caller) -> c.Reply:
        metrics = await self._metrics()
        return c.Reply(text=replies.stats(metrics), data=replies.metrics_data(metrics))

    async def _metrics(self) -> replies.Metrics:
        rows = await self._log.session_rows()
        live = self._manager.live()
        return replies.tally(
            await self._log.endings(),
            names={row.id: row.name for row in rows},
            launched=len(rows),
            running=len(live),
            live=live,
        )

    async def _cost(self, command: c.Cost, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        return self._reply(replies.cost(state), state)

    # --- deciding

    async def _approvals(self, command: c.ListApprovals, caller: Caller) -> c.Reply:
        waiting = self._desk.waiting()
        text, actions = replies.approvals(waiting, self._clock.now())
        return c.Reply(text=text, data={"approvals": [w.id for w in waiting]}, actions=actions)

    async def _decide(self, command: c.Decide, caller: Caller) -> c.Reply:
        if caller.agent:
            caller.must_be_admin_to_loosen("Deciding for a person")
        waiting = self._desk.find(command.approval)
        if command.mode is not None:
            self._mode(command.mode, caller)
        if command.scope is Scope.USER and command.verdict is Verdict.ALLOW:
            caller.must_be_admin_to_loosen("A rule for every project")
        decision = Decision(
            verdict=command.verdict,
            scope=command.scope,
            reason=command.reason,
            input=command.input,
            mode=command.mode,
        )
        receipt = await self._desk.decide(waiting.id, decision, str(caller))
        return c.Reply(
            text=replies.decided(waiting.state, receipt),
            data={"approvalId": receipt.approval_id, "decision": receipt.decision},
            session=receipt.session,
        )

    async def _answer(self, command: c.Answer, caller: Caller) -> c.Reply:
        waiting = self._desk.find(command.approval)
        answers = command.answers
        if len(answers) == 1:
            answers = split_answers(answers[0], len(waiting.questions))
        decision = Decision(verdict=Verdict.ALLOW, answers=answers)
        receipt = await self._desk.decide(waiting.id, decision, str(caller))
        return c.Reply(
            text=f"{waiting.state.name}: answered.",
            data={"approvalId": receipt.approval_id},
            session=receipt.session,
        )

    async def _list_rules(self, command: c.ListRules, caller: Caller) -> c.Reply:
        rules = self._rules.all()
        return c.Reply(
            text=replies.rules(rules, self._trust.all()), data={"rules": [r.id for r in rules]}
        )

    async def _add_rule(self, command: c.AddRule, caller: Caller) -> c.Reply:
        if command.scope is Scope.USER and command.verdict is Verdict.ALLOW:
            caller.must_be_admin_to_loosen("A rule for every project")
        if command.scope is Scope.ONCE:
            raise BadRequest("A rule lasts: choose --scope session, project or user.")
        state = await self._book.find(command.session) if command.session else None
        if command.scope is Scope.SESSION and state is None:
            raise BadRequest("A rule for a session needs to know which: --session NAME.")
        directory = state.spec.directory if state else self._workdirs.resolve(command.directory)
        rule = self._rules.make(
            command.pattern,
            verdict=command.verdict,
            scope=command.scope,
            by=str(caller),
            session=state.id if state else None,
            directory=directory,
        )
        await self._rules.add(rule, caller=str(caller))
        return c.Reply(text=f"Rule {rule.id} added.", data={"rule": rule.id})

    async def _revoke_rule(self, command: c.RevokeRule, caller: Caller) -> c.Reply:
        rule = await self._rules.revoke(command.rule, str(caller))
        return c.Reply(text=f"Rule {rule.id} revoked.", data={"rule": rule.id})

    async def _give_trust(self, command: c.Trust, caller: Caller) -> c.Reply:
        directory = await self._directory_of(command.directory)
        await self._trust.give(directory, str(caller))
        return c.Reply(
            text=f"{directory} is trusted: its hooks, MCP servers and CLAUDE.md take part "
            "from a session's next start on.",
            data={"directory": directory},
        )

    async def _revoke_trust(self, command: c.Untrust, caller: Caller) -> c.Reply:
        directory = await self._directory_of(command.directory)
        await self._trust.revoke(directory, str(caller))
        return c.Reply(text=f"{directory} is no longer trusted.", data={"directory": directory})

    async def _directory_of(self, ref: str) -> str:
        try:
            return (await self._book.find(ref)).spec.directory
        except NotFound:
            return self._workdirs.resolve(ref)

    # --- adjusting

    async def _set_mode(self, command: c.SetMode, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        self._mode(command.mode, caller)
        await self._manager.set_mode(state, command.mode, caller=str(caller))
        return self._reply(f"{state.name}: mode {command.mode}.", state)

    async def _set_model(self, command: c.SetModel, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        await self._manager.set_model(state, command.model, caller=str(caller))
        return self._reply(f"{state.name}: model {command.model or 'default'}.", state)

    async def _rename(self, command: c.Rename, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        await self._manager.rename(state, command.name, caller=str(caller))
        return self._reply(f"{state.name} is now {command.name}.", state)

    async def _list_tasks(self, command: c.ListTasks, caller: Caller) -> c.Reply:
        if command.session is not None:
            states = [await self._book.find(command.session)]
        else:
            states = self._manager.live()
        text, actions = replies.tasks(states)
        return c.Reply(text=text, actions=actions)

    async def _stop_task(self, command: c.StopTask, caller: Caller) -> c.Reply:
        state = await self._book.find(command.session)
        if all(task.id != command.task for task in state.tasks):
            raise NotFound(f"{state.name} has no task {command.task}. /tasks lists them.")
        await self._manager.stop_task(state, command.task)
        return self._reply(f"{state.name}: task {command.task} is being stopped.", state)

    async def _help(self, command: c.Help, caller: Caller) -> c.Reply:
        return c.Reply(text=replies.help_text(command.topic))

    # --- small things

    async def _append(self, state: SessionState, payload: e.Payload, caller: Caller) -> None:
        draft = e.Draft(
            payload=payload,
            session=state.id,
            project=state.project,
            run=state.run,
            turn=state.turn,
            caller=str(caller),
        )
        await self._log.append(draft)

    def _reply(
        self, text: str, state: SessionState, actions: tuple[Any, ...] = (), **data: Any
    ) -> c.Reply:
        about = {"id": state.id, "name": state.name, "status": state.status.value}
        return c.Reply(text=text, data=about | data, session=state.id, actions=actions)


def _channel(caller: Caller) -> str:
    if caller.channel is None:
        raise BadRequest("There is no channel to watch from here: use /output instead.")
    return caller.channel
