"""What goes wrong around a bot: each is handled, said once, and over when it is over."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, say
from claude_sessions.eventlog import EventLog
from tests.botapi import BotApi, Person, status
from tests.telegram.phone import PROMPTER, Phone, phone_of
from tests.telegram.post import BOT
from tests.waiting import eventually


def said(person: Person, text: str) -> int:
    return sum(text in message.text for message in person.chat.of_bot)


async def test_bots_are_not_heard_and_not_spoken_of(phone: Phone) -> None:
    robot = phone.api.person(700, "Robo", is_bot=True)
    await robot.says("/sessions")
    await phone.owner.says("/sessions")
    await phone.owner.chat.shows("No sessions")
    assert robot.chat.of_bot == []
    assert said(phone.owner, "Robo") == 0


async def test_whoever_polls_with_our_token_is_reported_to_the_owner_once(phone: Phone) -> None:
    for number in range(2):
        phone.api.fail("getUpdates", how=status(409))
        await phone.owner.says("/sessions")
        await eventually(lambda: said(phone.owner, "No sessions") == number + 1)  # noqa: B023
    await phone.owner.chat.shows("⚠️ Another program polls with this bot's token.")
    assert said(phone.owner, "Another program") == 1


async def test_a_group_that_threw_the_bot_out_gets_what_waited_when_it_lets_it_in(
    script: Script, phone: Phone
) -> None:
    gate, team = Gate(), phone.api.group(-100500, "Team", members=[phone.owner])
    script.on("work", say("I begin."), gate, say("I am done."))
    await phone.owner.says("/new --fg --name first work", chat=team)
    await team.shows("I begin.", timeout=20)
    phone.api.kick(team)
    gate.open()
    await phone.owner.chat.shows("I cannot write to the chat -100500", timeout=20)
    phone.api.let_in(team)
    await team.shows("I am done.", timeout=20)
    await team.shows("context", timeout=20)
    assert said(phone.owner, "I cannot write") == 1


async def test_a_group_where_the_bot_may_not_write_gets_what_waited_when_it_may(
    phone: Phone,
) -> None:
    team = phone.api.group(-100500, "Team", members=[phone.owner])
    phone.api.mute(team)
    await phone.owner.says("/sessions", chat=team)
    await phone.owner.chat.shows("Not enough rights")
    phone.api.unmute(team)
    await phone.owner.says("/projects", chat=team)
    await team.shows("No sessions")
    assert said(phone.owner, "I cannot write") == 1


async def test_a_person_who_blocked_the_bot_and_comes_back_has_missed_nothing(
    script: Script, phone: Phone
) -> None:
    gate, pat = Gate(), phone.api.person(PROMPTER, "Pat")
    script.on("work", say("I begin."), gate, say("I am done."))
    await pat.says("/new --fg --name first work")
    await pat.chat.shows("I begin.", timeout=20)
    phone.api.block(pat)
    gate.open()
    await phone.owner.chat.shows("blocked by the user", timeout=20)
    phone.api.unblock(pat)
    await pat.chat.shows("I am done.", timeout=20)
    await eventually(lambda: "Stop" not in pat.chat.button_labels()[3:], 20)


async def test_a_token_that_is_revoked_leaves_the_rest_of_the_daemon_alone(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    api.revoke_token()
    async with phone_of(sandbox, workdir, api) as phone:
        caller = phone.daemon.local_caller("terminal", "terminal")
        reply = await phone.daemon.hear("/new --name first hello", caller)
        assert "first" in reply.text


async def test_what_telegram_missed_is_shown_once_it_is_back(
    script: Script, model: ScriptedModel, phone: Phone
) -> None:
    gate = Gate()
    script.on("work", say("I begin."), gate, say("I am done."))
    await phone.owner.says("/new --fg --name first work")
    await phone.owner.chat.shows("I begin.", timeout=20)
    await phone.api.goes_down()
    gate.open()
    await eventually(lambda: phone.daemon.manager.live()[0].turn is None, 20)
    await phone.api.comes_back()
    await phone.owner.chat.shows("I am done.", timeout=20)
    await phone.owner.chat.shows("context", timeout=20)
    assert said(phone.owner, "I am done.") == 1
    assert model.prompts() == ["work"]


async def test_an_update_that_nobody_can_read_does_not_keep_the_door_shut(
    sandbox: Sandbox, workdir: Path, api: BotApi
) -> None:
    async with phone_of(sandbox, workdir, api):
        pass
    async with EventLog(sandbox.root / "state" / "log.db", runner="r1") as log:
        raw = [(5, '{"update_id": 5, "message": {}}'), (6, '{"update_id": 6, "callback_query": 1}')]
        await log.change(lambda store: store.mail.take_in(BOT, raw, at=0.0, head=0))
    async with phone_of(sandbox, workdir, api) as phone:
        await phone.owner.says("/sessions")
        await phone.owner.chat.shows("No sessions")
        assert phone.daemon.log.store.mail.unfinished(BOT) == []


async def test_a_turn_that_went_to_the_back_and_forth_again_is_shown_below(
    script: Script, phone: Phone
) -> None:
    gate, later = Gate(), Gate()
    script.on("work", say("I begin. ", gate, "I go on. ", later, "I am done."))
    await phone.owner.says("/new --fg --name first work")
    first = await phone.owner.chat.shows("I begin.", timeout=20)
    await phone.owner.says("/bg first")
    await eventually(lambda: not first.buttons, 20)
    await phone.owner.says("/fg first")
    gate.open()
    second = await phone.owner.chat.shows(lambda m: "I go on." in m.text and m.buttons, timeout=20)
    assert second.id > first.id
    later.open()
    await phone.owner.chat.shows("I am done.", timeout=20)
    await eventually(lambda: "Stop" not in second.button_labels, 20)
