"""A chat as a channel, told again after a restart from anywhere in the log: it shows each once."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.approvals.preview import preview
from claude_sessions.channel import Card, Kind, Notification
from claude_sessions.clock import SystemClock
from claude_sessions.model import AskKind, Risk
from claude_sessions.telegram.channel import TelegramChannel
from claude_sessions.telegram.outbox import Outbox
from tests.botapi import BotApi, Person
from tests.telegram.post import ADA, outbox_in, texts, waiting
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def ada(api: BotApi) -> Person:
    return api.person(ADA.chat, "Ada")


def news(kind: Kind, seq: int, text: str = "", **more: object) -> Notification:
    given = {"key": f"event:{seq}", "turn": "t1", **more}
    return Notification(kind=kind, session="s1", name="maker", text=text, seq=seq, **given)  # type: ignore[arg-type]


def card(seq: int, decided: str = "") -> Notification:
    asked = Card(
        approval_id="a1",
        kind=AskKind.TOOL,
        tool_name="Bash",
        risk=Risk.LOW,
        risk_reasons=(),
        directory="/srv",
        preview=preview("Bash", {"command": "touch made"}, "/srv"),
        decided=decided,
    )
    return news(Kind.CARD, seq, decided, key="card:a1", card=asked, final=bool(decided))


STORY = (
    news(Kind.WORKING, 1),
    news(Kind.STREAM, 2, "I begin."),
    card(3),
    card(4, "✅ Allowed"),
    news(Kind.STREAM, 5, "I am done."),
    news(Kind.WAITING, 6, "maker · 0:01", seconds=1.0),
    news(Kind.CURTAIN, 6),
)
SHOWN = ["I begin.", "✅ Allowed", "I am done.\n\nmaker · 0:01"]


async def told(outbox: Outbox, first: int, last: int = len(STORY)) -> None:
    channel = TelegramChannel(ADA, outbox, clock=SystemClock())
    for notification in STORY[first:last]:
        await channel.send(notification)
    await eventually(lambda: not [letter for letter in waiting(outbox) if not letter.open])


@pytest.mark.parametrize("again", range(len(STORY)))
async def test_what_is_told_again_from_anywhere_is_shown_once(
    tmp_path: Path, api: BotApi, again: int
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await told(outbox, 0)
        await told(outbox, again)
        assert texts(api)[:3] == SHOWN


@pytest.mark.parametrize("killed", range(2, len(STORY)))
async def test_what_was_cut_off_anywhere_goes_on_where_it_was(
    tmp_path: Path, api: BotApi, killed: int
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        await told(outbox, 0, killed)
        await told(outbox, killed - 1)
        await eventually(lambda: texts(api) == SHOWN)
        assert not any(message.buttons for message in api.chat(ADA.chat).of_bot)


async def test_the_end_of_a_block_that_comes_after_its_card_stands_above_it(
    tmp_path: Path, api: BotApi
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        channel = TelegramChannel(ADA, outbox, clock=SystemClock())
        await channel.send(STORY[0])
        block = await channel.send(news(Kind.STREAM, 1, "I beg", final=False))
        await channel.send(card(3))
        await channel.edit(block, news(Kind.STREAM, 4, "I begin."))
        await channel.send(card(5, "✅ Allowed"))
        for notification in STORY[4:]:
            await channel.send(notification)
        await eventually(lambda: texts(api) == SHOWN)


async def test_the_end_of_one_turn_does_not_cut_the_next_one_short(
    tmp_path: Path, api: BotApi
) -> None:
    async with outbox_in(tmp_path, api) as outbox:
        channel = TelegramChannel(ADA, outbox, clock=SystemClock())
        for notification in STORY:
            await channel.send(notification)
        await channel.send(news(Kind.WORKING, 7, turn="t2"))
        await channel.send(news(Kind.STREAM, 8, "More", turn="t2", final=False))
        again = TelegramChannel(ADA, outbox, clock=SystemClock())
        for notification in STORY:
            await again.send(notification)
        await again.send(news(Kind.WORKING, 7, turn="t2"))
        await again.send(news(Kind.STREAM, 9, "More of it.", turn="t2"))
        await again.send(news(Kind.CURTAIN, 10, turn="t2"))
        await eventually(lambda: not waiting(outbox))
        assert texts(api) == [*SHOWN, "More of it."]
