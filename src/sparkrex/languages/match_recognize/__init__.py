"""SQL:2016 MATCH_RECOGNIZE: the clause between the parentheses, with exact positions.

The pattern grammar is ours; scalar expressions are parsed by sqlglot in the query's dialect.
"""
