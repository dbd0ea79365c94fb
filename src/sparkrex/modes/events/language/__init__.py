"""Event queries from text to clauses, pattern and references."""
