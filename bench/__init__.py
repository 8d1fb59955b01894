"""How fast, how big: each figure beside its baseline from the same run. `python -m bench`."""
