"""Clauses of segment queries to their analysis, without an engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.syntax import Clause
from sparkrex.modes.segments.analyze.clause import analyze_segments
from sparkrex.modes.sub_clauses import union_variables
from sparkrex.pipeline import parse_query
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.syntax.names import name_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.modes.segments.plan import SegmentSearch

COLUMNS = {
    "tstamp": "TIMESTAMP", "day": "DATE", "n": "BIGINT", "ticker": "VARCHAR", "city": "VARCHAR", "price": "DOUBLE",
    "temp": "DOUBLE", "peak": "DOUBLE", "rides": "BIGINT", "confirmed": "BIGINT",
}


def analyzed(
    body: str, *, dialect: str = "spark", columns: Mapping[str, str] = COLUMNS,
    user_aggregates: Mapping[str, int] | None = None, alias: str = "",
) -> SegmentSearch:
    """The search that a clause, the text between MATCH_RECOGNIZE's parentheses, asks for."""
    query = parse_query(f"SELECT * FROM t MATCH_RECOGNIZE (\n{body}) {alias}", dialect)
    (relation,), (clause,) = query.statement.relations, query.clauses
    assert isinstance(clause, Clause)
    scope = Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=dialect, host_dialect="duckdb",
        rules=name_rules(dialect), alias="t", variables=traverse.variables(clause.pattern), unions={},
        columns=tuple(InputColumn(name, exp.DataType.build(kind)) for name, kind in columns.items()),
        aggregate_names=frozenset({"mode"}), table_columns=lambda _: None, outer_names=frozenset(),
    )
    scope = replace(scope, unions=union_variables(clause, scope))
    return analyze_segments(clause, scope, relation, user_aggregates or {})
