"""Extensions: the plugins and MCP servers of Claude Code, as its own program manages them."""
