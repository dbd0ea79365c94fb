"""The columns that patterns read of a stream that nobody has seen: names from the texts, types by guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.workloads.workload import Workload


def guessed_stream(workload: Workload) -> pa.Table:
    """An empty stream with the columns that patterns name.

    What stands beside a text in a condition is taken for a text, anything else for a number; a window with a unit needs
    a time.
    """
    kinds: dict[str, pa.DataType] = {}
    stream = workload.stream
    has_units = any(
        unit not in (None, "EVENT", "EVENTS")
        for pattern in workload.patterns.values() if pattern.text.within is not None
        for _, unit in pattern.text.within.amounts
    )
    kinds[stream.time] = pa.timestamp("us") if has_units else pa.int64()
    if stream.type is not None:
        kinds[stream.type] = pa.string()
    for name in stream.tie_break:
        kinds.setdefault(name, pa.int64())
    for condition in (stream.types or {}).values():
        _guess(sqlglot.parse_one(condition, read="spark"), kinds)
    for pattern in workload.patterns.values():
        text = pattern.text
        for one in text.equivalences:
            kinds.setdefault(one.text, pa.string())
        for tree in (*(conjunct.tree for conjunct in text.conjuncts), *_returned(text.returned)):
            _guess(tree, kinds)
    unique: dict[str, tuple[str, pa.DataType]] = {}
    for name, kind in kinds.items():
        unique.setdefault(name.lower(), (name, kind))
    return pa.schema(list(unique.values())).empty_table()


def _returned(items: object) -> Iterator[exp.Expr]:
    for item in items or ():  # type: ignore[attr-defined]
        yield item.expression.tree


def _guess(tree: exp.Expr, kinds: dict[str, pa.DataType]) -> None:
    has_text = any(literal.is_string for literal in tree.find_all(exp.Literal))
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and column.name:
            kinds.setdefault(column.name, pa.string() if has_text else pa.float64())
