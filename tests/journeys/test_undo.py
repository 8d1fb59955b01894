"""What a turn changed in files: told at its end, shown, and put back."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from claude_sessions import events as e
from claude_sessions.channel import Kind, Notification
from claude_sessions.demo import (
    Gate,
    Sandbox,
    Script,
    bash,
    edit,
    parallel,
    read,
    say,
    task,
    write,
)
from claude_sessions.model import Role, Status
from tests.journeys.chat import Chat

NEW = "/new --fg --mode acceptEdits --name a"
FILES = ("sum.py", "new.txt", "made")
BEFORE = "def total(rows):\n    return rows\n"


@pytest.fixture
def script(script: Script, workdir: Path) -> Script:
    (workdir / "sum.py").write_text(BEFORE)
    script.on(
        "mend it",
        read("sum.py"),
        edit("sum.py", "return rows", "return sum(rows)"),
        write("new.txt", "one\ntwo\n"),
        bash("touch made"),
        say("Mended."),
    )
    script.on("once more", read("sum.py"), edit("sum.py", "total", "grand_total"), say("Renamed."))
    return script


def there(workdir: Path) -> list[str]:
    return [name for name in FILES if (workdir / name).exists()]


def labels(shown: Notification) -> list[str]:
    return [action.label for action in shown.actions]


async def mended(chat: Chat, prompt: str = "mend it") -> Notification:
    await chat.type(f"{NEW} {prompt}")
    await chat.idle("a")
    return await chat.shows(Kind.WAITING, "a · ")


async def test_the_end_of_a_turn_tells_of_the_files_and_undo_puts_them_back(
    script: Script, chat: Chat, workdir: Path
) -> None:
    over = await mended(chat)
    assert " · 2 files +3 −1 · " in over.text
    assert labels(over) == ["Diff", "Undo turn"]
    watcher = chat.somebody(Role.VIEWER)
    await watcher.type("/fg a")
    told = "a: turn undone, 2 files are as before. What commands changed was not undone."
    assert await chat.type(over.actions[1].line) == told
    assert (workdir / "sum.py").read_text() == BEFORE
    assert there(workdir) == ["sum.py", "made"]
    await watcher.shows(Kind.NOTICE, told)
    state = await chat.state("a")
    (undone,) = [
        event
        for event in await chat.daemon.log.events(state.id)
        if isinstance(event.payload, e.TurnUndone)
    ]
    assert undone.turn == state.changes.turn
    assert (await chat.type("/undo a")) == "The last turn of a is undone already."


async def test_the_diff_is_there_in_full_for_a_program_and_clipped_for_a_person(
    script: Script, chat: Chat
) -> None:
    script.on("much", write("long.txt", "".join(f"{n}\n" for n in range(500))), say("Done."))
    await mended(chat)
    reply = await chat.somebody(Role.VIEWER).reply("/diff a")
    assert reply.text.splitlines() == [
        "a, turn 1: 2 files +3 −1",
        *("--- a/sum.py", "+++ b/sum.py", "@@ -1,2 +1,2 @@"),
        *(" def total(rows):", "-    return rows", "+    return sum(rows)"),
        *("--- /dev/null", "+++ b/new.txt", "@@ -0,0 +1,2 @@", "+one", "+two"),
    ]
    assert [file["added"] for file in reply.data["files"]] == [1, 2]
    await chat.type("/say a much")
    await chat.until("a", lambda s: s.turns == 2 and s.turn is None)
    reply = await chat.reply("/diff a")
    assert reply.text.splitlines()[-1] == "… 423 more lines"
    assert reply.data["diff"].endswith("+499")
    earlier = await chat.reply("/diff a --turn 1")
    assert earlier.data["turn"] == 1
    assert "+two" in earlier.text
    assert "a has no turn 3" in await chat.type("/diff a --turn 3")


async def test_only_the_last_turn_is_undone_also_after_sleep(
    script: Script, chat: Chat, workdir: Path
) -> None:
    await mended(chat)
    await chat.type("once more")
    await chat.until("a", lambda s: s.turns == 2 and s.turn is None)
    await chat.type("/sleep a")
    await chat.until("a", lambda s: s.status is Status.ASLEEP)
    assert "turn undone, 1 file is as before" in await chat.type("/undo a")
    assert "def total(rows):\n    return sum(rows)" in (workdir / "sum.py").read_text()
    assert there(workdir) == ["sum.py", "new.txt", "made"]
    assert "(undone)" in await chat.type("/diff a")
    await chat.type("hello")  # it is there to be spoken to
    await chat.until("a", lambda s: s.turns == 3 and s.turn is None)
    assert "changed no files" in await chat.type("/undo a")
    assert "Turn 3 of a changed no files" in await chat.type("/diff a")


async def test_a_session_that_was_killed_is_undone_too(
    script: Script, chat: Chat, workdir: Path
) -> None:
    await mended(chat)
    await chat.type("/kill a")
    assert "Diff" in labels(await chat.shows(Kind.KILLED))
    assert "turn undone" in await chat.type("/undo a")
    assert (workdir / "sum.py").read_text() == BEFORE


async def test_what_somebody_changed_since_is_not_lost_without_a_word(
    script: Script, chat: Chat, workdir: Path
) -> None:
    await mended(chat)
    (workdir / "sum.py").write_text("mine\n")
    later = time.time() + 5
    os.utime(workdir / "sum.py", (later, later))
    asked = await chat.reply("/undo a")
    assert "sum.py" in asked.text
    assert "would be lost" in asked.text
    assert (workdir / "sum.py").read_text() == "mine\n"
    assert there(workdir) == list(FILES)
    assert "turn undone" in await chat.type(asked.actions[0].line)
    assert (workdir / "sum.py").read_text() == BEFORE


async def test_nobody_undoes_a_turn_that_runs_but_an_interrupted_one_can_be(
    script: Script, chat: Chat, workdir: Path
) -> None:
    gate = Gate()
    script.on("slowly", write("new.txt", "half\n"), say("And ", gate, "on."))
    await chat.type(f"{NEW} slowly")
    await gate.reached()
    assert "a is at work. /interrupt a" in await chat.type("/undo a")
    await chat.type("/interrupt a")
    shown = await chat.shows(Kind.WAITING, "interrupted")
    gate.open()
    assert shown.text.endswith("· 1 file +1 −0")
    assert labels(shown) == ["Diff", "Undo turn"]
    assert "turn undone, 1 file" in await chat.type(shown.actions[1].line)
    assert there(workdir) == ["sum.py"]


async def test_a_viewer_may_look_and_not_undo(script: Script, chat: Chat, workdir: Path) -> None:
    await mended(chat)
    assert "it needs the role prompter" in await chat.somebody(Role.VIEWER).type("/undo a")
    assert there(workdir) == list(FILES)


async def test_what_a_subagent_changed_is_shown_and_said_not_to_be_undone(
    script: Script, chat: Chat, workdir: Path
) -> None:
    script.on("delegate", task("helper"), write("new.txt", "x\n"), say("Both done."))
    script.on("helper", write("made", "by a subagent\n"), say("Done."))
    script.on("leave it", task("helper"), say("Done."))
    over = await mended(chat, "delegate")
    assert " · 2 files +2 −0 · " in over.text
    assert "+by a subagent" in await chat.type("/diff a")
    told = await chat.type("/undo a")
    assert told.endswith(
        "1 file is as before. What commands changed was not undone. Nor was this put back: made."
    )
    assert there(workdir) == ["sum.py", "made"]
    (workdir / "made").unlink()
    await chat.type("leave it")
    over = await chat.shows(Kind.WAITING, "· 1 file +1 −0 ·")
    assert labels(over) == ["Diff"]
    assert "Only subagents of a changed files" in await chat.type("/undo a")


async def test_a_session_that_moved_is_not_undone_in_another_directory(
    script: Script, chat: Chat, workdir: Path
) -> None:
    elsewhere = workdir / "elsewhere"
    elsewhere.mkdir()
    await mended(chat)
    await chat.type("/kill a")
    state = await chat.state("a")
    moved = e.DirectoryChanged(directory=str(elsewhere))
    await chat.daemon.log.append(e.Draft(payload=moved, session=state.id, project=state.project))
    assert "a has no file checkpoint of its last turn" in await chat.type("/undo a")


async def test_a_turn_in_the_background_is_offered_with_its_diff(
    script: Script, chat: Chat, sandbox: Sandbox
) -> None:
    await chat.type("/new --mode acceptEdits --name a mend it")
    shown = await chat.shows(Kind.WAITING, "a is done")
    assert labels(shown) == ["Read", "Reply", "Diff"]


async def test_edits_made_side_by_side_all_count(script: Script, chat: Chat, workdir: Path) -> None:
    script.on("both", parallel(write("x.txt", "x\n"), write("y.txt", "y\n")), say("Done."))
    over = await mended(chat, "both")
    assert "2 files +2 −0" in over.text
    assert "2 files are as before" in await chat.type("/undo a")
