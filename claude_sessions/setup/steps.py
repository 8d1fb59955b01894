"""The order of setup: every question first, then everything is written at once or not at all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_sessions.config import load
from claude_sessions.errors import ConfigError, SessionsError
from claude_sessions.settings import Settings
from claude_sessions.setup.bot import ChosenBot, choose_bot, find_owner, tell_owner
from claude_sessions.setup.choices import choose_name, choose_workdir
from claude_sessions.setup.dialogue import Dialogue
from claude_sessions.setup.document import Changes, changed
from claude_sessions.setup.files import as_they_were_on, write
from claude_sessions.setup.unit import Refused, UserSystemd, unit_text
from claude_sessions.telegram.token import token_of

SEE = "See what it says: journalctl --user -u claude-sessions -f"
LINGER = "Keep it running while you are logged out: loginctl enable-linger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Ctrl-C or an error, anywhere in `run`, leaves every file as it was."""

    file: Path  # the configuration, there or not
    environ: Mapping[str, str]
    dialogue: Dialogue
    base_url: str | None = None  # of another Bot API server, to be written down

    def run(self) -> None:
        settings = self._settings()
        bot = choose_bot(self.dialogue, settings.telegram)
        known = {person.telegram for person in settings.people if person.telegram}
        owner = find_owner(self.dialogue, bot, known)
        changes = Changes(
            name=choose_name(self.dialogue, settings.people, owner),
            account=owner.id,
            workdir=choose_workdir(self.dialogue, settings),
            token_file=settings.telegram.token_file or self.file.with_name("telegram.token"),
            telegram=self._addresses(),
        )
        systemd = self._choose_systemd()
        refusal = self._carry_out(changes, bot, systemd)
        self._finish(bot, changes, service=systemd is not None)
        if refusal:
            raise SessionsError(f"The service could not be started: {refusal}\n{SEE}")

    def _settings(self) -> Settings:
        given = self._addresses().items()
        flags = {f"--base-url ({key})": (f"telegram.{key}", value) for key, value in given}
        source = self.file if self.file.exists() else Path(os.devnull)  # no other file instead
        return load(source, environ=self.environ, flags=flags).settings

    def _addresses(self) -> dict[str, str]:
        if not self.base_url:
            return {}
        files = self.base_url.removesuffix("/bot") + "/file/bot"
        return {"base_url": self.base_url, "base_file_url": files}

    def _choose_systemd(self) -> UserSystemd | None:
        systemd = UserSystemd(environ=self.environ)
        if not systemd.answers():
            return None
        verb = "Replace" if systemd.file.exists() else "Install"
        return systemd if self.dialogue.agrees(f"{verb} the systemd user service?") else None

    def _carry_out(
        self, changes: Changes, bot: ChosenBot, systemd: UserSystemd | None
    ) -> Refused | None:
        try:
            with as_they_were_on(BaseException, changes.token_file, self.file):
                self._write(changes, bot)
                return self._install(systemd) if systemd else None
        except OSError as error:
            reason = f"{error.filename or self.file} cannot be written ({error.strerror})"
            raise ConfigError([f"{reason}. Nothing was changed."]) from error

    def _write(self, changes: Changes, bot: ChosenBot) -> None:
        write(changes.token_file, bot.token + "\n")
        text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        write(self.file, changed(text, changes))
        self._check(changes, bot)
        self.dialogue.say(f"Written, for your eyes only: {self.file}, {changes.token_file}")

    def _check(self, changes: Changes, bot: ChosenBot) -> None:
        settings = load(self.file, environ=self.environ).settings
        hidden = {
            "CLAUDE_SESSIONS__TELEGRAM__TOKEN": token_of(settings.telegram) != bot.token,
            "CLAUDE_SESSIONS__PEOPLE": changes.account not in [p.telegram for p in settings.people],
        }
        reason = "in the environment wins over what would be written; unset it"
        if problems := [f"{name} {reason}." for name, is_so in hidden.items() if is_so]:
            raise ConfigError([*problems, "Nothing was changed."])

    def _install(self, systemd: UserSystemd) -> Refused | None:
        self.dialogue.say("Starting the service…")
        try:
            systemd.install(unit_text(self.environ, self._unusual()))
        except Refused as refusal:
            return refusal
        except OSError as error:
            return Refused(f"{systemd.file} cannot be written ({error.strerror})")
        self.dialogue.say(f"The service runs, from {systemd.file}.\n{SEE}\n{LINGER}")
        return None

    def _finish(self, bot: ChosenBot, changes: Changes, *, service: bool) -> None:
        with suppress(KeyboardInterrupt):  # all is done, only the phone has not heard of it
            tell_owner(self.dialogue, bot, changes.account)
        if not service:
            unusual = self._unusual()
            flags = f" --config {shlex.quote(str(unusual))}" if unusual else ""
            self.dialogue.say(f"Start it: claude-sessions run{flags}")
        self.dialogue.say(f"Done. Write to @{bot.name}; `claude-sessions doctor` checks the rest.")

    def _unusual(self) -> Path | None:
        """The configuration, if a service, which starts elsewhere, would not find it by itself."""
        usual = Path.home() / ".config" / "claude-sessions" / "config.toml"
        return None if self.file == usual else self.file
