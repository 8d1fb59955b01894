"""The chat line that means a command: what a button stands for when it asks for the same again."""

from __future__ import annotations

from claude_sessions import commands as c
from claude_sessions.commands.lexer import quote


def line_of(command: c.Launch | c.Respond | c.Resume) -> str | None:
    """None: it carries something that no line can say."""
    match command:
        case c.Launch(attachments=()):
            words = ["/new", *_switches(command, "once", "queue", "worktree")]
            words += ["--fg"] if command.foreground else []
            values = _values(command, name="name", system="system_prompt")
            rules = [f"--allow {quote(rule)}" for rule in command.allowed_tools]
            return _joined(words, values, rules, [command.prompt])
        case c.Respond(attachments=()):
            flags = _switches(command, "interrupt", "steer", "queue")
            return _joined(["/say", *flags], [], [], [quote(command.session), command.text])
        case c.Resume():
            words = ["/resume", *_switches(command, "fork", "queue")]
            words += [f"--turn {command.turn}"] if command.turn else []
            values = _values(command, name="name")
            return _joined(words, values, [], [quote(command.session), command.prompt])
    return None


def line_on(command: c.Command) -> str:
    """Of a command that may go without a session's name: with it."""
    match command:
        case c.Output(session=session, full=full, lines=lines):
            return f"/output {session} " + ("--full" if full else f"--lines {lines}")
        case c.Diff(session=session, turn=turn):
            return f"/diff {session}" + (f" --turn {turn}" if turn else "")
        case c.Undo(session=session, confirmed=confirmed):
            return f"/undo {session}" + (" --yes" if confirmed else "")
        case c.SetMode(session=session, mode=mode):
            return f"/mode {session} {mode}"
        case c.SetModel(session=session, model=model):
            return f"/model {session} {quote(model or 'default')}"
        case c.GetFile(session=session, path=path):
            return f"/get {session} {quote(path)}"
    return f"/{_BARE[type(command)]} {getattr(command, 'session', '')}"


_BARE: dict[type[c.Command], str] = {
    c.Interrupt: "interrupt",
    c.Kill: "kill",
    c.Sleep: "sleep",
    c.Pause: "pause",
    c.Wait: "wait",
    c.ListTurns: "turns",
    c.Cost: "cost",
    c.ListModes: "mode",
    c.ListModels: "model",
}


def _switches(command: object, *flags: str) -> list[str]:
    return [f"--{flag}" for flag in flags if getattr(command, flag)]


def _values(command: c.Launch | c.Resume, **more: str) -> list[str]:
    fields = {"dir": "directory", "model": "model", "mode": "mode", "budget": "budget_usd", **more}
    given = {flag: getattr(command, field) for flag, field in fields.items()}
    return [f"--{flag} {quote(_plain(value))}" for flag, value in given.items() if value]


def _plain(value: object) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _joined(words: list[str], values: list[str], rules: list[str], rest: list[str]) -> str:
    *before, text = rest
    return " ".join([*words, *values, *rules, *before, "--", text])
