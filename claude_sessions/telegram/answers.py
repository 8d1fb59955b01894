"""What a command answered, as a letter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from claude_sessions import commands as c
from claude_sessions.approvals.visible import one_line
from claude_sessions.telegram import looks
from claude_sessions.telegram.letters import Content, File


def answer(reply: c.Reply) -> Content | None:
    """None: there is nothing to say."""
    if parcel := reply.data.get("parcel"):
        name = one_line(Path(reply.data["file"]).name, 100)
        file = File(name=name, path=parcel, caption=reply.data["caption"])
        return Content(parts=(), file=file)
    if reply.card is not None:
        return replace(looks.told(reply.card, ring=False), again=reply.again)
    if not reply.text and not reply.actions:
        return None
    content = looks.said(reply.narrow or reply.text, reply.actions)
    diff = reply.data.get("diff")
    if diff and not content.file and len(str(diff)) > len(reply.text):
        content = replace(content, file=File(name="changes.diff", text=str(diff)))
    return replace(content, again=reply.again)
