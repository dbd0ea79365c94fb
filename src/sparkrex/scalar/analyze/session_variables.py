"""Session variables of Spark (DECLARE VARIABLE) inside a clause.

As in Spark a name means a variable of the session only where it means nothing else: pattern variables, the input's name
and its columns come first. `v`, `session.v` and `system.session.v` are its spellings. It reads no row, so Spark
computes it; where the workers combine it with several rows, they get it as a column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span

_SCHEMAS = (("system", "session"), ("session",), ())


def find_session_variable(names: Sequence[str], scope: Scope, span: Span) -> tuple[Call, list[str]] | None:
    """The variable that a chain of names begins with and the fields behind it, None if there is none."""
    n_schema = _count_schema(names)
    if scope.session_variable is None or scope.find_column(names[0], span) is not None:
        return None
    if len(names) == n_schema or scope.session_variable(names[n_schema]) is None:
        return None
    variable = Call("session_variable", (Literal(names[n_schema]),), can_fail=False, span=span)
    return variable, list(names[n_schema + 1 :])


def session_variable_type(column: exp.Column, scope: Scope) -> exp.DataType | None:
    """The type of a column reference that may be a variable of the session."""
    names = [part.name for part in column.parts]
    n_schema = _count_schema(names)
    if scope.session_variable is None or len(names) != n_schema + 1:
        return None
    return scope.session_variable(names[n_schema])


def _count_schema(names: Sequence[str]) -> int:
    """How many of the first names say that a variable of the session is meant."""
    folded = tuple(name.lower() for name in names)
    return next(len(schema) for schema in _SCHEMAS if folded[: len(schema)] == schema)
