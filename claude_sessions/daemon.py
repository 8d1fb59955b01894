"""The composition root: everything is made and wired here, from the far end of the data path.

Log, router, sessions, doors; so a stop closes the doors first and delivers what is left last.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import structlog

from claude_sessions.approvals.desk import ApprovalDesk
from claude_sessions.approvals.rulebook import RuleBook, TrustBook
from claude_sessions.attention.attention import Attention
from claude_sessions.attention.book import QuietBook
from claude_sessions.attention.presence import Presence
from claude_sessions.attention.quiet import QuietHours
from claude_sessions.claude_cli import version_of
from claude_sessions.clock import Clock, SystemClock
from claude_sessions.commands import Reply
from claude_sessions.commands.execute import execute
from claude_sessions.commands.hearing import hear, missed
from claude_sessions.commands.pool import Defaults, Pool
from claude_sessions.commands.workdirs import Workdirs
from claude_sessions.config import runner_id
from claude_sessions.doctor import find_cli
from claude_sessions.engines.claude import ClaudeEngine
from claude_sessions.engines.ledger import Ledger
from claude_sessions.engines.transcripts import Transcripts
from claude_sessions.eventlog import EventLog
from claude_sessions.extensions.extensions import Extensions
from claude_sessions.gateway.auth import Doorkeeper
from claude_sessions.gateway.house import House
from claude_sessions.gateway.listing import Listing
from claude_sessions.gateway.metrics import Meter
from claude_sessions.gateway.runtime_cast import Broadcast
from claude_sessions.gateway.server import Claim, Gateway, claimed, open_gateway
from claude_sessions.gateway.visits import Visits
from claude_sessions.health import Health, Report
from claude_sessions.homecoming import tell_what_was_cut_off
from claude_sessions.lock import only_one
from claude_sessions.model import Role
from claude_sessions.orchestrator.channel import Orchestrator, is_foreign
from claude_sessions.orchestrator.reach import refuse_nowhere
from claude_sessions.orchestrator.roads import Roads, environment
from claude_sessions.orchestrator.texts import BLOCKS
from claude_sessions.origins import Origins
from claude_sessions.people import Caller
from claude_sessions.project_book import ProjectBook
from claude_sessions.projects import Projects
from claude_sessions.repository import Onlooker
from claude_sessions.router import NotificationRouter
from claude_sessions.schedules.book import ScheduleBook
from claude_sessions.schedules.timekeeper import Timekeeper
from claude_sessions.schedules.when import zone_here
from claude_sessions.sessions.book import SessionBook
from claude_sessions.sessions.housekeeping import Housekeeping
from claude_sessions.sessions.manager import SessionManager
from claude_sessions.sessions.purse import Purse
from claude_sessions.sessions.room import Room
from claude_sessions.sessions.timers import Rhythm
from claude_sessions.settings import ChannelSettings, SessionSettings, Settings
from claude_sessions.storage.documents import Documents
from claude_sessions.telegram.address import is_chat
from claude_sessions.telegram.files import uploads_in
from claude_sessions.telegram.service import Telegram, open_telegram
from claude_sessions.telegram.token import refuse_nobody, token_of
from claude_sessions.tokens import TokenBook
from claude_sessions.worktrees.book import WorktreeBook
from claude_sessions.worktrees.git import Git
from claude_sessions.worktrees.worktrees import Worktrees

DOOR_SECONDS = 5.0  # until a door that failed opens again

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """What the doors need."""

    settings: Settings
    log: EventLog
    book: SessionBook
    manager: SessionManager
    pool: Pool
    router: NotificationRouter

    async def hear(self, text: str, caller: Caller) -> Reply:
        """A line of chat, from whatever door."""
        return await hear(self.pool, text, caller)

    async def missed(self, text: str, caller: Caller) -> Reply | None:
        """What whoever types this here has missed, if they were away."""
        return await missed(self.pool, text, caller)

    def local_caller(self, door: str, channel: str | None) -> Caller:
        """Whoever sits at this machine's own account is its owner."""
        admins = [person.name for person in self.settings.people if person.role is Role.ADMIN]
        name = admins[0] if admins else "owner"
        return Caller(name=name, role=Role.ADMIN, door=door, channel=channel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What everything else stands on."""

    settings: Settings
    environ: Mapping[str, str]
    clock: Clock
    zone: ZoneInfo
    log: EventLog
    documents: Documents
    quiet: QuietBook
    transcripts: Transcripts
    ledger: Ledger


@asynccontextmanager
async def open_daemon(
    settings: Settings,
    home: Path,
    *,
    environ: Mapping[str, str],
    clock: Clock | None = None,
    source: Path | None = None,
) -> AsyncIterator[Daemon]:
    """`source`: the file that the settings come from, if there is one."""
    taken = taken_by_bot(settings)
    refuse_nowhere(settings, taken)
    async with AsyncExitStack() as stack:
        stack.enter_context(only_one(home))
        claim, clock = None, clock or SystemClock()
        if settings.gateway.enabled:
            claim = stack.enter_context(claimed(settings.gateway, home))
        runner = settings.runner.id or runner_id(home)
        events = await stack.enter_async_context(
            EventLog(home / "log.db", runner=runner, clock=clock.now)
        )
        before = events.store.last_event()
        zone, documents = zone_here(settings.schedules.timezone), Documents(home / "documents.json")
        hours = settings.telegram.quiet_hours
        ground = Ground(
            settings=settings,
            environ=environ,
            clock=clock,
            zone=zone,
            log=events,
            documents=documents,
            quiet=QuietBook(
                documents,
                events,
                configured=QuietHours.read(hours) if hours else None,
                clock=clock,
                zone=zone,
            ),
            transcripts=Transcripts(settings.sessions.environment(environ)),
            ledger=Ledger(home / "processes"),
        )
        await asyncio.to_thread(ground.ledger.sweep)
        book = SessionBook(events, output_blocks=settings.sessions.output_blocks)
        rules = RuleBook(ground.documents, events, clock)
        trust = TrustBook(ground.documents, events, clock)
        desk = ApprovalDesk(
            log=events,
            rules=rules,
            states=book.state,
            clock=clock,
            timeout_seconds=settings.approvals.timeout_seconds or 0,
            uploads=str(uploads_in(home)),
        )
        orchestrator = await stack.enter_async_context(orchestrator_of(ground, book))
        telegram = await telegram_of(stack, ground, home)
        router = await stack.enter_async_context(
            NotificationRouter(
                log=events,
                states=book.state,
                clock=clock,
                makers=[telegram.maker] if telegram else [],
            )
        )
        if settings.orchestrator.configured:
            router.serve(partial(is_foreign, taken=taken), orchestrator.channel)
        manager = await stack.enter_async_context(manager_of(ground, book, desk, trust))
        await tell_what_was_cut_off(events, book, router, before)
        await stack.enter_async_context(housekeeping_of(ground, book, manager))
        presence = await stack.enter_async_context(Presence(events, clock))
        visits = Visits(clock)
        doors = [telegram.health] if telegram else []
        if claim is not None:
            doors.append(partial(visits.report, claim.url))
        health = health_of(ground, doors)
        own = private_to(settings, home, source)
        pool = pool_of(ground, manager, book, desk, rules, trust, presence, health, own)
        await stack.enter_async_context(pool.schedules)
        await stack.enter_async_context(pool.extensions.logins.serving())
        daemon = Daemon(
            settings=settings, log=events, book=book, manager=manager, pool=pool, router=router
        )
        if claim is not None:
            await stack.enter_async_context(gateway_of(daemon, claim, visits, home))
        if telegram is not None:
            await stack.enter_async_context(served(telegram, daemon))
        yield daemon


def gateway_of(
    daemon: Daemon, claim: Claim, visits: Visits, home: Path
) -> AbstractAsyncContextManager[Gateway]:
    settings, pool = daemon.settings.gateway, daemon.pool
    keeper = Doorkeeper(
        owner=lambda: daemon.local_caller("gateway", None),
        owners_token=claim.token,
        tokens=pool.tokens,
        clock=pool.clock,
        requests_per_second=settings.requests_per_second,
        open_paths=settings.open_paths,
    )
    house = House(
        settings=daemon.settings,
        pool=pool,
        router=daemon.router,
        visits=visits,
        listing=Listing(pool),
        meter=Meter(pool, daemon.router, visits),
        runtime=Broadcast(pool.log, pool.clock),
    )
    return open_gateway(settings, house, keeper, claim, home)


def taken_by_bot(settings: Settings) -> Callable[[str], bool]:
    """Which channels are a bot's; none, if there is none."""
    if token_of(settings.telegram) is None:
        return lambda channel: False
    return is_chat


async def telegram_of(stack: AsyncExitStack, ground: Ground, home: Path) -> Telegram | None:
    """Its way out; the door opens last. None: there is no bot."""
    if (token := token_of(ground.settings.telegram)) is None:
        return None
    refuse_nobody(ground.settings)
    return await stack.enter_async_context(
        open_telegram(
            ground.settings,
            token,
            log=ground.log,
            documents=ground.documents,
            clock=ground.clock,
            home=home,
            quiet=ground.quiet,
        )
    )


@asynccontextmanager
async def served(telegram: Telegram, daemon: Daemon) -> AsyncIterator[None]:
    """The door of the bot, open until this is left."""
    door = asyncio.create_task(_keep_open(telegram, daemon), name="telegram")
    try:
        yield
    finally:
        door.cancel()
        await asyncio.wait([door])


async def _keep_open(telegram: Telegram, daemon: Daemon) -> None:
    """A bug in the door shuts it for a moment; nothing that was said is lost meanwhile."""
    while True:
        try:
            perform, fronts = partial(execute, daemon.pool), daemon.log.store.fronts
            await telegram.serve(perform, fronts, daemon.pool.attention)
        except Exception:
            log.exception("telegram.door_failed")
        await asyncio.sleep(DOOR_SECONDS)


def manager_of(
    ground: Ground, book: SessionBook, desk: ApprovalDesk, trust: TrustBook
) -> SessionManager:
    settings = ground.settings.sessions
    return SessionManager(
        log=ground.log,
        book=book,
        engine=engine_of(settings, ground.environ, ground.ledger),
        desk=desk,
        clock=ground.clock,
        rhythm=rhythm_of(settings),
        room=Room(max_sessions=settings.max_sessions, memory_mb=settings.memory_budget_mb),
        trusted=trust.covers,
        transcripts=ground.transcripts,
        purse=Purse(
            settings.daily_budget_usd,
            spent_since=ground.log.store.spent_since,
            clock=ground.clock,
            zone=ground.zone,
        ),
    )


def housekeeping_of(ground: Ground, book: SessionBook, manager: SessionManager) -> Housekeeping:
    return Housekeeping(
        log=ground.log,
        book=book,
        manager=manager,
        clock=ground.clock,
        max_persisted=ground.settings.sessions.max_persisted_sessions,
        continue_after_limit=ground.settings.sessions.continue_after_limit,
    )


def pool_of(
    ground: Ground,
    manager: SessionManager,
    book: SessionBook,
    desk: ApprovalDesk,
    rules: RuleBook,
    trust: TrustBook,
    presence: Presence,
    health: Health,
    private: tuple[Path, ...],
) -> Pool:
    settings = ground.settings.sessions
    schedules = ScheduleBook(ground.documents, ground.log)
    workdirs = Workdirs(settings.default_workdir, settings.roots)
    pool = Pool(
        manager=manager,
        book=book,
        desk=desk,
        rules=rules,
        trust=trust,
        log=ground.log,
        workdirs=workdirs,
        projects=projects_of(ground),
        transcripts=ground.transcripts,
        defaults=Defaults(
            model=settings.default_model,
            mode=settings.permission_mode,
            budget_usd=settings.default_budget_usd,
        ),
        clock=ground.clock,
        zone=ground.zone,
        private=private,
        origins=origins_of(ground.settings.channels),
        worktrees=Worktrees(
            git=Git(ground.environ),
            book=WorktreeBook(ground.documents, ground.log),
            clock=ground.clock,
            trusted=trust.covers,
            allowed=workdirs.resolve,
        ),
        attention=Attention(
            presence=presence,
            quiet=ground.quiet,
            log=ground.log,
            live=manager.live,
            schedules=schedules,
            clock=ground.clock,
        ),
        health=health,
        tokens=TokenBook(ground.documents, ground.log, ground.clock),
        extensions=extensions_of(ground),
        schedules=Timekeeper(
            book=schedules,
            sessions=book,
            events=ground.log,
            clock=ground.clock,
            zone=ground.zone,
            missed=ground.settings.schedules.missed,
            launch=lambda command, caller: execute(pool, command, caller),
        ),
    )
    return pool


def health_of(ground: Ground, doors: Sequence[Callable[[], Report]]) -> Health:
    async def ask_cli() -> str | None:
        cli, env = find_cli(ground.settings), ground.settings.sessions.environment(ground.environ)
        return await version_of(cli, env) if cli else None

    return Health(
        started=ground.clock.monotonic(),
        max_sessions=ground.settings.sessions.max_sessions,
        ask_cli=ask_cli,
        doors=doors,
    )


def extensions_of(ground: Ground) -> Extensions:
    return Extensions(
        cli=partial(find_cli, ground.settings),
        env=ground.settings.sessions.environment(ground.environ),
    )


def private_to(settings: Settings, home: Path, source: Path | None) -> tuple[Path, ...]:
    """What holds this program's own state and secrets."""
    files = (settings.telegram.token_file, settings.voice.key_file, settings.gateway.token_file)
    own = (home, source, *files)
    return tuple(path.resolve() for path in own if path is not None)


def orchestrator_of(ground: Ground, book: SessionBook) -> Orchestrator:
    settings = ground.settings.orchestrator
    return Orchestrator(
        Roads(
            message_command=settings.message_command,
            event_command=settings.event_command,
            webhook_url=settings.webhook_url,
            env=environment(ground.environ),
            clock=ground.clock,
        ),
        states=book.state,
        blocks=lambda session: book.output(session).last(BLOCKS),
        clock=ground.clock,
    )


def origins_of(settings: ChannelSettings) -> Origins:
    """Sessions run where links lead, so a path counts as written and as it leads."""
    written = settings.workdirs
    real = {os.path.realpath(os.path.expanduser(path)): to for path, to in written.items()}
    return Origins(workdirs={**real, **written}, fallback=settings.fallback)


def projects_of(ground: Ground) -> Projects:
    settings = ground.settings.projects
    return Projects(
        roots=settings.roots,
        exclude=settings.exclude,
        transcripts=ground.transcripts if settings.scan_claude_projects else None,
        log=ground.log,
        git=Onlooker(ground.environ),
        clock=ground.clock,
        chosen=ProjectBook(ground.documents, ground.log, ground.clock),
    )


def engine_of(
    settings: SessionSettings, environ: Mapping[str, str], ledger: Ledger | None = None
) -> ClaudeEngine:
    return ClaudeEngine(
        env=settings.environment(environ),
        setting_sources=settings.setting_sources,
        cli_path=str(settings.cli_path) if settings.cli_path else None,
        ledger=ledger,
    )


def rhythm_of(settings: SessionSettings) -> Rhythm:
    idle, stall = settings.idle_timeout_minutes, settings.stall_minutes
    return Rhythm(
        idle_seconds=idle * 60 if idle is not None else None,
        idle_kills=settings.idle_action == "kill",
        safety_net_seconds=settings.safety_net_seconds,
        stall_seconds=stall * 60 if stall is not None else None,
    )
