"""One function a command: from its line to the command it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from claude_sessions import commands as c
from claude_sessions.attention.quiet import QuietHours
from claude_sessions.commands import extension_readers, values
from claude_sessions.commands.lexer import Line, shown
from claude_sessions.commands.usage import NAMES
from claude_sessions.model import PermissionMode, Scope, Status, Verdict

Reader = Callable[[Line], c.Command]

NAME = "The session's name"
MODEL = re.compile(r"(opus|sonnet|haiku|default|opusplan|best)(\[1m\])?|claude-.+", re.IGNORECASE)


def _new(line: Line) -> c.Launch:
    prompt = line.text("The prompt")
    return c.Launch(
        prompt=prompt,
        name=line.value("name"),
        directory=line.value("dir"),
        model=line.value("model"),
        mode=values.mode(line),
        budget_usd=values.budget(line),
        system_prompt=line.value("system"),
        allowed_tools=values.rules(line),
        once=line.has("once"),
        foreground=line.has("fg"),
        queue=line.has("queue"),
        worktree=line.has("worktree"),
    )


def _sessions(line: Line) -> c.Command:
    word = line.optional_word()
    line.end()
    status = values.pick(line, word, ("all", *Status)) if word else "all"
    return c.ListSessions(status=str(status), full=line.has("full"))


def _say(line: Line) -> c.Command:
    session, text = line.word(NAME), line.text("The message")
    values.at_most_one(line, "interrupt", "steer")
    return c.Respond(
        session=session,
        text=text,
        interrupt=line.has("interrupt"),
        steer=line.has("steer"),
        queue=line.has("queue"),
    )


def _withdraw(line: Line) -> c.Command:
    session, message = line.word(NAME), line.word("The message's id")
    line.end()
    values.at_most_one(line, "interrupt", "steer")
    return c.Withdraw(
        session=session, message=message, interrupt=line.has("interrupt"), steer=line.has("steer")
    )


def _fg(line: Line) -> c.Command:
    session = line.word(NAME)
    line.end()
    return c.Foreground(session=session, lines=values.lines(line, 30))


def _bg(line: Line) -> c.Command:
    session = line.optional_word()
    line.end()
    return c.Background(session=session)


def _here(line: Line) -> str:
    """The session, where leaving its name out means the one in front."""
    session = line.optional_word() or c.HERE
    line.end()
    return session


def _output(line: Line) -> c.Command:
    session = _here(line)
    return c.Output(session=session, lines=values.lines(line, 50), full=line.has("full"))


def _on_session(
    command: type[c.Kill | c.Interrupt | c.Cost | c.ListTurns | c.Wait | c.Sleep | c.Pause],
) -> Reader:
    def read(line: Line) -> c.Command:
        return command(session=_here(line))

    return read


def _on_directory(command: type[c.Trust] | type[c.Untrust]) -> Reader:
    def read(line: Line) -> c.Command:
        directory = line.word("The directory")
        line.end()
        return command(directory=directory)

    return read


def _alone(command: c.Command) -> Reader:
    def read(line: Line) -> c.Command:
        line.end()
        return command

    return read


def _resume(line: Line) -> c.Command:
    session = line.optional_word()
    prompt = line.optional_text()
    if session is None and set(line.given) <= {"list"}:
        return c.ListResumable()
    if line.has("list"):
        raise line.error("--list stands alone.")
    if not session:
        raise line.error(f"{NAME} is missing.")
    return c.Resume(
        session=session,
        prompt=prompt or c.DEFAULT_RESUME_PROMPT,
        fork=line.has("fork"),
        name=line.value("name"),
        model=line.value("model"),
        mode=values.mode(line),
        budget_usd=values.budget(line),
        directory=line.value("dir"),
        turn=values.turn(line),
        queue=line.has("queue"),
    )


def _queue(line: Line) -> c.Command:
    session = line.optional_word()
    line.end()
    return c.ListQueue(session=session)


def _forget(line: Line) -> c.Command:
    session = line.word(NAME)
    line.end()
    return c.Forget(session=session, confirmed=line.has("yes"))


def _diff(line: Line) -> c.Command:
    session = _here(line)
    return c.Diff(session=session, turn=values.turn(line))


def _undo(line: Line) -> c.Command:
    session = _here(line)
    return c.Undo(session=session, confirmed=line.has("yes"))


def _get(line: Line) -> c.Command:
    first, second = line.word("The file"), line.optional_word()
    line.end()
    return c.GetFile(session=first if second else c.HERE, path=second or first)


def _approvals(line: Line) -> c.Command:
    approval = line.optional_word()
    line.end()
    return c.ListApprovals(approval=approval)


def _budget(line: Line) -> c.Command:
    session, word = line.word(NAME), line.word("The budget")
    line.end()
    more = word.startswith("+")
    return c.SetBudget(session=session, budget_usd=values.dollars(line, word[more:]), more=more)


def _adopt(line: Line) -> c.Command:
    words = []
    while (word := line.optional_word()) is not None:
        words.append(word)
    if not words and line.given:
        raise line.error("The conversation is missing.")
    if not words:
        return c.ListFound()
    return c.Adopt(conversation=" ".join(words), name=line.value("name"))


def _projects(line: Line) -> c.Command:
    text = line.optional_text()
    return c.ListProjects(search=text.strip() if text else None)


def _allow(line: Line) -> c.Command:
    approval = line.word("The approval's id")
    line.end()
    return c.Decide(
        approval=approval,
        verdict=Verdict.ALLOW,
        scope=values.scope(line, Scope.ONCE),
        input=values.edited_input(line),
        mode=values.mode(line),
    )


def _deny(line: Line) -> c.Command:
    approval = line.word("The approval's id")
    return c.Decide(approval=approval, verdict=Verdict.DENY, reason=line.optional_text() or "")


def _answer(line: Line) -> c.Command:
    approval = line.word("The question's id")
    return c.Answer(approval=approval, answers=(line.text("The answer"),))


def _rules(line: Line) -> c.Command:
    match line.optional_word():
        case "add":
            return _add_rule(line)
        case "revoke":
            command: c.Command = c.RevokeRule(rule=line.word("The rule's id"))
        case None | "list":
            command = c.ListRules()
        case other:
            raise line.error(f"/rules can add and revoke, not “{shown(other)}”.")
    line.end()
    if line.given:
        raise line.error(f"--{next(iter(line.given))} goes with /rules add.")
    return command


def _add_rule(line: Line) -> c.Command:
    verdict = values.pick(line, line.word("allow or deny"), Verdict)
    pattern = line.word("The pattern", rule=True)
    line.end()
    values.at_most_one(line, "session", "dir")
    scope = values.scope(line, Scope.SESSION if line.has("session") else Scope.PROJECT)
    if scope is Scope.ONCE:
        raise line.error("A rule lasts: its scope is session, project or user.")
    return c.AddRule(
        verdict=verdict,
        pattern=pattern,
        scope=scope,
        session=line.value("session"),
        directory=line.value("dir"),
        lifetime=values.lifetime(line),
    )


def _set_mode(line: Line) -> c.Command:
    """One word is a mode if it is one, else a session."""
    first, second = line.optional_word() or c.HERE, line.optional_word()
    line.end()
    alone = next((mode for mode in PermissionMode if mode.lower() == first.lower()), None)
    if second is None and alone is not None:
        return c.SetMode(session=c.HERE, mode=alone)
    if second is None:
        return c.ListModes(session=first)
    return c.SetMode(session=first, mode=values.pick(line, second, PermissionMode))


def _set_model(line: Line) -> c.Command:
    first, second = line.optional_word() or c.HERE, line.optional_word()
    line.end()
    if second is None and MODEL.fullmatch(first):
        first, second = c.HERE, first
    if second is None:
        return c.ListModels(session=first)
    return c.SetModel(session=first, model=None if second.lower() == "default" else second)


def _rename(line: Line) -> c.Command:
    session, name = line.word(NAME), line.word("The new name")
    line.end()
    return c.Rename(session=session, name=name)


def _tasks(line: Line) -> c.Command:
    first, second = line.optional_word(), line.optional_word()
    if first != "stop" or second is None:  # a session may be called stop
        if second:
            raise line.error(f"“{shown(second)}” is too much here.")
        return c.ListTasks(session=first)
    task = line.word("The task's id")
    line.end()
    return c.StopTask(session=second, task=task)


SCHEDULE_CHANGES = {
    "pause": c.PauseSchedule,
    "resume": c.ResumeSchedule,
    "delete": c.DeleteSchedule,
    "run": c.RunSchedule,
}
CRON_FIELD = re.compile(r"[0-9*,/-]+", re.ASCII)


def _schedule(line: Line) -> c.Command:
    word = line.optional_word()
    change = SCHEDULE_CHANGES.get(word.lower()) if word else None
    if word is not None and word != "list" and change is None:
        return c.AddSchedule(when=_when(line, word), order=_new(line), zone=line.value("tz"))
    command = change(schedule=line.word("The schedule's id")) if change else c.ListSchedules()
    line.end()
    if line.given:
        raise line.error(f"--{next(iter(line.given))} goes with a new schedule.")
    return command


def _when(line: Line, word: str) -> str:
    """As one text. A cron line may also come without quotes, field by field."""
    if word.lower() in ("in", "at"):
        return f"{word.lower()} {line.word('The time')}"
    if CRON_FIELD.fullmatch(word):
        return " ".join([word, *(line.word("A field of the cron line") for _ in range(4))])
    if len(word.split()) > 1 or word.startswith("@"):
        return word
    raise line.error(
        f"When? Say a cron line in quotes, in 2h or at 18:30, not “{shown(word)}”"
        " (or pause, resume, delete, run and an id)."
    )


def _worktrees(line: Line) -> c.Command:
    word = line.optional_word()
    if word in (None, "list"):
        command: c.Command = c.ListWorktrees()
    elif word in ("merge", "remove", "move"):
        name = line.word("The worktree's name")
        line.end()
        command = _on_worktree(line, word, name)
    else:
        raise line.error(f"/worktrees can merge, remove and move, not “{shown(word)}”.")
    line.end()
    takes = {c.MergeWorktree: {"into"}, c.RemoveWorktree: {"yes"}}.get(type(command), set())
    if wrong := line.given.keys() - takes:
        raise line.error(f"--{min(wrong)} does not go with that.")
    return command


def _on_worktree(line: Line, word: str, name: str) -> c.Command:
    match word:
        case "merge":
            return c.MergeWorktree(worktree=name, into=line.value("into"))
        case "remove":
            return c.RemoveWorktree(worktree=name, keep_branch=line.has("yes"))
    return c.MoveToWorktree(session=name)


def _quiet(line: Line) -> c.Command:
    word = line.optional_word()
    line.end()
    if word is None:
        return c.Quiet()
    if word.lower() in c.QUIET_WORDS:
        return c.Quiet(hours=word.lower())
    try:
        return c.Quiet(hours=str(QuietHours.read(word)))
    except ValueError as problem:
        raise line.error(f"“{shown(word)}”: {problem}.") from None


def _start(line: Line) -> c.Command:
    line.optional_text()  # a link to the bot may carry something
    return c.Start()


def _help(line: Line) -> c.Command:
    word = line.optional_text()
    return c.Help(topic=NAMES.get(word.strip().lstrip("/").lower()) if word else None)


READERS: dict[str, Reader] = {
    "new": _new,
    "sessions": _sessions,
    "say": _say,
    "fg": _fg,
    "bg": _bg,
    "output": _output,
    "interrupt": _on_session(c.Interrupt),
    "kill": _on_session(c.Kill),
    "sleep": _on_session(c.Sleep),
    "pause": _on_session(c.Pause),
    "resume": _resume,
    "adopt": _adopt,
    "projects": _projects,
    "withdraw": _withdraw,
    "queue": _queue,
    "wait": _on_session(c.Wait),
    "approvals": _approvals,
    "allow": _allow,
    "deny": _deny,
    "answer": _answer,
    "rules": _rules,
    "mode": _set_mode,
    "model": _set_model,
    "rename": _rename,
    "tasks": _tasks,
    "turns": _on_session(c.ListTurns),
    "diff": _diff,
    "undo": _undo,
    "get": _get,
    "forget": _forget,
    "budget": _budget,
    "schedule": _schedule,
    "worktrees": _worktrees,
    "plugins": extension_readers.plugins,
    "mcp": extension_readers.mcp,
    "cost": _on_session(c.Cost),
    "stats": _alone(c.Stats()),
    "digest": _alone(c.Digest()),
    "quiet": _quiet,
    "status": _alone(c.Status()),
    "trust": _on_directory(c.Trust),
    "untrust": _on_directory(c.Untrust),
    "start": _start,
    "help": _help,
}
