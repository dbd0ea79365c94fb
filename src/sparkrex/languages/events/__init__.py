"""SASE+ event queries: text to syntax trees, with exact positions.

The pattern and the clauses are our grammar; references such as `b[i-1].x` are rewritten at token level, so that scalar
expressions are parsed by sqlglot in the query's dialect, as everywhere. `query.parse_events` is the way in.
"""
