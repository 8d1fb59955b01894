"""A command said as a line is read back as the same command."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions.commands import (
    Command,
    Cost,
    Diff,
    GetFile,
    Interrupt,
    Kill,
    Launch,
    ListModels,
    ListModes,
    ListTurns,
    Output,
    Respond,
    Resume,
    SetMode,
    SetModel,
    Sleep,
    Undo,
    Wait,
)
from claude_sessions.commands.chat import parse
from claude_sessions.commands.lines import line_of, line_on
from claude_sessions.model import PermissionMode

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)
names = words.filter(lambda word: bool(word.strip()))
dollars = st.integers(1, 10**9).map(lambda cents: cents / 100)
maybe = st.none() | names
modes = st.none() | st.sampled_from(PermissionMode)


@settings(deadline=None)
@given(
    st.builds(
        Launch,
        prompt=names,
        name=maybe,
        directory=maybe,
        model=maybe,
        mode=modes,
        budget_usd=st.none() | dollars,
        system_prompt=maybe,
        allowed_tools=st.lists(st.sampled_from(["Read", "Bash(git a,b *)", "Edit(x)"])).map(tuple),
        once=st.booleans(),
        foreground=st.booleans(),
        queue=st.booleans(),
    )
)
def test_a_launch(command: Launch) -> None:
    assert parse(line_of(command) or "") == command


@settings(deadline=None)
@given(st.builds(Respond, session=names, text=names, steer=st.booleans(), queue=st.booleans()))
def test_a_message(command: Respond) -> None:
    assert parse(line_of(command) or "") == command


@settings(deadline=None)
@given(
    st.builds(
        Resume,
        session=names,
        prompt=names,
        fork=st.booleans(),
        name=maybe,
        turn=st.none() | st.integers(1, 999),
        budget_usd=st.none() | dollars,
        queue=st.booleans(),
    )
)
def test_a_resume(command: Resume) -> None:
    assert parse(line_of(command) or "") == command


def test_what_no_line_can_say_has_none() -> None:
    assert line_of(Launch(prompt="look", attachments=({"type": "image"},))) is None


@pytest.mark.parametrize(
    "command",
    [
        Output(session="s1", lines=7),
        Output(session="s1", full=True),
        Diff(session="s1", turn=2),
        Undo(session="s1", confirmed=True),
        SetMode(session="s1", mode=PermissionMode.PLAN),
        SetModel(session="s1", model=None),
        SetModel(session="s1", model="opus[1m]"),
        GetFile(session="s1", path="my file.txt"),
        Interrupt(session="s1"),
        Kill(session="s1"),
        Sleep(session="s1"),
        Wait(session="s1"),
        ListTurns(session="s1"),
        Cost(session="s1"),
        ListModes(session="s1"),
        ListModels(session="s1"),
    ],
)
def test_what_may_go_without_a_name_can_be_said_with_it(command: Command) -> None:
    assert parse(line_on(command)) == command
