"""The matcher alone on one thread: from ordered columns to match arrays, without sort, measures and output."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.expected import ordered
from sparkrex.columns.inputs import to_arrow
from sparkrex.columns.ordered import Columns
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.matcher import Partitions
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Query


def time_matcher(query: Query, table: pa.Table, key: str, repeat: int) -> list[float]:
    """Seconds of each of several feeds of the whole table."""
    settings = Settings(threads=1)
    parsed = parse_query(query.sql, "spark")
    statement = parsed.statement
    host = DuckDbHost(statement.source, statement.dialect, "spark", settings)
    try:
        host.register("t", to_arrow("t", table))
        plan, used, evaluator = prepare_relation(parsed, statement.relations[0], parsed.clauses[0], host)
        assert isinstance(plan, MatchRecognize)  # the benchmark's queries are row patterns
        matcher = choose_matcher(plan, used.slice(0, 0), evaluator, settings).matcher
        rows = ordered(table, key)
        read = {n.column for d in plan.definitions for n in walk(d.condition) if isinstance(n, ColumnAt)}
        chosen = rows.table.select([name for name in used.column_names if name in read]).combine_chunks()
        seconds = []
        for _ in range(repeat + 1):
            start = time.perf_counter()
            matcher.find(Columns(chosen, rows.offsets), Partitions.whole(rows.offsets))
            seconds.append(time.perf_counter() - start)
        return seconds[1:]
    finally:
        host.close()
