"""A group becomes a supergroup, as it does when its topics are turned on: by another id."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from claude_sessions.demo import Gate, Sandbox, Script, bash, say
from claude_sessions.telegram.address import Address
from tests.botapi import BotApi, Chat, hang
from tests.telegram.phone import OWNER, Phone, phone_of
from tests.telegram.post import outbox_in, waiting, words
from tests.waiting import eventually

OLD, NEW = -500, -100500
Open = Callable[[], AbstractAsyncContextManager[Phone]]


@pytest.fixture
def team(api: BotApi) -> Chat:
    return api.group(OLD, "Team", members=[api.person(OWNER, "Ada")])


@pytest.fixture
def open_phone(sandbox: Sandbox, workdir: Path, api: BotApi) -> Open:
    return partial(phone_of, sandbox, workdir, api)


async def test_the_session_in_front_stays_in_front_also_after_a_restart(
    open_phone: Open, api: BotApi, team: Chat
) -> None:
    async with open_phone() as phone:
        await phone.owner.says("/new --fg --name first hello", team)
        await team.shows("context", timeout=20)
        new = api.migrate(team, NEW, by=phone.owner)
        await phone.owner.says("and here?", new)
        await new.shows("You said: and here?", timeout=20)
    async with open_phone() as phone:
        await phone.owner.says("still?", new)
        await new.shows("You said: still?", timeout=20)
    assert not phone.owner.chat.of_bot


async def test_a_card_is_asked_again_where_people_are_now(
    open_phone: Open, api: BotApi, team: Chat, script: Script, workdir: Path
) -> None:
    script.on("make", bash("touch made"), say("Made."))
    async with open_phone() as phone:
        await phone.owner.says("/new --fg --name maker make", team)
        await team.shows("maker asks", timeout=20)
        new = api.migrate(team, NEW, by=phone.owner)
        card = await new.shows("maker asks", timeout=20)
        press = await phone.owner.presses("Allow", card, new)
        assert "Allowed once by owner" in await press.answered()
        await new.shows("Made.", timeout=20)
        assert (workdir / "made").exists()


async def test_a_message_with_the_number_that_a_card_had_is_left_alone(
    open_phone: Open, api: BotApi, team: Chat, script: Script
) -> None:
    script.on("make", say("I try."), bash("touch made"), say("Made."))
    async with open_phone() as phone:
        await filled(team, phone, upto=10)
        await phone.owner.says("/new --fg --name maker make", team)
        old = await team.shows("maker asks", timeout=20)
        new = api.migrate(team, NEW, by=phone.owner)
        card = await new.shows("maker asks", timeout=20)
        await eventually(lambda: nothing_waits(phone), 20)
        await filled(new, phone, upto=old.id - 2)
        await phone.owner.says("/sessions", new)
        other = await new.shows("1 session")
        assert other.id == old.id
    async with open_phone():
        await new.shows(lambda m: m is card and "No longer asked" in m.text, timeout=20)
        assert "1 session" in other.text


def nothing_waits(phone: Phone) -> bool:
    """For any chat: what is sent from now on is what we cause."""
    (report,) = phone.daemon.pool.health.reports()
    return not report.data["queueDepth"]


async def filled(chat: Chat, phone: Phone, *, upto: int) -> None:
    """With words of somebody who is not answered."""
    stranger = phone.api.person(4711, "Mallory")
    chat.members.add(stranger.id)
    while len(chat.all_messages) < upto:
        await stranger.says("hm", chat)


async def test_who_is_not_told_finds_out_and_loses_nothing(
    open_phone: Open, api: BotApi, team: Chat, script: Script
) -> None:
    gate = Gate()
    script.on("work", say("I begin."), gate, say(" I end."))
    async with open_phone() as phone:
        await phone.owner.says("/new --fg --name first work", team)
        await team.shows("I begin.", timeout=20)
        new = api.migrate(team, NEW)
        gate.open()
        await new.shows("I end.", timeout=20)
        await new.shows("context", timeout=20)
        await phone.owner.says("and here?", new)
        await new.shows("You said: and here?", timeout=20)


async def test_a_message_that_is_not_ours_is_not_taken_for_one_of_the_old_group(
    open_phone: Open, api: BotApi, team: Chat
) -> None:
    async with open_phone() as phone:
        for name in ("one", "two"):
            await phone.owner.says(f"/new --fg --name {name} hello {name}", team)
            await team.shows(f"You said: hello {name}", timeout=20)
        ones = next(m.id for m in team.of_bot if "hello one" in m.text)
        new = api.migrate(team, NEW, by=phone.owner)
        said = await phone.owner.says("/sessions", new)
        while said.id < ones:
            said = await phone.owner.says("/sessions", new)
        await phone.owner.says("which?", new, reply_to=ones)
        shown = await new.shows("You said: which?", timeout=20)
        await new.shows(lambda m: m is shown and "two ·" in m.text, timeout=20)


async def test_a_group_that_becomes_a_forum_gets_topics(
    sandbox: Sandbox, workdir: Path, api: BotApi, team: Chat
) -> None:
    async with phone_of(sandbox, workdir, api, telegram={"topics": "per_session"}) as phone:
        await phone.owner.says("/new --fg --name first hello", team)
        await team.shows("context", timeout=20)
        new = api.migrate(team, NEW, by=phone.owner, forum=True)
        await phone.owner.says("/new --name second again", new)
        shown = await new.shows("You said: again", timeout=20)
        assert [(t.thread, t.name) for t in new.topics.values()] == [(shown.thread, "second")]


@pytest.mark.parametrize("moved_first", [True, False])
async def test_what_was_on_its_way_when_the_group_moved_is_sent_to_the_new_one(
    tmp_path: Path, api: BotApi, team: Chat, moved_first: bool
) -> None:
    api.fail("sendMessage", how=hang(0.5))
    async with outbox_in(tmp_path, api) as outbox:
        new = api.migrate(team, NEW) if moved_first else None
        await outbox.put(Address(OLD), "k", words("Hello"))
        await api.called("sendMessage")
        new = new or api.migrate(team, NEW)
        outbox.migrated(OLD, NEW)
        await new.shows("Hello")
        await eventually(lambda: not waiting(outbox))
        assert outbox.unreachable() == {}
