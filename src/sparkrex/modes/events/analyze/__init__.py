"""Event queries to an `EventQuery`: conjuncts placed, windows, equalities that partition the stream."""
