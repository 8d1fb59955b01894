from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from structlog.testing import capture_logs

from claude_sessions.orchestrator.roads import Roads, environment
from claude_sessions.origins import Address
from tests.orchestrator.counterpart import Recorder, Watched, Webhook, recorder, webhook
from tests.waiting import eventually

ENV = {"PATH": "/usr/bin:/bin"}
TO = Address(channel="discord", account="acct", target="123")


@pytest.fixture
def clock() -> Watched:
    return Watched()


@pytest.fixture
def command(tmp_path: Path) -> Recorder:
    return recorder(tmp_path, "send")


@pytest.fixture
async def hook() -> AsyncIterator[Webhook]:
    async with webhook() as serving:
        yield serving


def roads(clock: Watched, **given: Any) -> Roads:
    return Roads(**{"env": ENV, "clock": clock, **given})


def by(command: Recorder) -> tuple[str, ...]:
    return (str(command.path), "message", "send")


async def retry(clock: Watched, road: asyncio.Task[None]) -> None:
    """The five seconds after its failure pass, and it comes to its end."""
    await eventually(lambda: 5.0 in clock.waits)
    clock.advance(5.0)
    async with asyncio.timeout(15):
        await road


async def test_a_message_is_a_list_of_arguments(clock: Watched, command: Recorder) -> None:
    text = 'Hello\n`$(id)` "it\'s" ; rm -rf ~'
    await roads(clock, message_command=by(command)).message(TO, text)
    head = ["message", "send", "--channel", "discord", "--account", "acct", "--target", "123"]
    assert command.argv == [[*head, "-m", text]]


async def test_an_account_is_left_out_where_there_is_none(
    clock: Watched, command: Recorder
) -> None:
    to = Address(channel="discord", account=None, target="123")
    await roads(clock, message_command=[str(command.path)]).message(to, "Hi")
    assert command.argv == [["--channel", "discord", "--target", "123", "-m", "Hi"]]


async def test_nothing_that_begins_with_a_dash_becomes_a_flag(
    clock: Watched, command: Recorder
) -> None:
    to = Address(channel="-c", account="--all", target="-100")
    path = [str(command.path)]
    given = roads(clock, message_command=path, event_command=path)
    await given.message(to, "--help")
    await given.event("-x")
    assert command.argv == [
        ["--channel=-c", "--account=--all", "--target=-100", "-m", " --help"],
        ["--text", " -x", "--mode", "now"],
    ]


async def test_what_an_argument_cannot_hold_is_left_out(clock: Watched, command: Recorder) -> None:
    await roads(clock, event_command=[str(command.path)]).event("a\0b \ud800 ✅")
    await roads(clock, event_command=[str(command.path)]).event("✅" * 1_000_000)
    assert [argv[1] for argv in command.argv] == ["ab ? ✅", "✅" * 4000]


async def test_a_command_gets_no_secret_of_claude_or_telegram(
    clock: Watched, command: Recorder
) -> None:
    daemon = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "OPENCLAW_STATE_DIR": "/srv/claw",
        "ANTHROPIC_API_KEY": "sk-secret",
        "CLAUDE_CODE_OAUTH_TOKEN": "secret",
        "CLAUDE_SESSIONS__TELEGRAM__TOKEN": "secret",
    }
    given = roads(clock, event_command=[str(command.path)], env=environment(daemon))
    await given.event("hi")
    assert {"PATH", "HOME", "OPENCLAW_STATE_DIR"} <= set(command.calls[0]["env"])
    assert "secret" not in str(command.calls)


async def test_what_fails_is_tried_once_more_after_five_seconds_and_then_logged(
    clock: Watched, command: Recorder
) -> None:
    command.becomes(code=3, says="x" * 100_000 + "\nno gateway")
    with capture_logs() as lines:
        road = asyncio.create_task(roads(clock, event_command=[str(command.path)]).event("secret"))
        await retry(clock, road)
    assert clock.monotonic() == 5.0
    assert len(command.calls) == 2
    (line,) = lines
    assert (line["event"], line["road"]) == ("orchestrator.unreachable", "event")
    assert line["why"].startswith("it ended with 3: ")
    assert len(line["why"]) < 250
    assert "secret" not in str(line)


