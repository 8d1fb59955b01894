"""What rings, when it is quiet, and what somebody who was away is told."""
