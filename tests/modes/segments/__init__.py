"""Segment search: the brute-force oracle and its tests, random searches, and the aggregates over segments."""
