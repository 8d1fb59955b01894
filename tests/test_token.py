from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from claude_sessions.errors import ConfigError
from claude_sessions.model import Role
from claude_sessions.settings import PersonSettings, Settings, TelegramSettings
from claude_sessions.telegram.token import refuse_nobody, token_of

TOKEN = "123456:AbC-dEf_0123456789"


def kept(file: Path, content: bytes, mode: int = 0o600) -> TelegramSettings:
    file.write_bytes(content)
    file.chmod(mode)
    return TelegramSettings(token_file=file)


def test_a_token_comes_from_the_setting_else_from_the_file(tmp_path: Path) -> None:
    settings = kept(tmp_path / "token", f"  {TOKEN}\n".encode())
    assert token_of(TelegramSettings()) is None
    assert token_of(settings) == TOKEN
    assert token_of(settings.model_copy(update={"token": SecretStr("1:a")})) == "1:a"


def test_a_file_that_others_can_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "token"
    for mode in (0o640, 0o604, 0o620):
        with pytest.raises(ConfigError, match=f"run: chmod 600 {file}"):
            token_of(kept(file, TOKEN.encode(), mode))


@pytest.mark.parametrize("content", [b"", b"secret", f"{TOKEN} {TOKEN}".encode(), b"\xff1:secret"])
def test_what_is_no_token_is_refused_and_not_repeated(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConfigError, match="holds no bot's token") as caught:
        token_of(kept(tmp_path / "token", content))
    assert "secret" not in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        token_of(TelegramSettings(token_file=tmp_path / "none"))


def test_a_bot_needs_somebody_who_may_use_it() -> None:
    telegram = TelegramSettings(token=SecretStr(TOKEN))
    nobody = PersonSettings(name="Bob", role=Role.ADMIN)
    ada = PersonSettings(name="Ada", role=Role.ADMIN, telegram=5)
    refuse_nobody(Settings(people=(nobody,)))
    refuse_nobody(Settings(telegram=telegram, people=(nobody, ada)))
    for people in ((), (nobody,)):
        with pytest.raises(ConfigError, match="run: claude-sessions setup"):
            refuse_nobody(Settings(telegram=telegram, people=people))
