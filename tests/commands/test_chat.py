from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from claude_sessions.commands import (
    DEFAULT_RESUME_PROMPT,
    HERE,
    AddMarketplace,
    AddMcpServer,
    AddRule,
    AddSchedule,
    Adopt,
    Answer,
    AuthMcpServer,
    Background,
    Command,
    Cost,
    Decide,
    DeleteSchedule,
    Diff,
    Digest,
    DisablePlugin,
    EnablePlugin,
    Foreground,
    Forget,
    GetFile,
    Help,
    InstallPlugin,
    Interrupt,
    Kill,
    Launch,
    ListApprovals,
    ListFound,
    ListMarketplaces,
    ListMcpServers,
    ListModels,
    ListModes,
    ListPlugins,
    ListProjects,
    ListQueue,
    ListResumable,
    ListRules,
    ListSchedules,
    ListSessions,
    ListTasks,
    ListTurns,
    ListWorktrees,
    McpServerStatus,
    MergeWorktree,
    MoveToWorktree,
    Output,
    Pause,
    PauseSchedule,
    Quiet,
    RemoveMarketplace,
    RemoveMcpServer,
    RemoveWorktree,
    Rename,
    Respond,
    Resume,
    ResumeSchedule,
    RevokeRule,
    RunSchedule,
    SetBudget,
    SetMode,
    SetModel,
    Sleep,
    Start,
    Stats,
    Status,
    StopTask,
    Talk,
    Trust,
    Undo,
    UninstallPlugin,
    Untrust,
    UpdatePlugin,
    Wait,
    Withdraw,
)
from claude_sessions.commands.chat import COMMANDS, MAX_TEXT, parse, quote, split_answers
from claude_sessions.commands.lexer import FLAGS, JUNK
from claude_sessions.commands.readers import READERS
from claude_sessions.commands.usage import NAMES
from claude_sessions.errors import UsageError
from claude_sessions.model import ConfigScope, PermissionMode, Scope, Transport, Verdict
from tests.effort import effort

ALLOW, DENY = Verdict.ALLOW, Verdict.DENY

