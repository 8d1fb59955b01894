"""How the bot says it stands."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions.telegram.health import BotHealth, ChatHealth, report

OWNER = ChatHealth(chat=1001, waiting=0, budget="3 of 3 now, 1 a second", room=3)
WELL = BotHealth(polled=3.0, trouble=None, waiting=0, oldest=None, chats=[OWNER])
NAMES = {1001: "owner"}


def told(bot: BotHealth) -> tuple[bool, list[str]]:
    made = report(bot, lambda chat: NAMES.get(chat, f"chat {chat}"))
    return made.ok, list(made.lines)


def test_all_is_well() -> None:
    assert told(WELL) == (
        True,
        [
            "Telegram: polled 3 s ago",
            "  nothing waits to be sent",
            "  owner: room for 3 of 3 now, 1 a second",
        ],
    )


def test_a_poll_that_is_stale_is_marked_and_explained() -> None:
    why = "Another program polls with this bot's token. I wait until it stops."
    ok, lines = told(replace(WELL, polled=300.0, trouble=why))
    assert not ok
    assert lines[:2] == ["⚠️ Telegram: polled 5 min ago", f"  {why}"]
    assert told(replace(WELL, polled=None))[1][0] == "⚠️ Telegram: not polled yet"


def test_what_waits_long_is_marked_what_waits_a_moment_is_not() -> None:
    ok, lines = told(replace(WELL, waiting=2, oldest=300.0))
    assert (ok, lines[1]) == (False, "  ⚠️ 2 messages to send, the oldest 5 min")
    ok, lines = told(replace(WELL, waiting=1, oldest=2.0))
    assert (ok, lines[1]) == (True, "  1 message to send, the oldest 2 s")


def test_chats_that_cannot_be_reached_come_first_and_a_phone_is_not_flooded() -> None:
    gone = ChatHealth(chat=-100500, waiting=2, budget="", room=0, unreachable="bot was kicked")
    ok, lines = told(replace(WELL, chats=[*[OWNER] * 8, gone]))
    assert not ok
    assert lines[2] == "  ⚠️ chat -100500: cannot be reached (bot was kicked) · 2 to send"
    assert lines[-1] == "  … and 3 more chats"
