"""What starts by the clock: cron lines and single times, kept as documents."""
