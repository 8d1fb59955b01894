"""Requests for tests that need no server."""

from claude_sessions.demo import Request
from claude_sessions.demo.conversation import Json
from claude_sessions.demo.request import read_request


def request(prompt: str = "hello", *, answers: int = 0, **body: object) -> Request:
    earlier: list[Json] = [{"role": "assistant", "content": "…"}] * answers
    messages = [{"role": "user", "content": prompt}, *earlier]
    given = {"model": "m", "max_tokens": 32000, "stream": True, "messages": messages, **body}
    return read_request(given, {"x-api-key": "secret"}, at=1.0)
