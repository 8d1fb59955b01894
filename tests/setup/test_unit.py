from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from claude_sessions.setup.unit import NAME, unit_text

DEPLOYED = Path(__file__).parents[2] / "deploy" / NAME


def values(text: str, key: str) -> list[str]:
    return [line.removeprefix(key) for line in text.splitlines() if line.startswith(key)]


def test_only_the_program_and_the_path_differ_from_the_file_in_deploy() -> None:
    ours, theirs = unit_text({}).splitlines(), DEPLOYED.read_text().splitlines()
    differing = [a for a, b in zip(ours, theirs, strict=True) if a != b]
    assert [line.partition("=")[0] for line in differing] == ["ExecStart", "Environment"]


def test_the_program_is_named_with_its_whole_path() -> None:
    [command] = values(unit_text({}), "ExecStart=")
    assert Path(command.split()[0]).is_file()
    assert command.endswith(" run")


def test_a_claude_that_the_person_has_is_found(tmp_path: Path) -> None:
    (tmp_path / "claude").touch(mode=0o755)
    [path] = values(unit_text({"PATH": f"/nowhere:{tmp_path}"}), 'Environment="PATH=')
    assert path == f'{tmp_path}:%h/.local/bin:/usr/local/bin:/usr/bin:/bin"'


def test_an_odd_path_is_quoted_as_systemd_reads_it() -> None:
    [command] = values(unit_text({}, Path('/my 100% "$HOME"/c.toml')), "ExecStart=")
    assert command.endswith(r' run --config "/my 100%% \"$$HOME\"/c.toml"')


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")
def test_systemd_finds_no_fault_with_it(tmp_path: Path) -> None:
    place = tmp_path / "a b %"
    place.mkdir()
    (place / "claude").touch(mode=0o755)
    file = tmp_path / NAME
    file.write_text(unit_text({"PATH": str(place)}, place / "config.toml"))
    verdict = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--user", file],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert [line for line in verdict.stderr.splitlines() if NAME in line] == []
    assert verdict.returncode == 0, verdict.stderr
