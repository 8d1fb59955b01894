from __future__ import annotations

import asyncio

import pytest
from telegram import Bot
from telegram.error import NetworkError

from . import BotApi, hang


async def test_closing_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()
    async with BotApi() as api:
        bot = Bot(api.token, api.base_url)
        await bot.initialize()
        ada = api.person(7, "Ada")
        api.fail("sendChatAction", how=hang(60))
        waiting = [
            asyncio.create_task(bot.get_updates(timeout=50)),
            asyncio.create_task(bot.send_chat_action(ada.id, "typing", read_timeout=60)),
        ]
        await api.called("sendChatAction")
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(each, Exception) for each in ended)
    await bot.shutdown()
    assert asyncio.all_tasks() == before


async def broken() -> None:
    async with BotApi() as api, Bot(api.token, api.base_url) as bot:
        api.fail("getMyCommands", where=lambda params: bool(params["missing"]))
        with pytest.raises(NetworkError):
            await bot.get_my_commands()


async def test_a_failure_of_the_stand_in_is_not_taken_for_one_of_the_network() -> None:
    with pytest.raises(ExceptionGroup, match="The stand-in itself failed"):
        await broken()


async def test_one_connection_carries_many_requests_and_chunks(api: BotApi) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(api.url.rpartition(":")[2]))
    head = f"POST /bot{api.token}/getMe HTTP/1.1\r\nHost: x\r\n".encode()
    writer.write(head + b"\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n")
    for _ in range(2):
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 OK")
        length = int(answer.partition(b"Content-Length: ")[2].partition(b"\r\n")[0])
        assert b'"username":"sessions_bot"' in await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()
