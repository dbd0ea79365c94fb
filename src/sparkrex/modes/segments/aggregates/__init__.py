"""Aggregates over segments, one module a family; `registry` finds them by name, and takes users' own."""
