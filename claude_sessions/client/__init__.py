"""Programs that ask a running daemon through its gateway."""
