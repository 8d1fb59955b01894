"""MCP: agents drive the pool with the seed's eight tools, over streamable HTTP at `/mcp`.

An agent acts for whoever's token it shows, but as a `prompter` at most: it decides nothing and
loosens nothing. Each connection is a channel, `mcp|ID`: nothing is streamed to it, so it knows
exactly what the tools told it. `door.py` has the connections, `tools.py` the tools, `launching.py`
what is checked before an agent may launch, `cap.py` how often agents may talk among themselves.
"""
