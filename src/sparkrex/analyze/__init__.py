"""Meaning: names, targets of navigation, aggregates; a clause and its input's columns become an `ir.plan`.

`clause` is the way in; `expressions` converts scalar expressions with the help of one module per kind of node. Imports
the foundation, `ir`, the syntax trees of `languages`, and sqlglot. `split` is for matchers: it knows `ir` only.
"""
