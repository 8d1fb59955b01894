"""What survives: the log and the session index in SQLite, the small things people own in JSON."""
