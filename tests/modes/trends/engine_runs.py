"""The engine on a trend query, asked in different ways, and whether it says what the oracle says."""

from __future__ import annotations

import math
import random
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyarrow as pa
from tests.matching.schedules import many_open
from tests.modes.trends.streams import TYPES, table_of
from tests.modes.trends.texts import call_of, sql_of
from tests.modes.trends.values import is_nan

import sparkrex as rex
from sparkrex.modes.trends import engine
from sparkrex.modes.trends.runner import TrendRunner

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tests.modes.rows.property.draws import Draw
    from tests.modes.trends.draws import Example
    from tests.modes.trends.oracle import Row
    from tests.modes.trends.query import Aggregate, Query

Counts: TypeAlias = Literal["exact", "log", "text"]

CLOSE = 1e-12
"""How far a number in floating point may be from the exact one, relative to it."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the engine is asked: by a call or inside SQL, how it counts, and how its rows are fed."""

    through: str = "call"
    counts: Counts = "exact"
    chunk: int | None = None
    threads: int = 1
    scatter: int | None = None
    """The seed by which many slots are open at once; if it is odd, with a horizon of the time column."""

    def __str__(self) -> str:
        seed = "" if self.scatter is None else f" by seed {self.scatter}"
        return ", ".join(self.names()) + seed

    def names(self) -> list[str]:
        """In words."""
        fed = "whole" if self.chunk is None else f"in chunks of {self.chunk}"
        return [self.through, f"counts {self.counts}", fed if self.scatter is None else "many slots"]

    def ask(self, example: Example) -> pa.Table:
        """The engine's answer."""
        settings = {"threads": self.threads} | ({} if self.chunk is None else {"chunk_rows": self.chunk})
        table = table_of(example.rows)
        with warnings.catch_warnings(), self._scattered(example.query):
            # A few random events need not have all types, and some windows have gaps.
            warnings.simplefilter("ignore")
            if self.through == "SQL":
                query = sql_of(example.query, example.words, self.counts)
                return rex.sql(query, stream=table, dialect="duckdb", settings=settings)
            return rex.trends(
                example.text, table, **call_of(example.query), counts=self.counts, dialect="duckdb", settings=settings
            )

    def _scattered(self, query: Query) -> AbstractContextManager[None]:
        if self.scatter is None:
            return nullcontext()
        has_horizon = self.scatter % 2 and query.time in ("t", "ts")
        return many_open(engine, TrendRunner, random.Random(self.scatter), query.time if has_horizon else None)


def draw_way(draw: Draw) -> Way:
    """Some way to ask."""
    counts: Counts = draw.choice(["exact", "log", "text", "exact"])
    way = Way(draw.choice(["call", "call", "call", "SQL"]), counts)
    match draw.choice(["whole", "chunks", "chunks", "scattered"]):
        case "chunks":
            return Way(way.through, way.counts, chunk=draw.choice([3, 2, 1, 5]))
        case "scattered":
            return Way(way.through, way.counts, scatter=draw.integer(0, 255))
        case _:
            return Way(way.through, way.counts, threads=draw.choice([1, 3]))


def difference(example: Example, expected: list[Row], way: Way) -> str | None:
    """What is wrong with the engine's answer; None if nothing is."""
    try:
        table = way.ask(example)
    except Exception as error:
        return f"{way}: {error.__class__.__name__}: {error}"
    wrong_types = types_problem(example.query, table.schema, way.counts)
    if wrong_types is not None:
        return f"{way}: {wrong_types}"
    found = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    missing, rest = [], list(found)
    largest = largest_number(example.rows)
    for row in expected:
        same = next((other for other in rest if is_same_row(example.query, row, other, way.counts, largest)), None)
        if same is None:
            missing.append(row)
        else:
            rest.remove(same)
    if not missing and not rest:
        return None
    return "\n".join([
        f"{way}:", *(f"  missing {_shown(row)}" for row in missing), *(f"  wrong   {_shown(row)}" for row in rest),
        f"  {len(expected) - len(missing)} rows are right",
    ])


