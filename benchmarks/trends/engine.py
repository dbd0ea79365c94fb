"""The engine on a workload: its answer, its algorithm, its times, and what it keeps of a window that is open."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from benchmarks.trends.answers import answer_of_engine
from sparkrex.columns.arrange import Arrangement, SortKey, arrange
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.matching.feed import Feed
from sparkrex.modes.tables import mode_of
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts
from sparkrex.pipeline import INPUT, parse_clause, prepare_relation
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.trends.answers import Answer
    from benchmarks.trends.workload import HowCounted, Workload

SHORT, REPEATED = 0.05, 0.2
"""Calls under so many seconds are repeated until they took so many together."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the engine answered, in how many seconds of the processor, by which algorithm."""

    seconds: float
    algorithm: str
    answer: Answer


def ask(
    workload: Workload, table: pa.Table, counts: HowCounted, repeat: int, matcher: str | None = None, *,
    is_warm: bool = False,
) -> Asked:
    """The median of some calls, from a table to a table, parsed before.

    The first one, which may compile kernels, is not counted unless it `is_warm`.
    """
    settings = Settings(threads=1, matcher=matcher)
    query = rex.trends(workload.text(), time=workload.time, type=workload.type, counts=counts, settings=settings)
    explained = str(rex.explain(query, table.slice(0, 1)))
    if not is_warm:
        query(table)
    seconds, found = typical(lambda: query(table), repeat)
    return Asked(seconds, algorithm_of(explained), answer_of_engine(workload, found, counts))


def typical(call: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The median of the seconds that some calls take, more of short ones if there are several; what the last gave."""
    seconds: list[float] = []
    while len(seconds) < repeat or (repeat > 1 and seconds[0] < SHORT and sum(seconds) < REPEATED):
        begin = process_time()
        found = call()
        seconds.append(process_time() - begin)
    return median(seconds), found


def algorithm_of(explained: str) -> str:
    """The algorithm that EXPLAIN names."""
    found = re.search(r"count (by_\w+)", explained)
    assert found is not None  # every query has one
    return found[1]


@dataclass(frozen=True, eq=False, slots=True)
class Arranged:
    """A runner of a query, and events in order of partition and time."""

    runner: Any
    table: pa.Table
    arrangement: Arrangement

    def counting_seconds(self, repeat: int) -> float:
        """The median of some passes that test the events, count and make results; ordering events is not in it."""
        whole = Feed.whole(self.table, self.arrangement)
        return typical(lambda: self.runner.feed(self.runner.open(), whole), repeat)[0]

    def kept(self) -> tuple[int, int]:
        """Bytes that are kept of partitions that are open after all events, and how many windows are open."""
        n_slots = len(self.arrangement.offsets) - 1
        always = np.ones(n_slots, np.bool_)
        state = self.runner.open()
        self.runner.feed(state, Feed(self.table, self.arrangement, np.arange(n_slots), always, ~always))
        windows, _ = state.tables["windows"].read(np.arange(n_slots))
        return state.nbytes, 0 if windows is None else windows.num_rows


@contextmanager
def arranged(
    text: str, table: pa.Table, counts: str, *, time: str, type: str | None = None, keys: tuple[str, ...] = ()
) -> Iterator[Arranged]:
    """A query and its stream, ready to be fed: partitions are by `keys`."""
    settings = Settings(threads=1, max_state_memory=1 << 40, max_open_rows=1 << 40)
    options = TrendOptions(StreamOptions(time, type=type, has_strict_ties=True), None, Counts(counts))
    parsed = parse_clause(text, "MATCH_TRENDS", "spark", options)
    statement = parsed.statement
    host = DuckDbHost(statement.source, statement.dialect, "spark", settings)
    try:
        host.register(INPUT, table)
        plan, rows, evaluator = prepare_relation(parsed, statement.relations[0], parsed.clauses[0], host)
        arrangement = arrange(
            [rows.column(name) for name in keys], [SortKey(rows.column(time), False, True)], rows.num_rows, 1
        )
        if arrangement.order is not None:
            rows = rows.take(pa.array(arrangement.order)).combine_chunks()
        runner = mode_of(plan.mode).runner(plan, rows.slice(0, 0), keys, evaluator, settings)
        yield Arranged(runner, rows, Arrangement(None, arrangement.offsets, rows.num_rows))
    finally:
        host.close()
