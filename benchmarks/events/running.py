"""One query over one stream: from text to matches, with the kernel's own time apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.matching.event_order import check_order
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.plan import EventQuery
from sparkrex.modes.events.runner import EventRunner, tested_columns
from sparkrex.modes.events.taking_part import taking_part
from sparkrex.pipeline import INPUT, parse_clause, prepare_relation
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.modes.events.nfab.contract import EventBuffer, EventMatches

STATISTICS = {
    "run_steps": codes.RUN_STEPS, "edge_tests": codes.EDGE_TESTS, "merges": codes.MERGES,
    "most_nodes": codes.NODES, "match_ends": codes.MATCH_ENDS, "most_runs": codes.MOST_RUNS,
    "back_steps": codes.BACK_STEPS,
}
_MOST = ("most_nodes", "most_runs")
Checksum = tuple[int, ...]


class TimedMatcher(NfabMatcher):
    """Knows how many seconds of processor time its kernels took."""

    kernel_seconds = 0.0

    def _search(self, *arguments: Any, **options: Any) -> Any:
        begin = process_time()
        try:
            return super()._search(*arguments, **options)
        finally:
            self.kernel_seconds += process_time() - begin

    def _backtrack(self, *arguments: Any) -> Any:
        begin = process_time()
        try:
            return super()._backtrack(*arguments)
        finally:
            self.kernel_seconds += process_time() - begin


@dataclass(eq=False)
class Fed:
    """What one pass over the stream gave: seconds by the clock, of the processor, and of it in kernels."""

    wall: float = 0.0
    cpu: float = 0.0
    kernel: float = 0.0
    n_matches: int = 0
    n_output: int = 0
    checksum: Checksum = ()
    statistics: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATISTICS, 0))


@dataclass(eq=False)
class Prepared:
    """A query and the columns it reads, in order. Close the host at the end."""

    query: EventQuery
    columns: Columns
    evaluator: Any
    host: DuckDbHost

    def fed(self, algorithm: str, *, constructs: bool = True, chunk_rows: int | None = None, sums: bool = False) -> Fed:
        """One pass on one thread. The sums over all matches are not part of the time."""
        settings = Settings(threads=1, matcher=algorithm)
        matcher = TimedMatcher(self.query, self.evaluator, settings, constructs=constructs)
        runner = EventRunner(self.query, matcher)
        state = runner.open()
        fed = Fed()
        total = np.zeros(4, np.uint64)
        first = 0
        for feed in self.feeds(None if runner.refusal else chunk_rows):
            begin, begin_cpu = perf_counter(), process_time()
            decided = runner.decide(state, feed)
            fed.cpu += process_time() - begin_cpu
            fed.wall += perf_counter() - begin
            matches = decided.matches
            fed.n_matches += len(matches)
            fed.n_output += len(matches.rows)
            for name, number in STATISTICS.items():
                before, value = fed.statistics[name], int(decided.statistics[number])
                fed.statistics[name] = max(before, value) if name in _MOST else before + value
            if sums:
                total += match_sums(matches, first - int(decided.frame.n_held[:1].sum()))
            first += feed.table.num_rows
        fed.kernel = matcher.kernel_seconds
        fed.checksum = tuple(total.tolist())
        return fed

    def buffer(self, algorithm: str) -> EventBuffer:
        """All nodes that a pass writes."""
        settings = Settings(threads=1, matcher=algorithm, max_event_memory=4 << 30)
        return NfabMatcher(self.query, self.evaluator, settings).find_compressed(self.columns)

    def feeds(self, chunk_rows: int | None) -> Iterator[Feed]:
        """All rows at once, or so many at a time."""
        columns = self.columns
        return feeds_of(columns.table, Arrangement(None, columns.offsets, columns.n_rows), chunk_rows)


def match_sums(matches: EventMatches, first: int) -> NDArray[np.uint64]:
    """Sums that do not depend on the order of matches: of their events, and of three products of each match.

    `first` is the number of the frame's first row in the stream.
    """
    if not len(matches):
        return np.zeros(4, np.uint64)
    rows = matches.rows.astype(np.uint64)
    rows += np.uint64(first)
    starts, ends = rows[matches.offsets[:-1]], rows[matches.offsets[1:] - 1]
    lengths = np.diff(matches.offsets).astype(np.uint64)
    labels = np.add.reduceat(matches.labels.astype(np.int64), matches.offsets[:-1]).astype(np.uint64)
    return np.array([rows.sum(), (starts * lengths).sum(), (ends * lengths * lengths).sum(), (starts * labels).sum()])


def prepare(text: str, stream: pa.Table, time: str = "ts", **options: Any) -> Prepared:
    """Parse, analyse and put the stream in order; `options` as StreamOptions has them."""
    settings = Settings(threads=1)
    parsed = parse_clause(text, "MATCH_EVENTS", "spark", StreamOptions(time, **options))
    statement = parsed.statement
    host = DuckDbHost(statement.source, statement.dialect, "spark", settings)
    host.register(INPUT, stream)
    query, table, evaluator = prepare_relation(parsed, statement.relations[0], parsed.clauses[0], host)
    assert isinstance(query, EventQuery)  # what else
    return Prepared(query, arranged(query, table, evaluator, settings), evaluator, host)


def arranged(query: EventQuery, table: pa.Table, evaluator: Any, settings: Settings, *, copies: bool = True) -> Columns:
    """The columns that conditions read, partition after partition, checked for ties; `copies` puts them in order."""
    table = taking_part(query, table, evaluator, settings)
    arrangement = arrange_events(query, table, settings)
    check_order(query, table, arrangement.order, arrangement.offsets)
    read = table.select([name for name in table.column_names if name in tested_columns(query)])
    columns = Columns(read, arrangement.offsets, arrangement.order)
    return Columns(columns.ordered.combine_chunks(), arrangement.offsets) if copies else columns
