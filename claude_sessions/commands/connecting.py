"""Claude's MCP servers."""

from __future__ import annotations

from typing import Any

from claude_sessions import commands as c
from claude_sessions import events as e
from claude_sessions.channel import Action
from claude_sessions.commands import extended
from claude_sessions.commands.extending import by_people_only, place_for
from claude_sessions.commands.finding import directory_for
from claude_sessions.commands.lexer import quote
from claude_sessions.commands.pool import Pool
from claude_sessions.errors import BadRequest, Conflict, Forbidden
from claude_sessions.extensions import asked
from claude_sessions.extensions.extensions import EVERYWHERE, NewServer, Place
from claude_sessions.extensions.servers import Standing
from claude_sessions.model import ConfigScope, Transport
from claude_sessions.people import Caller


async def _looked_at(pool: Pool, given: str | None) -> str | None:
    """A look starts the servers of a directory, so it has to be trusted."""
    if given is None:
        return None
    directory = await directory_for(pool, given)
    if not pool.trust.covers(directory):
        refusal = Forbidden(
            f"{directory} is not trusted, and to look at its MCP servers starts them."
            f" /trust {quote(directory)} first."
        )
        refusal.actions = (Action(label="Trust it", line=f"/trust {quote(directory)}"),)
        raise refusal
    return directory


async def list_servers(pool: Pool, command: c.ListMcpServers, caller: Caller) -> c.Reply:
    servers = await pool.extensions.servers(await _looked_at(pool, command.directory))
    text, actions = extended.servers(servers, command.directory)
    data = {"servers": [server.data() for server in servers]}
    again = extended.line("/mcp", command.directory)
    return c.Reply(text=text, data=data, actions=actions, again=again)


async def status(pool: Pool, command: c.McpServerStatus, caller: Caller) -> c.Reply:
    directory = await _looked_at(pool, command.directory)
    server = await pool.extensions.server(command.server, directory)
    text, actions = extended.server(server, command.directory)
    again = extended.line("/mcp status", command.directory, server.name)
    return c.Reply(text=text, data={"server": server.data()}, actions=actions, again=again)


async def add(pool: Pool, command: c.AddMcpServer, caller: Caller) -> c.Reply:
    by_people_only(caller)
    _refuse_what_does_not_go_together(command)
    default = ConfigScope.USER if command.directory is None else ConfigScope.LOCAL
    scope = command.scope or default
    place = await place_for(pool, scope, command.directory)
    new = NewServer(
        name=command.server,
        transport=command.transport,
        command=command.command,
        arguments=command.arguments,
        url=command.url,
        env=command.env,
        headers=command.headers,
    )
    output = await pool.extensions.add_server(new, place)
    fact = e.McpServerAdded(
        server_name=new.name, transport=new.transport, scope=scope, directory=place.directory
    )
    await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
    text, actions = extended.added_server(
        new.name, output, command.directory, secrets=bool(new.secrets)
    )
    return c.Reply(text=text, data={"success": True, "output": output}, actions=actions)


def _refuse_what_does_not_go_together(command: c.AddMcpServer) -> None:
    """Nobody should think that a header was set where none can be."""
    stdio = command.transport is Transport.STDIO
    if stdio and (command.headers or command.url):
        raise BadRequest("A stdio server has a command, and --env for variables, but no header.")
    if not stdio and (command.env or command.command or command.arguments):
        raise BadRequest(
            f"An {command.transport} server has a URL, and headers with --header; no variables,"
            " no command."
        )


async def remove(pool: Pool, command: c.RemoveMcpServer, caller: Caller) -> c.Reply:
    by_people_only(caller)
    name = asked.server(command.server)
    place = await place_for(pool, command.scope, command.directory)
    if not command.confirmed:
        words = extended.line("/mcp remove", command.directory, name, command.scope)
        text, actions = extended.sure(
            f"Remove the MCP server {name}, with all its settings?", words
        )
        return c.Reply(text=text, data={"success": False, "output": text}, actions=actions)
    output = await pool.extensions.remove_server(name, place)
    fact = e.McpServerRemoved(server_name=name, scope=place.scope, directory=place.directory)
    await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
    return c.Reply(text=extended.changed(output), data={"success": True, "output": output})


async def authenticate(pool: Pool, command: c.AuthMcpServer, caller: Caller) -> c.Reply:
    by_people_only(caller)
    place = Place(directory=await _looked_at(pool, command.directory))
    name, where = asked.server(command.server), place.directory or EVERYWHERE
    if command.answer is not None:
        await pool.extensions.logins.finish(name, where, command.answer)
        fact = e.McpServerAuthenticated(server_name=name, directory=place.directory)
        await pool.log.append(e.Draft(payload=fact, caller=str(caller)))
        return _let_in(f"🔓 Logged in to {name}. Sessions use it from their next start on.")
    server = await pool.extensions.server(name, place.directory)
    if server.transport is Transport.STDIO:
        data = {"authRequired": False, "status": "not_required"}
        return c.Reply(text=f"{name} is a program here: nobody logs in to it.", data=data)
    if server.standing is Standing.RUNNING:
        return _let_in(f"{name} is connected: no login is wanted.")
    if not server.needs_login:
        problem = server.problem or "it does not answer"
        raise Conflict(f"{name} asks for no login now: {problem.rstrip('.?!')}.")
    address = await pool.extensions.logins.begin(name, where)
    text, actions = extended.log_in(server, address, command.directory)
    waits: dict[str, Any] = {"authRequired": True, "authUrl": address, "status": "pending"}
    return c.Reply(text=text, data=waits, actions=actions)


def _let_in(text: str) -> c.Reply:
    return c.Reply(text=text, data={"authRequired": False, "status": "authenticated"})
