"""Clauses with segment variables to a `SegmentSearch`."""
