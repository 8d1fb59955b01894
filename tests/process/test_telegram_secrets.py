"""The bot's token stands in no line of the log, whatever goes wrong and however much is logged."""

from __future__ import annotations

from claude_sessions.demo import Script
from tests.botapi import BotApi, Drop, Person, status
from tests.process.machine import PATIENCE, Machine
from tests.process.test_telegram import api, owner, stopped, wired

__all__ = ["api", "owner", "wired"]


async def test_the_token_never_stands_in_the_log(
    script: Script, wired: Machine, api: BotApi, owner: Person
) -> None:
    for method, fault in (
        *(("getUpdates", fault) for fault in (Drop.BEFORE, status(502))),
        *(
            ("sendMessage", fault)
            for fault in (Drop.AFTER, status(429, retry_after=1), status(400))
        ),
        *(("setMyCommands", fault) for fault in (status(403),)),
        *(("getFile", fault) for fault in (status(404),)),
    ):
        api.fail(method, how=fault)
    api._cloud.updates.add("message", {"message_id": 5})
    async with wired.started(wired.run("--log-level", "debug")) as daemon:
        await owner.sends_document("notes.txt", b"hello", caption="/sessions")
        await owner.says("/sessions")
        await owner.chat.shows("No sessions", timeout=PATIENCE)
        api.revoke_token()
        await api.goes_down()
        await api.comes_back()
        await daemon.says("Telegram no longer accepts")
        await stopped(daemon)
    said = "\n".join(daemon.lines)
    assert "inbox.unreadable" in said
    assert "outbox.undelivered" in said
    assert api.token.partition(":")[2] not in said
