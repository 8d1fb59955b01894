"""Whose failure it is when an order fails."""

from __future__ import annotations

import asyncio

import pytest

from claude_sessions.sessions.mailbox import Gone, Mailbox, Order


async def failing() -> None:
    raise ValueError("no")


async def take_order(mailbox: Mailbox[str]) -> Order:
    order = await mailbox.take()
    assert isinstance(order, Order)
    return order


async def test_it_is_the_caller_s() -> None:
    mailbox: Mailbox[str] = Mailbox()
    calling = asyncio.create_task(mailbox.order(failing))
    await (await take_order(mailbox)).carry_out()
    with pytest.raises(ValueError, match="no"):
        await calling


async def test_it_is_nobody_s_when_the_caller_has_gone() -> None:
    mailbox: Mailbox[str] = Mailbox()
    calling = asyncio.create_task(mailbox.order(failing))
    order = await take_order(mailbox)
    calling.cancel()
    await asyncio.wait([calling])
    await order.carry_out()


async def test_it_is_the_session_s_own_when_an_alarm_rang() -> None:
    mailbox: Mailbox[str] = Mailbox()
    mailbox.ring(failing)()
    with pytest.raises(ValueError, match="no"):
        await (await take_order(mailbox)).carry_out()


async def test_nobody_waits_for_a_mailbox_that_has_closed() -> None:
    mailbox: Mailbox[str] = Mailbox()
    calling = asyncio.create_task(mailbox.order(failing))
    await asyncio.sleep(0)
    mailbox.close()
    with pytest.raises(Gone):
        await calling
    with pytest.raises(Gone):
        await mailbox.order(failing)
