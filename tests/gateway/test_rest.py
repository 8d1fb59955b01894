"""The runner's REST contract (specs/runner-and-hub.md, C.3), asked over a socket."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_sessions.clock import ManualClock
from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, error, question, say
from claude_sessions.model import Role, Status
from claude_sessions.sessions.beginnings import project_id
from tests.gateway.port import Port, opened
from tests.journeys.test_limits import LIMIT
from tests.repositories import git, repository

API = "/api/v1"


async def get(port: Port, path: str, expected: int = 200, /, **params: Any) -> Any:
    answer = await port.http.get(f"{API}{path}", params=params)
    assert answer.status_code == expected, answer.text
    return answer.json()


async def post(port: Port, path: str, expected: int, /, token: Any = "", **body: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = await port.http.post(f"{API}{path}", json=body, headers=headers)
    assert answer.status_code == expected, answer.text
    return answer.json()


def code(answer: Any) -> str:
    return str(answer["error"]["code"])


@pytest.fixture
async def project(port: Port, workdir: Path) -> str:
    return str((await post(port, "/projects", 201, path=str(workdir)))["data"]["id"])


async def created(port: Port, project: str, /, **body: Any) -> Any:
    return (await post(port, f"/projects/{project}/sessions", 201, **body))["data"]


# --- projects


async def test_a_directory_becomes_a_project_and_is_listed(port: Port, workdir: Path) -> None:
    (workdir / "CLAUDE.md").write_text("Be brief.")
    made = (await post(port, "/projects", 201, path=str(workdir)))["data"]
    changed = datetime.fromisoformat(made["lastModified"])
    assert abs(datetime.now(UTC) - changed) < timedelta(minutes=1)  # the directory's own
    assert made == {
        "id": project_id(str(workdir)),
        "name": "work",
        "path": str(workdir),
        "isDirty": False,
        "hasClaudeConfig": True,
        "lastModified": made["lastModified"],
        "sessionCount": 0,
    }
    listed = await get(port, "/projects")
    assert listed["data"] == [made]
    assert listed["pagination"] == {"hasMore": False}


async def test_a_project_says_what_git_knows_of_it(port: Port, workdir: Path) -> None:
    (folder := workdir / "code").mkdir()
    repository(folder)
    git(folder, "remote", "add", "origin", "https://git.example/code.git")
    (folder / "new.txt").write_text("new")
    await post(port, "/projects", 201, path=str(folder))
    (listed,) = (await get(port, "/projects"))["data"]
    known = {"gitBranch": "main", "gitRemote": "https://git.example/code.git", "isDirty": True}
    assert listed | known == listed


async def test_a_program_is_told_all_projects_however_many(port: Port, workdir: Path) -> None:
    for n in range(31):
        (workdir / f"p{n}").mkdir()
        await post(port, "/projects", 201, path=str(workdir / f"p{n}"))
    assert len((await get(port, "/projects"))["data"]) == 31
    assert len((await port.call("claude-code.projects"))["projects"]) == 31


async def test_of_many_who_add_a_directory_at_once_one_does(port: Port, workdir: Path) -> None:
    asked = (port.http.post(f"{API}/projects", json={"path": str(workdir)}) for _ in range(8))
    answers = [answer.status_code for answer in await asyncio.gather(*asked)]
    assert sorted(answers) == [201, *[409] * 7]


async def test_projects_are_searched_by_a_part_of_their_name(port: Port, workdir: Path) -> None:
    for name in ("kitchen", "garden"):
        (workdir / name).mkdir()
        await post(port, "/projects", 201, path=str(workdir / name))
    found = await get(port, "/projects", search="KITCH")
    assert [each["name"] for each in found["data"]] == ["kitchen"]


async def test_a_project_is_still_one_after_a_restart(sandbox: Sandbox, workdir: Path) -> None:
    async with opened(sandbox, workdir) as port:
        await post(port, "/projects", 201, path=str(workdir))
    async with opened(sandbox, workdir) as port:
        assert len((await get(port, "/projects"))["data"]) == 1


async def test_what_cannot_be_a_project_is_refused(port: Port, workdir: Path) -> None:
    await post(port, "/projects", 201, path=str(workdir))
    assert code(await post(port, "/projects", 409, path=str(workdir))) == "CONFLICT"
    assert code(await post(port, "/projects", 404, path=str(workdir / "no"))) == "NOT_FOUND"
    assert code(await post(port, "/projects", 403, path="/etc")) == "FORBIDDEN"
    for path in ("", "a\0b", 5, None, "~nobodyatall/x", "x" * 3000):
        assert code(await post(port, "/projects", 400, path=path)) == "VALIDATION_ERROR"


# --- sessions


async def test_a_session_with_a_prompt_sets_to_work(port: Port, project: str) -> None:
    made = await created(port, project, prompt="hello", title="Fix the login page")
    assert made["title"] == "fix-login-page"
    assert made["projectId"] == project
    assert made["mode"] == "sdk"
    assert made["status"] == "active"
    await port.chat.idle("fix-login-page")
    shown = (await get(port, f"/sessions/{made['id']}"))["data"]
    assert shown["state"] == "running"
    assert shown["runnerId"] == port.daemon.log.store.runner
    assert shown["hasPendingApproval"] is False
    assert shown["hasTerminalAttached"] is False


async def test_a_session_without_a_prompt_sleeps_until_it_is_spoken_to(
    port: Port, project: str
) -> None:
    made = await created(port, project, title="later")
    assert (made["status"], made["state"]) == ("paused", "asleep")
    await post(port, f"/sessions/{made['id']}/send", 202, content="now")
    await port.chat.idle("later")
    timeline = await get(port, f"/sessions/{made['id']}/timeline", types="assistant.message")
    assert timeline["data"][0]["payload"]["text"] == "You said: now"


async def test_an_empty_body_makes_a_session(port: Port, project: str) -> None:
    answer = await port.http.post(f"{API}/projects/{project}/sessions")
    assert answer.status_code == 201
    assert answer.json()["data"]["title"] == "session"


@pytest.mark.parametrize("begins", [{"prompt": "hello"}, {}])
async def test_what_is_said_of_a_new_session_is_what_it_gets(
    port: Port, project: str, begins: dict[str, str]
) -> None:
    given = {"model": "haiku", "permissionMode": "plan", "budgetUsd": 2.5}
    made = await created(port, project, title="maker", **given, **begins)
    if begins:
        await port.chat.idle("maker")
    spec = (await port.chat.state(made["id"])).spec
    assert (spec.model, spec.mode.value, spec.budget_usd) == ("haiku", "plan", 2.5)


async def test_a_session_is_made_from_a_snapshot_of_another(port: Port, project: str) -> None:
    source = await created(port, project, prompt="hello", title="source")
    await port.chat.idle("source")
    branch = await created(
        port, project, prompt="and now", title="branch", forkFromSnapshot=f"{source['id']}@1"
    )
    await port.chat.idle("branch")
    forked = await get(port, f"/sessions/{branch['id']}/timeline", types="session.forked")
    assert forked["data"][0]["payload"]["fromSessionId"] == source["id"]
    sessions = f"/projects/{project}/sessions"
    assert "prompt" in str(await post(port, sessions, 400, forkFromSnapshot="source"))
    await post(port, sessions, 404, forkFromSnapshot="nobody", prompt="x")


async def test_a_session_in_a_terminal_is_a_conflict(port: Port, project: str) -> None:
    assert code(await post(port, f"/projects/{project}/sessions", 409, mode="pty")) == "CONFLICT"


async def test_sessions_of_a_project_are_listed_by_pages_and_standing(
    port: Port, project: str, workdir: Path
) -> None:
    (workdir / "other").mkdir()
    other = (await post(port, "/projects", 201, path=str(workdir / "other")))["data"]["id"]
    await created(port, other, title="elsewhere")
    for n in range(5):
        await created(port, project, title=f"s{n}")
    await port.chat.type("/kill s2")
    path = f"/projects/{project}/sessions"
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await get(port, path, limit=2, **cursor)
        seen += [each["title"] for each in page["data"]]
        if not page["pagination"]["hasMore"]:
            break
        cursor = {"cursor": page["pagination"]["nextCursor"]}
    assert seen == ["s4", "s3", "s2", "s1", "s0"]
    ended = await get(port, path, status="ended")
    assert [each["title"] for each in ended["data"]] == ["s2"]
    assert len((await get(port, path, status="paused"))["data"]) == 4
    assert (await get(port, path, status="active"))["data"] == []
    assert (await get(port, f"/projects/{'0' * 16}/sessions", 404))["error"]


async def test_one_that_waits_for_a_limit_is_paused(
    script: Script, model: ScriptedModel, tmp_path: Path, workdir: Path
) -> None:
    script.on("work", error(429, "limit", headers=LIMIT, times=1))
    sandbox = Sandbox(tmp_path, model.url, subscription=True)
    async with opened(sandbox, workdir, clock=ManualClock()) as port:
        await port.chat.type("/new --name maker please work")
        await port.chat.until("maker", lambda state: state.status is Status.PARKED)
        shown = (await get(port, "/sessions/maker"))["data"]
        assert (shown["status"], shown["state"]) == ("paused", "parked")


async def test_deleting_a_session_ends_it_and_has_no_body(port: Port, project: str) -> None:
    made = await created(port, project, prompt="hello", title="maker")
    for _ in range(2):
        answer = await port.http.delete(f"{API}/sessions/{made['id']}")
        assert (answer.status_code, answer.content) == (204, b"")
    shown = (await get(port, f"/sessions/{made['id']}"))["data"]
    assert (shown["status"], shown["state"]) == ("ended", "killed")
    assert (await port.http.delete(f"{API}/sessions/nobody")).status_code == 404


async def test_a_session_that_is_not_there_is_named_so_that_it_can_be_read(port: Port) -> None:
    told = str((await get(port, f"/sessions/%1B[2J{'x' * 5000}", 404))["error"]["message"])
    assert told.startswith('Session "⟨U+001B⟩[2Jxxx')
    assert len(told) < 200


# --- speaking


async def test_a_second_message_while_it_works_is_queued(
    port: Port, project: str, script: Script
) -> None:
    gate = Gate()
    script.on("slowly", say("one", gate))
    made = await created(port, project, prompt="slowly", title="maker")
    await gate.reached()
    answers = [
        (await post(port, f"/sessions/{made['id']}/send", 202, content=text))["data"]
        for text in ("second", "third")
    ]
    gate.open()
    await port.chat.idle("maker")
    timeline = (await get(port, f"/sessions/{made['id']}/timeline", limit=200))["data"]
    by_id = {event["id"]: event for event in timeline}
    for answer, text in zip(answers, ("second", "third"), strict=True):
        assert by_id[answer["eventId"]]["type"] == "user.message"
        assert by_id[answer["eventId"]]["payload"]["text"] == text
    turns = [event["payload"] for event in timeline if event["type"] == "turn.started"]
    taken_up = [id_ for turn in turns for id_ in turn["messageIds"]]
    assert taken_up[1:] == [answer["correlationId"] for answer in answers]


async def test_attachments_are_named_to_claude(port: Port, project: str) -> None:
    made = await created(port, project, title="maker")
    files = [{"type": "file", "path": "notes.txt"}]
    await post(port, f"/sessions/{made['id']}/send", 202, content="look", attachments=files)
    said = await get(port, f"/sessions/{made['id']}/timeline", types="user.message")
    assert said["data"][0]["payload"]["text"] == "look\n[notes.txt is attached: read it]"


async def test_a_session_that_has_ended_cannot_be_spoken_to(port: Port, project: str) -> None:
    made = await created(port, project, title="maker")
    await port.chat.type("/kill maker")
    assert code(await post(port, f"/sessions/{made['id']}/send", 409, content="x")) == "CONFLICT"
    assert code(await post(port, "/sessions/nobody/send", 404, content="x")) == "NOT_FOUND"


async def test_claudes_own_commands_are_invoked(port: Port, project: str) -> None:
    made = await created(port, project, prompt="hello", title="maker")
    await port.chat.idle("maker")
    path = f"/sessions/{made['id']}/slash"
    taken = (await post(port, path, 202, command="compact", args="briefly"))["data"]
    assert taken["eventId"]
    await port.chat.until("maker", lambda state: state.turns == 2 and state.turn is None)
    invoked = await get(port, f"/sessions/{made['id']}/timeline", types="slash.invoked")
    payload = invoked["data"][0]["payload"]
    assert (payload["command"], payload["args"]) == ("compact", "briefly")
    assert "no /nonsense" in (await post(port, path, 400, command="nonsense"))["error"]["message"]


async def test_the_mode_is_sdk_until_there_are_terminals(port: Port, project: str) -> None:
    made = await created(port, project, title="maker")
    path = f"/sessions/{made['id']}/mode"
    same = (await post(port, path, 200, mode="sdk"))["data"]
    assert same == {"sessionId": made["id"], "previousMode": "sdk", "currentMode": "sdk"}
    options = {"useTmux": True, "cols": 80, "rows": 24}
    assert code(await post(port, path, 409, mode="pty", ptyOptions=options)) == "CONFLICT"
    assert code(await post(port, path, 400, mode="vt100")) == "VALIDATION_ERROR"


# --- deciding


async def asking(port: Port, project: str, script: Script) -> tuple[str, Any]:
    script.on("make it", bash("touch made"), say("Made."))
    made = await created(port, project, prompt="make it", title="maker")
    return made["id"], await port.chat.asked("maker")


async def test_an_approval_without_changes_gives_claude_its_own_input_back(
    port: Port, project: str, script: Script, workdir: Path
) -> None:
    id_, asked = await asking(port, project, script)
    assert (await get(port, f"/sessions/{id_}"))["data"]["hasPendingApproval"] is True
    path = f"/sessions/{id_}/approve"
    decided = await post(port, path, 200, approvalId=asked.id, decision="allow", persist=False)
    assert decided["data"] == {
        "approvalId": asked.id,
        "decision": "allow",
        "persisted": False,
        "scope": "once",
    }
    await port.chat.idle("maker")
    assert (workdir / "made").exists()
    again = await post(port, path, 409, approvalId=asked.id, decision="deny", persist=False)
    assert code(again) == "CONFLICT"


@pytest.mark.parametrize("field", ["modifiedArgs", "modifiedInput"])
async def test_a_changed_input_is_what_runs(
    port: Port, project: str, script: Script, workdir: Path, field: str
) -> None:
    id_, asked = await asking(port, project, script)
    body = {"toolUseId": asked.tool_use_id, "decision": "allow", "persist": False}
    await post(port, f"/sessions/{id_}/approve", 200, **body, **{field: {"command": "touch b"}})
    await port.chat.idle("maker")
    assert (workdir / "b").exists()
    assert not (workdir / "made").exists()


async def test_what_is_denied_does_not_happen_and_says_why(
    port: Port, project: str, script: Script, workdir: Path
) -> None:
    id_, asked = await asking(port, project, script)
    body = {"approvalId": asked.id, "decision": "deny", "persist": False, "reason": "not today"}
    await post(port, f"/sessions/{id_}/approve", 200, **body)
    await port.chat.idle("maker")
    assert not (workdir / "made").exists()


async def test_a_decision_that_persists_becomes_a_rule(
    port: Port, project: str, script: Script
) -> None:
    id_, asked = await asking(port, project, script)
    body = {"approvalId": asked.id, "decision": "allow", "persist": True}
    decided = (await post(port, f"/sessions/{id_}/approve", 200, **body))["data"]
    assert (decided["persisted"], decided["scope"]) == (True, "project")
    assert len(port.daemon.pool.rules.active()) == 1


@pytest.mark.parametrize(
    ("persist", "scope", "persisted", "reached"),
    [(True, "session", True, "session"), (False, "session", False, "once")],
)
async def test_a_rule_is_made_where_it_is_said_to_persist_and_nowhere_else(
    port: Port,
    project: str,
    script: Script,
    *,
    persist: bool,
    scope: str,
    persisted: bool,
    reached: str,
) -> None:
    id_, asked = await asking(port, project, script)
    body = {"approvalId": asked.id, "decision": "allow", "persist": persist, "scope": scope}
    decided = (await post(port, f"/sessions/{id_}/approve", 200, **body))["data"]
    assert (decided["persisted"], decided["scope"]) == (persisted, reached)
    assert len(port.daemon.pool.rules.active()) == int(persisted)
    path = f"/api/v1/sessions/{id_}/timeline?types=approval.resolved"
    (event,) = (await port.http.get(path)).json()["data"]
    assert event["payload"]["persist"] == persisted


async def test_a_question_is_answered(port: Port, project: str, script: Script) -> None:
    script.on("ask me", question("Which?", ["Red", "Blue"]), say("Thanks."))
    made = await created(port, project, prompt="ask me", title="asker")
    asked = await port.chat.asked("asker")
    body = {"approvalId": asked.id, "decision": "allow", "answers": ["2"]}
    await post(port, f"/sessions/{made['id']}/approve", 200, **body)
    await port.chat.idle("asker")
    received = await get(port, f"/sessions/{made['id']}/timeline", types="input.received")
    assert received["data"][0]["payload"]["answers"] == {"Which?": "Blue"}


async def test_an_approval_whose_time_is_up_is_told_as_that(
    sandbox: Sandbox, workdir: Path, script: Script
) -> None:
    async with opened(sandbox, workdir, approvals={"timeout_seconds": 1}) as port:
        project = (await post(port, "/projects", 201, path=str(workdir)))["data"]["id"]
        id_, asked = await asking(port, project, script)
        await port.chat.idle("maker")
        body = {"approvalId": asked.id, "decision": "allow", "persist": False}
        late = await post(port, f"/sessions/{id_}/approve", 408, **body)
        assert code(late) == "APPROVAL_TIMEOUT"


async def test_what_nobody_asks_any_more_is_told_as_that(
    port: Port, project: str, script: Script
) -> None:
    id_, asked = await asking(port, project, script)
    await port.http.delete(f"{API}/sessions/{id_}")
    body = {"toolUseId": asked.tool_use_id, "decision": "allow"}
    late = await post(port, f"/sessions/{id_}/approve", 409, **body)
    assert late["error"]["message"] == "It is not asked any more: The question was withdrawn."


async def test_an_approval_is_only_found_in_its_own_session(
    port: Port, project: str, script: Script
) -> None:
    _, asked = await asking(port, project, script)
    other = await created(port, project, title="other")
    body = {"approvalId": asked.id, "decision": "allow", "persist": False}
    await post(port, f"/sessions/{other['id']}/approve", 404, **body)


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "allow"},
        {"approvalId": "a", "toolUseId": "b", "decision": "allow"},
        {"approvalId": "a", "decision": "maybe"},
        {"approvalId": "a", "decision": "allow", "persist": "yes"},
        {"approvalId": "a", "decision": "allow", "persist": True, "scope": "once"},
        {"approvalId": "a", "decision": "allow", "answers": ["1"], "scope": "user"},
        {"approvalId": "a", "decision": "allow", "answers": ["1"], "persist": True},
        {"approvalId": "a", "decision": "allow", "answers": ["1"], "modifiedInput": {}},
        {"approvalId": "a", "decision": "deny", "modifiedInput": {}},
        {"approvalId": "a", "decision": "allow", "modifiedInput": {}, "modifiedArgs": {}},
    ],
)
async def test_a_decision_that_makes_no_sense_is_refused(
    port: Port, project: str, body: dict[str, Any]
) -> None:
    made = await created(port, project, title="maker")
    refused = await post(port, f"/sessions/{made['id']}/approve", 400, **body)
    assert code(refused) == "VALIDATION_ERROR"
    assert refused["error"]["details"]


# --- the timeline


async def test_the_timeline_is_read_page_by_page(port: Port, project: str) -> None:
    made = await created(port, project, prompt="hello", title="maker")
    await port.chat.idle("maker")
    path = f"/sessions/{made['id']}/timeline"
    everything = (await get(port, path, limit=200))["data"]
    assert [event["seq"] for event in everything] == list(range(1, len(everything) + 1))
    assert {event["sessionId"] for event in everything} == {made["id"]}
    seen: list[Any] = []
    after: dict[str, str] = {}
    while True:
        page = await get(port, path, limit=3, **after)
        seen += page["data"]
        assert page["pagination"]["nextCursor"] == str(seen[-1]["seq"])
        if not page["pagination"]["hasMore"]:
            break
        after = {"after_seq": page["pagination"]["nextCursor"]}
    assert seen == everything
    beyond = await get(port, path, after_seq=10_000)
    assert beyond == {"data": [], "pagination": {"hasMore": False}}


async def test_the_timeline_is_filtered_by_type(port: Port, project: str) -> None:
    made = await created(port, project, prompt="hello", title="maker")
    await port.chat.idle("maker")
    path = f"/sessions/{made['id']}/timeline"
    page = await get(port, path, types="turn.*,user.message", limit=2)
    assert [event["type"] for event in page["data"]] == ["user.message", "turn.started"]
    assert page["pagination"]["hasMore"] is True
    rest = await get(
        port, path, types="turn.*,user.message", after_seq=page["pagination"]["nextCursor"]
    )
    assert [event["type"] for event in rest["data"]] == ["turn.completed"]


# --- who may, and what is not there


async def test_each_role_may_what_it_may(port: Port, project: str, script: Script) -> None:
    id_, asked = await asking(port, project, script)
    viewer, prompter = await port.scoped(Role.VIEWER), await port.scoped(Role.PROMPTER)
    sessions = f"/projects/{project}/sessions"
    assert code(await post(port, sessions, 403, token=viewer, prompt="x")) == "FORBIDDEN"
    assert code(await post(port, f"/sessions/{id_}/send", 403, token=viewer, content="x"))
    body = {"approvalId": asked.id, "decision": "allow", "persist": False}
    assert code(await post(port, f"/sessions/{id_}/approve", 403, token=prompter, **body))
    loose = {"prompt": "x", "permissionMode": "bypassPermissions"}
    assert code(await post(port, sessions, 403, token=prompter, **loose)) == "FORBIDDEN"
    ending = await port.http.delete(
        f"{API}/sessions/{id_}", headers={"Authorization": f"Bearer {viewer}"}
    )
    assert ending.status_code == 403


async def test_without_a_token_there_is_only_health(port: Port) -> None:
    headers = {"Authorization": ""}
    health = await port.http.get(f"{API}/health", headers=headers)
    assert health.json() == {"data": {"status": "ok"}}
    refused = await port.http.get(f"{API}/projects", headers=headers)
    assert refused.status_code == 401
    assert refused.json()["error"] == {
        "code": "UNAUTHORIZED",
        "message": "Bearer token required",
        "requestId": refused.headers["x-request-id"],
    }
    wrong = await port.http.get(f"{API}/projects", headers={"Authorization": "Bearer nonsense"})
    assert code(wrong.json()) == "INVALID_TOKEN"


async def test_what_is_left_out_on_purpose_is_not_there(port: Port, project: str) -> None:
    assert code(await post(port, f"/projects/{project}/clone", 404, repoUrl="x")) == "NOT_FOUND"
    assert code(await post(port, "/auth/token", 404, grantType="password")) == "NOT_FOUND"


async def test_a_wrong_method_is_told_the_right_ones(port: Port) -> None:
    answer = await port.http.put(f"{API}/projects")
    assert answer.status_code == 405
    assert {each.strip() for each in answer.headers["allow"].split(",")} >= {"GET", "POST"}
