"""The chat on the wire: what arrives is what was sent."""

from __future__ import annotations

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from claude_sessions import frames
from claude_sessions.approvals.preview import Preview
from claude_sessions.channel import Action, Card, Kind, Notification, Question
from claude_sessions.commands import Reply
from claude_sessions.model import AskKind, Risk

texts = st.text(max_size=20)
many = st.lists(texts, max_size=3).map(tuple)
actions = st.lists(
    st.builds(Action, label=texts, line=texts, needs_text=st.booleans(), row=texts), max_size=3
).map(tuple)
previews = st.builds(
    Preview,
    title=texts,
    body=texts,
    kind=st.sampled_from(["command", "diff", "plan"]),
    language=texts,
    summary=texts,
    note=texts,
    added=st.integers(0, 99),
    hidden=st.booleans(),
)
questions = st.builds(Question, text=texts, options=many, descriptions=many, multi=st.booleans())
cards = st.builds(
    Card,
    approval_id=texts,
    kind=st.sampled_from(AskKind),
    tool_name=texts,
    risk=st.sampled_from(Risk),
    risk_reasons=many,
    directory=texts,
    preview=previews,
    questions=st.lists(questions, max_size=2).map(tuple),
    decided=texts,
)
notifications = st.builds(
    Notification,
    kind=st.sampled_from(Kind),
    session=st.none() | texts,
    name=texts,
    text=texts,
    final=st.booleans(),
    foreground=st.booleans(),
    actions=actions,
    card=st.none() | cards,
    key=texts,
    seq=st.integers(0, 2**53),
    turn=st.none() | texts,
    began=st.none() | st.datetimes(timezones=st.just(UTC)),
    seconds=st.none() | st.floats(0, 1e9),
    urgent=st.booleans(),
)
json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
replies = st.builds(
    Reply,
    text=texts,
    data=st.dictionaries(texts, json, max_size=3),
    session=st.none() | texts,
    actions=actions,
    narrow=texts,
    again=texts,
    card=st.none() | notifications,
)
any_frame = st.one_of(
    st.builds(frames.Hello, channel=texts, caller=texts, version=texts),
    st.builds(frames.Answer, id=st.integers(0, 2**53), reply=replies, error=texts),
    st.builds(frames.Missed, reply=replies),
    st.builds(frames.Sent, ref=texts, notification=notifications),
    st.builds(frames.Edited, ref=texts, notification=notifications),
)


@given(any_frame)
def test_a_frame_is_read_as_it_was_written(frame: frames.Frame) -> None:
    assert frames.read_frame(frames.frame_json(frame)) == frame


@given(line=st.text(), id=st.integers(0, 2**53))
def test_a_line_is_read_as_it_was_typed(line: str, id: int) -> None:
    said = frames.Said(line=line, id=id)
    assert frames.read_said(frames.said_json(said).encode()) == said


@given(st.binary(max_size=50) | json.map(lambda value: str(value).encode()))
def test_whatever_else_a_client_sends_is_no_line(text: bytes) -> None:
    said = frames.read_said(text)
    assert said is None or isinstance(said, frames.Said)


def test_what_a_newer_daemon_says_is_passed_over() -> None:
    assert frames.read_frame('{"confetti": {}}') is None
    assert frames.read_frame('{"send": {"ref": "1", "notification": {"kind": "confetti"}}}') is None
    more = '{"hello": {"channel": "c", "caller": "me", "version": "2", "colour": "red"}}'
    assert frames.read_frame(more) == frames.Hello(channel="c", caller="me", version="2")
