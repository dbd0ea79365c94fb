"""Trend queries to a `TrendQuery`: conditions sorted by the events that they read, windows, what is returned."""
