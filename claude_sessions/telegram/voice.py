"""What was said aloud, in words: by an endpoint that understands OpenAI's way of asking."""

from __future__ import annotations

import httpx

from claude_sessions.errors import BadRequest, ConfigError
from claude_sessions.settings import VoiceSettings

SECONDS = 60.0


class Transcriber:
    def __init__(self, settings: VoiceSettings) -> None:
        self._url = settings.url
        self._model = settings.model
        self._key = _key_of(settings)

    async def words(self, audio: bytes, name: str = "voice.ogg") -> str:
        if self._url is None:
            raise BadRequest(
                "I cannot hear: no transcription is configured. See [voice] url, or type it."
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                answer = await client.post(
                    self._url,
                    headers=headers,
                    data={"model": self._model},
                    files={"file": (name, audio)},
                )
                answer.raise_for_status()
                text = str(answer.json()["text"]).strip()
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            why = type(error).__name__
            raise BadRequest(
                f"That could not be transcribed ({why}). Type it, or try again."
            ) from (error)
        if not text:
            raise BadRequest("There were no words in that.")
        return text


def _key_of(settings: VoiceSettings) -> str | None:
    if settings.key is not None:
        return settings.key.get_secret_value()
    if settings.key_file is None:
        return None
    try:
        return settings.key_file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError([f"voice.key_file: cannot be read ({error.strerror})"]) from error
