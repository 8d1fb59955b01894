"""The gateway: one authenticated port through which programs do what people do by chat.

`guard.py` and `auth.py` come first; whoever has passed them is a `Visitor`. Each dialect is a file
of its own (`rpc`, `rest`, `sse`, `runtime`, `terminal`, `mcp`) that turns requests into the same
commands and reads the same log. `server.py` puts them together.
"""
