"""What any store of the log must do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_sessions import events as e
from claude_sessions.errors import Conflict
from claude_sessions.model import Reason, Status
from claude_sessions.storage.rows import INLINE, Fact, from_micros, new_uuid, to_facts, to_micros
from claude_sessions.storage.sqlite import Store
from tests.log.words import born, happened, said, texts

NOON = datetime(2026, 5, 4, 12, 0, 0, 123457, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite", runner="runner01") as opened:
        yield opened


def facts(store: Store, *drafts: e.Draft, at: datetime = NOON) -> list[Fact]:
    return to_facts(drafts, at, epoch=store.epoch, runner=store.runner)


def write(store: Store, *drafts: e.Draft, at: datetime = NOON) -> list[e.Event]:
    batch = facts(store, *drafts, at=at)
    assert store.append([batch]) == {}
    return [fact.event for fact in batch]


def test_what_was_written_is_read_back_as_it_was(store: Store) -> None:
    draft = e.Draft(
        payload=e.ToolRequested(tool_name="Bash", tool_use_id="t", input={"command": "ls é"}),
        session="s1",
        project="p1",
        run="r1",
        turn="t1",
        caller="ann|console",
        caused_by="x",
    )
    written = write(store, draft)
    assert store.events(limit=10) == written
    assert written[0].at == NOON
    assert written[0].runner == "runner01"
    assert written[0].epoch == store.epoch


def test_places_are_dense_in_the_log_and_in_each_session(store: Store) -> None:
    write(store, said("a", "s1"), said("b", "s2"), said("c", None))
    written = write(store, said("d", "s1"), said("e", None), said("f", "s2"))
    assert [event.seq for event in written] == [4, 5, 6]
    assert [event.session_seq for event in written] == [2, 0, 2]


def test_places_go_on_after_opening_the_file_again(tmp_path: Path) -> None:
    with Store(tmp_path / "log.sqlite", runner="runner01") as first:
        write(first, said("a"), said("b"))
    with Store(tmp_path / "log.sqlite", runner="runner01") as again:
        (event,) = write(again, said("c"))
        assert (event.seq, event.session_seq) == (3, 3)
        assert again.epoch == first.epoch


@given(st.lists(st.sampled_from(["s1", "s2", None]), max_size=40), st.data())
@settings(max_examples=40, deadline=None)
def test_any_page_is_the_slice_it_should_be(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[str | None], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("store") / "log.sqlite"
    with Store(path, runner="runner01") as store:
        everything = write(store, *(said(str(n), who) for n, who in enumerate(sessions)))
        places = st.integers(0, len(sessions) + 2)
        after, upto, limit = data.draw(places), data.draw(places), data.draw(st.integers(1, 9))
        for session in ("s1", "s2", None):
            wanted = [
                event
                for event in everything
                if after < event.seq <= upto and session in (None, event.session)
            ]
            page = store.events(after=after, upto=upto, limit=limit, session=session)
            assert page == wanted[:limit]


def test_a_large_payload_lies_in_a_blob_and_reads_back(store: Store) -> None:
    large = "Ω" * INLINE
    written = write(store, said("small"), said(large), said(large))
    assert texts(store.events(limit=10)) == ["small", large, large]
    assert store.events(limit=10) == written
    with store._reader() as db:
        assert db.execute("SELECT count(*), max(size) > ? FROM blobs", (INLINE,)).fetchone() == (
            1,
            1,
        )
        assert db.execute("SELECT count(*) FROM events WHERE payload IS NULL").fetchone() == (2,)


def test_junk_that_is_not_unicode_is_stored_and_live_readers_see_the_same(store: Store) -> None:
    written = write(store, said("broken \ud800 half"))
    assert store.events(limit=1) == written
    assert texts(written) == ["broken � half"]


def test_an_event_of_a_later_version_is_kept(store: Store) -> None:
    write(store, e.Draft(payload=e.Unknown(type="from.the.future", data={"x": [1]})))
    (event,) = store.events(limit=1)
    assert event.payload == e.Unknown(type="from.the.future", data={"x": [1]})
    assert event.type == "from.the.future"


def test_the_last_of_one_type_come_oldest_first(store: Store) -> None:
    write(store, born("s1"), *(said(str(n)) for n in range(5)), said("x", "s2"))
    write(store, happened(e.TurnStarted()))
    assert texts(store.tail_of("s1", ["assistant.message"], 3)) == ["2", "3", "4"]
    assert store.tail_of("nobody", ["assistant.message"], 3) == []


def test_a_session_is_found_by_id_name_and_every_claude_id(store: Store) -> None:
    write(store, born("s1", "Fix-Auth"), happened(e.SessionStarted(claude_session_id="c1")))
    write(store, happened(e.ConversationIdentified(claude_session_id="c2")))
    found = store.session_row("s1")
    assert found is not None
    assert found.claude_ids == ("c1", "c2")
    assert all(store.session_row(ref) == found for ref in ("fix-auth", "FIX-AUTH", "c1", "c2"))
    assert store.session_row("fix") is None


def test_a_claude_id_leads_to_the_session_that_had_it_last(store: Store) -> None:
    write(store, born("s1"), happened(e.SessionStarted(claude_session_id="c1"), "s1"))
    write(store, born("s2"), happened(e.SessionStarted(claude_session_id="c1"), "s2"))
    found = store.session_row("c1")
    assert found is not None
    assert found.id == "s2"


@pytest.mark.parametrize(
    ("payload", "status"),
    [
        (e.SessionStarted(), Status.RUNNING),
        (e.SessionAsleep(reason=Reason.IDLE), Status.ASLEEP),
        (e.SessionWoken(), Status.STARTING),
        (e.SessionResumed(), Status.STARTING),
        (e.SessionParked(), Status.PARKED),
        (e.SessionEnded(status=Status.KILLED, reason=Reason.USER), Status.KILLED),
    ],
)
def test_the_index_follows_the_status(store: Store, payload: e.Payload, status: Status) -> None:
    write(store, born("s1"))
    later = NOON + timedelta(seconds=1)
    (event,) = write(store, happened(payload), at=later)
    row = store.session_row("s1")
    assert row is not None
    assert (row.status, row.created_at, row.updated_at, row.last_seq) == (
        status,
        NOON,
        later,
        event.seq,
    )
    assert [found.id for found in store.session_rows(statuses=[status])] == ["s1"]


def test_rows_come_latest_first_and_can_be_limited(store: Store) -> None:
    for minute, name in enumerate("abc"):
        write(store, born(name), at=NOON + timedelta(minutes=minute))
    assert [row.id for row in store.session_rows()] == ["c", "b", "a"]
    assert [row.id for row in store.session_rows(limit=2)] == ["c", "b"]
    assert store.session_rows(statuses=[]) == []


def test_a_taken_name_refuses_its_batch_alone_and_whole(store: Store) -> None:
    write(store, born("s1", "fix"))
    first = facts(store, said("x", "s3"))
    taken = facts(store, born("s2", "FIX"), said("never", "s2"))
    last = facts(store, said("y", "s3"))
    refused = store.append([first, taken, last])
    assert isinstance(refused.pop(1), Conflict)
    assert refused == {}
    places = [(fact.event.seq, fact.event.session_seq) for fact in first + last]
    assert places == [(2, 1), (3, 2)]
    assert store.head() == 3
    assert store.session_row("s2") is None


def test_a_renamed_session_frees_its_name(store: Store) -> None:
    write(store, born("s1", "fix"), happened(e.SessionRenamed(name="mend")))
    write(store, born("s2", "fix"))
    assert [row.name for row in store.session_rows()] == ["mend", "fix"]
    assert store.names("FI") == ["fix"]


@given(st.datetimes(datetime(1990, 1, 1), datetime(2199, 1, 1)))  # noqa: DTZ001 - made aware below
def test_a_time_survives_to_the_microsecond(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    assert from_micros(to_micros(aware)) == aware


def test_ids_are_uuids_and_differ() -> None:
    assert len({new_uuid() for _ in range(1000)}) == 1000
    made = uuid.UUID(new_uuid())
    assert (made.version, made.variant) == (8, uuid.RFC_4122)
