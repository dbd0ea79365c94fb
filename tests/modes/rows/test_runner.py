"""What a runner of row patterns is fed with that a whole query never has."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
from tests.differential.relations import one_database

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


def fed(query: str, feeds: list[dict[int, list[int]]], closes: dict[int, set[int]]) -> list[list[tuple[Any, ...]]]:
    """The rows that each feed decides. A feed has times by slot; `closes` are the slots that end with a feed."""
    parsed = parse_query(query, "duckdb")
    given: list[list[tuple[Any, ...]]] = []
    seen: defaultdict[int, bool] = defaultdict(bool)
    with one_database():
        host = DuckDbHost(parsed.statement.source, parsed.statement.dialect, "duckdb", Settings())
        try:
            host.register("t", TABLE)
            plan, sample, evaluator = prepare_relation(parsed, parsed.statement.relations[0], parsed.clauses[0], host)
            runner = RowRunner.of(plan, sample, ("k",), evaluator, Settings())  # type: ignore[arg-type]  # a row pattern's plan
            state = runner.open()
            for number, rows in enumerate(feeds):
                pairs = [(f"k{slot}", t) for slot, times in rows.items() for t in times]
                table = pa.Table.from_pylist([{"k": k, "t": t} for k, t in pairs], schema=TABLE.schema)
                offsets = offsets_of(np.array([len(times) for times in rows.values()], np.int64))
                opens = np.array([not seen[slot] for slot in rows])
                ends = np.array([slot in closes.get(number, ()) for slot in rows])
                seen.update(dict.fromkeys(rows, True))
                feed = Feed(table, Arrangement(None, offsets, table.num_rows), np.array(list(rows)), opens, ends)
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