LINES: dict[str, Command] = {
    "hello there": Talk(text="hello there"),
    "  two\n lines \n": Talk(text="  two\n lines \n"),
    "//compact keep the plan": Talk(text="/compact keep the plan"),
    "/etc/hosts is wrong": Talk(text="/etc/hosts is wrong"),
    "/new fix it": Launch(prompt="fix it"),
    "/claude fix it": Launch(prompt="fix it"),
    "/NEW fix it": Launch(prompt="fix it"),
    "/new@our_bot fix it": Launch(prompt="fix it"),
    "  /new fix it": Launch(prompt="fix it"),
    "/new --once --fg fix it": Launch(prompt="fix it", once=True, foreground=True),
    "/new --name=a --dir 'my web' go": Launch(prompt="go", name="a", directory="my web"),
    "/new —name “fix auth” go": Launch(prompt="go", name="fix auth"),
    "/new —name=‘fix auth’ go": Launch(prompt="go", name="fix auth"),
    r"/new --dir my\ web go": Launch(prompt="go", directory="my web"),
    r'/new --system "say \"no\" to C:\x" go': Launch(
        prompt="go", system_prompt=r'say "no" to C:\x'
    ),
    "/new --model opus --mode ACCEPT --budget $2.50 go": Launch(
        prompt="go", model="opus", mode=PermissionMode.ACCEPT_EDITS, budget_usd=2.5
    ),
    "/new --allow Bash(git a,b *),Read --allow Edit go": Launch(
        prompt="go", allowed_tools=("Bash(git a,b *)", "Read", "Edit")
    ),
    '/new --allow "Bash(npm run *)",Read go': Launch(
        prompt="go", allowed_tools=("Bash(npm run *)", "Read")
    ),
    "/new --allow 'Bash(npm run *), Read' go": Launch(
        prompt="go", allowed_tools=("Bash(npm run *)", "Read")
    ),
    "/new run it with --name x": Launch(prompt="run it with --name x"),
    "/new -- --name x": Launch(prompt="--name x"),
    "/new --once -- --name x": Launch(prompt="--name x", once=True),
    "/new — fix it": Launch(prompt="fix it"),
    "/new --\n    indented": Launch(prompt="    indented"),
    "/new ---\ntitle": Launch(prompt="---\ntitle"),
    '/new "quoted"  and\n spaced ': Launch(prompt='"quoted"  and\n spaced '),
    "/sessions": ListSessions(),
    "/ls run": ListSessions(status="running"),
    "/claude_sessions --full": ListSessions(full=True),
    "/say web also tests": Respond(session="web", text="also tests"),
    "/claude_respond --interrupt web stop": Respond(session="web", text="stop", interrupt=True),
    "/say web --steer stop --now": Respond(session="web", text="stop --now", steer=True),
    "/say web /compact": Respond(session="web", text="/compact"),
    "/say -- web  text": Respond(session="web", text="text"),
    "/say web -- --text": Respond(session="web", text="--text"),
    "/say web\nfirst\n  second": Respond(session="web", text="first\n  second"),
    "/fg web": Foreground(session="web", lines=30),
    "/claude_fg --lines 5 web": Foreground(session="web", lines=5),
    "/bg": Background(),
    "/claude_bg web": Background(session="web"),
    "/output web": Output(session="web", lines=50),
    "/output web --full --lines=7": Output(session="web", lines=7, full=True),
    "/kill web": Kill(session="web"),
    "/claude_kill web": Kill(session="web"),
    "/stop web": Interrupt(session="web"),
    "/interrupt web": Interrupt(session="web"),
    "/resume --list": ListResumable(),
    "/resume": ListResumable(),
    "/claude_resume web": Resume(session="web", prompt=DEFAULT_RESUME_PROMPT),
    "/resume --fork web and now": Resume(session="web", prompt="and now", fork=True),
    "/resume web --name other go": Resume(session="web", prompt="go", name="other"),
    "/resume --fork --turn 3 --queue web go": Resume(
        session="web", prompt="go", fork=True, turn=3, queue=True
    ),
    "/new --queue go": Launch(prompt="go", queue=True),
    "/say --queue web go": Respond(session="web", text="go", queue=True),
    "/queue": ListQueue(),
    "/queue web": ListQueue(session="web"),
    "/wait web": Wait(session="web"),
    "/sleep web": Sleep(session="web"),
    "/pause web": Pause(session="web"),
    "/turns web": ListTurns(session="web"),
    "/diff web": Diff(session="web"),
    "/diff web --turn 2": Diff(session="web", turn=2),
    "/undo web": Undo(session="web"),
    "/undo --yes web": Undo(session="web", confirmed=True),
    "/forget web": Forget(session="web"),
    "/forget web --yes": Forget(session="web", confirmed=True),
    "/budget web 7.50": SetBudget(session="web", budget_usd=7.5),
    "/budget web +$5": SetBudget(session="web", budget_usd=5.0, more=True),
    "/adopt": ListFound(),
    "/adopt 3933f69e --name web": Adopt(conversation="3933f69e", name="web"),
    "/adopt --name web logged  out": Adopt(conversation="logged out", name="web"),
    "/projects": ListProjects(),
    "/projects  my web ": ListProjects(search="my web"),
    "/withdraw web m1": Withdraw(session="web", message="m1"),
    "/withdraw web m1 --steer": Withdraw(session="web", message="m1", steer=True),
    "/approvals": ListApprovals(),
    "/allow a1": Decide(approval="a1", verdict=ALLOW),
    "/allow a1 --scope PROJ --mode plan": Decide(
        approval="a1", verdict=ALLOW, scope=Scope.PROJECT, mode=PermissionMode.PLAN
    ),
    '/allow a1 --input {"command": "npm test", "n": [1, 2]} --scope once': Decide(
        approval="a1", verdict=ALLOW, input={"command": "npm test", "n": [1, 2]}
    ),
    """/allow a1 --input='{"a": "b c"}'""": Decide(
        approval="a1", verdict=ALLOW, input={"a": "b c"}
    ),
    "/deny a1": Decide(approval="a1", verdict=DENY),
    "/deny a1 use --dry-run": Decide(approval="a1", verdict=DENY, reason="use --dry-run"),
    "/answer a1 yes ; no": Answer(approval="a1", answers=("yes ; no",)),
    "/rules": ListRules(),
    "/rules add allow Bash(npm run *)": AddRule(verdict=ALLOW, pattern="Bash(npm run *)"),
    "/rules add deny 'Bash(rm *)' --scope user": AddRule(
        verdict=DENY, pattern="Bash(rm *)", scope=Scope.USER
    ),
    "/rules add allow Read --dir web": AddRule(verdict=ALLOW, pattern="Read", directory="web"),
    "/rules add allow Read --session web": AddRule(
        verdict=ALLOW, pattern="Read", scope=Scope.SESSION, session="web"
    ),
    "/rules add allow Read --for 2H": AddRule(
        verdict=ALLOW, pattern="Read", lifetime=timedelta(hours=2)
    ),
    "/rules add deny Read --for=7d": AddRule(
        verdict=DENY, pattern="Read", lifetime=timedelta(days=7)
    ),
    "/rules revoke r1": RevokeRule(rule="r1"),
    "/mode web bypass": SetMode(session="web", mode=PermissionMode.BYPASS),
    "/model web opus": SetModel(session="web", model="opus"),
    "/model web default": SetModel(session="web", model=None),
    "/rename web site": Rename(session="web", name="site"),
    "/tasks": ListTasks(),
    "/tasks web": ListTasks(session="web"),
    "/tasks stop": ListTasks(session="stop"),
    "/tasks stop web b1": StopTask(session="web", task="b1"),
    "/schedule": ListSchedules(),
    "/schedules": ListSchedules(),
    "/schedule list": ListSchedules(),
    '/schedule "0 9 * * 1-5" --name nightly --tz Asia/Tokyo test it': AddSchedule(
        when="0 9 * * 1-5",
        order=Launch(prompt="test it", name="nightly"),
        zone="Asia/Tokyo",
    ),
    "/schedule “0 9 * * *” test it": AddSchedule(when="0 9 * * *", order=Launch(prompt="test it")),
    "/schedule */5 9 * * 1,2 test 3 things": AddSchedule(
        when="*/5 9 * * 1,2", order=Launch(prompt="test 3 things")
    ),
    "/schedule @daily test it": AddSchedule(when="@daily", order=Launch(prompt="test it")),
    "/schedule --dir web IN 2h --once test it": AddSchedule(
        when="in 2h", order=Launch(prompt="test it", directory="web", once=True)
    ),
    "/schedule at 18:30 --mode plan --budget 2 --model opus --system brief --allow Read go": (
        AddSchedule(
            when="at 18:30",
            order=Launch(
                prompt="go",
                mode=PermissionMode.PLAN,
                budget_usd=2.0,
                model="opus",
                system_prompt="brief",
                allowed_tools=("Read",),
            ),
        )
    ),
    "/schedule pause s1": PauseSchedule(schedule="s1"),
    "/schedule resume s1": ResumeSchedule(schedule="s1"),
    "/schedule delete s1": DeleteSchedule(schedule="s1"),
    "/schedule run s1": RunSchedule(schedule="s1"),
    "/new --worktree --once go": Launch(prompt="go", worktree=True, once=True),
    "/worktrees": ListWorktrees(),
    "/worktree list": ListWorktrees(),
    "/worktrees merge web": MergeWorktree(worktree="web"),
    "/worktrees merge web --into next": MergeWorktree(worktree="web", into="next"),
    "/worktrees remove web": RemoveWorktree(worktree="web"),
    "/worktrees remove --yes web": RemoveWorktree(worktree="web", keep_branch=True),
    "/worktrees move web": MoveToWorktree(session="web"),
    "/plugins": ListPlugins(),
    "/plugin list --dir web": ListPlugins(directory="web"),
    "/plugins available": ListPlugins(available=True),
    "/plugins marketplaces": ListMarketplaces(),
    "/plugins marketplace": ListMarketplaces(),
    "/plugins marketplace add team/tools": AddMarketplace(source="team/tools"),
    "/plugins marketplace remove tools": RemoveMarketplace(name="tools"),
    "/plugins marketplace remove tools --yes": RemoveMarketplace(name="tools", confirmed=True),
    "/plugins install review@tools": InstallPlugin(plugin="review@tools"),
    "/plugins install review --scope proj --dir web": InstallPlugin(
        plugin="review", scope=ConfigScope.PROJECT, directory="web"
    ),
    "/plugins update review": UpdatePlugin(plugin="review"),
    "/plugins ENABLE review --scope local": EnablePlugin(plugin="review", scope=ConfigScope.LOCAL),
    "/plugins disable review": DisablePlugin(plugin="review"),
    "/plugins uninstall review": UninstallPlugin(plugin="review"),
    "/plugins uninstall review --scope user --yes": UninstallPlugin(
        plugin="review", scope=ConfigScope.USER, confirmed=True
    ),
    "/mcp": ListMcpServers(),
    "/mcp --dir web": ListMcpServers(directory="web"),
    "/mcp status tickets": McpServerStatus(server="tickets"),
    "/mcp add tickets -- npx -y it --flag": AddMcpServer(
        server="tickets", command="npx", arguments=("-y", "it", "--flag")
    ),
    '/mcp add tickets --env A=1 --env "B=x = y" npx': AddMcpServer(
        server="tickets", command="npx", env={"A": "1", "B": "x = y"}
    ),
    '/mcp add far https://h.example/mcp --header "X-Key: a: b" --header X-B:c': AddMcpServer(
        server="far",
        transport=Transport.HTTP,
        url="https://h.example/mcp",
        headers={"X-Key": "a: b", "X-B": "c"},
    ),
    "/mcp add far ftp://h.example": AddMcpServer(  # which is refused, and not run as a command
        server="far", transport=Transport.HTTP, url="ftp://h.example"
    ),
    "/mcp add far --transport sse --scope local --dir web http://h.example/": AddMcpServer(
        server="far",
        transport=Transport.SSE,
        url="http://h.example/",
        scope=ConfigScope.LOCAL,
        directory="web",
    ),
    "/mcp remove far": RemoveMcpServer(server="far"),
    "/mcp remove far --scope user --yes": RemoveMcpServer(
        server="far", scope=ConfigScope.USER, confirmed=True
    ),
    "/mcp auth far": AuthMcpServer(server="far"),
    "/mcp auth far http://localhost:1/callback?code=a&state=b": AuthMcpServer(
        server="far", answer="http://localhost:1/callback?code=a&state=b"
    ),
    "/cost web": Cost(session="web"),
    "/stats": Stats(),
    "/claude_stats": Stats(),
    "/trust ~/web": Trust(directory="~/web"),
    "/untrust “~/my web”": Untrust(directory="~/my web"),
    "/digest": Digest(),
    "/quiet": Quiet(),
    "/quiet 22-7": Quiet(hours="22-7"),
    "/quiet 22:30-06:45": Quiet(hours="22:30-6:45"),
    "/quiet 22–07": Quiet(hours="22-7"),
    "/quiet OFF": Quiet(hours="off"),
    "/quiet default": Quiet(hours="default"),
    "/status": Status(),
    "/help": Help(),
    "/start": Start(),
    "/start a1b2": Start(),
    "/interrupt": Interrupt(session=HERE),
    "/kill": Kill(session=HERE),
    "/output --full": Output(session=HERE, full=True),
    "/cost": Cost(session=HERE),
    "/turns": ListTurns(session=HERE),
    "/diff --turn 2": Diff(session=HERE, turn=2),
    "/undo": Undo(session=HERE),
    "/mode": ListModes(session=HERE),
    "/mode web": ListModes(session="web"),
    "/mode Plan": SetMode(session=HERE, mode=PermissionMode.PLAN),
    "/model": ListModels(session=HERE),
    "/model web": ListModels(session="web"),
    "/model opus": SetModel(session=HERE, model="opus"),
    "/model claude-opus-4-5": SetModel(session=HERE, model="claude-opus-4-5"),
    "/get out/report.pdf": GetFile(session=HERE, path="out/report.pdf"),
    '/get web "my report.pdf"': GetFile(session="web", path="my report.pdf"),
    "/approvals a1b2": ListApprovals(approval="a1b2"),
    "/help /claude_fg": Help(topic="fg"),
}

