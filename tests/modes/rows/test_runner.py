"""What a runner of row patterns is fed with that a whole query never has."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from tests.differential.relations import one_database

import sparkrex as rex
from sparkrex.columns.arrange import Arrangement
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings

TABLE = pa.table({"k": pa.array([], pa.string()), "t": pa.array([], pa.int64())})
QUERY = """SELECT * FROM t MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY t MEASURES MATCH_NUMBER() AS n {shown} PATTERN (A+) DEFINE A AS t > 0)"""


def fed(
    query: str, feeds: list[dict[int, list[int]]], closes: dict[int, set[int]],
    horizons: dict[int, int] | None = None, matcher: str | None = None,
) -> list[list[tuple[Any, ...]]]:
    """The rows that each feed decides. A feed has times by slot; `closes` are the slots that end with a feed."""
    parsed = parse_query(query, "duckdb")
    given: list[list[tuple[Any, ...]]] = []
    seen: defaultdict[int, bool] = defaultdict(bool)
    with one_database():
        host = DuckDbHost(parsed.statement.source, parsed.statement.dialect, "duckdb", Settings())
        try:
            host.register("t", TABLE)
            plan, sample, evaluator = prepare_relation(parsed, parsed.statement.relations[0], parsed.clauses[0], host)
            settings = Settings(matcher=matcher)
            runner = RowRunner.of(plan, sample, ("k",), evaluator, settings)  # type: ignore[arg-type]  # a row pattern's plan
            state = runner.open()
            for number, rows in enumerate(feeds):
                pairs = [(f"k{slot}", t) for slot, times in rows.items() for t in times]
                table = pa.Table.from_pylist([{"k": k, "t": t} for k, t in pairs], schema=TABLE.schema)
                offsets = offsets_of(np.array([len(times) for times in rows.values()], np.int64))
                opens = np.array([not seen[slot] for slot in rows])
                ends = np.array([slot in closes.get(number, ()) for slot in rows])
                seen.update(dict.fromkeys(rows, True))
                horizon = pa.scalar(horizons[number], pa.int64()) if horizons and number in horizons else None
                feed = Feed(
                    table, Arrangement(None, offsets, table.num_rows), np.array(list(rows)), opens, ends, horizon
                )
                given.append([tuple(row.values()) for row in runner.feed(state, feed).to_pylist()])
        finally:
            host.close()
    return given


def test_slots_without_rows_beside_one_with_many() -> None:
    """The key of a partition is read from its first row, where there is one."""
    many = list(range(1, 21))
    feeds = [{0: many, 1: [1], 2: [1]}, {1: [], 0: [0], 2: []}]
    first, last = fed(QUERY.format(shown="ALL ROWS PER MATCH"), feeds, {1: {0, 1, 2}})
    assert first == []
    assert last == [("k1", 1, 1), *(("k0", t, 1) for t in many), ("k2", 1, 1)]
    feeds = [{0: many, 1: [0]}, {1: [], 0: [], 2: []}]
    _, last = fed(QUERY.format(shown="ALL ROWS PER MATCH"), feeds, {1: {0, 1, 2}})
    assert last == [("k0", t, 1) for t in many]


TIMEOUTS = """SELECT * FROM t MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY t MEASURES MATCH_STATUS() AS s, FIRST(t) AS f, LAST(t) AS l {measure}
    ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN ({pattern}) WITHIN 5 DEFINE {define})"""
PAIR = TIMEOUTS.format(measure="", pattern="A B", define="A AS t = 10, B AS t % 2 = 1")


def test_the_horizon_ends_the_window_of_a_timeout() -> None:
    """The bound is excluded: 14 is the last time in the window, and nothing comes at or before it any more."""
    given = fed(PAIR, [{0: [10]}, {0: []}, {0: []}], {}, {0: 10, 1: 13, 2: 14})
    assert given == [[], [], [("k0", "TIMEOUT", 10, 10)]]


def test_a_row_or_the_end_ends_the_window_of_a_timeout() -> None:
    feeds = [{0: [10], 1: [10], 2: [10], 3: [10]}, {0: [15], 1: [14], 2: [13], 3: []}]
    for matcher in (None, "interpreter"):
        first, second = fed(PAIR, feeds, {1: {3}}, matcher=matcher)
        assert first == []
        assert second == [("k0", "TIMEOUT", 10, 10), ("k2", "MATCH", 10, 13), ("k3", "TIMEOUT", 10, 10)]


def test_a_timeout_waits_for_the_row_behind_it() -> None:
    query = TIMEOUTS.format(measure=", NEXT(t) AS n", pattern="A B", define="A AS t = 10, B AS t % 2 = 1")
    given = fed(query, [{0: [10]}, {0: []}, {0: [20]}], {}, {1: 14, 2: 19})
    assert given == [[], [], [("k0", "TIMEOUT", 10, 10, 20)]]


def test_a_timeout_waits_longer_than_the_search() -> None:
    """No B can come after 12, so that there is no match from 10; the window ends at 15. Later matches wait for that."""
    query = TIMEOUTS.format(measure="", pattern="A X B | X", define="A AS t = 10, X AS t = 11, B AS t - A.t <= 2")
    given = fed(query, [{0: [10, 11]}, {0: []}, {0: []}], {}, {0: 11, 1: 12, 2: 14})
    assert given == [[], [], [("k0", "TIMEOUT", 10, 11), ("k0", "MATCH", 11, 11)]]
    given = fed(query, [{0: [10, 11]}, {0: []}, {0: [13]}], {}, {0: 11, 1: 12})
    assert given == [[], [], [("k0", "MATCH", 11, 11)]]


def test_a_column_that_has_only_risen_so_far_may_fall() -> None:
    """`x < A.x` bounds a run as long as x rises. Of rows to come that is known of the order only."""
    rows = pa.table({"t": [1, 2, 2, 3, 4], "x": [1, 4, 4, 4, 3]})
    text = """SELECT * FROM rows MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A B* C) WITHIN 5 DEFINE A AS x > 1, C AS x < A.x)"""
    found = [
        rex.sql(text, rows=rows, settings={"chunk_rows": chunk, "matcher": "backtrack"}).column("n").to_pylist()
        for chunk in (None, 1, 2, 3, 4)
    ]
    assert found == [[4, 3, 2]] * 5
