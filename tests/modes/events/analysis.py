"""Event queries to their analysis, without an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.events.analyze.query import analyze_events
from sparkrex.modes.events.language.query import parse_events
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.source import Source, Span
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.modes.events.language.syntax import EventText
    from sparkrex.modes.events.plan import EventQuery

COLUMNS = {
    "ts": "TIMESTAMP", "n": "BIGINT", "day": "DATE", "seq": "BIGINT", "kind": "VARCHAR", "lot": "VARCHAR",
    "site": "VARCHAR", "from": "VARCHAR", "to": "VARCHAR", "type": "VARCHAR", "level": "BIGINT", "symbol": "VARCHAR",
    "price": "DOUBLE", "volume": "BIGINT", "tag_id": "BIGINT", "place": "STRUCT<city VARCHAR, zone STRUCT<id INT>>",
    "codes": "ARRAY<INT>",
}


def parsed(text: str, dialect: str = "spark") -> EventText:
    """The syntax tree of a query."""
    source, found = Source(text), find_dialect(dialect)
    return parse_events(tokenize(source, found), Span(0, len(text)), source, found, name_rules(dialect))


def analyzed(
    text: str, *, time: str | None = "ts", tie_break: tuple[str, ...] = (), type: str | None = "kind",
    types: Mapping[str, str] | None = None, ties: str = "order", dialect: str = "spark",
    columns: Mapping[str, str] = COLUMNS,
) -> EventQuery:
    """The query that a text asks for. Without `time` the text has all the options."""
    tree = parsed(text, dialect)
    scope = Scope(
        source=Source(text), dialect=find_dialect(dialect), dialect_name=dialect, host_dialect="duckdb",
        rules=name_rules(dialect), alias="stream", variables=(), unions={},
        columns=tuple(InputColumn(name, exp.DataType.build(kind, dialect="duckdb")) for name, kind in columns.items()),
        aggregate_names=frozenset({"mode"}), table_columns=lambda _: None, outer_names=frozenset(),
    )
    options = None if time is None else StreamOptions(time, tie_break, type, types, ties == "strict")
    return analyze_events(tree, scope, Span(0, len(text)), options)
