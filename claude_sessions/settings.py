"""What can be configured, with its defaults and limits. How it is read stands in `config.py`.

Whoever reads a setting may trust it. Where 0 or "" means *off* in the file, the code sees `None`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from claude_sessions.attention.quiet import QuietHours
from claude_sessions.model import PermissionMode, Role

ENV_PREFIX = "CLAUDE_SESSIONS__"

# What Claude needs of the daemon's environment, and nothing more: every Bash command of every
# session can read it.
PASS_ENV = (
    # who and where
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TZ", "TMPDIR", "XDG_*"),
    # git over SSH, as in the user's own terminal
    "SSH_AUTH_SOCK",
    # the way out to the network
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    # the login
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
    # what the user has opted out of stays so
    *("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"),
)


def _place(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"{path} names nobody's home; write the path out") from error


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


def _none_if_zero(value: float | None) -> float | None:
    return value or None


def _plain_id(value: str | None) -> str | None:
    if value and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", value):
        raise ValueError("not an id; use up to 64 letters, digits, dots, dashes and underscores")
    return value


def _pattern(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?|\*", value):
        raise ValueError("not a variable's name; use letters, digits and _, and * only at the end")
    return value


def _variables(value: Mapping[str, str]) -> Mapping[str, str]:
    for name, text in value.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in text:
            raise ValueError(f"{name!r} cannot be set; use letters, digits and _, and no NUL")
    return value


Place = Annotated[Path, AfterValidator(_place)]
Empty = BeforeValidator(_none_if_empty)
Off = AfterValidator(_none_if_zero)


class Section(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class RunnerSettings(Section):
    id: Annotated[str | None, Empty, AfterValidator(_plain_id)] = None
    """This machine's id in every event. "": made once and kept in the home."""
    name: Annotated[str, Field(min_length=1, max_length=64)] = "default"
    """What people call this machine."""


class PersonSettings(Section):
    name: Annotated[str, Field(min_length=1, max_length=64)]
    """How everybody sees who did what."""
    role: Role
    """viewer reads, prompter also talks, approver also decides, admin also configures."""
    telegram: Annotated[int | None, Field(gt=0)] = None
    """The person's Telegram user id, a number; leave it out if there is none."""


class SessionSettings(Section):
    max_sessions: Annotated[int, Field(ge=1, le=1000)] = 5
    """How many sessions may have a process at once; one that waits for somebody is not counted."""
    workdirs: tuple[Place, ...] = ()
    """Sessions run only at or below these, symlinks resolved. Empty: only default_workdir."""
    default_workdir: Place = Field(default_factory=lambda known: _start(known.get("workdirs")))
    """Where a session runs unless told otherwise. ".": where the daemon was started."""
    default_model: Annotated[str | None, Empty] = None
    """The model of new sessions. "": Claude's own choice."""
    permission_mode: PermissionMode = PermissionMode.DEFAULT
    """default, acceptEdits, plan, bypassPermissions, dontAsk or auto, as Claude means them."""
    default_budget_usd: Annotated[float | None, Field(ge=0, le=100_000), Off] = 5.0
    """What one session may spend, in dollars. 0: no limit."""
    idle_timeout_minutes: Annotated[float | None, Field(ge=0, le=10_080), Off] = 30.0
    """After so long without a word, idle_action happens. 0: never."""
    idle_action: Literal["sleep", "kill"] = "sleep"
    """sleep gives the process back and wakes at the next message; kill ends the run."""
    safety_net_seconds: Annotated[float | None, Field(ge=0, le=3600), Off] = 15.0
    """Silence in a turn after which people are told, once, that it may be waiting. 0: never."""
    stall_minutes: Annotated[float | None, Field(ge=0, le=10_080), Off] = 10.0
    """A turn without any sign of life for so long is reported, once. 0: never."""
    memory_budget_mb: Annotated[int | None, Field(ge=0, le=10_000_000), Off] = None
    """What all sessions may hold in memory, with their MCP servers and tools. 0: no limit."""
    daily_budget_usd: Annotated[float | None, Field(ge=0, le=1_000_000), Off] = None
    """What all sessions together may spend in a day, in dollars. 0: no limit."""
    continue_after_limit: bool = False
    """Whether a session that met a usage limit goes on by itself once the limit has reset."""
    max_persisted_sessions: Annotated[int, Field(ge=10, le=1_000_000)] = 10_000
    """How many sessions can be found by name; the log keeps what the oldest of them did."""
    output_blocks: Annotated[int, Field(ge=1, le=10_000)] = 200
    """How many blocks of text each session keeps at hand; older ones are read from the log."""
    setting_sources: tuple[Literal["user", "project", "local"], ...] = ("user", "project", "local")
    """Which of Claude's own settings apply in trusted directories; elsewhere only the user's."""
    pass_env: tuple[Annotated[str, AfterValidator(_pattern)], ...] = PASS_ENV
    """The daemon's variables that reach Claude and its tools; a name may end in *."""
    env: Annotated[Mapping[str, str], AfterValidator(_variables)] = Field(default_factory=dict)
    """Variables set for Claude and its tools; they win over pass_env."""
    cli_path: Annotated[Place | None, Empty] = None
    """The claude program. "": the one that comes with the SDK."""

    @field_validator("default_workdir")
    @classmethod
    def _is_allowed(cls, value: Path, info: ValidationInfo) -> Path:
        roots = info.data.get("workdirs")
        if roots and not _within(value, roots):
            raise ValueError(f"{value} is not at or below any of workdirs; add it there")
        return value

    @property
    def roots(self) -> tuple[Path, ...]:
        """Sessions may run at or below these."""
        return self.workdirs or (self.default_workdir,)

    def environment(self, daemon: Mapping[str, str]) -> dict[str, str]:
        """All that Claude is given. Our own settings, which may be secrets, never are."""
        passed = {
            name: value
            for name, value in daemon.items()
            if not name.startswith(ENV_PREFIX)
            and any(fnmatchcase(name, pattern) for pattern in self.pass_env)
        }
        return passed | dict(self.env)


