"""Dialects: text to syntax trees, one folder each, and beside them what their pattern grammars share.

Imports the foundation, `statement.tokens` and `ir`.
"""
