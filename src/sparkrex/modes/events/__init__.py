"""Event queries, after the SASE+ paper: selection strategies, Kleene closure, negation, windows."""
