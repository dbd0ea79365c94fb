"""Trend queries from text to clauses, patterns and references."""
