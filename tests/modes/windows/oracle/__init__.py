"""Row patterns in WINDOW by definition: the loop over the rows, read aloud, and a small reader of SQL around it.

`search` is the definition; `calls` are the values that each row gets; `spec` reads a window, `pattern` its PATTERN and
`scalars` its expressions; `statement` finds the windows of a query and lets DuckDB run the plain SQL around them.
Nothing here knows the engine: only the algebra of expressions and patterns is shared, as in the oracle of
MATCH_RECOGNIZE, whose values, aggregates and order of preferment are used.
"""

from __future__ import annotations

from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError
from tests.modes.windows.oracle.statement import answer

__all__ = ["CannotEvaluate", "OracleError", "answer"]
