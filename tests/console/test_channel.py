"""What a person sees in the terminal."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from claude_sessions.approvals.preview import preview
from claude_sessions.cards import GIVEN
from claude_sessions.channel import SEEN, Action, Card, ChannelClosed, Kind, Notification, Question
from claude_sessions.commands import Reply
from claude_sessions.console import ConsoleChannel, Screen
from claude_sessions.model import AskKind, Risk
from tests.console.terminals import Person, at_a_terminal, at_pipes, screen_of

LONG = "This sentence belongs to {} and to nobody else. "


@pytest.fixture(params=["terminal", "pipe"])
async def person(request: pytest.FixtureRequest) -> AsyncIterator[Person]:
    async with (at_a_terminal if request.param == "terminal" else at_pipes)() as somebody:
        yield somebody


@pytest.fixture
async def channel(person: Person) -> AsyncIterator[ConsoleChannel]:
    async with screen_of(person) as screen:
        screen.prompt("> ")
        yield ConsoleChannel(screen)


def stream(text: str, *, name: str = "fix-auth", final: bool = False) -> Notification:
    return Notification(kind=Kind.STREAM, session=name, name=name, text=text, final=final)


def tell(text: str, kind: Kind = Kind.NOTICE, actions: tuple[Action, ...] = ()) -> Notification:
    return Notification(kind=kind, session="fix-auth", name="fix-auth", text=text, actions=actions)


def question(*options: str, descriptions: tuple[str, ...] = ()) -> Notification:
    asked = {"questions": [{"question": "Which?", "options": [{"label": o} for o in options]}]}
    card = Card(
        approval_id="q1",
        kind=AskKind.QUESTION,
        tool_name="AskUserQuestion",
        risk=Risk.LOW,
        risk_reasons=(),
        directory="/web",
        preview=preview("AskUserQuestion", asked, "/web"),
        questions=(Question(text="Which?", options=options, descriptions=descriptions),),
    )
    actions = tuple(Action(label=o, line=f"/answer q1 {n}") for n, o in enumerate(options, 1))
    return replace(tell("❓ fix-auth asks\nWhich?\n1. a", Kind.CARD, actions), card=card)


async def test_an_answer_stands_under_its_sessions_name_once(
    person: Person, channel: ConsoleChannel
) -> None:
    ref = await channel.send(stream("I found"))
    for text in (
        "I found it:",
        "I found it: the cookie.\n\nIt is",
        "I found it: the cookie.\n\nIt is",
    ):
        await channel.edit(ref, stream(text))
    await channel.edit(ref, stream("I found it: the cookie.\n\nIt is cleared.", final=True))
    await person.until("It is cleared.")
    assert [line for line in person.display.lines if line and line != ">"] == [
        "fix-auth",
        "I found it: the cookie.",
        "It is cleared.",
    ]


async def test_two_sessions_that_speak_at_once_never_share_a_line(
    person: Person, channel: ConsoleChannel
) -> None:
    texts = {name: "\n\n".join([LONG.format(name) * 4] * 3) for name in ("fix-auth", "docs")}
    refs = {name: await channel.send(stream(text[:9], name=name)) for name, text in texts.items()}
    for end in range(20, 620, 20):
        for name, text in texts.items():
            await channel.edit(refs[name], stream(text[:end], name=name))
    for name, text in texts.items():
        await channel.edit(refs[name], stream(text, name=name, final=True))
    await channel.send(tell("The end."))
    await person.until("The end.")
    speaker = ""
    for line in person.display.lines:
        speaker = line if line in texts else speaker
        assert not ("to fix-auth" in line and "to docs" in line)
        if "belongs" in line:
            assert speaker
            assert "to docs" not in line or speaker == "docs"
            assert "to fix-auth" not in line or speaker == "fix-auth"
    whole = " ".join(person.sees.split())
    assert all(whole.count(f"belongs to {name}") == 12 for name in texts)


async def test_a_quiet_last_line_may_have_choices_right_under_it(
    person: Person, channel: ConsoleChannel
) -> None:
    actions = (Action(label="Diff", line="/diff x"), Action(label="Undo turn", line="/undo x"))
    await channel.send(stream("There it is.", final=True))
    await channel.send(tell("fix-auth · 0:04 · 1 file +1 −0", Kind.WAITING, actions))
    await person.until("Undo turn")
    lines = person.display.lines
    start = lines.index("There it is.")
    assert [line.rstrip() for line in lines[start + 1 : start + 3]] == [
        "fix-auth · 0:04 · 1 file +1 −0",
        "  [1] Diff   [2] Undo turn",
    ]
    found = channel.choices.find(2, seen=channel.choices.stamp)
    assert found is not None
    assert found.action(2) == actions[1]


async def test_tool_lines_stand_with_the_words_around_them(
    person: Person, channel: ConsoleChannel
) -> None:
    await channel.send(stream("Let me look.", final=True))
    await channel.send(tell("🔧 Read — a.ts", Kind.TOOL))
    await channel.send(stream("There it is.", final=True))
    await channel.send(tell("fix-auth · 0:04 · $0.02", Kind.WAITING))
    await person.until("$0.02")
    lines = person.display.lines
    start = lines.index("fix-auth")
    assert lines[start : start + 6] == [
        "fix-auth",
        "Let me look.",
        "🔧 Read — a.ts",
        "",
        "There it is.",
        "fix-auth · 0:04 · $0.02",
    ]


async def test_escape_sequences_do_nothing(person: Person, channel: ConsoleChannel) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\x9b1A\rgone"
    await channel.send(stream(f"{evil} one", final=True))
    await channel.send(tell(f"{evil} two", actions=(Action(label=evil, line="/x"),)))
    await channel.send(question(evil, descriptions=(evil,)))
    await channel.reply(Reply(text=f"{evil} three"))
    await person.until("three")
    assert person.display.unknown == []
    assert "owned" in person.sees
    assert "\x1b]" not in person.raw
    assert "\x1b[2J" not in person.raw


async def test_without_a_terminal_there_are_no_escape_codes() -> None:
    async with at_pipes() as person, screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        ref = await channel.send(stream("**Bold** and `code`"))
        await channel.edit(ref, stream("**Bold** and `code`.", final=True))
        await channel.send(tell("🔧 Bash — ls", Kind.TOOL))
        await channel.send(question("a", "b"))
        await person.until("[2] b")
        assert "\x1b" not in person.raw
        assert "**Bold** and `code`." in person.sees


async def test_on_a_terminal_markdown_is_rendered() -> None:
    async with at_a_terminal() as person, screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        await channel.send(stream("# Title\n\n**Bold** and `code`\n\n- item", final=True))
        await person.until("item")
        assert "Bold and code" in person.sees
        assert " • item" in person.sees
        assert "\x1b[1m" in person.raw


async def test_a_card_is_asked_with_numbers(person: Person, channel: ConsoleChannel) -> None:
    await channel.send(question("cookie", "localStorage", descriptions=("safe", "")))
    await person.until("localStorage")
    lines = person.display.lines
    start = lines.index("❓ fix-auth asks")
    assert lines[start : start + 4] == [
        "❓ fix-auth asks",
        "Which?",
        "  [1] cookie — safe",
        "  [2] localStorage",
    ]


async def test_an_outcome_is_printed_and_then_only_what_is_new(
    person: Person, channel: ConsoleChannel
) -> None:
    asked = question("a")
    assert asked.card is not None
    ref = await channel.send(asked)
    for outcome in ("✅ Answered by me 14:03: a", "✅ Answered by me 14:03: a · given to Claude"):
        card = replace(asked.card, decided=outcome)
        await channel.edit(ref, replace(asked, text=f"{outcome}\nfix-auth: Which?", card=card))
    await person.until("given to Claude")
    assert person.sees.count("Answered by me") == 1
    assert "fix-auth: given to Claude" in person.display.lines
    assert channel.choices.find(1, seen=channel.choices.stamp) is None


async def test_a_result_that_was_seen_adds_no_line(person: Person, channel: ConsoleChannel) -> None:
    asked = question("a")
    assert asked.card is not None
    ref = await channel.send(asked)
    for more in ("", GIVEN, GIVEN + SEEN):
        card = replace(asked.card, decided=f"✅ Answered by me 14:03: a{more}")
        await channel.edit(ref, replace(asked, text=f"{card.decided}\nfix-auth: Which?", card=card))
    await channel.send(tell("The end."))
    await person.until("The end.")
    lines = person.display.lines
    start = lines.index("fix-auth: given to Claude")
    assert lines[start : start + 3] == ["fix-auth: given to Claude", "", "The end."]
    assert "result seen" not in person.sees


async def test_words_that_do_not_fill_a_line_yet_are_seen_below(person: Person) -> None:
    async with at_a_terminal() as person, screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        screen.prompt("> ")
        ref = await channel.send(stream("I am about to"))
        await person.until("fix-auth: I am about to")
        await channel.edit(ref, stream("I am about to say it.", final=True))
        await person.until("I am about to say it.")
        assert "fix-auth: I am" not in person.sees


async def test_a_decision_taken_here_is_said_once(person: Person, channel: ConsoleChannel) -> None:
    asked = question("a")
    assert asked.card is not None
    ref = await channel.send(asked)
    await channel.reply(Reply(text="fix-auth: answered.", data={"approvalId": "q1"}))
    await channel.reply(Reply(text="Another one.", data={"approvalId": "q2"}))
    card = replace(asked.card, decided="✅ Answered by me 14:03: a")
    await channel.edit(ref, replace(asked, text=card.decided, card=card))
    await person.until("Answered by me")
    assert "Another one." in person.sees
    assert "answered." not in person.sees


async def test_a_reader_that_is_gone_closes_the_channel() -> None:
    async with at_pipes() as person, screen_of(person) as screen:
        channel = ConsoleChannel(screen)
        person.look_away()
        with pytest.raises(ChannelClosed):
            await channel.send(tell("Anybody?"))


async def test_a_terminal_that_takes_nothing_does_not_stop_the_loop() -> None:
    async with at_pipes() as person:
        os.set_blocking(person.stdout, True)
        async with screen_of(person) as screen:
            person.look_elsewhere()
            screen.print(["x" * 1_000_000])
            pending = screen.print(["y"])
            assert not pending.done()
            person.look_again()
            await pending


async def test_colours_are_left_out_where_nobody_wants_them() -> None:
    master, slave = os.openpty()
    try:
        for environ, wanted in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
            screen = Screen.on(slave, environ)
            assert screen.colour is wanted
            await screen.close()
        dumb = Screen.on(slave, {"TERM": "dumb"})
        assert not dumb.colour
        await dumb.close()
    finally:
        os.close(master)
        os.close(slave)
