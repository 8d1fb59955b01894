"""Whether everything that sessions need is there; for what is not, what to do about it."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from claude_sessions.claude_cli import NoAnswer, ask
from claude_sessions.engines.claude import MINIMUM_CLI
from claude_sessions.errors import ConfigError
from claude_sessions.places import ADDRESS
from claude_sessions.settings import GatewaySettings, Settings
from claude_sessions.telegram.token import token_of
from claude_sessions.telegram.whoami import NoBot, who_is
from claude_sessions.token_file import FILE, read_token

PATIENCE = 15.0  # seconds for one question to the CLI; it answers in a quarter of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    name: str
    ok: bool
    detail: str
    remedy: str = ""  # empty when all is well


async def examine(
    settings: Settings,
    home: Path,
    config_source: Path | None,
    *,
    environ: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
) -> list[Finding]:
    """Look at everything; nothing is changed, and no finding keeps the others from being made."""
    daemon = os.environ if environ is None else environ
    return [
        await examine_cli(settings, daemon, patience),
        await examine_login(settings, daemon, patience),
        examine_configuration(config_source),
        *await examine_telegram(settings, patience),
        *map(examine_directory, settings.sessions.roots),
        examine_home(home),
        examine_gateway(settings.gateway, home),
        examine_program("tmux", "tmux", daemon),
        examine_program("setpriv", "util-linux", daemon),
        examine_program("git", "git", daemon),
    ]


def find_cli(settings: Settings) -> Path | None:
    """The configured program, else the one that the SDK's wheel ships, else the one on the PATH."""
    if settings.sessions.cli_path:
        return settings.sessions.cli_path
    sdk = importlib.util.find_spec("claude_agent_sdk")  # does not import it: that takes a while
    bundled = Path(sdk.origin or "").parent / "_bundled" / "claude" if sdk else None
    if bundled and bundled.is_file():
        return bundled
    found = shutil.which("claude")
    return Path(found) if found else None


async def examine_cli(settings: Settings, daemon: Mapping[str, str], patience: float) -> Finding:
    cli = find_cli(settings)
    if not cli:
        return _bad("claude", "not found", "Reinstall claude-sessions: its SDK ships the program.")
    try:
        env = settings.sessions.environment(daemon)
        answer = await ask(cli, "--version", env=env, patience=patience)
    except NoAnswer as error:
        return _bad("claude", str(error), _choose_cli(settings))
    version = read_version(answer.out)
    if answer.code or not version:
        return _bad("claude", f"{cli} does not say its version", _choose_cli(settings))
    detail = f"{'.'.join(map(str, version))} at {cli}"
    if version < MINIMUM_CLI:
        wanted = ".".join(map(str, MINIMUM_CLI))
        return _bad("claude", f"{detail} is older than {wanted}", _choose_cli(settings))
    return _good("claude", detail)


async def examine_login(settings: Settings, daemon: Mapping[str, str], patience: float) -> Finding:
    """Asked with the environment that sessions would get: that is where a login goes missing."""
    cli = find_cli(settings)
    if not cli:
        return _bad("login", "nobody to ask", "First let claude be found.")
    try:
        env = settings.sessions.environment(daemon)
        answer = await ask(cli, "auth", "status", env=env, patience=patience)
    except NoAnswer as error:
        return _bad("login", str(error), "First let claude be found.")
    try:
        status = json.loads(answer.out)
        logged_in, method = status["loggedIn"] is True, status.get("authMethod")
    except (ValueError, TypeError, LookupError, AttributeError):
        said = " ".join((answer.err or answer.out).split())[:200] or "nothing"
        return _bad("login", f"claude auth status said {said}", f"Try: {cli} auth status")
    if not logged_in:
        remedy = (
            f"Run: {cli} auth login; or set ANTHROPIC_API_KEY and keep it in sessions.pass_env."
        )
        return _bad("login", "Claude is not logged in", remedy)
    return _good("login", f"by {status.get('apiKeySource') or method}")


def examine_configuration(source: Path | None) -> Finding:
    """Only a sound one gets here; a problem has been told before."""
    return _good("configuration", str(source) if source else "none, the defaults hold")


