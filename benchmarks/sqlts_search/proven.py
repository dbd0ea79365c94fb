"""Plain MATCH_RECOGNIZE with proofs and without: queries of which a proof takes work away."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex

WITHOUT: dict[str, Any] = {"proofs": False}
"""The setting that turns proofs off."""

_QUERY = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY day
  MEASURES FIRST(A.day) AS first_day, LAST(day) AS last_day
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN ({pattern})
  DEFINE {define})"""

_RISES_AND_FALLS = "A AS A.price > PREV(A.price), B AS B.price < PREV(B.price)"
QUERIES = {
    "exclusive neighbours": _QUERY.format(
        pattern="A+ B+ C",
        define=f"{_RISES_AND_FALLS}, C AS C.price >= PREV(C.price) AND C.volume > 900 AND C.price < A.price",
    ),
    "contradiction in a branch": _QUERY.format(
        pattern="A+ (B | C)+ D",
        define=f"{_RISES_AND_FALLS}, C AS C.volume > 600 AND C.volume <= 400 AND C.price < FIRST(A.price), "
               "D AS D.price > PREV(D.price) AND D.volume > 900",
    ),
    "contradiction": _QUERY.format(
        pattern="A+ B+ C",
        define=f"{_RISES_AND_FALLS}, C AS C.price >= PREV(C.price) AND C.price < PREV(C.price) AND C.price > A.price",
    ),
    "adjacent row": _QUERY.format(
        pattern="A B+ C D",
        define="B AS B.price > PREV(B.price), C AS C.price <= PREV(C.price), D AS D.price < C.price AND D.volume > 900",
    ),
}
"""A star that excludes what follows gives nothing back, so `ops` can search a pattern that reads the match. A variable
whose condition contradicts itself leaves an alternation, and takes with it the only condition that reads the match; or
it leaves no match at all. A reference to the element just before is to the previous row, which rows alone decide.
`C.volume > 900` makes matches few, so that the time is that of attempts which fail."""


@dataclass(eq=False)
class Proven:
    """One query. Seconds are medians, from a table to a table."""

    name: str
    n_rows: int
    n_matches: int
    before: str
    after: str
    seconds_before: float
    seconds_after: float
    query: str = field(repr=False, default="")
    wrong: str = ""


def runs_of_prices(n: int, length: int = 200) -> pa.Table:
    """Whole prices that go up or down in runs of a mean length."""
    random = np.random.default_rng([20010523, n, length])
    direction = np.where(np.cumsum(random.random(n) < 1 / length) % 2, 1, -1)
    price = 10_000_000 + np.cumsum(direction * random.integers(1, 10, n))
    return pa.table({"day": np.arange(n), "price": price, "volume": random.integers(0, 1000, n)})


def measure(name: str, table: pa.Table, repeat: int) -> Proven:
    """A query with proofs and without, in turns."""
    query = QUERIES[name]
    answer, _ = _run(query, table, {})
    wrong = "" if _run(query, table, WITHOUT)[0].equals(answer) else f"{name}: another answer without proofs"
    before, after = [], []
    for _ in range(repeat):
        before.append(_run(query, table, WITHOUT)[1])
        after.append(_run(query, table, {})[1])
    return Proven(
        name, table.num_rows, answer.num_rows, str(rex.explain(query, t=table, settings=WITHOUT)),
        str(rex.explain(query, t=table)), statistics.median(before), statistics.median(after), query, wrong,
    )


def _run(query: str, table: pa.Table, settings: dict[str, Any]) -> tuple[pa.Table, float]:
    """The answer, and seconds."""
    begin = time.perf_counter()
    answer = rex.sql(query, t=table, settings=settings)
    return answer, time.perf_counter() - begin


def differing_lines(one: str, other: str) -> list[str]:
    """The lines of an explanation that another one does not have, without the marks of its tree."""
    known = {_bare(line) for line in other.splitlines()}
    return [_bare(line) for line in one.splitlines() if _bare(line) not in known and not line.startswith("Host ")]


def _bare(line: str) -> str:
    return line.lstrip("├─│└ ")
