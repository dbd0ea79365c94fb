"""Find the MATCH_RECOGNIZE relations in a SQL statement, order them, rebuild the host's SQL around them.

Takes text, returns a `Statement` (`cut`). Knows SQL only as tokens; imports the foundation and sqlglot's tokenizer.
"""
