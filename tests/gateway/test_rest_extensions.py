"""Plugins and MCP servers over REST, with the real claude program; no network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from claude_sessions.extensions.extensions import Limits
from claude_sessions.gateway.rest import extensions as x
from claude_sessions.gateway.rest.operation import Resource
from claude_sessions.logs import STRUCK
from claude_sessions.model import Role
from tests.extensions.places import marketplace, tiny_server
from tests.gateway.port import Port

API = "/api/v1"
SET = {"LEVEL": STRUCK}
SLEEPS = {"command": "sleep", "args": ["600"]}


async def ask(
    port: Port, method: str, path: str, expected: int, shape: type[Resource], **body: Any
) -> Any:
    """The data of the answer, once it has been found to be what the document says."""
    answer = await port.http.request(method, f"{API}{path}", json=body or None)
    assert answer.status_code == expected, answer.text
    data = answer.json()["data"]
    for each in data if isinstance(data, list) else [data]:
        shape.model_validate(each)
    return data


async def test_a_plugin_is_installed_switched_and_removed(port: Port, workdir: Path) -> None:
    source = str(marketplace(workdir / "mkt"))
    added = await ask(port, "POST", "/plugins/marketplaces/add", 201, x.Done, url=source)
    assert added["marketplace"]["name"] == "locmkt"
    known = await ask(port, "GET", "/plugins/marketplaces", 200, x.MarketplaceResource)
    assert [each["name"] for each in known] == ["locmkt"]
    offered = await ask(port, "GET", "/plugins/available", 200, x.OfferedResource)
    assert offered == [{"name": "tiny@locmkt", "description": "A tiny one"}]
    done = await ask(port, "POST", "/plugins/install", 200, x.Done, package="tiny@locmkt")
    assert (done["success"], done["plugin"]["name"]) == (True, "tiny@locmkt")
    for verb, enabled in (("disable", False), ("enable", True)):
        await ask(port, "POST", f"/plugins/{verb}", 200, x.Done, name="tiny@locmkt")
        installed = await ask(port, "GET", "/plugins/installed", 200, x.PluginResource)
        assert [each["enabled"] for each in installed] == [enabled]
    await ask(port, "POST", "/plugins/update", 200, x.Done, name="tiny@locmkt")
    await ask(port, "POST", "/plugins/uninstall", 200, x.Done, name="tiny@locmkt")
    assert await ask(port, "GET", "/plugins/installed", 200, x.PluginResource) == []
    await ask(port, "DELETE", "/plugins/marketplaces/locmkt", 200, x.Done)
    assert await ask(port, "GET", "/plugins/marketplaces", 200, x.MarketplaceResource) == []
    again = await port.http.delete(f"{API}/plugins/marketplaces/locmkt")
    assert again.status_code == 404


async def test_what_is_meant_for_one_directory_stays_there(port: Port, workdir: Path) -> None:
    """Also where a scope has to be said, since the same is there in another."""
    (web := workdir / "web").mkdir()
    there: dict[str, Any] = {"directory": str(web), "scope": "local"}
    await port.chat.type("/trust web")
    source = str(marketplace(workdir / "mkt"))
    await ask(port, "POST", "/plugins/marketplaces/add", 201, x.Done, url=source)
    await ask(port, "POST", "/plugins/install", 200, x.Done, package="tiny@locmkt", **there)
    for verb in ("disable", "enable", "disable"):
        await ask(port, "POST", f"/plugins/{verb}", 200, x.Done, name="tiny@locmkt", **there)
    installed = f"/plugins/installed?directory={web}"
    (plugin,) = await ask(port, "GET", installed, 200, x.PluginResource)
    assert (plugin["scope"], plugin["enabled"]) == ("local", False)
    works = {"command": sys.executable, "args": [str(tiny_server(workdir))]}
    new = {"name": "tiny", "transport": "stdio", "config": works}
    for scope in ("local", "project"):
        await ask(port, "POST", "/mcp/servers", 201, x.Done, **{**new, **there, "scope": scope})
    await port.call("claude-code.mcp.remove", name="tiny", **there)
    await ask(port, "POST", "/mcp/servers", 201, x.Done, **new, **there)
    for scope in ("local", "project"):
        query = f"directory={web}&scope={scope}"
        await ask(port, "DELETE", f"/mcp/servers/tiny?{query}", 200, x.Done)
    assert await ask(port, "GET", f"/mcp/servers?directory={web}", 200, x.ServerResource) == []


async def test_an_mcp_server_is_added_tried_and_removed(port: Port, workdir: Path) -> None:
    program = str(tiny_server(workdir))
    config = {"command": sys.executable, "args": [program], "env": {"LEVEL": "hush"}}
    new = {"name": "tiny", "transport": "stdio", "config": config}
    assert (await ask(port, "POST", "/mcp/servers", 201, x.Done, **new))["success"]
    (server,) = await ask(port, "GET", "/mcp/servers", 200, x.ServerResource)
    assert (server["name"], server["status"]) == ("tiny", "running")
    one = await ask(port, "GET", "/mcp/servers/tiny", 200, x.ServerResource)
    assert (one["status"], one["config"]["scope"], one["config"]["env"]) == ("running", "user", SET)
    assert (await port.http.get(f"{API}/mcp/servers/nobody")).status_code == 404
    login = await ask(port, "POST", "/mcp/servers/tiny/auth", 200, x.LoginResource)
    assert login == {"authRequired": False, "status": "not_required"}
    await ask(port, "DELETE", "/mcp/servers/tiny", 200, x.Done)
    assert await ask(port, "GET", "/mcp/servers", 200, x.ServerResource) == []


async def test_servers_that_hang_do_not_hide_those_that_work(port: Port, workdir: Path) -> None:
    """More of them than the claude program would try at a time."""
    port.daemon.pool.extensions.limits = Limits(look=8.0)
    works = {"command": sys.executable, "args": [str(tiny_server(workdir))]}
    for name, config in {**dict.fromkeys("abcdefg", SLEEPS), "z": works}.items():
        new = {"name": name, "transport": "stdio", "config": config}
        await ask(port, "POST", "/mcp/servers", 201, x.Done, **new)
    servers = await ask(port, "GET", "/mcp/servers", 200, x.ServerResource)
    standing = {server["name"]: server["status"] for server in servers}
    assert standing == {**dict.fromkeys("abcdefg", "error"), "z": "running"}


async def test_what_is_set_in_a_header_is_not_said_however_the_program_writes_it(
    port: Port,
) -> None:
    config = {"url": "http://127.0.0.1:1/mcp", "headers": {"X-A": 'hush"1\\2', "X-B": "hüsh"}}
    new = {"name": "far", "transport": "http", "config": config}
    done = await ask(port, "POST", "/mcp/servers", 201, x.Done, **new)
    assert "X-A" in done["output"]
    assert "h" not in done["output"].partition("Headers:")[2].partition("}")[0].replace(STRUCK, "")


async def test_what_claude_cannot_do_is_an_error_that_names_its_command(port: Port) -> None:
    answer = await port.http.post(f"{API}/plugins/install", json={"package": "nothing@nowhere"})
    assert answer.status_code in (404, 409), answer.text
    assert "claude plugin install" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/plugins/install", {"package": "a@b"}),
        ("/plugins/uninstall", {"name": "a@b"}),
        ("/plugins/marketplaces/add", {"url": "a/b"}),
        ("/mcp/servers", {"name": "a", "transport": "stdio", "config": {"command": "true"}}),
        ("/mcp/servers/a/auth", {}),
    ],
)
async def test_only_an_admin_changes_what_runs_in_every_session(
    port: Port, path: str, body: dict[str, Any]
) -> None:
    headers = {"Authorization": f"Bearer {await port.scoped(Role.APPROVER)}"}
    answer = await port.http.post(f"{API}{path}", json=body, headers=headers)
    assert answer.status_code == 403
