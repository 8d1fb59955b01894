"""Reading the conversation files that the real CLI writes, whole and damaged."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from claude_sessions.demo import Gate, Sandbox, Script, ScriptedModel, bash, say
from claude_sessions.engines.lines import entry
from claude_sessions.engines.transcripts import Transcripts
from tests.demo.talk import Talk, talking
from tests.effort import effort
from tests.terminal_claude import bare_claude, run

OWN, STEERED = str(uuid.uuid4()), str(uuid.uuid4())


async def send(talk: Talk, text: str, message_id: str) -> None:
    async def message() -> AsyncIterator[dict[str, object]]:
        content = {"role": "user", "content": text}
        yield {"type": "user", "message": content, "uuid": message_id, "parent_tool_use_id": None}

    await talk.client.query(message())


@dataclass(frozen=True, slots=True)
class Written:
    """What the CLI wrote, and where to damage it."""

    home: Path
    claude_id: str

    @property
    def transcripts(self) -> Transcripts:
        return Transcripts({"HOME": str(self.home)})

    @property
    def path(self) -> Path:
        path = self.transcripts.find(self.claude_id)
        assert path is not None
        return path

    def copy(self, data: bytes) -> str:
        """Another conversation with these bytes."""
        other = str(uuid.uuid4())
        self.path.with_name(f"{other}.jsonl").write_bytes(data)
        return other


@pytest.fixture
async def written(
    sandbox: Sandbox, model: ScriptedModel, script: Script, tmp_path: Path
) -> Written:
    script.on("touch it", bash("touch a"), say("It is touched."))
    async with talking(model, tmp_path, sandbox=sandbox) as talk:
        await send(talk, "touch it please", OWN)
        heard = await talk.result()
        await talk.turn("/compact")
        await talk.turn("and now?")
    return Written(sandbox.home, heard.result.session_id)


async def test_prompts_and_what_was_answered_are_read_and_nothing_else(written: Written) -> None:
    tail = written.transcripts.turns(written.claude_id)
    said = [(turn.prompt, turn.blocks) for turn in tail.turns]
    assert said == [
        ("touch it please", ("It is touched.",)),
        ("and now?", ("You said: and now?",)),
    ]
    assert tail.turns[0].uuid == OWN
    assert tail.end == written.transcripts.size(written.claude_id) == written.path.stat().st_size


async def test_reading_goes_on_where_it_stopped(
    written: Written, sandbox: Sandbox, tmp_path: Path
) -> None:
    before = written.transcripts.turns(written.claude_id)
    await bare_claude(sandbox, tmp_path / "work", "--resume", written.claude_id, "-p", "one more")
    after = written.transcripts.turns(written.claude_id, before.end)
    assert [turn.prompt for turn in after.turns] == ["one more"]
    assert after.turns[0].blocks == ("You said: one more",)
    assert written.transcripts.turns(written.claude_id, after.end).turns == ()


async def test_words_without_their_prompt_are_not_lost(written: Written) -> None:
    lines = written.path.read_bytes().splitlines(keepends=True)
    prompt = next(n for n, line in enumerate(lines) if OWN.encode() in line and b'"user"' in line)
    tail = written.transcripts.turns(written.claude_id, sum(map(len, lines[: prompt + 1])))
    assert (tail.turns[0].prompt, tail.turns[0].blocks) == ("", ("It is touched.",))


async def test_a_message_is_known_by_the_uuid_it_was_sent_under(written: Written) -> None:
    transcripts = written.transcripts
    assert transcripts.has_message(written.claude_id, OWN)
    assert transcripts.answer_after(written.claude_id, OWN) == ("It is touched.",)
    assert not transcripts.has_message(written.claude_id, STEERED)
    assert transcripts.answer_after(written.claude_id, STEERED) == ()


async def test_the_uuid_of_an_answer_is_no_message(written: Written) -> None:
    answer = next(
        fields["uuid"]
        for fields in map(orjson.loads, written.path.read_bytes().splitlines())
        if fields["type"] == "assistant"
    )
    assert not written.transcripts.has_message(written.claude_id, answer)


async def test_what_is_steered_into_a_turn_is_a_message_and_part_of_that_turn(
    model: ScriptedModel, sandbox: Sandbox, script: Script, tmp_path: Path
) -> None:
    gate = Gate()
    script.on("go on", say("One. ", gate), bash("touch b"), say("Two."))
    async with talking(model, tmp_path, sandbox=sandbox) as talk:
        await send(talk, "go on", OWN)
        await gate.reached()
        await send(talk, "also this", STEERED)
        await talk.client.get_context_usage()  # answered in order: the message has been taken in
        gate.open()
        heard = await talk.result()
    transcripts = Transcripts(sandbox.env)
    assert transcripts.has_message(heard.result.session_id, STEERED)
    assert "Two." in transcripts.answer_after(heard.result.session_id, OWN)[-1]
    prompts = [turn.prompt for turn in transcripts.turns(heard.result.session_id).turns]
    assert prompts == ["go on", "also this"]


async def test_conversations_are_listed_with_their_directory_the_newest_first(
    written: Written, sandbox: Sandbox, tmp_path: Path
) -> None:
    odd = tmp_path / "odd dir_x"
    odd.mkdir()
    await bare_claude(sandbox, odd, "-p", "What is  this?")
    newest, older = written.transcripts.conversations()
    assert (newest.title, newest.directory) == ("What is this?", str(odd))
    assert (older.claude_id, older.title) == (written.claude_id, "touch it please")
    assert newest.updated_at > older.updated_at
    assert older.size == written.path.stat().st_size


async def test_a_title_that_somebody_gave_comes_before_the_first_prompt(
    written: Written, sandbox: Sandbox
) -> None:
    rename = (
        f"import claude_agent_sdk as c; c.rename_session('{written.claude_id}', 'The touching')"
    )
    await run(sys.executable, "-c", rename, directory=written.home, env=sandbox.env)
    assert [found.title for found in written.transcripts.conversations()] == ["The touching"]


async def test_what_nobody_asked_and_subagents_are_no_conversations(
    written: Written, sandbox: Sandbox, tmp_path: Path
) -> None:
    await bare_claude(sandbox, tmp_path / "work", "-p", "/context")
    side = written.path.read_bytes().replace(b'"isSidechain":false', b'"isSidechain":true')
    written.copy(b"".join(x for x in side.splitlines(True) if b'"last-prompt"' not in x))
    written.path.with_name("agent-a1b2c3.jsonl").write_bytes(written.path.read_bytes())
    assert [found.claude_id for found in written.transcripts.conversations()] == [written.claude_id]


async def test_a_first_prompt_too_long_to_be_read_does_not_hide_a_conversation(
    written: Written,
) -> None:
    data = written.path.read_bytes().replace(b"touch it please", b"x" * 200_000, 1)
    first, rest = data.split(b'"user"', 1)
    other = written.copy(first + b'"user"' + rest.replace(b"touch it please", b"x" * 200_000))
    found = {one.claude_id: one for one in written.transcripts.conversations()}
    assert found[other].title == "and now?"
    assert found[other].directory == found[written.claude_id].directory


async def test_a_changed_file_is_listed_anew(written: Written) -> None:
    transcripts = written.transcripts
    first = transcripts.conversations()[0]
    title = orjson.dumps({"type": "custom-title", "customTitle": "Later", "sessionId": "x"})
    with written.path.open("ab") as file:
        file.write(title + b"\n")
    assert (first.title, transcripts.conversations()[0].title) == ("touch it please", "Later")


async def test_a_thousand_long_conversations_are_listed_in_a_moment(written: Written) -> None:
    data = written.path.read_bytes()
    filler = data[data.index(b"\n") + 1 :]
    for _ in range(1000):
        other = written.path.with_name(f"{uuid.uuid4()}.jsonl")
        with other.open("wb") as file:
            file.write(data)
            file.seek((1 << 20) - len(filler))  # a hole in between: nobody may read it
            file.write(b"\n" + filler)
    transcripts = written.transcripts
    assert effort(transcripts.conversations) < 200
    assert effort(transcripts.conversations) < 20
    assert len(transcripts.conversations()) == 1001


async def test_each_kind_of_damage_is_named_and_the_rest_is_still_read(written: Written) -> None:
    transcripts, data = written.transcripts, written.path.read_bytes()
    torn = b"\xff\xfe{not json\n" + data + b'[1]\n{"type":["user"]}\n'
    damaged, cut, empty = written.copy(torn), written.copy(data + data[:40]), written.copy(b"")
    assert transcripts.check(written.claude_id) is None
    assert transcripts.check(damaged) == "has 2 damaged lines"
    assert transcripts.check(cut) == "ends in the middle of a line"
    assert transcripts.check(empty) == "is empty"
    assert transcripts.check(str(uuid.uuid4())) == "is missing"
    whole = transcripts.turns(written.claude_id)
    assert transcripts.turns(damaged).turns == whole.turns
    assert transcripts.turns(cut) == whole
    assert transcripts.turns(empty).turns == ()


async def test_an_unreadable_file_is_passed_over(written: Written) -> None:
    other = written.copy(b"x")
    path = written.path.with_name(f"{other}.jsonl")
    path.unlink()
    path.symlink_to("/proc/self/mem")  # for root, too, it cannot be read
    assert [found.claude_id for found in written.transcripts.conversations()] == [written.claude_id]
    assert str(written.transcripts.check(other)).startswith("cannot be read")
    assert written.transcripts.turns(other).turns == ()


async def test_a_pipe_in_the_place_of_a_file_blocks_nobody(written: Written) -> None:
    other = str(uuid.uuid4())
    os.mkfifo(written.path.with_name(f"{other}.jsonl"))
    assert len(written.transcripts.conversations()) == 1
    assert written.transcripts.check(other) == "is missing"


@pytest.mark.parametrize("claude_id", ["", "*", "../x", "../../../etc/passwd", "a" * 300])
def test_what_is_no_id_finds_nothing(tmp_path: Path, claude_id: str) -> None:
    (tmp_path / ".claude" / "projects" / "p").mkdir(parents=True)
    assert Transcripts({"HOME": str(tmp_path)}).find(claude_id) is None


def test_the_environment_says_where_claude_keeps_its_files(tmp_path: Path) -> None:
    claude_id = str(uuid.uuid4())
    place = tmp_path / "own" / "projects" / "-x"
    place.mkdir(parents=True)
    (place / f"{claude_id}.jsonl").write_bytes(b"")
    given = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "own")}
    assert Transcripts(given).find(claude_id) == place / f"{claude_id}.jsonl"
    assert Transcripts({"HOME": str(tmp_path)}).find(claude_id) is None
    assert Transcripts({"HOME": str(tmp_path)}).conversations() == []


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/model</command-name>",
        "<local-command-stdout>Set model</local-command-stdout>",
        "<task-notification>\n<task-id>b1</task-id>",
        "[Request interrupted by user for tool use]",
        "<bash-input>ls</bash-input>",
        "  ",
    ],
)
def test_what_nobody_typed_is_no_prompt(text: str) -> None:
    blocks = [{"type": "text", "text": text}]
    for content in (text, blocks):
        assert entry({"type": "user", "message": {"content": content}, "uuid": "u"}) is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": {}},
        {"type": "user"},
        {"type": "user", "message": []},
        {"type": "user", "message": {"content": [None, 3, {"type": "text"}]}, "uuid": 5},
        {"type": "user", "message": {"content": [{"type": []}]}},
        {"type": "assistant", "message": {"content": "words"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": 4}, "x"]}},
        {"type": "attachment", "attachment": "x"},
        {"type": "custom-title", "customTitle": 7},
    ],
)
def test_lines_of_an_unknown_shape_say_nothing(fields: dict[str, object]) -> None:
    assert entry(fields) is None


def test_a_line_too_long_to_be_read_is_no_damage(tmp_path: Path) -> None:
    claude_id = "0b0e4c2e-7d5c-4c56-9d3b-6a2a2f0f7c11"
    file = tmp_path / ".claude" / "projects" / "-srv" / f"{claude_id}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"type":"user"}\n"' + b"x" * (65 << 20) + b'"\n{"type":"user"}\n')
    assert Transcripts({"HOME": str(tmp_path)}).check(claude_id) is None
