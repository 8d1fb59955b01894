"""What the claude program says about extensions, read from its own words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.extensions.plugins import (
    Plugin,
    named,
    read_available,
    read_marketplaces,
    read_plugins,
)
from claude_sessions.extensions.servers import Server, Standing, read_list, read_one
from claude_sessions.logs import STRUCK
from claude_sessions.model import Transport

LIST = """\
Checking MCP server health…

echo: /usr/bin/python3 /x/echo.py --flag - ✔ Connected
slow: python3 slow.py - ✘ Failed to connect — connection timed out after 3000ms
web: http://127.0.0.1:9/mcp?token=hush1 (HTTP) - ⏸ Pending approval (run `claude` to approve)
feed: https://feeds.example/sse (SSE) - ! Needs authentication
plugin:tiny:db: npx db --api-key hush2 - ! Connected · tools fetch failed
claude.ai Some Thing: https://some.example/mcp - ✔ Connected
"""

ONE = """\
web:
  Scope: Project config (shared via .mcp.json)
  Status: ✘ Failed to connect
  Issue: ECONNREFUSED: Unable to connect to http://u:hush3@h/?k=hush4
  Type: http
  URL: http://127.0.0.1:9/mcp?token=hush5
  Headers:
    Authorization: Bearer hush6
    X-Key: hush7

To remove this server, run: claude mcp remove web -s project
"""

STDIO = """\
echo:
  Scope: User config (available in all your projects)
  Status: ✔ Connected
  Type: stdio
  Command: /usr/bin/python3
  Args: /x/echo.py --token hush8
  Environment:
    LEVEL=hush9
    KEY=-----BEGIN
hush10
    MORE=hush11

