"""Meaning: names, targets of navigation, aggregates; a clause and its input's columns become an `ir.plan`.

Imports the foundation, `ir` and the syntax trees of `languages`.
"""
