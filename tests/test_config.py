from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from claude_sessions.config import (
    Loaded,
    Settings,
    home_path,
    load,
    make_home,
    runner_id,
)
from claude_sessions.errors import ConfigError
from claude_sessions.model import PermissionMode, Role
from claude_sessions.settings import SessionSettings

EXAMPLE = Path(__file__).parent.parent / "config.example.toml"

Write = Callable[[str], Path]


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "some.toml"
        path.write_text(text)
        return path

    return write


def problems(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(path, environ=environ or {}, flags=flags)
    return list(caught.value.problems)


def keys(model: type[BaseModel], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= keys(kind, f"{prefix}{name}.")
        else:
            found.add(prefix + name)
    return found


def sections(model: type[BaseModel]) -> list[type[BaseModel]]:
    below = [k for f in model.model_fields.values() for k in [f.annotation] if isinstance(k, type)]
    return [model] + [s for k in below if issubclass(k, BaseModel) for s in sections(k)]


def test_the_example_file_says_the_defaults() -> None:
    assert load(EXAMPLE, environ={}).settings == Settings()


def test_the_example_file_has_every_key_and_a_comment_beside_it() -> None:
    text = re.sub(r"^#(?=[\[\w])", "", EXAMPLE.read_text(), flags=re.MULTILINE)
    data = tomllib.loads(text)
    written = {
        f"{section}.{key}" for section in data if section != "people" for key in data[section]
    }
    assert written | {"people"} == keys(Settings)
    assert set(data["people"][0]) == {"name", "role", "telegram"}
    bare = [
        line for line in text.splitlines() if re.match(r"\w+ = [^\[]", line) and "#" not in line
    ]
    assert not bare


def test_every_setting_is_documented() -> None:
    fields = {f"{s.__name__}.{n}": f for s in sections(Settings) for n, f in s.model_fields.items()}
    assert [name for name, field in fields.items() if not field.description] == []


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    assert load(environ={}) == Loaded(settings=Settings(), source=None)


def test_the_file_here_is_found_before_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = tmp_path / "config/claude-sessions/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[sessions]\nmax_sessions = 2\n")
    assert load(environ={}).source == own
    (tmp_path / "claude-sessions.toml").write_text("[sessions]\nmax_sessions = 3\n")
    assert load(environ={}).source == tmp_path / "claude-sessions.toml"
    assert load(environ={}).settings.sessions.max_sessions == 3


def test_environment_wins_over_the_file_and_flags_over_both(file: Write) -> None:
    path = file("[sessions]\nmax_sessions = 2\noutput_blocks = 2\nidle_action = 'kill'\n")
    environ = {
        "CLAUDE_SESSIONS__SESSIONS__MAX_SESSIONS": "3",
        "CLAUDE_SESSIONS__SESSIONS__OUTPUT_BLOCKS": "3",
    }
    sessions = load(
        path, environ=environ, flags={"--max-sessions": ("sessions.max_sessions", 4)}
    ).settings.sessions
    assert (sessions.max_sessions, sessions.output_blocks) == (4, 3)
    assert sessions.idle_action == "kill"


def test_a_flag_that_was_not_typed_changes_nothing() -> None:
    assert (
        load(EXAMPLE, environ={}, flags={"--log-level": ("log.level", None)}).settings == Settings()
    )


def test_every_kind_of_value_can_come_from_the_environment(tmp_path: Path) -> None:
    environ = {
        "CLAUDE_SESSIONS__PEOPLE": '[{name = "Ada", role = "admin", telegram = 7}]',
        "CLAUDE_SESSIONS__CONSOLE__ENABLED": "false",
        "CLAUDE_SESSIONS__RUNNER__NAME": "42",
        "CLAUDE_SESSIONS__SESSIONS__DEFAULT_MODEL": "[odd] = name",
        "CLAUDE_SESSIONS__SESSIONS__PERMISSION_MODE": "plan",
        "CLAUDE_SESSIONS__SESSIONS__CLI_PATH": str(tmp_path / "claude"),
        "CLAUDE_SESSIONS__SESSIONS__WORKDIRS": f'["{tmp_path}"]',
        "CLAUDE_SESSIONS__SESSIONS__ENV__Mixed__Case": "1",
        "CLAUDE_SESSIONS__SESSIONS__DEFAULT_BUDGET_USD": "2.5",
    }
    settings = load(
        EXAMPLE, environ=environ | {"CLAUDE_SESSIONS__SESSIONS__DEFAULT_WORKDIR": str(tmp_path)}
    ).settings
    assert settings.people[0].role is Role.ADMIN
    assert settings.people[0].telegram == 7
    assert settings.console.enabled is False
    assert settings.runner.name == "42"
    assert settings.sessions.default_model == "[odd] = name"
    assert settings.sessions.permission_mode is PermissionMode.PLAN
    assert settings.sessions.cli_path == tmp_path / "claude"
    assert settings.sessions.workdirs == (tmp_path,)
    assert settings.sessions.env == {"Mixed__Case": "1"}
    assert settings.sessions.default_budget_usd == 2.5


def test_zero_and_empty_mean_off(file: Write) -> None:
    text = "[sessions]\ndefault_budget_usd = 0\nidle_timeout_minutes = 0\nsafety_net_seconds = 0\n"
    sessions = load(file(text), environ={}).settings.sessions
    assert sessions.default_budget_usd is None
    assert sessions.idle_timeout_minutes is None
    assert sessions.safety_net_seconds is None
    assert sessions.default_model is None


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Settings().log.level = "debug"


def test_all_problems_are_told_at_once_with_place_key_reason_and_remedy(file: Write) -> None:
    path = file(
        "[sessions]\nmax_sesions = 3\noutput_blocks = 0\nidle_action = 'nap'\n"
        "[[people]]\nname = 'Ada'\n"
    )
    told = problems(
        path,
        environ={
            "CLAUDE_SESSIONS__LOG__LEVEL": "loud",
            "CLAUDE_SESSIONS__CONSOLE__ENABLED": "maybe",
        },
        flags={"--max-sessions": ("sessions.max_sessions", 1001)},
    )
    assert sorted(told) == sorted(
        [
            f"{path}: people.0.role: required; add it",
            "flag --max-sessions: sessions.max_sessions: should be less than or equal to 1000; "
            "choose a smaller number",
            f"{path}: sessions.output_blocks: should be greater than or equal to 1; "
            "choose a larger number",
            f"{path}: sessions.idle_action: not one of its values; choose 'sleep' or 'kill'",
            f"{path}: sessions.max_sesions: unknown key; did you mean max_sessions?",
            "environment variable CLAUDE_SESSIONS__CONSOLE__ENABLED: console.enabled: "
            "should be a valid boolean; write true or false, without quotes",
            "environment variable CLAUDE_SESSIONS__LOG__LEVEL: log.level: not one of its values; "
            "choose 'debug', 'info', 'warning' or 'error'",
        ]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[sesions]\n", "sesions: unknown key; did you mean sessions?"),
        ("max_sessions = 3\n", "max_sessions: unknown key; it belongs in [sessions]"),
        ("[log]\nzzz = 3\n", "log.zzz: unknown key; the keys here are level, format"),
        ("[sessions]\nmax_sessions = '3'\n", "write a whole number, without quotes"),
        ("[sessions]\nmax_sessions = true\n", "write a whole number, without quotes"),
        ("[sessions]\nidle_timeout_minutes = nan\n", "should be a finite number; choose a number"),
        ("[sessions]\nworkdirs = '/srv'\n", 'write a list, like ["a", "b"]'),
        (
            "[sessions]\nworkdirs = ['~nobody-at-all/x']\n",
            "names nobody's home; write the path out",
        ),
        ("[sessions]\nenv = { A = 1 }\n", "sessions.env.A: should be a valid string; write it in"),
        ("[sessions]\nenv = { 'A B' = '1' }\n", "'A B' cannot be set; use letters, digits and _"),
        ("[sessions]\npass_env = ['A*B']\n", "sessions.pass_env.0: not a variable's name; use"),
        ("[sessions]\nsetting_sources = ['usr']\n", "choose 'user', 'project' or 'local'"),
        ("console = 3\n", "console: should be an object; write it as a section of its own"),
        ("[runner]\nid = 'a b'\n", "runner.id: not an id; use up to 64 letters"),
        (
            "[[people]]\nname='A'\nrole='admin'\n[[people]]\nname='a'\nrole='viewer'\n",
            "people: two people have the same name; give each their own",
        ),
        ("[runner]\nname = 1979-05-27\n[log]\nx", "not TOML: "),
    ],
)
def test_a_problem_is_one_line(file: Write, text: str, expected: str) -> None:
    (told,) = problems(path := file(text))
    assert told.startswith(f"{path}: ")
    assert expected in told


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing.toml", tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    assert problems(missing) == [
        f"{missing}: cannot be read (No such file or directory); correct the path"
    ]
    assert "not TOML" in problems(binary)[0]


