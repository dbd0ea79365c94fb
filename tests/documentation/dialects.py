"""What differs between dialects, as the tables of docs/semantics.md show it: one probe a row, one table a dialect.

A probe is asked three ways, because the dialect must decide whoever evaluates: over one row (the host), over two rows
that only the match knows (the engine), and in a condition. `test_dialects.py` runs them and compares the page.
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

DIALECTS = ("spark", "trino", "snowflake", "oracle", "duckdb", "bigquery", "flink")

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


INTEGER_DIVISION = "`7 / 2`, integers"
NEGATIVE_DIVISION = "`-7 / 2`, integers"
INTEGER_ZERO = "`1 / 0`, integers"
DOUBLE_ZERO = "`0.5 / 0.0`, doubles"
CONCATENATION = "`'a' \\|\\| NULL`"
NULLS_ASCENDING = "NULLs in ORDER BY ... ASC"
NULLS_DESCENDING = "NULLs in ORDER BY ... DESC"
SUM_OF_BIGINT = "type of sum(bigint)"

PROBES = (
    Probe(INTEGER_DIVISION, "{l} / {r}", "seven", "two"),
    Probe(NEGATIVE_DIVISION, "-{l} / {r}", "seven", "two"),
    Probe(INTEGER_ZERO, "{l} / {r}", "one", "zero"),
    Probe(DOUBLE_ZERO, "{l} / {r}", "half", "nil"),
    Probe("`9223372036854775807 + 1`, bigint", "{l} + {r}", "largest", "one"),
    Probe("`-7 % 3`", "-{l} % {r}", "seven", "three"),
    Probe("`7 % 0`", "{l} % {r}", "seven", "zero"),
    Probe(CONCATENATION, "{l} || {r}", "small_a", "missing"),
    Probe("`'a' < 'B'`: strings compare by UTF-8 bytes", "{l} < {r}", "small_a", "large_b"),
)

TYPES = {
    SUM_OF_BIGINT: "sum(seven)",
    "type of avg(bigint)": "avg(seven)",
    "type of sum(double)": "sum(half)",
    "type of avg(double)": "avg(half)",
}

_COMMON = {
    NULLS_ASCENDING: "last",
    NULLS_DESCENDING: "last",
    INTEGER_DIVISION: "3.5",
    NEGATIVE_DIVISION: "-3.5",
    INTEGER_ZERO: "error REX404",
    DOUBLE_ZERO: "error REX404",
    "`9223372036854775807 + 1`, bigint": "error REX405",
    "`-7 % 3`": "-1",
    "`7 % 0`": "error REX404",
    CONCATENATION: "NULL",
    "`'a' < 'B'`: strings compare by UTF-8 bytes": "false",
    SUM_OF_BIGINT: "int64",
    "type of avg(bigint)": "double",
    "type of sum(double)": "double",
    "type of avg(double)": "double",
}

_NULLS_ARE_SMALLEST = {NULLS_ASCENDING: "first", NULLS_DESCENDING: "last"}
_NULLS_ARE_LARGEST = {NULLS_ASCENDING: "last", NULLS_DESCENDING: "first"}

EXPECTED: dict[str, dict[str, str]] = {
    "spark": _COMMON | _NULLS_ARE_SMALLEST,
    "trino": _COMMON | {INTEGER_DIVISION: "3", NEGATIVE_DIVISION: "-3", DOUBLE_ZERO: "infinity"},
    "snowflake": _COMMON | _NULLS_ARE_LARGEST,
    "oracle": _COMMON | _NULLS_ARE_LARGEST | {CONCATENATION: "'a'"},
    "duckdb": _COMMON | {INTEGER_ZERO: "infinity", DOUBLE_ZERO: "infinity", SUM_OF_BIGINT: "decimal128(38, 0)"},
    "bigquery": _COMMON | _NULLS_ARE_SMALLEST,
    # Flink's own bigint wraps, and its average of integers is an integer: see the page.
    "flink": _COMMON | _NULLS_ARE_SMALLEST | {INTEGER_DIVISION: "3", NEGATIVE_DIVISION: "-3", DOUBLE_ZERO: "infinity"},
}
"""What each dialect's own documentation says, but for types: those are Arrow's nearest."""


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


def answer_in_define(dialect: str, probe: Probe, expected: str) -> str:
    """The expected answer if a condition agrees with it, else what happened instead."""
    value = probe.expression.format(l=f"FIRST(A.{probe.left})", r=f"B.{probe.right}")
    special = {"NULL": f"({value}) IS NULL", "infinity": f"({value}) > 1e300"}
    condition = f"({value}) = 1" if expected.startswith("error") else special.get(expected, f"({value}) = {expected}")
    query = (
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES count(*) AS n PATTERN (A B) DEFINE B AS {condition})"
    )
    try:
        n_matches = rex.sql(query, t=TABLE, dialect=dialect).num_rows
    except ExecutionError as error:
        return f"error {error.code}"
    return expected if n_matches == 1 and not expected.startswith("error") else f"not {expected}"


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


def tables_text() -> str:
    """The tables as docs/semantics.md holds them."""
    parts = []
    for dialect in DIALECTS:
        lines = [f"### {dialect}", "", "| expression | gives |", "|---|---|"]
        lines += [f"| {label} | {value} |" for label, value in EXPECTED[dialect].items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


if __name__ == "__main__":
    print(tables_text())
