"""Runs whose next row depends on the rows taken so far: a range, a sum, the row three before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.expected import Array, ordered, plain_loop
from benchmarks.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(ts) AS began_at, LAST(ts) AS ended_at, count(*) AS n
  PATTERN (A{quantifier})
  DEFINE A AS {condition})"""


@plain_loop
def within_a_range(price: Array, offsets: Array) -> Array:
    """Longest runs whose prices lie within 1.00, at least ten rows."""
    found = np.empty((len(price), 2), np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start = offsets[part]
        while start < offsets[part + 1]:
            low, high, end = price[start], price[start], start
            while end < offsets[part + 1]:
                low, high = min(low, price[end]), max(high, price[end])
                if high - low > 1.0:
                    break
                end += 1
            if end - start >= 10:
                found[n_found] = (start, end)
                n_found += 1
                start = end
            else:
                start += 1
    return found[:n_found]


@plain_loop
def bins(volume: Array, offsets: Array) -> Array:
    """As many rows as fit below a sum of 3,000, again and again; every row fits alone."""
    found = np.empty((len(volume), 2), np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start = offsets[part]
        while start < offsets[part + 1]:
            total, end = 0, start
            while end < offsets[part + 1] and total + volume[end] <= 3_000:
                total += volume[end]
                end += 1
            found[n_found] = (start, end)
            n_found += 1
            start = end
    return found[:n_found]


@plain_loop
def above_the_third_before(price: Array, offsets: Array) -> Array:
    """Runs of at least five rows where each row but the first three is above the row three before it."""
    found = np.empty((len(price), 2), np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start = offsets[part]
        while start < offsets[part + 1]:
            end = start
            while end < offsets[part + 1] and (end - start < 3 or price[end] > price[end - 3]):
                end += 1
            if end - start >= 5:
                found[n_found] = (start, end)
                n_found += 1
                start = end
            else:
                start += 1
    return found[:n_found]


def expected(table: pa.Table, *, loop: Callable[..., Array], column: str) -> Answer:
    """The same by one of the loops."""
    rows = ordered(table, "symbol")
    found = loop(rows[column], rows.offsets)
    first, end = found[:, 0], found[:, 1]
    return {
        "symbol": rows["symbol"][first], "began_at": rows["ts"][first], "ended_at": rows["ts"][end - 1],
        "n": end - first,
    }


def run(name: str, title: str, quantifier: str, condition: str, loop: Callable[..., Array], column: str) -> Query:
    """A query for runs of one variable."""
    return Query(
        name, title, ticks, SQL.format(quantifier=quantifier, condition=condition),
        partial(expected, loop=loop, column=column), reads_match=True,
    )


QUERIES = (
    run(
        "aggregate_in_define", "prices within a range of 1.00", "{10,}", "MAX(A.price) - MIN(A.price) <= 1.00",
        within_a_range, "price",
    ),
    run("bin_packing", "bins by running sum", "+", "SUM(A.volume) <= 3000", bins, "volume"),
    run(
        "last_three", "navigation by LAST(x, 3)", "{5,}", "LAST(A.price, 3) IS NULL OR price > LAST(A.price, 3)",
        above_the_third_before, "price",
    ),
)
