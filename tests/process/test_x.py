import sqlite3
from tests.process.test_endings import *
async def test_broken_log(script, machine):
    gate = Gate()
    script.on("talk", say("One ", gate, "two."))
    async with machine.chat("--log-level","debug") as t:
        await t.prompts()
        t.type("/new --name talker talk")
        await gate.reached(timeout=30)
        db = sqlite3.connect(machine.home / "log.db")
        print(db.execute("select name, type from sqlite_master").fetchall())
        db.execute("ALTER TABLE events RENAME TO gone"); db.close()
        gate.open()
        began=time.monotonic()
        print("code", await t.left(), time.monotonic()-began)
        print(t.text)
        print(machine.log)
        print(machine.processes(), t.restored)