To remove this server, run: claude mcp remove echo -s user
"""


def server(name: str) -> Server:
    return next(each for each in read_list(LIST) if each.name == name)


def test_each_line_about_a_server_becomes_one() -> None:
    assert [(s.name, s.transport, s.standing, s.problem) for s in read_list(LIST)] == [
        ("echo", Transport.STDIO, Standing.RUNNING, ""),
        ("slow", Transport.STDIO, Standing.ERROR, "connection timed out after 3000ms"),
        ("web", Transport.HTTP, Standing.STOPPED, "Pending approval (run `claude` to approve)"),
        ("feed", Transport.SSE, Standing.STOPPED, "Needs authentication"),
        ("plugin:tiny:db", Transport.STDIO, Standing.RUNNING, "Connected · tools fetch failed"),
        ("claude.ai Some Thing", Transport.HTTP, Standing.RUNNING, ""),
    ]


def test_a_server_is_shown_in_the_shape_of_the_seed() -> None:
    assert server("echo").data() == {
        "name": "echo",
        "transport": "stdio",
        "status": "running",
        "config": {"command": "/usr/bin/python3", "args": ["/x/echo.py", "--flag"]},
    }
    assert server("claude.ai Some Thing").config == {"url": "https://some.example/mcp"}
    assert server("feed").needs_login
    assert server("feed").data()["lastError"] == "Needs authentication"


def test_a_command_without_arguments_has_none() -> None:
    """As the program writes it: `true  - ✔`."""
    (alone,) = read_list("alone: true  - ✔ Connected")
    assert alone.config == {"command": "true", "args": []}


def test_one_server_is_read_with_its_headers_by_name_alone() -> None:
    web = read_one(ONE)
    assert web is not None
    assert (web.name, web.transport, web.standing) == ("web", Transport.HTTP, Standing.ERROR)
    assert web.problem.startswith("ECONNREFUSED: Unable to connect to http://")
    assert web.config == {
        "scope": "project",
        "url": f"http://127.0.0.1:9/mcp?token={STRUCK}",
        "headers": {"Authorization": STRUCK, "X-Key": STRUCK},
    }


def test_one_server_is_read_with_its_variables_by_name_alone() -> None:
    echo = read_one(STDIO)
    assert echo is not None
    assert echo.config["args"] == ["/x/echo.py", "--token", STRUCK]
    assert echo.config["env"] == {"LEVEL": STRUCK, "KEY": STRUCK}


@pytest.mark.parametrize("text", [LIST, ONE, STDIO])
def test_no_secret_comes_out_of_what_is_read(text: str) -> None:
    assert "hush" not in repr(read_list(text)) + repr(read_one(text))


def test_what_has_no_server_in_it_has_none() -> None:
    assert read_list("No MCP servers configured. Use `claude mcp add` to add a server.") == ()
    assert read_one("Something else.") is None


PLUGIN = {
    "id": "tiny@locmkt",
    "version": "1.0.0",
    "scope": "user",
    "enabled": True,
    "installPath": "/cache/tiny",
    "readFromFolder": "/mkt/tiny",
    "projectEnabled": False,
    "unheard": [1],
}


def test_plugins_are_read_in_both_forms() -> None:
    plain = read_plugins(json.dumps([PLUGIN, "?", {"version": "1"}]))
    assert plain == read_plugins(json.dumps({"installed": [PLUGIN], "available": []}))
    assert plain is not None
    (tiny,) = plain
    assert tiny.folder == "/mkt/tiny"
    assert tiny.data() == {
        "name": "tiny@locmkt",
        "version": "1.0.0",
        "enabled": True,
        "scope": "user",
        "capabilities": [],
    }


def test_what_could_be_installed_and_from_where() -> None:
    row = {"pluginId": "tiny@locmkt", "name": "tiny", "description": "A tiny one"}
    found = read_available(json.dumps({"installed": [], "available": [row]}))
    assert [each.data() for each in found or ()] == [
        {"name": "tiny@locmkt", "description": "A tiny one"}
    ]
    rows = [
        {"name": "one", "source": "directory", "path": "/mkt"},
        {"name": "two", "source": "github", "repo": "owner/repo"},
        {"name": "three", "source": "git", "url": "https://u:hush@git.example/x.git"},
    ]
    assert [each.data() for each in read_marketplaces(json.dumps(rows)) or ()] == [
        {"name": "one", "url": "/mkt"},
        {"name": "two", "url": "owner/repo"},
        {"name": "three", "url": f"https://{STRUCK}@git.example/x.git"},
    ]


def test_a_plugin_is_found_by_its_name_alone_the_enabled_one_first() -> None:
    def plugin(id_: str, *, enabled: bool) -> Plugin:
        return Plugin(id=id_, version="1", scope="user", enabled=enabled)

    off, on = plugin("tiny@a", enabled=False), plugin("tiny@b", enabled=True)
    assert named((off, on), "tiny") == on
    assert named((off, on), "tiny@a") == off
    assert named((off, on), "other") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "name", "installed", "available", "pluginId", "enabled", "url"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
PIECES = st.lists(
    st.sampled_from(
        ["web", ": ", ":", "\n", "  ", "    ", " - ", "✔ ", "✘ ", "! ", "Type", "=", "Headers:"]
    )
    | st.text(max_size=5)
).map("".join)


@settings(deadline=None)
@given(JSON)
def test_any_json_is_read_or_not_and_nothing_is_raised(found: Any) -> None:
    text = json.dumps(found)
    for read in (read_plugins, read_available, read_marketplaces):
        rows: tuple[Any, ...] | None = read(text)
        assert rows is None or all(json.dumps(row.data()) for row in rows)


@settings(deadline=None)
@given(PIECES)
def test_any_text_is_read_and_nothing_is_raised(text: str) -> None:
    assert read_plugins(text) is None or text.strip()[:1] in "[{"
    for each in (*read_list(text), read_one(text)):
        assert each is None or json.dumps(each.data())


def test_json_without_an_end_is_not_read() -> None:
    assert read_plugins("[" * 100_000) is None
