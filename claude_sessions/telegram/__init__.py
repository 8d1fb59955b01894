"""Telegram: the door in your pocket, and the channel that never loses a word."""
