"""The matcher for conditions that read the match: prioritised search with remembered failures."""