async def test_a_second_try_that_succeeds_is_nobodys_news(
    clock: Watched, command: Recorder
) -> None:
    command.becomes(code=1)
    with capture_logs() as lines:
        road = asyncio.create_task(roads(clock, event_command=[str(command.path)]).event("hi"))
        await eventually(lambda: 5.0 in clock.waits)
        command.becomes()
        await retry(clock, road)
    assert len(command.calls) == 2
    assert lines == []


async def test_a_command_that_is_not_there_is_logged(clock: Watched, tmp_path: Path) -> None:
    with capture_logs() as lines:
        missing = roads(clock, event_command=[str(tmp_path / "missing")])
        await retry(clock, asyncio.create_task(missing.event("hi")))
    assert "No such file" in lines[0]["why"]


@pytest.mark.parametrize(("road", "seconds"), [("message", 15.0), ("event", 30.0)])
async def test_a_command_that_hangs_is_stopped_at_its_limit_with_its_children(
    clock: Watched, command: Recorder, road: str, seconds: float
) -> None:
    command.becomes(slow=True)
    path = [str(command.path)]
    given = roads(clock, message_command=path, event_command=path)
    sent = asyncio.create_task(given.message(TO, "hi") if road == "message" else given.event("hi"))
    await eventually(lambda: command.calls)
    clock.advance(seconds - 0.1)
    await asyncio.sleep(0)
    first = command.calls[0]
    assert psutil.pid_exists(first["pid"])
    clock.advance(0.1)
    await eventually(lambda: not any(_runs(pid) for pid in (first["pid"], *first["children"])))
    command.becomes()
    await retry(clock, sent)
    assert len(command.calls) == 2


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_who_stops_sending_leaves_no_process_behind(
    clock: Watched, command: Recorder
) -> None:
    command.becomes(slow=True)
    road = asyncio.create_task(roads(clock, event_command=[str(command.path)]).event("hi"))
    await eventually(lambda: command.calls)
    road.cancel()
    await asyncio.wait([road])
    call = command.calls[0]
    await eventually(lambda: not any(_runs(pid) for pid in (call["pid"], *call["children"])))


async def test_the_webhook_is_given_the_text_and_the_mode(clock: Watched, hook: Webhook) -> None:
    await roads(clock, webhook_url=hook.url).wake("✅ done")
    assert hook.calls == [("POST", "/hooks/wake", {"text": "✅ done", "mode": "now"})]


async def test_a_webhook_that_refuses_is_tried_once_more_and_its_address_is_not_logged(
    clock: Watched, hook: Webhook
) -> None:
    hook.status = 401
    with capture_logs() as lines:
        given = roads(clock, webhook_url=f"{hook.url}?token=hush")
        await retry(clock, asyncio.create_task(given.wake("x")))
    assert len(hook.calls) == 2
    assert lines[0]["why"] == "it answered 401"
    assert "hush" not in str(lines)


async def test_a_webhook_that_is_silent_is_left_after_thirty_seconds(
    clock: Watched, hook: Webhook
) -> None:
    hook.silent = True
    with capture_logs() as lines:
        road = asyncio.create_task(roads(clock, webhook_url=hook.url).wake("x"))
        await eventually(lambda: hook.calls)
        clock.advance(30)
        await eventually(lambda: 5.0 in clock.waits)
        clock.advance(5)
        await eventually(lambda: len(hook.calls) == 2)
        clock.advance(30)
        await road
    assert lines[0]["why"] == "no answer in 30 s"


async def test_a_webhook_where_nobody_listens_is_logged(clock: Watched) -> None:
    with capture_logs() as lines:
        road = roads(clock, webhook_url="http://127.0.0.1:9/hooks/wake").wake("x")
        await retry(clock, asyncio.create_task(road))
    assert lines[0]["why"] == "ConnectError"


async def test_what_is_not_configured_is_not_used(
    clock: Watched, command: Recorder, hook: Webhook
) -> None:
    nothing = roads(clock)
    await nothing.message(TO, "x")
    await nothing.event("x")
    await nothing.wake("x")
    await roads(clock, webhook_url=hook.url).event("by the webhook")
    await roads(clock, event_command=[str(command.path)]).wake("by an event")
    assert [body["text"] for *_, body in hook.calls] == ["by the webhook"]
    assert command.argv == [["--text", "by an event", "--mode", "now"]]
