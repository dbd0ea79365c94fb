"""An example and what is wrong with its answer, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.modes.trends.event_types import CONDITIONS
from tests.modes.trends.query import Aggregate, leaves
from tests.modes.trends.texts import call_of

if TYPE_CHECKING:
    from tests.modes.trends.draws import Example
    from tests.modes.trends.oracle import Row
    from tests.modes.trends.query import Query


def told(example: Example, expected: list[Row], problem: str) -> str:
    """The query, its events in order, the oracle's answer and the engine's."""
    query = example.query
    call = {name: value for name, value in call_of(query).items() if name not in ("type", "types")}
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.items())
    names = columns_of(query)
    rows = sorted(example.rows, key=lambda row: (row["t"], row["b"]))
    answer = [f"  ({', '.join(map(str, row))})" for row in expected] or ["  no rows"]
    return "\n".join([
        example.text, f"-- {arguments}, type='kind', types={CONDITIONS}", _table(names, rows), "oracle:", *answer,
        f"engine, {problem}",
    ])


def columns_of(query: Query) -> list[str]:
    """The columns that the query reads."""
    found = ["kind", query.time, *query.tie_break, *query.group_by, *query.equivalent]
    terms = [side for pair in query.adjacent for side in (pair.left, pair.right)]
    terms += [side for one in query.local for side in (one.left, one.right) if side is not None]
    terms += [item.argument for item in query.returned if isinstance(item, Aggregate) and item.argument is not None]
    found += [term.column for term in terms if term.column is not None]
    if any(leaf.type == "Low" for pattern in query.patterns for leaf in leaves(pattern)):
        found.append("x")
    return list(dict.fromkeys(found))


def _table(names: list[str], rows: list[dict[str, Any]]) -> str:
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    return "\n".join("  " + "  ".join(map(str.ljust, line, widths)).rstrip() for line in cells)