async def examine_telegram(settings: Settings, patience: float) -> list[Finding]:
    try:
        token = token_of(settings.telegram)
        if token is None:
            return [_good("telegram", "no bot; claude-sessions setup connects one")]
        bot = await who_is(token, settings.telegram, patience)
    except ConfigError as error:
        finding = _bad("telegram", str(error), "Correct it, or run: claude-sessions setup")
    except NoBot as error:
        remedy = "If the network is well, check the token: claude-sessions setup"
        finding = _bad("telegram", str(error), remedy)
    else:
        finding = _good("telegram", f"@{bot.username} accepts its token")
    return [finding, examine_people(settings)]


def examine_people(settings: Settings) -> Finding:
    on_telegram = [person for person in settings.people if person.telegram]
    if not on_telegram:
        remedy = "Run: claude-sessions setup; until then the daemon does not start."
        return _bad("people", "nobody has a telegram id", remedy)
    return _good("people", ", ".join(f"{person.name} ({person.role})" for person in on_telegram))


def examine_directory(directory: Path) -> Finding:
    if not directory.is_dir():
        remedy = "Create it, or correct sessions.workdirs and sessions.default_workdir."
        return _bad("sessions run below", f"{directory} is no directory", remedy)
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        remedy = f"Let this user write there, or leave it if sessions only read: ls -ld {directory}"
        return _bad("sessions run below", f"{directory} cannot be written", remedy)
    return _good("sessions run below", str(directory))


def examine_home(home: Path) -> Finding:
    if not home.exists():
        return _examine_future_home(home)
    try:
        with tempfile.NamedTemporaryFile(dir=home):
            pass
    except OSError as error:
        remedy = "Give this user the directory, or choose another with --home."
        return _bad("home", f"{home} cannot be written ({error.strerror})", remedy)
    if home.stat().st_mode & 0o077:
        return _bad("home", f"others can look into {home}", f"Run: chmod 700 {home}")
    return _good("home", str(home))


def _examine_future_home(home: Path) -> Finding:
    above = next(parent for parent in home.parents if parent.exists())
    if not (above.is_dir() and os.access(above, os.W_OK | os.X_OK)):
        remedy = "Give this user that directory, or choose another with --home."
        return _bad("home", f"{home} cannot be made, {above} being closed", remedy)
    return _good("home", f"{home}, made at the first start")


def examine_gateway(settings: GatewaySettings, home: Path) -> Finding:
    if not settings.enabled:
        return _good("gateway", "off; gateway.enabled turns it on")
    file = settings.token_file or home / FILE
    try:
        if file.exists() or settings.token_file is not None:
            read_token(file)
    except ConfigError as error:
        return _bad("gateway", str(error), "Correct it, or delete the file: a new one is made.")
    return _examine_port(settings.host, settings.port, home)


def _examine_port(host: str, port: int, home: Path) -> Finding:
    place = f"{host}:{port}"
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as a server would
        try:
            probe.bind((host, port))
        except OSError as error:
            if (home / ADDRESS).exists():  # whoever made it takes it away again
                return _good("gateway", f"{place}, the daemon runs")
            remedy = f"Stop what holds it (ss -ltnp sport = :{port}), or choose a gateway.port."
            return _bad("gateway", f"{place} is not free ({error.strerror})", remedy)
    return _good("gateway", f"{place} is free")


def examine_program(program: str, package: str, daemon: Mapping[str, str]) -> Finding:
    found = shutil.which(program, path=daemon.get("PATH", os.defpath))
    if not found:
        return _bad(program, "not found", f"Install it: sudo apt-get install {package}")
    return _good(program, found)


def read_version(text: str) -> tuple[int, int, int] | None:
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _good(name: str, detail: str) -> Finding:
    return Finding(name=name, ok=True, detail=detail)


def _bad(name: str, detail: str, remedy: str) -> Finding:
    return Finding(name=name, ok=False, detail=detail, remedy=remedy)


def _choose_cli(settings: Settings) -> str:
    if settings.sessions.cli_path:
        return "Correct sessions.cli_path, or remove it to use the one that comes with the SDK."
    return "Reinstall claude-sessions: its SDK ships the program."