class ApprovalSettings(Section):
    timeout_seconds: Annotated[float | None, Field(ge=0, le=604_800), Off] = None
    """An approval that nobody answers for so long is denied. 0: it waits for ever."""


class ProjectSettings(Section):
    roots: tuple[Place, ...] = ()
    """Directories whose direct children are projects."""
    scan_claude_projects: bool = True
    """Whether directories that Claude has worked in are projects too."""
    exclude: tuple[Annotated[str, Field(min_length=1)], ...] = ("node_modules", ".git")
    """Names, or globs such as old-*, that are never projects."""


def _zone(value: str | None) -> str | None:
    if value is not None:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            raise ValueError("not a time zone; write one like Europe/Berlin") from None
    return value


class ScheduleSettings(Section):
    missed: Literal["skip", "catch_up"] = "skip"
    """What becomes of runs that were due while the daemon was down; catch_up: one is made."""
    timezone: Annotated[str | None, Empty, AfterValidator(_zone)] = None
    """In which schedules are meant and days are counted, like Europe/Berlin. "": this machine's."""


def _address(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", value):
        raise ValueError("not an address; write one like https://example.org/path")
    return value


def _channel(value: str | None) -> str | None:
    if value is not None and (not value.strip() or len(value) > 200):
        raise ValueError("not a channel; write one like telegram|123456789")
    return value


def _quiet(value: str | None) -> str | None:
    return None if value is None else str(QuietHours.read(value))


Address = Annotated[str, AfterValidator(_address)]
ChannelId = Annotated[str, AfterValidator(_channel)]
Hours = Annotated[str, AfterValidator(_quiet)]


class TelegramSettings(Section):
    token: Annotated[SecretStr | None, Empty] = None
    """The bot's token, from @BotFather. "": none, and no Telegram, unless token_file has it."""
    token_file: Annotated[Place | None, Empty] = None
    """A file that holds the token, and that nobody else can read."""
    base_url: Address = "https://api.telegram.org/bot"
    """Where the Bot API is; the token is put behind it."""
    base_file_url: Address = "https://api.telegram.org/file/bot"
    """Where the Bot API's files are; the token is put behind it."""
    topics: Literal["off", "per_session", "per_project"] = "off"
    """In a forum group: a topic for each session, or for each project."""
    stream_interval_seconds: Annotated[float, Field(ge=0.2, le=60)] = 1.0
    """How often the message that shows a running turn may be edited."""
    drafts: bool = False
    """Stream as drafts in private chats, with Telegram's own preview, instead of by editing."""
    quiet_hours: Annotated[Hours | None, Empty] = None
    """When nothing rings, like 22-7; a digest follows in the morning. /quiet is a person's own."""
    old_updates_minutes: Annotated[float, Field(ge=0, le=1440)] = 10.0
    """What came while the daemon was down is run at once if younger; else the person is asked."""


class ChannelSettings(Section):
    workdirs: Mapping[str, ChannelId] = Field(default_factory=dict)
    """Which channel hears of a session by its directory: the longest path that contains it wins."""
    fallback: Annotated[ChannelId | None, Empty] = None
    """The channel for sessions that come from nowhere else."""


class OrchestratorSettings(Section):
    message_command: tuple[str, ...] = ()
    """The program that sends a message to a channel, as a list; []: none."""
    event_command: tuple[str, ...] = ()
    """The program that takes a system event, as a list; []: none."""
    webhook_url: Annotated[Address | None, Empty] = None
    """Where to wake the orchestrator when no channel is known. "": nowhere."""

    @property
    def configured(self) -> bool:
        return bool(self.message_command or self.event_command or self.webhook_url)


class VoiceSettings(Section):
    url: Annotated[Address | None, Empty] = None
    """An OpenAI-compatible endpoint that transcribes voice messages. "": they are refused."""
    key: Annotated[SecretStr | None, Empty] = None
    """Its key. "": none, unless key_file has it."""
    key_file: Annotated[Place | None, Empty] = None
    """A file that holds the key."""
    model: Annotated[str, Field(min_length=1)] = "whisper-1"
    """The model to ask there."""


def _open_path(value: str) -> str:
    if value != "/ws":
        raise ValueError("cannot be open; only /ws can")
    return value


def _host(value: str) -> str:
    if not re.fullmatch(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?", value):
        raise ValueError("not a host; write one like box.example.org")
    return value


def _origin(value: str) -> str:
    if not re.fullmatch(r"https?://[A-Za-z0-9.\[\]:-]+", value):
        raise ValueError("not an origin; write one like https://example.org, without a path")
    return value


class GatewaySettings(Section):
    enabled: bool = True
    """Serve programs: JSON-RPC, REST, events, MCP, and this machine's own command line."""
    host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    """Where to listen. Anything but this machine itself needs a proxy with TLS in front."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 42069
    """Where to listen. 0: any port that is free; gateway.url in the home says which."""
    token_file: Annotated[Place | None, Empty] = None
    """A file with the owner's token. "": gateway.token in the home, made at the first start."""
    allowed_hosts: tuple[Annotated[str, AfterValidator(_host)], ...] = ()
    """Names by which this machine may be addressed, besides localhost: ["box.example.org"]."""
    allowed_origins: tuple[Annotated[str, AfterValidator(_origin)], ...] = ()
    """Web pages that may use it from a browser: ["https://console.example.org"]."""
    open_paths: tuple[Annotated[str, AfterValidator(_open_path)], ...] = ()
    """["/ws"]: programs on this machine may watch there without a token."""
    requests_per_second: Annotated[float | None, Field(ge=0, le=100_000), Off] = 50.0
    """How many requests a scoped token may make; twice as many at once. 0: no limit."""


class McpSettings(Section):
    enabled: bool = True
    """Offer agents the pool as MCP tools: /mcp at the gateway, and `claude-sessions mcp`."""
    max_auto_responds: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many messages agents may send a session in a row; then a person has to write to it."""
    autonomy_note: Annotated[Place | None, Empty] = None
    """A file that tells sessions of agents how far they may go alone. "": they are told nothing."""
    require_channel: bool = False
    """Whether agents may only launch what a person hears of, at a channel that can be reached."""


class ConsoleSettings(Section):
    enabled: bool = True
    """Serve the chat in the terminal, when there is one."""


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """How much to say: debug, info, warning or error."""
    format: Literal["console", "json"] = "console"
    """console for people, json for programs."""


def _one_of_each(people: tuple[PersonSettings, ...]) -> tuple[PersonSettings, ...]:
    names = [person.name.casefold() for person in people]
    accounts = [person.telegram for person in people if person.telegram]
    if len(set(names)) < len(names):
        raise ValueError("two people have the same name; give each their own")
    if len(set(accounts)) < len(accounts):
        raise ValueError("two people have the same telegram id; give each their own")
    return people


class Settings(Section):
    runner: RunnerSettings = Field(default_factory=RunnerSettings)
    """This machine."""
    people: Annotated[tuple[PersonSettings, ...], AfterValidator(_one_of_each)] = ()
    """Who may do what."""
    sessions: SessionSettings = Field(default_factory=SessionSettings)
    """How sessions run."""
    approvals: ApprovalSettings = Field(default_factory=ApprovalSettings)
    """Questions that sessions wait on."""
    projects: ProjectSettings = Field(default_factory=ProjectSettings)
    """Where work is found."""
    schedules: ScheduleSettings = Field(default_factory=ScheduleSettings)
    """What starts by the clock."""
    telegram: TelegramSettings = Field(default_factory=TelegramSettings)
    """The chat in your pocket."""
    voice: VoiceSettings = Field(default_factory=VoiceSettings)
    """Voice messages."""
    channels: ChannelSettings = Field(default_factory=ChannelSettings)
    """Who hears of a session."""
    orchestrator: OrchestratorSettings = Field(default_factory=OrchestratorSettings)
    """A program that hears of sessions whose channel is its own."""
    gateway: GatewaySettings = Field(default_factory=GatewaySettings)
    """The door for programs."""
    mcp: McpSettings = Field(default_factory=McpSettings)
    """Agents that drive sessions."""
    console: ConsoleSettings = Field(default_factory=ConsoleSettings)
    """The chat in the terminal."""
    log: LogSettings = Field(default_factory=LogSettings)
    """The daemon's own log lines."""

    def allows(self, directory: Path) -> bool:
        """Whether a session may run there, wherever symlinks lead at this moment."""
        return _within(directory, self.sessions.roots)


def _within(directory: Path, roots: tuple[Path, ...]) -> bool:
    try:
        real = directory.expanduser().resolve()
        return any(real.is_relative_to(root.resolve()) for root in roots)
    except (OSError, RuntimeError, ValueError):  # a loop of symlinks, nobody's home, a NUL
        return False


def _start(roots: tuple[Path, ...] | None) -> Path:
    here = Path.cwd()
    return roots[0] if roots and not _within(here, roots) else here
