"""Channels in the configuration that nobody would ever hear of anything through."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from claude_sessions.errors import ConfigError
from claude_sessions.orchestrator.channel import is_foreign
from claude_sessions.origins import named, parts_of
from claude_sessions.settings import OrchestratorSettings, Settings


def refuse_nowhere(settings: Settings, taken: Callable[[str], bool]) -> None:
    """`taken`: what the bot takes, if there is one."""
    roads = settings.orchestrator
    problems = [
        f"{where}: nothing would ever be told to {channel}; {_remedy(channel, roads)}"
        for where, channel in _configured(settings)
        if is_foreign(channel, taken) and not _leads(channel, roads)
    ]
    if problems:
        raise ConfigError(problems)


def _configured(settings: Settings) -> Iterator[tuple[str, str]]:
    given = {f"channels.workdirs.{path}": to for path, to in settings.channels.workdirs.items()}
    for where, to in {**given, "channels.fallback": settings.channels.fallback}.items():
        if (channel := named(to)) is not None:
            yield where, channel


def _leads(channel: str, roads: OrchestratorSettings) -> bool:
    """A message needs somebody to write to; an event and the webhook do not."""
    if roads.event_command or roads.webhook_url:
        return True
    return bool(roads.message_command) and parts_of(channel) is not None


def _remedy(channel: str, roads: OrchestratorSettings) -> str:
    if channel.partition("|")[0] == "telegram":
        return "write telegram|ID, where ID is the number of a chat, and configure a bot"
    if roads.configured:
        return "write channel|target, or configure orchestrator.webhook_url"
    return "configure [orchestrator], which takes what is for others"
