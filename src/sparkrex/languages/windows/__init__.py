"""Row patterns in windows (feature R020): windows of a query that have PATTERN, and the calls over them.

`outline` cuts a query into its clauses, `calls` finds windows and what is called over them, `projected` what a query of
joined or grouped rows reads of its input, `claim` puts placeholders into the statement, `parse` reads a window.
"""
