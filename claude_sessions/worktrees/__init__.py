"""Two sessions in one repository: each may have a git worktree, and a branch, of its own."""
