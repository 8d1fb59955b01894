"""The terminal door: a chat over a WebSocket, as a client of the daemon has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from claude_sessions import frames
from claude_sessions.agreed import LONGEST
from claude_sessions.channel import Kind
from claude_sessions.demo import Gate, Script, bash, say
from claude_sessions.model import Role
from tests.gateway.port import Port
from tests.waiting import eventually

PATIENCE = 20.0


class Talk:
    """A client at the door, and all it was told."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.heard: list[frames.Frame] = []
        self._asked = 0

    async def until(self, holds: Callable[[Any], bool]) -> Any:
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = frames.read_frame(await self.connection.recv())
                assert frame is not None
                self.heard.append(frame)
                if holds(frame):
                    return frame

    async def types(self, *lines: str) -> None:
        for line in lines:
            self._asked += 1
            await self.connection.send(frames.said_json(frames.Said(line=line, id=self._asked)))

    async def says(self, line: str) -> frames.Answer:
        await self.types(line)
        answer: frames.Answer = await self.until(
            lambda frame: isinstance(frame, frames.Answer) and frame.id == self._asked
        )
        return answer

    async def told(self, kind: Kind) -> frames.Sent:
        sent: frames.Sent = await self.until(
            lambda frame: isinstance(frame, frames.Sent) and frame.notification.kind is kind
        )
        return sent


@asynccontextmanager
async def talking(port: Port, query: str = "", *, token: str | None = None) -> AsyncIterator[Talk]:
    headers = {"Authorization": f"Bearer {token or port.token}"}
    async with connect(f"{port.ws}/terminal{query}", additional_headers=headers) as connection:
        yield Talk(connection)


async def test_lines_are_answered_in_their_order_under_their_ids(port: Port) -> None:
    async with talking(port) as talk:
        hello = await talk.until(lambda frame: isinstance(frame, frames.Hello))
        assert (hello.channel, hello.caller) == ("terminal|terminal", "owner (terminal)")
        await talk.types("/new --name one hello", "/nonsense", "/kill one")
        await talk.until(lambda frame: getattr(frame, "id", 0) == 3)
    answers = [frame for frame in talk.heard if isinstance(frame, frames.Answer)]
    assert [answer.id for answer in answers] == [1, 2, 3]
    assert [answer.error for answer in answers] == ["", "VALIDATION_ERROR", ""]
    assert answers[0].reply.actions
    assert "I do not know /nonsense" in answers[1].reply.text


async def test_an_error_comes_with_what_can_be_done_about_it(port: Port) -> None:
    async with talking(port) as talk:
        answer = await talk.says("nobody is in front")
    assert answer.error == "VALIDATION_ERROR"
    assert [action.label for action in answer.reply.actions] == ["Start one with this"]


async def test_a_session_is_watched_live_and_its_question_answered(
    port: Port, script: Script
) -> None:
    script.on("make it", say("One moment."), bash("touch made"), say("It is made."))
    async with talking(port) as talk:
        await talk.says("/new --fg --name maker Please make it")
        card = (await talk.told(Kind.CARD)).notification
        assert card.card is not None
        await talk.says(f"/allow {card.card.approval_id}")
        await talk.told(Kind.WAITING)
    words = [f.notification.text for f in talk.heard if isinstance(f, frames.Sent | frames.Edited)]
    assert "One moment." in words
    assert "It is made." in words


async def test_leaving_ends_nothing_and_keeps_the_place(port: Port, script: Script) -> None:
    gate = Gate()
    script.on("work", say("One ", gate, "two."))
    store = port.daemon.log.store
    async with talking(port) as talk:
        answer = await talk.says("/new --fg --name busy work")
        await gate.reached(timeout=PATIENCE)
        assert store.fronts("terminal|terminal") == [answer.reply.session]
    await eventually(lambda: not store.fronts("terminal|terminal"))
    gate.open()
    await port.chat.idle("busy")
    async with talking(port) as talk:
        back = await talk.says("/fg busy")
    assert back.reply.data["missed"] == ["One two."]


async def test_a_second_terminal_of_that_name_gets_another_and_hears_of_the_first(
    port: Port,
) -> None:
    async with talking(port, "?name=desk") as first, talking(port, "?name=desk") as second:
        hello = await second.until(lambda frame: isinstance(frame, frames.Hello))
        assert hello.channel == "terminal|desk-2"
        await first.says("/new --name shared hello")
        await port.chat.idle("shared")
        await second.says("/fg shared")
        await first.says("/kill shared")
        await second.told(Kind.KILLED)


async def test_a_name_is_free_again_once_its_terminal_is_gone(port: Port) -> None:
    for _ in range(2):
        async with talking(port, "?name=desk") as talk:
            hello = await talk.until(lambda frame: isinstance(frame, frames.Hello))
            assert hello.channel == "terminal|desk"
        await eventually(lambda: "terminal|desk" not in attached(port))


def attached(port: Port) -> list[str]:
    tasks = (task.get_name() for task in asyncio.all_tasks())
    return [name.removeprefix("channel:") for name in tasks if name.startswith("channel:")]


@pytest.mark.parametrize("query", ["?name=../x", "?name=a%7Cb", "?name=" + "x" * 41])
async def test_a_name_that_is_none_is_refused(query: str, port: Port) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with talking(port, query):
            pass
    assert refused.value.response.status_code == 400


async def test_without_a_good_token_the_door_stays_shut(port: Port) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with talking(port, token="x" * 40):
            pass
    assert refused.value.response.status_code == 401


async def test_a_viewer_may_watch_and_no_more(port: Port) -> None:
    token = await port.scoped(Role.VIEWER)
    async with talking(port, token=token) as talk:
        assert (await talk.says("/sessions")).error == ""
        refused = await talk.says("/new do something")
        assert refused.error == "FORBIDDEN"
        assert "You may not start sessions" in refused.reply.text


async def test_what_is_no_line_is_refused_and_the_next_line_is_heard(port: Port) -> None:
    async with talking(port) as talk:
        for junk in ("", "[", '{"line": 3}', b"\xff\x00"):
            await talk.connection.send(junk)
        assert (await talk.says("/sessions")).error == ""
    errors = [frame.error for frame in talk.heard if isinstance(frame, frames.Answer)]
    assert errors == ["VALIDATION_ERROR"] * 4 + [""]


async def test_too_long_a_line_ends_the_connection_and_nothing_else(port: Port) -> None:
    async with talking(port) as talk:
        with pytest.raises(ConnectionClosed) as ended:
            await talk.says("x" * (LONGEST + 1))
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 1009
    async with talking(port) as talk:
        assert (await talk.says("/sessions")).error == ""


async def test_a_revoked_token_ends_the_chat(port: Port) -> None:
    token = await port.scoped(Role.ADMIN, name="mine")
    async with talking(port, token=token) as talk:
        await talk.says("/sessions")
        await port.chat.daemon.pool.tokens.revoke("mine", "owner")
        with pytest.raises(ConnectionClosed) as ended:
            await talk.told(Kind.CARD)
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 4401


async def test_a_terminal_that_the_router_cut_is_told_so(port: Port) -> None:
    async with talking(port) as talk:
        await talk.says("/sessions")
        await port.daemon.router.detach("terminal|terminal")
        with pytest.raises(ConnectionClosed) as ended:
            await talk.told(Kind.CARD)
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 1013


async def test_whoever_only_watches_is_not_told_what_they_have_missed(port: Port) -> None:
    async with talking(port, "?watch=1") as talk:
        await talk.says("/sessions")
    assert port.daemon.pool.attention.presence.of("owner") is None
