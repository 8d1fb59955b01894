"""A strict stand-in of the Telegram Bot API: real HTTP on loopback, real refusals, real limits.

async with BotApi() as api:
    bot = Bot(api.token, base_url=api.base_url, base_file_url=api.base_file_url)
    ada = api.person(1, "Ada")
    await ada.says("/start")
    ...
    await ada.chat.shows("Hello")
    press = await ada.presses("Allow")
    assert await press.answered() == "Allowed"
"""

from .calls import Call
from .chats import Chat, Topic
from .faults import Drop, hang, status
from .limits import Limits
from .messages import Message
from .people import Person
from .presses import Press
from .server import BotApi

__all__ = [
    "BotApi",
    "Call",
    "Chat",
    "Drop",
    "Limits",
    "Message",
    "Person",
    "Press",
    "Topic",
    "hang",
    "status",
]
