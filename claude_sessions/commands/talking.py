"""Speaking to sessions."""

from __future__ import annotations

from dataclasses import replace

from claude_sessions import commands as c
from claude_sessions.channel import Action
from claude_sessions.commands import replies
from claude_sessions.commands.deciding import answer
from claude_sessions.commands.lasting import only_admins_change_what_lasts
from claude_sessions.commands.lines import line_of
from claude_sessions.commands.pool import Pool, about, no_agent_into_looser, still_allowed
from claude_sessions.errors import BadRequest, Conflict, SessionsError
from claude_sessions.model import AskKind, Status
from claude_sessions.people import Caller
from claude_sessions.state import SessionState

LOOKED_AT = 100


async def respond(pool: Pool, command: c.Respond, caller: Caller) -> c.Reply:
    only_admins_change_what_lasts(command.text, caller)
    state = await pool.book.find(command.session)
    no_agent_into_looser(pool, state, caller)
    still_allowed(pool, state)
    busy_since = state.turn_started_at
    heard = await pool.manager.say(
        state,
        command.text,
        caller=str(caller),
        attachments=command.attachments,
        steer=command.steer,
        interrupt=command.interrupt,
        queue=command.queue,
    )
    data = {"messageId": heard.message_id, "queued": heard.queued}
    if not heard.state.status.has_process:
        text, actions = replies.held(
            heard.state, heard.message_id, pool.manager.place_in_line(state.id), pool.clock.now()
        )
        return c.Reply(text=text, data=data, session=state.id, actions=actions)
    if heard.queued and busy_since is not None and not (command.steer or command.interrupt):
        elapsed = (pool.clock.now() - busy_since).total_seconds()
        text, actions = replies.queued(heard.state, heard.message_id, heard.queued, elapsed)
        return c.Reply(text=text, data=data, session=state.id, actions=actions)
    text = replies.responded(heard.state, command.text)
    return c.Reply(text=text, data=data, session=state.id)


async def talk(pool: Pool, command: c.Talk, caller: Caller) -> c.Reply:
    if command.session is not None:
        state = await pool.book.find(command.session)
    else:
        state = await _in_front(pool, command, caller)
    said_to = c.Respond(
        session=state.id,
        text=command.text,
        attachments=command.attachments,
        carrier=command.carrier,
        steer=command.steer and state.turn is not None,
    )
    question = next((p for p in state.pending if p.kind is AskKind.QUESTION), None)
    if question is None:
        return await respond(pool, said_to, caller)
    caller.must_be(c.Answer.ROLE, c.Answer.TO)
    said = c.Answer(approval=question.id, answers=(command.text,))
    answered = await answer(pool, said, caller)
    return await _what_was_attached(pool, said_to, caller) if command.attachments else answered


async def _what_was_attached(pool: Pool, said: c.Respond, caller: Caller) -> c.Reply:
    """An answer takes words alone: the rest is the next message, with the words to explain it."""
    name = (await pool.book.find(said.session)).name
    try:
        reply = await respond(pool, said, caller)
    except SessionsError as error:
        error.args = (f"{name}: answered, but without what is attached. {error}",)
        raise
    text = f"{name}: answered. What is attached is the next message. {reply.text}"
    return replace(reply, text=text)


async def _in_front(pool: Pool, command: c.Talk, caller: Caller) -> SessionState:
    here = pool.log.store.fronts(caller.channel or "")
    if not here:
        nobody = BadRequest("No session is in the foreground here. /fg NAME, or /new and a prompt.")
        start = c.Launch(
            prompt=command.text,
            foreground=True,
            attachments=command.attachments,
            carrier=command.carrier,
        )
        if (line := line_of(start)) is not None:
            nobody.actions = (Action(label="Start one with this", line=line),)
        raise nobody
    return await pool.book.load(here[0])


async def withdraw(pool: Pool, command: c.Withdraw, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    message = next((m for m in state.queued if m.id == command.message), None)
    if message is None:
        raise Conflict("That message is no longer queued: Claude has it.")
    if not (command.steer or command.interrupt):
        await pool.manager.withdraw(state, message.id, caller=str(caller))
        return about(f"{state.name}: withdrawn.", state)
    await pool.manager.hasten(state, message, caller=str(caller), steer=command.steer)
    return about(replies.responded(state, message.text), state)


async def list_queue(pool: Pool, command: c.ListQueue, caller: Caller) -> c.Reply:
    if command.session is not None:
        states = [await pool.book.find(command.session)]
    else:
        states = await _with_messages(pool)
    text, actions = replies.queue(states, pool.manager.place_in_line)
    return c.Reply(text=text, data={"sessions": [s.id for s in states]}, actions=actions)


async def _with_messages(pool: Pool) -> list[SessionState]:
    """Those in line, in their order; then those at work, and those that rest with something left.

    Of the sleeping only the latest are looked at: an old one with a message is a rare thing.
    """
    rows = pool.log.store.line()
    rows += await pool.log.session_rows(statuses=(Status.PARKED,))
    rows += await pool.log.session_rows(statuses=(Status.ASLEEP,), limit=LOOKED_AT)
    ids = dict.fromkeys([*(r.id for r in rows), *(s.id for s in pool.manager.live())])
    states = [await pool.book.load(id_) for id_ in ids]
    return [state for state in states if state.queued or state.in_line]


async def wait(pool: Pool, command: c.Wait, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    await pool.manager.wait(state)
    return about(f"{state.name} may take its time; you hear of it again if it stays silent.", state)


async def interrupt(pool: Pool, command: c.Interrupt, caller: Caller) -> c.Reply:
    state = await pool.book.find(command.session)
    stopped = await pool.manager.interrupt(state, caller=str(caller))
    word = "interrupted." if stopped else "was not working; nothing to interrupt."
    return about(f"{state.name} {word}", state)
