"""The command line as a client of a running daemon, of which nothing is imported here."""
