"""`/mcp`: mcp's own streamable HTTP, behind our guard and our tokens.

Of a request, `Guard` has checked where it is from and `Entrance` whose it is, before mcp sees it.
Only the protocol versions with a handshake are served: in later ones a request belongs to no
connection, so there would be no place to keep; their clients fall back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import mcp_types as types
import structlog
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Message, Receive, Scope, Send

from claude_sessions import __version__
from claude_sessions.agreed import LONGEST
from claude_sessions.cause import because
from claude_sessions.errors import NoSession, SessionsError
from claude_sessions.gateway.answers import Answer, request_id_of
from claude_sessions.gateway.auth import Visitor
from claude_sessions.gateway.entrance import Entrance, body_of
from claude_sessions.gateway.house import House
from claude_sessions.gateway.mcp.base import Desk
from claude_sessions.gateway.mcp.cap import AutoResponds
from claude_sessions.gateway.mcp.connections import (
    KIND,
    Connections,
    Context,
    agent,
    channel_of,
    visitor_of,
    workspace_of,
)
from claude_sessions.gateway.mcp.tools import TOOLS
from claude_sessions.gateway.methods.base import understood

PATH = "/mcp"
IDLE_SECONDS = 1800.0  # without any request, after which a connection is taken for left
MOST = 1000  # connections
OWNER = "the owner's token"
INSTRUCTIONS = """\
A pool of Claude Code sessions on this machine. They go on working when you are gone, and people
follow them by chat. Launch with claude_launch, follow with claude_fg or claude_output, answer with
claude_respond. Approvals and looser permissions are for people: when a session waits for a
decision, say so to yours."""

log = structlog.get_logger(__name__)


def routes(entrance: Entrance, house: House) -> list[BaseRoute]:
    if not house.settings.mcp.enabled:
        return []
    door = McpDoor(house)
    house.lasting.append(door.open)
    return [entrance.http(PATH, door.enter, ["GET", "POST", "DELETE"])]


class McpDoor:
    def __init__(self, house: House, *, idle_seconds: float = IDLE_SECONDS) -> None:
        responds = AutoResponds(house.log, house.settings.mcp.max_auto_responds)
        self._desk = Desk(house=house, responds=responds)
        self._connections = Connections(house, self._cut)
        server: Server[dict[str, object]] = Server(
            "claude-sessions",
            version=__version__,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        server.middleware.append(self._greet)
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            session_idle_timeout=idle_seconds,
            max_request_body_size=LONGEST,
            max_sessions=MOST,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """In a task of its own: mcp wants to be left by the task that entered it."""
        await self._connections.forget_the_lost()
        ready, leave = asyncio.Event(), asyncio.Event()
        serving = asyncio.create_task(self._serve(ready, leave), name="mcp")
        await ready.wait()
        try:
            yield
        finally:
            await self._connections.ended()
            leave.set()
            await serving

    async def _serve(self, ready: asyncio.Event, leave: asyncio.Event) -> None:
        async with self._manager.run():
            ready.set()
            await leave.wait()

    # --- requests

    async def enter(self, visitor: Visitor, request: Request) -> Response:
        version = request.headers.get("mcp-protocol-version", HANDSHAKE_PROTOCOL_VERSIONS[-1])
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return _unsupported(version)
        if "mcp-session-id" not in request.headers:  # a connection is to begin
            self._desk.house.visits.make_sure_of_room(visitor)
        request.scope["user"] = _user(visitor)  # mcp gives a connection to nobody else
        # No event of ours has an id. With one of somebody else's, mcp would not answer at all.
        _without(request.scope, b"last-event-id")
        request.scope["state"]["visitor"] = visitor
        body = await body_of(request) if request.method == "POST" else b""
        return _HandedOn(self._manager.handle_request, body)

    async def _cut(self, connection: str, visitor: Visitor) -> None:
        """As if it had asked for its end itself: mcp closes all it has open."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": PATH,
            "query_string": b"",
            "headers": [(b"mcp-session-id", connection.encode())],
            "user": _user(visitor),
        }
        await self._manager.handle_request(scope, _nothing_more, _unheard)

    # --- what mcp asks of us

    async def _greet(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.method == "initialize":
            self._connections.begin(ctx)
        return await call_next(ctx)

    async def _list(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.summary,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations(read_only_hint=tool.reads, open_world_hint=False),
            )
            for tool in TOOLS.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Whatever goes wrong is told to the agent, who can do something about it."""
        tool = TOOLS.get(params.name)
        if tool is None:
            return _told(f"There is no tool {params.name[:80]!r}: {', '.join(TOOLS)}.", wrong=True)
        caller = agent(visitor_of(context), channel_of(context))
        try:
            given = understood(tool.params, params.arguments or {}, strict=False)
            desk = replace(self._desk, workspace=workspace_of(context))
            told = _told(await tool.act(desk, given, caller))
            log.debug("mcp.called", tool=tool.name, by=str(caller))
            return told
        except SessionsError as error:
            said = error.plain if isinstance(error, NoSession) else str(error)
            log.info("mcp.refused", tool=tool.name, by=str(caller), why=said)
            return _told(said, wrong=True)
        except Exception:
            log.exception("mcp.failed", tool=tool.name)
            return _told("That went wrong on our side. The log says more.", wrong=True)


class _HandedOn(Response):
    """The answer is mcp's. It comes after `Entrance` is done, so the cause is said anew."""

    def __init__(self, handle: Callable[[Scope, Receive, Send], Awaitable[None]], body: bytes):
        super().__init__()
        self._handle = handle
        self._read = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with because(f"{KIND}#{request_id_of(scope)}"):
            await self._handle(scope, _again(self._read, receive), send)


def _without(scope: Scope, header: bytes) -> None:
    scope["headers"] = [(name, value) for name, value in scope["headers"] if name != header]


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever follows."""
    unread = [body]

    async def receiving() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return receiving


async def _nothing_more() -> Message:
    return {"type": "http.disconnect"}


async def _unheard(_message: Message) -> None:
    pass


def _user(visitor: Visitor) -> AuthenticatedUser:
    return AuthenticatedUser(
        AccessToken(token="", client_id=visitor.token or OWNER, scopes=[visitor.role.value])
    )


def _unsupported(version: str) -> Response:
    error = {
        "code": types.UNSUPPORTED_PROTOCOL_VERSION,
        "message": "This server wants a handshake: begin with initialize.",
        "data": {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version[:80]},
    }
    return Answer({"jsonrpc": "2.0", "id": None, "error": error}, status_code=400)


def _told(text: str, *, wrong: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=wrong)
