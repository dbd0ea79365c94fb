"""Optimized Pattern Search: its tables, its search, its matcher, against the naive search."""
