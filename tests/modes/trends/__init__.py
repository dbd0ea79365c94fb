"""Trend aggregates (COGRA): the brute-force oracle, random queries, the engine against it."""
