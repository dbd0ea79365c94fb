"""What differs between dialects, as the tables of docs/semantics.md show it: one probe a row, one table a dialect.

A probe is asked three ways, because the dialect must decide whoever evaluates: over one row (the host), over two rows
that only the match knows (the engine), and in a condition. `tests/documentation/test_dialects.py` runs all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

import sparkrex as rex
from sparkrex.errors import ExecutionError

TABLE = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "seven": pa.array([7, 7], pa.int64()),
        "two": pa.array([2, 2], pa.int64()),
        "three": pa.array([3, 3], pa.int64()),
        "zero": pa.array([0, 0], pa.int64()),
        "one": pa.array([1, 1], pa.int64()),
        "largest": pa.array([2**63 - 1] * 2, pa.int64()),
        "half": pa.array([0.5, 0.5], pa.float64()),
        "nil": pa.array([0.0, 0.0], pa.float64()),
        "small_a": ["a", "a"],
        "large_b": ["B", "B"],
        "missing": pa.array([None, None], pa.string()),
    }
)
"""Two equal rows, so that FIRST and LAST read different rows of equal values."""

KEYS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "key": pa.array([5, None, 4], pa.int64())})


@dataclass(frozen=True)
class Probe:
    """A row of the tables: its label, and an expression in which `{l}` and `{r}` are two columns."""

    label: str
    expression: str
    left: str
    right: str

    def over_one_row(self) -> str:
        """Row-local: the host evaluates it."""
        return self.expression.format(l=f"A.{self.left}", r=f"A.{self.right}")

    def over_two_rows(self) -> str:
        """Two targets: the host cannot evaluate it row by row."""
        return self.expression.format(l=f"FIRST(A.{self.left})", r=f"LAST(B.{self.right})")


PROBES = (
    Probe("`7 / 2`", "{l} / {r}", "seven", "two"),
    Probe("`-7 / 2`", "-{l} / {r}", "seven", "two"),
    Probe("`1 / 0`, integers", "{l} / {r}", "one", "zero"),
    Probe("`0.5 / 0.0`, doubles", "{l} / {r}", "half", "nil"),
    Probe("9223372036854775807 + 1", "{l} + {r}", "largest", "one"),
    Probe("`-7 % 3`", "-{l} % {r}", "seven", "three"),
    Probe("`7 % 0`", "{l} % {r}", "seven", "zero"),
    Probe("`'a' \\|\\| NULL`", "{l} || {r}", "small_a", "missing"),
    Probe("`'a' < 'B'`", "{l} < {r}", "small_a", "large_b"),
)


def answer(dialect: str, expression: str) -> str:
    """What an expression of MEASURES gives, as the tables show it."""
    query = (
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES {expression} AS x PATTERN (A B) DEFINE B AS id = 2)"
    )
    try:
        table = rex.sql(query, t=TABLE, dialect=dialect)
    except ExecutionError as error:
        return f"error {error.code}"
    return shown(table["x"][0].as_py())


def shown(value: Any) -> str:
    """A value as the tables show it; whole doubles and decimals look like what they are worth."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isinf(value):
        return "infinity"
    if isinstance(value, float | Decimal):
        return f"{float(value):g}"
    return repr(value) if isinstance(value, str) else str(value)


def type_of(dialect: str, expression: str) -> str:
    """The Arrow type of a measure."""
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES {expression} AS x PATTERN (A B))"
    return str(rex.sql(query, t=TABLE, dialect=dialect).schema.field("x").type)


def null_place(dialect: str, direction: str) -> str:
    """Where ORDER BY puts NULLs."""
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY key {direction} MEASURES A.id AS id PATTERN (A))"
    ids = rex.sql(query, t=KEYS, dialect=dialect)["id"].to_pylist()
    return {0: "first", 2: "last"}.get(ids.index(2), f"in the middle: {ids}")
