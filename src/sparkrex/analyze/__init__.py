"""Meaning: names, targets of navigation, aggregates; a clause and its input's columns become an `ir.plan`.

Imports the foundation, `ir`, the syntax trees of `languages`, and sqlglot. `split` is for matchers: it sees `ir` only.
"""
