"""Plugins and MCP servers, chat text to chat text, with the real claude program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.commands.execute import execute
from claude_sessions.demo import Sandbox
from claude_sessions.errors import Forbidden
from claude_sessions.logs import STRUCK
from claude_sessions.model import ConfigScope, Role, Transport
from tests.extensions.oauth import guarded_server, where_the_browser_ends
from tests.extensions.places import marketplace, tiny_server
from tests.journeys.chat import Chat, chatting

TINY = {
    "name": "tiny@locmkt",
    "version": "1.0.0",
    "enabled": True,
    "scope": "user",
    "capabilities": ["commands"],
}
CHANGES: list[c.Command] = [
    c.InstallPlugin(plugin="tiny"),
    c.UpdatePlugin(plugin="tiny"),
    c.UninstallPlugin(plugin="tiny"),
    c.EnablePlugin(plugin="tiny"),
    c.DisablePlugin(plugin="tiny"),
    c.AddMarketplace(source="team/tools"),
    c.RemoveMarketplace(name="tools"),
    c.AddMcpServer(server="far", command="true"),
    c.RemoveMcpServer(server="far"),
    c.AuthMcpServer(server="far"),
]


@pytest.fixture
async def stocked(chat: Chat, workdir: Path) -> Chat:
    """A chat that knows a marketplace."""
    marketplace(workdir / "mkt")
    await chat.type("/plugins marketplace add ./mkt")
    return chat


async def facts(chat: Chat) -> list[e.Payload]:
    kinds = ("plugin.", "marketplace.", "mcp.")
    events = await chat.daemon.log.events(limit=10_000)
    return [event.payload for event in events if event.type.startswith(kinds)]


# --- plugins


async def test_a_marketplace_is_added_listed_and_removed(chat: Chat, workdir: Path) -> None:
    folder = str(marketplace(workdir / "mkt"))
    added = await chat.reply("/plugins marketplace add ./mkt")
    assert added.data["success"] is True
    assert added.data["marketplace"] == {"name": "locmkt", "url": folder}
    listed = await chat.reply("/plugins marketplaces")
    assert listed.data == {"marketplaces": [{"name": "locmkt", "url": folder}]}
    asks = await chat.reply(listed.actions[0].line)
    assert "Remove the marketplace locmkt" in asks.text
    assert "Successfully removed" in await chat.type(asks.actions[0].line)
    assert "No marketplaces" in await chat.type("/plugins marketplaces")
    assert await facts(chat) == [
        e.MarketplaceAdded(source=folder, name="locmkt"),
        e.MarketplaceRemoved(name="locmkt"),
    ]


async def test_a_plugin_is_installed_from_what_there_is(stocked: Chat) -> None:
    offered = await stocked.reply("/plugins available")
    assert offered.data["available"] == [{"name": "tiny@locmkt", "description": "A tiny one"}]
    installed = await stocked.reply(offered.actions[0].line)
    assert "Successfully installed plugin: tiny@locmkt" in installed.text
    assert "It brings commands." in installed.text
    output = installed.data["output"]
    assert installed.data == {"success": True, "output": output, "plugin": TINY}
    listed = await stocked.reply("/plugins")
    assert listed.data == {"plugins": [TINY]}
    assert listed.text == "🧩 tiny@locmkt 1.0.0 · user · commands\n1 plugin"
    assert listed.again == "/plugins"


async def test_the_buttons_of_a_plugin_switch_update_and_uninstall_it(stocked: Chat) -> None:
    await stocked.type("/plugins install tiny")
    listed = await stocked.reply("/plugins")
    assert [action.label.split()[0] for action in listed.actions] == [
        *("Disable", "Update", "Uninstall")
    ]
    off = await stocked.reply(listed.actions[0].line)
    assert off.data["plugin"]["enabled"] is False
    again = await stocked.reply(listed.again)
    assert "tiny@locmkt 1.0.0 · off" in again.text
    assert "enabled plugin: tiny" in await stocked.type(again.actions[0].line)
    assert "already at the latest version" in await stocked.type(again.actions[1].line)
    asks = await stocked.reply(again.actions[2].line)
    assert asks.data["success"] is False
    assert "Successfully uninstalled" in await stocked.type(asks.actions[0].line)
    assert "No plugins" in await stocked.type("/plugins")
    user = ConfigScope.USER
    assert (await facts(stocked))[1:] == [
        e.PluginInstalled(name="tiny@locmkt", version="1.0.0"),
        e.PluginSwitched(name="tiny@locmkt", enabled=False, scope=user),
        e.PluginSwitched(name="tiny@locmkt", enabled=True, scope=user),
        e.PluginUpdated(name="tiny@locmkt", version="1.0.0", scope=user),
        e.PluginUninstalled(name="tiny@locmkt", scope=user),
    ]


async def test_a_plugin_of_one_directory_is_off_elsewhere(stocked: Chat, workdir: Path) -> None:
    (workdir / "web").mkdir()
    await stocked.type("/plugins install tiny --scope local --dir web")
    (there,) = (await stocked.reply("/plugins --dir web")).data["plugins"]
    (elsewhere,) = (await stocked.reply("/plugins")).data["plugins"]
    assert (there["scope"], there["enabled"], elsewhere["enabled"]) == ("local", True, False)
    off = await stocked.reply((await stocked.reply("/plugins --dir web")).actions[0].line)
    assert off.data["plugin"]["enabled"] is False


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/plugins install nope@locmkt", "claude plugin install nope@locmkt failed: "),
        ("/plugins disable tiny@locmkt", "claude plugin disable tiny@locmkt failed: "),
        ("/plugins uninstall tiny --yes", "claude plugin uninstall tiny failed: "),
        ("/plugins install -- -x", "“-x” cannot be a plugin"),
        ("/plugins install -- --scope=user", "cannot be a plugin"),
        ("/plugins install tiny --scope local", "say which with --dir"),
        ("/plugins install tiny --scope local --dir /etc", "outside the allowed directories"),
        ("/plugins marketplace add /etc", "Cannot take plugins from /etc: it is outside the"),
        ("/plugins marketplace add ext::sh", "A marketplace comes from"),
        ("/plugins marketplace remove nope --yes", "claude plugin marketplace remove nope failed"),
    ],
)
async def test_what_cannot_be_done_to_a_plugin_is_told(stocked: Chat, line: str, says: str) -> None:
    before = await facts(stocked)
    assert says in await stocked.type(line)
    assert await facts(stocked) == before


# --- MCP servers


async def test_a_server_is_added_looked_at_and_removed(chat: Chat, workdir: Path) -> None:
    script = tiny_server(workdir)
    added = await chat.reply(f"/mcp add tiny --env LEVEL=hush1 -- python3 {script} --flag")
    assert added.data["success"] is True
    assert added.text.startswith("🔌 Added stdio MCP server tiny")
    seen = await chat.reply(added.actions[0].line)
    config = {"command": "python3", "args": [str(script), "--flag"]}
    about = {"name": "tiny", "transport": "stdio", "status": "running"}
    whole = {**config, "scope": "user", "env": {"LEVEL": STRUCK}}
    assert seen.data == {"server": {**about, "config": whole}}
    listed = await chat.reply("/mcp")
    assert listed.data == {"servers": [{**about, "config": config}]}
    assert listed.text.startswith("🟢 tiny · stdio · running\n   python3 ")
    assert [action.label for action in listed.actions] == ["Show tiny", "Remove tiny"]
    asks = await chat.reply(listed.actions[1].line)
    assert 'Removed MCP server "tiny"' in await chat.type(asks.actions[0].line)
    assert "No MCP servers" in await chat.type("/mcp")
    assert await facts(chat) == [
        e.McpServerAdded(server_name="tiny", transport=Transport.STDIO, scope=ConfigScope.USER),
        e.McpServerRemoved(server_name="tiny"),
    ]


async def test_no_secret_of_a_server_is_said_or_logged_but_claude_has_it(
    chat: Chat, sandbox: Sandbox
) -> None:
    secrets = '--header "Authorization: Bearer hush1" --header "X-Level: hush2"'
    lines = [
        f"/mcp add far http://me:hush3@127.0.0.1:9/mcp?q=hush4 {secrets}",
        f"/mcp add far http://me:hush3@127.0.0.1:9/mcp?q=hush4 {secrets}",  # it is there already
        "/mcp add near --env LEVEL=hush5 -- false --api-key hush6",
        "/mcp",
        "/mcp status far",
        "/mcp status near",
    ]
    replies = [await chat.daemon.hear(lines[0], chat.caller)]
    told = [await chat.type(line) for line in lines[1:]]
    replies += [await chat.reply(line) for line in lines[3:]]
    assert "hush" not in repr(replies) + repr(told) + repr(await facts(chat))
    assert "already exists" in told[0]
    configured = json.loads((sandbox.home / ".claude.json").read_text())["mcpServers"]
    assert configured["far"]["headers"] == {"Authorization": "Bearer hush1", "X-Level": "hush2"}
    assert configured["near"]["env"] == {"LEVEL": "hush5"}
    assert configured["near"]["args"] == ["--api-key", "hush6"]


async def test_the_servers_of_a_directory_are_looked_at_once_it_is_trusted(
    chat: Chat, workdir: Path
) -> None:
    (workdir / "web").mkdir()
    line = f"/mcp add tiny --dir web -- python3 {tiny_server(workdir)}"
    assert "to local config" in await chat.type(line)
    viewer = chat.somebody(Role.VIEWER)
    for look in ("/mcp --dir web", "/mcp status tiny --dir web"):
        assert "is not trusted" in await viewer.type(look)
    assert "No MCP servers" in await viewer.type("/mcp")
    await chat.type("/trust web")
    listed = await viewer.reply("/mcp --dir web")
    assert [each["name"] for each in listed.data["servers"]] == ["tiny"]
    assert listed.again == "/mcp --dir web"
    assert listed.actions[1].line == "/mcp remove tiny --dir web"
    shared = await chat.type("/mcp add team --scope project --dir web https://team.example/mcp")
    assert "to project config" in shared
    assert "team.example" in (workdir / "web" / ".mcp.json").read_text()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/mcp status nope", "claude mcp get nope failed: No MCP server named"),
        ("/mcp remove nope --yes", "claude mcp remove nope failed: No MCP server named"),
        ("/mcp auth nope", "claude mcp get nope failed: No MCP server named"),
        ("/mcp auth nope http://localhost/x", "No login to nope is open any more"),
        ("/mcp add -- -x true", "“-x” cannot be a server's name"),
        ("/mcp add x -- --flag", "A stdio server needs a command"),
        ("/mcp add x --scope local true", "say which with --dir"),
        ("/mcp add x --dir /etc true", "outside the allowed directories"),
        ("/mcp add x --header 'A: hush' true", "but no header"),
        ("/mcp add x --env A=hush https://h.example", "no variables"),
        ("/mcp add x --transport http ftp://h.example", "http:// or https://"),
    ],
)
async def test_what_cannot_be_done_to_a_server_is_told(chat: Chat, line: str, says: str) -> None:
    told = await chat.type(line)
    assert says in told
    assert "hush" not in told
    assert await facts(chat) == []


async def test_a_login_goes_by_way_of_the_chat(chat: Chat) -> None:
    with guarded_server() as url:
        await chat.type(f"/mcp add guarded {url}")
        listed = await chat.reply("/mcp")
        assert "🔑 guarded · http · Needs authentication" in listed.text
        begun = await chat.reply(listed.actions[1].line)
        address = begun.data["authUrl"]
        assert begun.data == {"authRequired": True, "authUrl": address, "status": "pending"}
        assert address in begun.text
        line = f"{begun.actions[0].line}{where_the_browser_ends(address)}"
        done = await chat.reply(line)
        assert done.data == {"authRequired": False, "status": "authenticated"}
        assert "🟢 guarded" in await chat.type("/mcp status guarded")
        assert "connected" in await chat.type("/mcp auth guarded")
    assert (await facts(chat))[1:] == [e.McpServerAuthenticated(server_name="guarded")]


async def test_a_login_with_the_wrong_code_fails_and_tells_no_code(chat: Chat) -> None:
    with guarded_server() as url:
        await chat.type(f"/mcp add guarded {url}")
        begun = await chat.reply("/mcp auth guarded")
        other = "/mcp auth guarded http://localhost:1/callback?code=hush0&state=x"
        assert "does not take that, and still waits" in await chat.type(other)
        wrong = where_the_browser_ends(begun.data["authUrl"], code="hush1")
        told = await chat.type(f"/mcp auth guarded {wrong}")
        assert told.startswith("claude mcp login guarded failed: ")
        assert "hush1" not in told
        assert "Needs authentication" in await chat.type("/mcp status guarded")


async def test_nobody_logs_in_where_no_login_is_wanted(chat: Chat, workdir: Path) -> None:
    await chat.type(f"/mcp add tiny -- python3 {tiny_server(workdir)}")
    plain = await chat.reply("/mcp auth tiny")
    assert plain.data == {"authRequired": False, "status": "not_required"}
    await chat.type("/mcp add gone http://127.0.0.1:9/mcp")
    why = await chat.type("/mcp auth gone")
    assert "gone asks for no login now: ECONNREFUSED" in why
    assert "?." not in why


# --- who may


@pytest.mark.parametrize("command", CHANGES, ids=lambda command: type(command).__name__)
async def test_only_an_admin_who_is_a_person_changes_anything(
    chat: Chat, command: c.Command
) -> None:
    approver = chat.somebody(Role.APPROVER).caller
    with pytest.raises(Forbidden, match="it needs the role admin"):
        await execute(chat.daemon.pool, command, approver)
    with pytest.raises(Forbidden, match="only an admin may"):
        await execute(chat.daemon.pool, command, replace(chat.caller, agent=True))


async def test_everybody_may_look(chat: Chat) -> None:
    viewer = chat.somebody(Role.VIEWER)
    assert "No plugins" in await viewer.type("/plugins")
    assert "No marketplaces" in await viewer.type("/plugins marketplaces")
    assert "No MCP servers" in await viewer.type("/mcp")
    assert "You may not change plugins" in await viewer.type("/plugins install tiny")
    assert "You may not change MCP servers" in await viewer.type("/mcp add x true")


async def test_a_login_that_is_open_ends_with_the_daemon(sandbox: Sandbox, workdir: Path) -> None:
    with guarded_server() as url:
        async with chatting(sandbox, workdir) as chat:
            await chat.type(f"/mcp add guarded {url}")
            assert (await chat.reply("/mcp auth guarded")).data["status"] == "pending"
        async with chatting(sandbox, workdir) as chat:
            late = "/mcp auth guarded http://localhost/callback"
            assert "No login to guarded is open any more" in await chat.type(late)
