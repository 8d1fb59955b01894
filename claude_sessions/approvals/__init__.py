"""Questions a session waits on: what is asked, how risky it is, who or what answers."""