def test_a_broken_file_does_not_hide_a_bad_variable(file: Write) -> None:
    told = problems(file("["), environ={"CLAUDE_SESSIONS__LOG__LEVEL": "loud"})
    assert len(told) == 2


@pytest.mark.parametrize("file_says", ["[sessions]\nmax_sessions = 3\n", "sessions = 3\n", ""])
def test_a_variable_that_fits_nowhere_is_never_ignored(file: Write, file_says: str) -> None:
    variable = "CLAUDE_SESSIONS__SESSIONS__MAX_SESSIONS__MORE"
    told = problems(file(file_says), environ={variable: "1"})
    assert any(line.startswith(f"environment variable {variable}: ") for line in told)


@given(st.dictionaries(st.text(max_size=5), st.text(), max_size=3), st.binary(max_size=40))
def test_junk_is_refused_in_single_lines_never_with_another_error(
    table: dict[str, str], value: bytes
) -> None:
    environ = {"CLAUDE_SESSIONS__LOG__X": value.decode(errors="surrogateescape")}
    flags: dict[str, tuple[str, object]] = {"--x": ("sessions.env", table)}
    told = problems(EXAMPLE, environ=environ, flags=flags)
    assert all(line.isprintable() for line in told)


def test_directories_are_judged_where_symlinks_lead(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "deep").mkdir(parents=True)
    outside.mkdir()
    (inside / "escape").symlink_to(outside)
    (outside / "entrance").symlink_to(inside / "deep")
    (inside / "loop").symlink_to(inside / "loop")
    settings = Settings(sessions=SessionSettings(workdirs=(inside,), default_workdir=inside))
    assert settings.allows(inside)
    assert settings.allows(inside / "deep")
    assert settings.allows(outside / "entrance")
    assert not settings.allows(inside / "escape")
    assert not settings.allows(inside / "deep" / ".." / ".." / "out")
    assert not settings.allows(tmp_path / "in-fact-another")
    assert not settings.allows(inside / "loop" / "x")
    assert not settings.allows(Path("a\0b"))


