"""One series in slices, each searched on its own, from row groups that overlap: all give what the whole gives."""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from tests.differential.relations import one_database

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.errors import ExecutionError
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.matching.slices import SliceNeeds
from sparkrex.modes.rows import slice_search
from sparkrex.modes.rows.engine import run_pattern
from sparkrex.modes.rows.slice_needs import slice_needs
from sparkrex.modes.rows.slice_search import NOWHERE, RowSlices, follow
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings
from sparkrex.spark.files import slices
from sparkrex.spark.files.slices import Cut, SlicedRows, answer
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize

SCHEMA = pa.schema({"t": pa.int64(), "x": pa.int64(), "n": pa.int64()})


@dataclass(frozen=True, eq=False)
class Series:
    """A query over a series, ready to be answered in any way."""

    plan: MatchRecognize
    evaluator: Evaluator
    needs: SliceNeeds | str

    def whole(self, rows: pa.Table, *, as_table: bool = False) -> Any:
        def run() -> Any:
            found = run_pattern(self.plan, rows, self.evaluator, Settings(threads=1), Stopwatch())
            return found if as_table else found.to_pylist()

        return told(run)

    def in_slices(self, rows: pa.Table, cut: Cut, groups: list[pa.Table]) -> Any:
        assert isinstance(self.needs, SliceNeeds)
        empty = SCHEMA.empty_table()
        needs = self.needs
        search = RowSlices.of(self.plan, empty, needs, self.evaluator, Settings(threads=1))

        def each() -> list[Any]:
            found = []
            for number in range(cut.n_slices):
                parts = SlicedRows(cut, needs, groups.__getitem__, in_order, empty)
                found += answer(parts, search, number).to_pylist()
            return found

        return told(each)


def in_order(rows: pa.Table) -> pa.Table:
    order = arrange([], [SortKey(rows["t"], False, True)], rows.num_rows).order
    return rows if order is None else rows.take(pa.array(order))


def told(run: Any) -> Any:
    """The rows, or the code of the error."""
    try:
        return run()
    except ExecutionError as error:
        return error.code


@contextmanager
def series(query: str, **settings: Any) -> Iterator[Series]:
    parsed = parse_query(query, "duckdb")
    with one_database():
        host = DuckDbHost(parsed.statement.source, parsed.statement.dialect, "duckdb", Settings())
        try:
            host.register("t", SCHEMA.empty_table())
            found = prepare_relation(parsed, parsed.statement.relations[0], parsed.clauses[0], host)
            plan: Any = found[0]
            needs = slice_needs(plan, plan, SCHEMA.empty_table(), found[2], Settings(threads=1, **settings))
            yield Series(plan, found[2], needs)
        finally:
            host.close()


def random_rows(draw: random.Random, n_rows: int) -> pa.Table:
    """Rows whose times tie, lie close together, and far apart."""
    steps = [draw.choice([0, 1, 1, 1, 2, 3, draw.choice([1, 9, 40])]) for _ in range(n_rows)]
    x = [draw.choice([draw.randint(0, 3), None]) if draw.random() < 0.1 else draw.randint(0, 3) for _ in range(n_rows)]
    return pa.table({"t": np.cumsum(steps), "x": x, "n": np.arange(n_rows)}, SCHEMA)


