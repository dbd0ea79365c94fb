"""Row patterns: their oracle, their random tests, their matchers."""
