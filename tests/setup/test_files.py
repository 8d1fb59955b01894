from __future__ import annotations

from pathlib import Path

import pytest

from claude_sessions.setup.files import as_they_were_on, write


def test_a_new_file_and_its_directory_are_closed_to_others(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b"
    write(file, "secret")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert list(file.parent.iterdir()) == [file]


def test_a_symlink_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    link.symlink_to(real)
    write(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, ValueError])
def test_a_failure_puts_everything_back(tmp_path: Path, failure: type[BaseException]) -> None:
    old, new = tmp_path / "old", tmp_path / "made" / "here" / "new"
    old.write_text("before")
    old.chmod(0o640)

    def fail() -> None:
        with as_they_were_on(BaseException, old, new):
            write(old, "after")
            write(new, "after")
            raise failure

    with pytest.raises(failure):
        fail()
    assert old.read_text() == "before"
    assert old.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [old]


def test_what_goes_well_stays(tmp_path: Path) -> None:
    with as_they_were_on(BaseException, tmp_path / "file"):
        write(tmp_path / "file", "after")
    assert (tmp_path / "file").read_text() == "after"
