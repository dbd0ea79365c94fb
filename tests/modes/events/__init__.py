"""Event queries (SASE+): the brute-force oracle, random queries, the engine against both."""