REFUSED = {
    "": "nothing to say",
    " \n ": "nothing to say",
    "//": "nothing to say",
    "/new": "The prompt is missing",
    "/new --once  ": "The prompt is missing",
    "/new --name": "--name needs a value",
    "/new --name --once go": "--name needs a value",
    "/new --name= go": "--name needs a value",
    "/new --once=yes go": "--once takes no value",
    "/new --name a --name b go": "--name is given twice",
    "/new --nmae a go": "There is no --nmae here. If it belongs to your text, put --",
    "/new --lines 3 go": "There is no --lines here",
    "/new --mode a go": "“a” could be several of: acceptEdits, auto",
    "/new --mode wild go": "“wild” is none of: default, acceptEdits",
    "/new --budget 0 go": "A budget is a positive number such as 5 or $2.50, not 0",
    "/new --budget -5 go": "positive number",
    "/new --budget 1e9 go": "positive number",
    "/new --budget nan go": "positive number",
    '/new --name "a go': 'The quote " is never closed',
    "/new --allow Bash(git go": "A parenthesis is never closed",
    "/say web": "The message is missing",
    "/say --steer --interrupt web go": "Choose one of --interrupt, --steer",
    "/fg": "The session's name is missing",
    '/fg ""': "nothing between those quotes",
    "/fg web --lines 0": "--lines takes a whole number from 1, not 0",
    "/fg web --lines ٣": "--lines takes a whole number",
    "/kill a b": "“b” is too much here",
    "/trust my web": "a value with spaces needs quotes",
    "/sessions sleepy": "“sleepy” is none of: all, starting",
    "/resume --list web": "--list stands alone",
    "/resume --fork": "The session's name is missing",
    "/adopt --name web": "The conversation is missing",
    "/adopt --nmae web it": "There is no --nmae here",
    "/allow a1 --scope never": "is none of: once, session, project, user",
    "/allow a1 --input {bad}": "one JSON object, with straight quotes",
    "/allow a1 --input 5": "one JSON object",
    r'/allow a1 --input {"a":"\ud800"}': "--input is not JSON",
    "/answer a1": "The answer is missing",
    "/rules drop r1": "/rules can add and revoke, not “drop”",
    "/rules add maybe Read": "“maybe” is none of: allow, deny",
    "/rules add allow Read --scope once": "A rule lasts",
    "/rules revoke r1 --dir web": "--dir goes with /rules add",
    "/rules add allow Read --for 0h": "--for takes a time such as 30m, 2h or 7d, not 0h",
    "/rules add allow Read --for ever": "--for takes a time",
    "/rules add allow Read --for ٣h": "--for takes a time",
    "/rules --for 2h": "--for goes with /rules add",
    "/tasks stop web": "The task's id is missing",
    "/worktrees drop web": "/worktrees can merge, remove and move, not “drop”",
    "/worktrees merge": "The worktree's name is missing",
    "/worktrees merge a b": "“b” is too much here",
    "/worktrees list x": "“x” is too much here",
    "/worktrees --yes": "--yes does not go with that",
    "/worktrees merge web --yes": "--yes does not go with that",
    "/worktrees remove web --into main": "--into does not go with that",
    "/tasks web b1": "“b1” is too much here",
    "/plugins drop review": "/plugins can install, update, uninstall, enable, disable and",
    "/plugins install": "The plugin (name@marketplace) is missing",
    "/plugins install review --yes": "--yes does not go with that",
    "/plugins available --scope user": "--scope does not go with that",
    "/plugins install review --scope once": "“once” is none of: user, project, local",
    "/plugins marketplace add": "The marketplace's address is missing",
    "/plugins marketplace drop x": "/plugins marketplace can add and remove, not “drop”",
    "/plugins marketplace add x --dir y": "--dir does not go with that",
    "/mcp start far": "/mcp can add, remove, status and auth, not “start”",
    "/mcp add far": "The server's command or URL is missing",
    "/mcp add far https://h.example more": "“more” is too much here: a URL stands alone",
    "/mcp add far --env A npx": "--env takes KEY=VALUE",
    "/mcp add far --header A https://h.example": '--header takes "NAME: VALUE"',
    "/mcp add far --transport pipe npx": "“pipe” is none of: stdio, http, sse",
    "/mcp add far npx --flag": "There is no --flag here. If it belongs to your text, put --",
    "/mcp remove far --env A=1": "--env does not go with that",
    "/schedule tomorrow go": "When? Say a cron line in quotes, in 2h or at 18:30, not “tomorrow”",
    "/schedule in": "The time is missing",
    "/schedule in 2h": "The prompt is missing",
    "/schedule 0 9 * *": "A field of the cron line is missing",
    "/schedule pause": "The schedule's id is missing",
    "/schedule pause s1 s2": "“s2” is too much here",
    "/schedule --name a": "--name goes with a new schedule",
    "/schedule at 18:30 --fg go": "There is no --fg here",
    "/approvals a1 now": "“now” is too much here",
    "/mode web plan now": "“now” is too much here",
    "/get": "The file is missing",
    "/get web a b": "“b” is too much here",
    "/resume --fork --turn 0 web": "--turn takes a whole number from 1, not 0",
    "/budget web": "The budget is missing",
    "/budget web -5": "A budget is a positive number",
    "/budget web +lots": "A budget is a positive number",
    "/forget": "The session's name is missing",
    "/quiet late": "“late”: not hours; write them like 22-7",
    "/quiet 22-25": "not hours; write them like 22-7",
    "/quiet 7-7": "they begin when they end",
    "/quiet 22 7": "“7” is too much here",
    "/status now": "“now” is too much here",
    "/digest all": "“all” is too much here",
}


