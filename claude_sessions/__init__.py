"""A pool of named Claude Code sessions, driven from wherever you are."""

__version__ = "0.1.0"
