from __future__ import annotations

import pytest

from claude_sessions.approvals.guarded import why_secret


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.env.local",
        "/w/.envrc",
        "/w/id_ed25519_work",
        "/w/Credentials.json",
        "/w/.credentials.json",
        "/w/server.pem",
        "/w/tls.key",
        "/w/vault.kdbx",
        "/w/.netrc",
        "/w/.git/config",
        "/w/.aws/config",
        "/w/.ssh/known_hosts",
        "/w/.gnupg/pubring.kbx",
        "/w/claude-sessions.toml",
        "/h/.config/gh/hosts.yml",
    ],
)
def test_what_usually_holds_keys_is_known_by_its_name(path: str) -> None:
    assert why_secret(path)


@pytest.mark.parametrize(
    "path",
    [
        "/w/a.txt",
        "/w/environment.py",
        "/w/id_map.py",
        "/w/src/config",
        "/w/key.ts",
        "/w/.gitignore",
    ],
)
def test_what_only_sounds_like_it_is_not(path: str) -> None:
    assert why_secret(path) is None
