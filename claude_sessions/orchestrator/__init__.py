"""A program that launches sessions and hears of them: its commands and its webhook."""