def test_only_the_default_directory_is_allowed_when_no_other_is_named(tmp_path: Path) -> None:
    settings = Settings(sessions=SessionSettings(default_workdir=tmp_path))
    assert settings.sessions.roots == (tmp_path,)
    assert settings.allows(tmp_path / "below")
    assert not settings.allows(tmp_path.parent)


def test_the_default_directory_is_here_or_else_the_first_allowed_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert SessionSettings().default_workdir == tmp_path
    assert SessionSettings(workdirs=(tmp_path.parent,)).default_workdir == tmp_path
    assert SessionSettings(workdirs=(Path("/usr"),)).default_workdir == Path("/usr")


def test_a_default_directory_outside_the_allowed_ones_is_a_problem(file: Write) -> None:
    (told,) = problems(file("[sessions]\ndefault_workdir = '/srv'\nworkdirs = ['/usr']\n"))
    assert "sessions.default_workdir: /srv is not at or below any of workdirs; add it" in told


def test_paths_may_begin_with_a_tilde(file: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    text = "[sessions]\nworkdirs = ['~/code']\ndefault_workdir = '~/code/x'\n"
    assert load(file(text), environ={}).settings.sessions.roots == (Path("/home/ada/code"),)


def test_claude_gets_what_is_passed_and_set_and_nothing_else() -> None:
    sessions = SessionSettings(env={"EDITOR": "true", "LANG": "C"})
    daemon = {
        "PATH": "/bin",
        "LANG": "de",
        "LC_ALL": "de",
        "TELEGRAM_TOKEN": "secret",
        "NOTIFY_SOCKET": "/run/x",
    }
    assert sessions.environment(daemon) == {
        "PATH": "/bin",
        "LC_ALL": "de",
        "LANG": "C",
        "EDITOR": "true",
    }


def test_our_own_variables_never_reach_claude() -> None:
    sessions = SessionSettings(pass_env=("*",))
    assert sessions.environment({"CLAUDE_SESSIONS__TELEGRAM__TOKEN": "x", "A": "b"}) == {"A": "b"}


def test_the_home_is_made_for_its_user_alone(tmp_path: Path) -> None:
    home = make_home(tmp_path / "a" / "b")
    assert home.stat().st_mode & 0o777 == 0o700


def test_an_open_home_of_ours_is_closed_but_not_somebody_elses(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "others"
    for home in (ours, others):
        home.mkdir()
        home.chmod(0o755)
    (others / "thesis.tex").touch()
    assert make_home(ours).stat().st_mode & 0o777 == 0o700
    with pytest.raises(ConfigError, match="choose another with --home"):
        make_home(others)
    assert others.stat().st_mode & 0o777 == 0o755


def test_a_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot be the home .*; choose another with --home"):
        make_home(tmp_path / "file" / "home")


def test_the_home_is_where_the_flag_says_or_where_the_platform_keeps_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert home_path(Path("here")) == tmp_path / "here"
    assert home_path() == tmp_path / "state" / "claude-sessions"
    with pytest.raises(ConfigError, match="flag --home"):
        home_path(Path("~nobody-at-all/x"))


def test_the_runner_id_is_made_once_also_when_many_ask(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: runner_id(tmp_path), range(32)))
    assert len(ids) == 1
    assert re.fullmatch(r"[a-z0-9]{8}", ids.pop())
    (only,) = tmp_path.iterdir()
    assert only.stat().st_mode & 0o777 == 0o600


def test_names_that_no_request_could_have_are_refused(file: Write) -> None:
    for name in ("*", "https://box.example.org", "box.example.org/x", ""):
        path = file(f'[gateway]\nallowed_hosts = ["{name}"]\n')
        assert "write one like box.example.org" in problems(path)[0]
    for name in ("box.example.org", "box:8443", "[::1]:9", "192.0.2.7"):
        load(file(f'[gateway]\nallowed_hosts = ["{name}"]\n'), environ={})
