"""An MCP server on loopback that lets nobody in without a login, and the place to log in at."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

CODE = "code-of-the-login-0123456789"
TOKEN = "token-of-the-login-0123456789"


@contextmanager
def guarded_server() -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def where_the_browser_ends(address: str, code: str = CODE) -> str:
    """Somebody has logged in at this address."""
    asked = parse_qs(urlsplit(address).query)
    return f"{asked['redirect_uri'][0]}?code={code}&state={asked['state'][0]}"


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass

    @property
    def base(self) -> str:
        return f"http://{self.headers['Host']}"

    def do_GET(self) -> None:
        if "oauth-protected-resource" in self.path:
            self.say(200, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base]})
        elif "oauth-authorization-server" in self.path or "openid" in self.path:
            self.say(200, self.places())
        else:
            self.say(405, {})

    def places(self) -> dict[str, Any]:
        return {
            "issuer": self.base,
            "authorization_endpoint": f"{self.base}/authorize",
            "token_endpoint": f"{self.base}/token",
            "registration_endpoint": f"{self.base}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.path == "/register":
            self.say(201, {**json.loads(body), "client_id": "client"})
        elif self.path == "/token":
            self.give_token(parse_qs(body.decode()))
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            metadata = f"{self.base}/.well-known/oauth-protected-resource"
            self.say(401, {}, f'Bearer resource_metadata="{metadata}"')
        else:
            self.answer(json.loads(body))

    def give_token(self, form: dict[str, list[str]]) -> None:
        if form.get("code") == [CODE]:
            self.say(200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
        else:
            self.say(400, {"error": "invalid_grant"})

    def answer(self, request: dict[str, Any]) -> None:
        if "id" not in request:
            return self.say(202, {})
        result: dict[str, Any] = {"tools": []}
        if request["method"] == "initialize":
            result = {
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"},
            }
        return self.say(200, {"jsonrpc": "2.0", "id": request["id"], "result": result})

    def say(self, code: int, body: object, challenge: str = "") -> None:
        content = json.dumps(body).encode()
        self.send_response(code)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
