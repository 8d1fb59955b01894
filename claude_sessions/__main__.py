"""`python -m claude_sessions` is `claude-sessions`."""

from claude_sessions.cli import main

main()
