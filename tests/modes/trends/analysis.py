"""Trend queries to their analysis, without an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.trends.analyze.query import analyze_trends
from sparkrex.modes.trends.language.query import parse_trends
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.source import Source, Span
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.modes.trends.language.syntax import Origin, TrendText
    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.modes.trends.plan import TrendQuery

COLUMNS = {
    "ts": "TIMESTAMP", "n": "BIGINT", "x": "DOUBLE", "exact": "DECIMAL(12, 2)", "day": "DATE", "id": "BIGINT",
    "kind": "VARCHAR", "price": "DOUBLE", "volume": "BIGINT", "flag": "BOOLEAN", "company": "VARCHAR",
    "sector": "VARCHAR", "job": "BIGINT", "mapper": "BIGINT", "cpu": "DOUBLE", "driver": "BIGINT", "rider": "BIGINT",
    "district": "VARCHAR", "speed": "DOUBLE", "patient": "BIGINT", "rate": "BIGINT", "type": "VARCHAR", "to": "VARCHAR",
    "place": "STRUCT<city VARCHAR, zone STRUCT<id INT>>", "codes": "ARRAY<INT>",
}


@dataclass(frozen=True)
class Whole:
    """A query that is not a relation of a statement."""

    span: Span
    column_aliases: tuple[str, ...] | None = None
    columns_span: Span | None = None


def parsed(text: str, dialect: str = "spark") -> TrendText:
    """The syntax tree of a query."""
    source, found = Source(text), find_dialect(dialect)
    return parse_trends(tokenize(source, found), Span(0, len(text)), source, found, name_rules(dialect))


def analyzed(
    text: str, *, time: str | None = "ts", tie_break: tuple[str, ...] = (), type: str | None = "kind",
    types: Mapping[str, str] | None = None, ties: str = "strict", origin: Origin | None = None,
    counts: Counts = Counts.EXACT, dialect: str = "spark", columns: Mapping[str, str] = COLUMNS,
) -> TrendQuery:
    """The query that a text asks for. Without `time` the text has all the options."""
    tree = parsed(text, dialect)
    scope = Scope(
        source=Source(text), dialect=find_dialect(dialect), dialect_name=dialect, host_dialect="duckdb",
        rules=name_rules(dialect), alias="stream", variables=(), unions={},
        columns=tuple(InputColumn(name, exp.DataType.build(kind, dialect="duckdb")) for name, kind in columns.items()),
        aggregate_names=frozenset({"mode"}), table_columns=lambda _: None, outer_names=frozenset(),
    )
    options = None
    if time is not None:
        options = TrendOptions(StreamOptions(time, tie_break, type, types, ties == "strict"), origin, counts)
    return analyze_trends(tree, scope, Whole(Span(0, len(text))), options)


def query(pattern: str = "A a+", where: str = "", *, returned: str = "COUNT(*)", rest: str = "") -> str:
    """A query of these clauses."""
    condition = f"WHERE {where}" if where else ""
    return f"RETURN {returned} PATTERN {pattern} SEMANTICS skip-till-any-match {condition} {rest}"


def patterns_of(text: str) -> tuple[TrendPattern, ...]:
    """The trees of a pattern."""
    return parsed(query(text)).pattern.patterns