def _shown(row: Row) -> str:
    return f"({', '.join(str(value) for value in row)})"


# Values.


def largest_number(rows: list[dict[str, Any]]) -> Fraction:
    """The largest finite number of a stream, without its sign."""
    numbers = [value for row in rows for value in row.values() if isinstance(value, int | float | Decimal)]
    return max((abs(Fraction(number)) for number in numbers if math.isfinite(number)), default=Fraction(0))


def is_same_row(query: Query, expected: Row, found: Row, counts: str, largest: Fraction) -> bool:
    """Whether a row of the engine is one of the oracle."""
    return expected[:2] == found[:2] and all(
        is_same(item, one, other, counts, largest)
        for item, one, other in zip(query.returned, expected[2:], found[2:], strict=True)
    )


def is_same(item: str | Aggregate, expected: Any, found: Any, counts: str, largest: Fraction) -> bool:
    """Whether a value of the engine is the exact one of the oracle.

    Sums in floating point are close in terms of the numbers that were added: some are rounded before.
    """
    if isinstance(item, str) or expected is None:
        return bool(expected == found)
    if item.function == "COUNT" and counts == "log":
        if expected == 0:
            return found is None  # never infinity
        logarithm = math.log10(expected)
        return found is not None and abs(found - logarithm) <= CLOSE * max(1, logarithm)
    if found is None:
        return False
    if isinstance(found, float) and not math.isfinite(found):
        return is_nan(expected) if is_nan(found) else bool(found == expected)
    if not isinstance(expected, int | float | Decimal | Fraction):
        return bool(found == expected)
    if is_nan(expected) or abs(expected) == math.inf:
        return False
    # Numbers come as text under counts="text".
    exact, number = Fraction(expected), Fraction(found)
    if item.function == "AVG" or (item.function == "SUM" and isinstance(found, float)):
        size = max(Fraction(1), abs(exact), largest if counts == "log" else Fraction(0))
        return float(abs(exact - number)) <= CLOSE * float(size)
    return exact == number


# Types.


def types_problem(query: Query, schema: pa.Schema, counts: str) -> str | None:
    """What is wrong with names and types of the result's columns."""
    if schema.names[:2] != ["window_start", "window_end"]:
        return f"columns {schema.names}"
    if len(schema.names) != 2 + len(query.returned):
        return f"{len(schema.names)} columns: {schema.names}"
    for number, item in enumerate(query.returned):
        name = schema.names[2 + number]
        if name not in (f"c{number}", item):
            return f"column {number} is called {name}"
        wanted = TYPES[item] if isinstance(item, str) else _type_of(item, counts)
        if wanted is not None and schema.types[2 + number] != wanted:
            return f"{item} is {schema.types[2 + number]}, not {wanted}"
    for name in ("window_start", "window_end"):
        allowed = _window_types(query)
        if schema.field(name).type not in allowed:
            return f"{name} is {schema.field(name).type}, not {allowed[0]}"
    return None


def _window_types(query: Query) -> tuple[pa.DataType, ...]:
    if query.window is not None and query.window.counts_events:
        return (pa.int64(),)
    if query.time == "day":
        return (pa.timestamp("us"),) if query.window is not None else (pa.timestamp("us"), pa.date32())
    if query.time == "m":
        # A window's bound may have more digits than the times.
        return (pa.decimal128(38, 2), TYPES["m"])
    return (TYPES[query.time],)


def _type_of(item: Aggregate, counts: str) -> pa.DataType | None:
    """The type of an aggregate; None if that is the host's to say."""
    whole = {"exact": pa.decimal128(38, 0), "log": pa.float64(), "text": pa.string()}[counts]
    if item.function == "COUNT":
        return whole
    if item.function == "AVG":
        return pa.float64()
    assert item.argument is not None
    column = TYPES[item.argument.column or "x"]
    if item.function in ("MIN", "MAX"):
        return None if item.argument.plus else column
    if pa.types.is_floating(column):
        return pa.float64()
    return pa.decimal128(38, column.scale) if counts == "exact" and pa.types.is_decimal(column) else whole