def random_cut(draw: random.Random, rows: pa.Table) -> tuple[Cut, list[pa.Table]]:
    """Groups of rows, some of which overlap, and slices of any length."""
    n_groups = draw.randint(1, 6)
    blur = draw.choice([0, 0, 2, 30])
    at = [min(max(0, n + draw.randint(-blur, blur)) * n_groups // rows.num_rows, n_groups - 1)
          for n in range(rows.num_rows)]
    groups = [rows.filter(pa.array([place == number for place in at])) for number in range(n_groups)]
    groups = sorted((group for group in groups if group.num_rows), key=lambda group: min(group["t"].to_pylist()))
    spans = tuple((min(group["t"].to_pylist()), max(group["t"].to_pylist())) for group in groups)
    if draw.random() < 0.2:  # conditions of the input leave rows out, of which footers know nothing
        keep = draw.randint(0, 3)
        groups = [group.filter(pa.compute.not_equal(group["x"], keep)) for group in groups]
    last = rows["t"][-1].as_py()
    bounds = sorted({draw.randint(-1, last + 2) for _ in range(draw.randint(0, 6))})
    return Cut(spans, tuple(bounds)), groups


PATTERNS = [
    "A B+ C", "A B* C", "A+", "A+?", "A B*? C", "(A | B C)+ A", "A? B* C?", "A A", "A B{1,3} C", "A{3}", "B A | A B",
    "A* B", "A (B C)* A", "A*?", "A{2,5}", "PERMUTE(A, B)", "A {- B+ -} C",
]
CONDITIONS = [
    "x = 0", "x <> 1", "x IN (1, 2)", "x > PREV(x)", "x <= PREV(x)", "x >= PREV(x, 2)", "NEXT(x) = 1", "x = NEXT(x, 2)",
    "x IS NOT NULL", "x < FIRST(x) + 2", "x >= avg(x)", "count(*) < 4", "x > 0 AND PREV(x) IS NOT NULL",
    "n < 120 OR 4611686018427387904 * (FIRST(n) - 118) > x",  # which is out of range from row 120 on
]
BY_INDEX = "A.n AS a, LAST(n) AS l, FIRST(n) AS f, count(*) AS c, PREV(FIRST(n), 2) AS p"


def random_query(draw: random.Random) -> str:
    pattern = draw.choice(PATTERNS)
    names = [name for name in "ABC" if name in pattern.replace("PERMUTE", "")]
    defined = ", ".join(f"{name} AS {draw.choice(CONDITIONS)}" for name in names if draw.random() < 0.85)
    bound = draw.choice(["", *(f" WITHIN {length}" for length in (1, 2, 4, 10, 30))])
    shown = draw.choice(["ONE ROW PER MATCH", "ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
    return f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES {BY_INDEX} {shown}
      AFTER MATCH SKIP {draw.choice(["PAST LAST ROW", "PAST LAST ROW", "TO NEXT ROW"])}
      PATTERN ({pattern}){bound} {f"DEFINE {defined}" if defined else "DEFINE A AS TRUE"})""".replace(
        "A.n AS a", "A.n AS a" if "A" in names else "n AS a")


def check_random(seed: int) -> bool:
    """Whether a random query had bounds, so that there was something to compare."""
    draw = random.Random(seed)
    query = random_query(draw)
    with series(query) as one:
        if isinstance(one.needs, str):
            return False
        for _ in range(3):
            rows = random_rows(draw, draw.choice([1, 5, 40, 150, 300]))
            cut, groups = random_cut(draw, rows)
            given = in_order(pa.concat_tables(groups))
            expected = one.whole(given)
            before, most = draw.choice([(1,), (2,), (2, 8, 32)]), draw.choice([4, 1 << 14])
            with patch.object(slices, "BEFORE", before), patch.object(slice_search, "MOST_ROWS", most):
                found = one.in_slices(given, cut, groups)
            assert found == expected, f"seed {seed}\n{query}\n{cut}\n{rows.to_pydict()}"
    return True


def test_random_series_in_slices() -> None:
    n_compared = sum(check_random(seed) for seed in range(30))
    assert n_compared > 15


@pytest.mark.slow
def test_many_random_series_in_slices() -> None:
    n_compared = sum(check_random(seed) for seed in range(30, 600))
    assert n_compared > 300


def test_ways_that_never_meet_and_ways_that_do() -> None:
    following = np.array([1, 3, 3, 5, 6, 6])
    assert follow(following, 0, 2) == {6}
    assert follow(np.array([2, 3, 4, 5]), 0, 1) == {4, 5}
    assert follow(np.array([NOWHERE, 3, 4, 5]), 0, 1) == {NOWHERE, 5}
    assert follow(np.array([1, 2]), 0, 2) == {2}


NEVER = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES FIRST(n) AS f PATTERN (A A) WITHIN 2 DEFINE A AS n > {})"


@pytest.mark.parametrize("first", [-1, 0, 250])
def test_searches_that_never_meet_follow_the_slices_before(first: int) -> None:
    rows = pa.table({"t": np.arange(400), "x": np.zeros(400, np.int64), "n": np.arange(400)}, SCHEMA)
    cut = Cut(((0, 99), (100, 299), (300, 399)), (101, 204, 333))
    groups = [rows.slice(0, 100), rows.slice(100, 200), rows.slice(300)]
    with series(NEVER.format(first)) as one:
        assert one.in_slices(rows, cut, groups) == one.whole(rows) == [{"f": n} for n in range(first + 1, 399, 2)]


def test_a_way_that_comes_to_an_error_proves_nothing() -> None:
    """A match is searched for at every third row; elsewhere the search would fail, and it never comes there."""
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES FIRST(n) AS f PATTERN (A{1,2} B) WITHIN 3
      DEFINE B AS 4611686018427387904 * (FIRST(n) - x) > x - 1000)"""
    n = np.arange(399)
    rows = pa.table({"t": n, "x": np.where(n % 3 == 2, n - 2, n - 6), "n": n}, SCHEMA)
    cut, groups = Cut(((0, 199), (200, 398)), (101, 204, 333)), [rows.slice(0, 200), rows.slice(200)]
    with series(query) as one:
        assert one.in_slices(rows, cut, groups) == one.whole(rows) == [{"f": n} for n in range(0, 399, 3)]
        rest = rows.slice(1)
        assert one.in_slices(rest, cut, [rows.slice(1, 199), groups[1]]) == one.whole(rest) == "REX405"


@pytest.mark.parametrize(
    ("condition", "is_sliced"),
    [
        ("x < PREV(x) AND t > 3", True), ("x / PREV(x) > 2", True), ("x + 1 > 2", True),
        ("x > PREV(x) AND 1 / (x - PREV(x)) > 0", True), ("PREV(x) IS NOT NULL OR 1 / x > 2", False),
        ("x < PREV(x) AND 1 / x > 2", False), ("x > PREV(x) + 1 AND x < NEXT(x) + 1", False),
    ],
)
def test_conditions_that_might_fail_at_the_edge_of_a_slice(condition: str, *, is_sliced: bool) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t PATTERN (A B+) WITHIN 2 DEFINE B AS {condition})"
    with series(query) as one:
        assert isinstance(one.needs, SliceNeeds) == is_sliced