def outcome(text: str) -> Command | UsageError:
    try:
        return parse(text)
    except UsageError as refusal:
        return refusal


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_each_line_becomes_its_command(line: str) -> None:
    assert parse(line) == LINES[line]


@pytest.mark.parametrize("line", REFUSED, ids=repr)
def test_a_line_that_makes_no_sense_is_refused_with_its_usage(line: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(line)
    message, _, usage = str(refusal.value).partition("\nUsage: ")
    assert REFUSED[line] in message
    assert "\n" not in message
    if line[1:2].isalpha():
        assert usage == refusal.value.usage == COMMANDS[line[1:].split()[0]].line


@pytest.mark.parametrize(
    ("typed", "near"),
    [("/sesions", "/sessions"), ("/kil x", "/kill"), ("/claude_resum", "/claude_resume")],
)
def test_an_unknown_command_is_told_the_nearest_names(typed: str, near: str) -> None:
    with pytest.raises(UsageError, match=rf"Did you mean .*{near}\b"):
        parse(typed)


@pytest.mark.parametrize("typed", ["/compact", "/new: x", "/@bot", "/" + "x" * 5_000_000])
def test_an_unknown_command_is_told_how_to_reach_claude_in_a_few_words(typed: str) -> None:
    with pytest.raises(UsageError, match="put one more / before it") as refusal:
        parse(typed)
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize("before", ["", "/new ", "/new --name x --system y ", "/say web ", "//"])
def test_the_longest_prompt_passes_and_one_character_more_is_refused(before: str) -> None:
    prompt = "x" * (MAX_TEXT - (before == "//"))
    assert parse(before + prompt) is not None
    with pytest.raises(UsageError, match=r"1,000,000 characters.*1,000,001.*put it in a file"):
        parse(before + prompt + "x")


@pytest.mark.parametrize("junk", ["\x00", "\x1b[31m", "\x7f", "\x9b", "\ud800"])
@pytest.mark.parametrize("before", ["look: ", "//", "/new ", "/say web ", "/kill "])
def test_binary_junk_is_refused_in_one_sentence(junk: str, before: str) -> None:
    with pytest.raises(UsageError, match=r"not plain text .* put it in a file and name the file"):
        parse(f"{before}a{junk}b")


@pytest.mark.parametrize(
    "piece", ["x", "a ", "\\ ", ",", "(", '"', "\\", "--name ", "--allow (", "[", '{"a":']
)
def test_five_megabytes_of_anything_are_refused_at_once(piece: str) -> None:
    def read() -> None:
        for head in ("", "/new ", "/say ", "/new --name ", "/new --allow ", "/allow a --input "):
            for size in (5_000_000, 900_000):
                found = outcome(head + piece * (size // len(piece)))
                assert isinstance(found, Command) or len(str(found)) < 1000

    assert effort(read) < 1500


def test_deeply_nested_json_is_refused() -> None:
    with pytest.raises(UsageError, match="JSON"):
        parse('/allow a1 --input {"a":' + "[" * 100_000)


def test_answers_are_split_by_the_number_of_questions() -> None:
    assert split_answers(" a ; b", 1) == (" a ; b",)
    assert split_answers("a ; b c ;d", 2) == ("a", "b c ;d")
    assert split_answers("a ; b ; c", 2) == ("a", "b ; c")
    assert split_answers("a", 3) == ("a",)


# --- the table


def test_every_command_has_a_reader_and_every_flag_a_kind() -> None:
    assert READERS.keys() == COMMANDS.keys()
    assert {flag for usage in COMMANDS.values() for flag in usage.flags} == FLAGS.keys()


def test_no_name_stands_for_two_commands() -> None:
    names = [name for name, usage in COMMANDS.items() for name in (name, *usage.aliases)]
    assert len(names) == len(set(names)) == len(NAMES)
    assert all(re.fullmatch(r"[a-z_]{1,32}", name) for name in names)  # as Telegram wants them


SEEDS = "claude claude_sessions claude_fg claude_bg claude_kill claude_resume claude_respond"
SHORT = (
    "new sessions ls fg bg kill resume say output stats rename cost interrupt stop mode model"
    " approvals allow deny answer rules trust untrust tasks withdraw help start claude_stats"
    " queue wait sleep pause turns forget budget"
    " schedule schedules"
    " projects adopt"
    " worktrees worktree"
    " diff undo get"
    " digest quiet status"
    " plugins plugin mcp"
)


def test_the_names_of_the_seed_and_the_short_ones_are_all_there() -> None:
    assert set(f"{SEEDS} {SHORT}".split()) == NAMES.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_example_works_and_every_alias_means_the_same(name: str) -> None:
    usage = COMMANDS[name]
    command = parse(usage.example)
    for alias in usage.aliases:
        assert parse(usage.example.replace(f"/{name}", f"/{alias}", 1)) == command
    assert usage.line.startswith(f"/{name}")
    assert "\n" not in usage.line + usage.help


# --- properties

ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=60)  # surrogates too
MARKS = st.text(st.sampled_from("-—'\"“”‘’\\ \n(,)={}[]:a/@$"), max_size=20)
HEADS = st.sampled_from(["", " ", "/", "//", *(f"/{name} " for name in NAMES)])
FLAG_TEXT = st.sampled_from(["", *(f"--{flag} " for flag in FLAGS), *(f"—{f}=" for f in FLAGS)])


@settings(max_examples=1000, deadline=None)
@given(HEADS, st.lists(FLAG_TEXT | ANYTHING | MARKS, max_size=5))
@example("/new ", ["--allow ", "))(("])
@example("/allow ", ["a ", "--input ", '{"a":1}}'])
def test_nothing_but_a_usage_error_is_ever_raised(head: str, parts: list[str]) -> None:
    found = outcome(head + "".join(parts))
    assert isinstance(found, Command) or str(found).encode()  # an error can be sent


# What may start a free text: not a blank, not what reads as a flag.
PROMPTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\r\"'- "))
PROMPTS = PROMPTS.filter(
    lambda text: text == text.lstrip() != "" and not re.match(r"(--|—)([A-Za-z]|\s|\Z)", text)
)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)


