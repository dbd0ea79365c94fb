"""Dialects: text to syntax trees, one folder each. Imports the foundation, `statement.tokens` and `ir`."""
