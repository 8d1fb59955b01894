"""What a client and the gateway agree on beforehand. Quick to import: a client begins with it."""

from __future__ import annotations

LONGEST = 1024 * 1024  # bytes of a request's body, or of a frame
WORKSPACE = "x-claude-sessions-workspace"  # a header: where an agent itself works
PLACE = "x-claude-sessions-place"  # a header: what outlives its connection, and knows what it read
