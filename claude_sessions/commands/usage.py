"""What can be typed: the one table from which the parser, `/help` and a bot's menu are made."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    line: str
    help: str  # completes "/name: …", one line
    example: str
    aliases: tuple[str, ...] = ()

    @property
    def flags(self) -> frozenset[str]:
        """The flags this command takes are those its usage line shows."""
        return frozenset(re.findall(r"--([a-z]+)", self.line))


COMMANDS: dict[str, Usage] = {
    "new": Usage(
        line="/new [--name NAME] [--dir DIR] [--model MODEL] [--mode MODE] [--budget USD] [--once]"
        " [--fg] [--queue] [--worktree] [--system TEXT] [--allow RULES] PROMPT",
        help="start a session",
        example="/new --name fix-auth --dir web Users are logged out after refresh",
        aliases=("claude",),
    ),
    "sessions": Usage(
        line="/sessions [all|running|asleep|completed|failed|killed] [--full]",
        help="list the sessions",
        example="/sessions running --full",
        aliases=("ls", "claude_sessions"),
    ),
    "say": Usage(
        line="/say [--interrupt|--steer] [--queue] NAME MESSAGE",
        help="say something to a session, or one of Claude's own commands: /say NAME /compact",
        example="/say --steer fix-auth also add tests",
        aliases=("claude_respond",),
    ),
    "fg": Usage(
        line="/fg NAME [--lines N]",
        help="watch a session here; what you type goes to it",
        example="/fg fix-auth --lines 10",
        aliases=("claude_fg",),
    ),
    "bg": Usage(
        line="/bg [NAME]",
        help="stop watching one session, or all",
        example="/bg fix-auth",
        aliases=("claude_bg",),
    ),
    "output": Usage(
        line="/output [NAME] [--lines N] [--full]",
        help="read what a session said last",
        example="/output fix-auth --lines 5",
    ),
    "interrupt": Usage(
        line="/interrupt [NAME]",
        help="stop what a session is doing; it stays",
        example="/interrupt fix-auth",
        aliases=("stop",),
    ),
    "kill": Usage(
        line="/kill [NAME]",
        help="end a session; it can be resumed",
        example="/kill fix-auth",
        aliases=("claude_kill",),
    ),
    "sleep": Usage(
        line="/sleep [NAME]",
        help="give a session's process back; the next message wakes it",
        example="/sleep fix-auth",
    ),
    "pause": Usage(
        line="/pause [NAME]",
        help="stop what a session is doing and hold its queue, until /resume",
        example="/pause fix-auth",
    ),
    "resume": Usage(
        line="/resume --list | /resume [--fork] [--turn N] [--name NAME] [--dir DIR]"
        " [--model MODEL] [--mode MODE] [--budget USD] [--queue] NAME [PROMPT]",
        help="go on with a session, or branch off from it, also after one of its turns",
        example="/resume --fork fix-auth try the other way",
        aliases=("claude_resume",),
    ),
    "adopt": Usage(
        line="/adopt | /adopt ID|TITLE-PART [--name NAME]",
        help="go on with a conversation that was begun in a terminal",
        example="/adopt --name fix-auth logged out after refresh",
    ),
    "projects": Usage(
        line="/projects [TEXT]",
        help="list the directories with work in them",
        example="/projects web",
    ),
    "withdraw": Usage(
        line="/withdraw NAME MESSAGE [--steer|--interrupt]",
        help="take a queued message back, or say it now",
        example="/withdraw fix-auth m1a2b3c4",
    ),
    "queue": Usage(
        line="/queue [NAME]",
        help="what waits to be said, and who waits for a process",
        example="/queue fix-auth",
    ),
    "wait": Usage(
        line="/wait [NAME]",
        help="let a silent turn take its time; ask again later",
        example="/wait fix-auth",
    ),
    "approvals": Usage(
        line="/approvals [ID]",
        help="what waits for a decision, the riskiest first; or one of it, whole",
        example="/approvals",
    ),
    "allow": Usage(
        line="/allow ID [--scope once|session|project|user] [--mode MODE] [--input JSON]",
        help="allow what a session asks",
        example='/allow a1b2c3d4 --scope session --input {"command": "npm test"}',
    ),
    "deny": Usage(
        line="/deny ID [REASON]",
        help="deny it, and tell Claude why",
        example="/deny a1b2c3d4 use the staging server",
    ),
    "answer": Usage(
        line="/answer ID ANSWER [; ANSWER …]",
        help="answer a question: a number, an option, or your own words",
        example="/answer a1b2c3d4 httpOnly cookie",
    ),
    "rules": Usage(
        line="/rules | /rules add allow|deny PATTERN [--scope session|project|user]"
        " [--session NAME] [--dir DIR] [--for 30m|2h|7d] | /rules revoke ID",
        help="what is allowed or denied without asking",
        example="/rules add allow Bash(npm run *) --dir web --for 2h",
    ),
    "mode": Usage(
        line="/mode [NAME] [default|acceptEdits|plan|bypassPermissions|dontAsk|auto]",
        help="change how a session asks for permission",
        example="/mode fix-auth plan",
    ),
    "model": Usage(
        line="/model [NAME] [MODEL|default]",
        help="change a session's model",
        example="/model fix-auth opus",
    ),
    "rename": Usage(
        line="/rename NAME NEW-NAME",
        help="give a session another name",
        example="/rename fix-auth login",
    ),
    "tasks": Usage(
        line="/tasks [NAME] | /tasks stop NAME TASK",
        help="what runs in the background of a session",
        example="/tasks stop fix-auth b1",
    ),
    "turns": Usage(
        line="/turns [NAME]",
        help="the turns of a session, to branch off from",
        example="/turns fix-auth",
    ),
    "diff": Usage(
        line="/diff [NAME] [--turn N]",
        help="what a session's last turn, or another, changed in files",
        example="/diff fix-auth --turn 2",
    ),
    "undo": Usage(
        line="/undo [NAME] [--yes]",
        help="put the files of a session's last turn back; not what its commands changed",
        example="/undo fix-auth",
    ),
    "get": Usage(
        line="/get [NAME] PATH",
        help="have a file of a session's directory sent here",
        example="/get fix-auth out/report.pdf",
    ),
    "forget": Usage(
        line="/forget NAME [--yes]",
        help="delete all that is kept of a session",
        example="/forget old-idea",
    ),
    "budget": Usage(
        line="/budget NAME USD|+USD",
        help="what a session may spend in all, or how much more",
        example="/budget fix-auth +5",
    ),
    "schedule": Usage(
        line='/schedule | /schedule "CRON"|in 2h|at 18:30 [--name NAME] [--dir DIR] [--tz ZONE]'
        " [--model MODEL] [--mode MODE] [--budget USD] [--once] [--system TEXT] [--allow RULES]"
        " PROMPT | /schedule pause|resume|delete|run ID",
        help="start sessions by the clock; list, pause or delete what does",
        example='/schedule "0 9 * * 1-5" --name nightly --dir web Run the tests, fix what broke',
        aliases=("schedules",),
    ),
    "worktrees": Usage(
        line="/worktrees | /worktrees merge NAME [--into BRANCH] | /worktrees remove NAME [--yes]"
        " | /worktrees move NAME",
        help="sessions with a git worktree of their own: list, merge, remove; or move one there",
        example="/worktrees merge fix-css --into main",
        aliases=("worktree",),
    ),
    "plugins": Usage(
        line="/plugins [available] [--dir DIR] | /plugins install|update|enable|disable PLUGIN"
        " [--scope user|project|local] [--dir DIR] | /plugins uninstall PLUGIN [--yes]"
        " | /plugins marketplaces | /plugins marketplace add SOURCE"
        " | /plugins marketplace remove NAME [--yes]",
        help="Claude's plugins: list, install, switch on or off, and where they come from",
        example="/plugins install review@team-tools",
        aliases=("plugin",),
    ),
    "mcp": Usage(
        line="/mcp [--dir DIR] | /mcp status|auth NAME | /mcp remove NAME [--yes]"
        " | /mcp add NAME [--transport stdio|http|sse] [--scope user|project|local] [--dir DIR]"
        ' [--env KEY=VALUE] [--header "NAME: VALUE"] URL|-- COMMAND',
        help="Claude's MCP servers: how they stand; add, remove, log in to one",
        example="/mcp add tickets --env LEVEL=1 -- npx -y tickets-mcp",
    ),
    "cost": Usage(
        line="/cost [NAME]",
        help="what a session has cost",
        example="/cost fix-auth",
    ),
    "stats": Usage(
        line="/stats",
        help="figures over all sessions",
        example="/stats",
        aliases=("claude_stats",),
    ),
    "digest": Usage(
        line="/digest",
        help="what happened since you were last away",
        example="/digest",
    ),
    "quiet": Usage(
        line="/quiet | /quiet 22-7 | /quiet off|default",
        help="hours in which nothing rings for you; a digest follows in the morning",
        example="/quiet 22-7",
    ),
    "status": Usage(
        line="/status",
        help="how Telegram, the pool and the daemon stand",
        example="/status",
    ),
    "trust": Usage(
        line="/trust DIR|NAME",
        help="let a directory's own hooks, MCP servers and CLAUDE.md take part",
        example="/trust ~/web",
    ),
    "untrust": Usage(
        line="/untrust DIR|NAME",
        help="take that back",
        example="/untrust ~/web",
    ),
    "help": Usage(
        line="/help [COMMAND]",
        help="this list, or one command in full",
        example="/help new",
    ),
    "start": Usage(
        line="/start",
        help="what this is, and how to begin",
        example="/start",
    ),
}

NAMES: dict[str, str] = {
    alias: name for name, usage in COMMANDS.items() for alias in (name, *usage.aliases)
}