@settings(deadline=None)
@given(PROMPTS)
def test_a_prompt_arrives_as_it_was_typed(prompt: str) -> None:
    assert parse(f"/new --name x {prompt}") == Launch(prompt=prompt, name="x")
    assert parse(f"/say --steer web\n{prompt}") == Respond(session="web", text=prompt, steer=True)
    assert parse(f"/deny a1 {prompt}") == Decide(approval="a1", verdict=DENY, reason=prompt)
    assert parse(f"/answer a1  {prompt}") == Answer(approval="a1", answers=(prompt,))


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t -")))
def test_after_two_dashes_every_character_is_kept(text: str) -> None:
    if text.strip():
        assert parse(f"/new --once -- {text}") == Launch(prompt=text, once=True)


@settings(deadline=None)
@given(st.text().filter(lambda text: text.strip() and not JUNK.search(text)))
def test_plain_text_is_talk_as_it_was_typed(text: str) -> None:
    if not text.lstrip().startswith("/"):
        assert parse(text) == Talk(text=text)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_a_quoted_word_is_read_back(one: str, other: str) -> None:
    assert parse(f"/rename {quote(one)} {quote(other)}") == Rename(session=one, name=other)
    for flag in (f"--system {quote(one)}", f"--system={quote(one)}", f"—system {quote(one)}"):
        assert parse(f"/new {flag} go") == Launch(prompt="go", system_prompt=one)


@settings(deadline=None)
@given(WORDS)
def test_phone_quotes_keep_all_but_themselves(word: str) -> None:
    inner = word.replace("\\", "").replace("”", "").replace("’", "") or "x"
    for quoted in (f"“{inner}”", f"‘{inner}’"):
        assert parse(f"/kill {quoted}") == Kill(session=inner)


@settings(deadline=None)
@given(st.permutations(["--name a", "--dir='b c'", "--once", "--budget 5", "--allow A,B"]))
def test_the_order_of_flags_does_not_matter(order: list[str]) -> None:
    assert parse(f"/new {' '.join(order)} go --name z") == Launch(
        prompt="go --name z",
        name="a",
        directory="b c",
        once=True,
        budget_usd=5.0,
        allowed_tools=("A", "B"),
    )
