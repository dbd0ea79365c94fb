"""The engine's matcher on an event query, whole or in chunks, its matches as the oracle writes them."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot.dialects.dialect import Dialect

from sparkrex.columns.arrange import Arrangement
from sparkrex.hosts.duckdb.host import DuckDbHost, RelationEvaluator
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events.buffer import decompress_events
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner
from sparkrex.modes.events.taking_part import taking_part
from sparkrex.pipeline import run_relation
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.events.runner import Decided

Match = tuple[tuple[int, ...], tuple[str, ...]]

TYPES = {
    "k": pa.string(), "t": pa.int64(), "d": pa.float64(), "ts": pa.timestamp("us"), "b": pa.int64(),
    "kind": pa.string(), "x": pa.int64(), "y": pa.float64(), "s": pa.string(),
}


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """The rows of a test, with their numbers."""
    names = list(rows[0]) if rows else list(TYPES)
    columns = {name: pa.array([row[name] for row in rows], TYPES.get(name)) for name in names}
    return pa.table(columns | {"rex_number": pa.array(range(len(rows)), pa.int64())})


def evaluator_of(query: EventQuery) -> RelationEvaluator:
    """The host's evaluator."""
    return RelationEvaluator(DuckDbHost(query.source, Dialect.get_or_raise("duckdb"), "duckdb", Settings()), "")


def engine_matches(
    query: EventQuery, rows: Sequence[dict[str, Any]], *, chunk: int | None = None, evaluator: RelationEvaluator,
    settings: Settings | None = None,
) -> list[Match]:
    """The matches in the engine's order; in chunks, with the state saved and restored between them."""
    runner = runner_of(query, evaluator, settings or Settings(threads=1))
    state = runner.open()
    found: list[Match] = []
    table, arrangement = arranged(runner, rows)
    for feed in feeds_of(table, arrangement, None if runner.refusal else chunk):
        found += matches_of(runner, runner.decide(state, feed))
        state = runner.open().restore(state.snapshot("a query"), "a query")
    return found


def runner_of(query: EventQuery, evaluator: RelationEvaluator, settings: Settings) -> EventRunner:
    """A runner of the query's own partitions."""
    return EventRunner(query, NfabMatcher(query, evaluator, settings))


def arranged(runner: EventRunner, rows: Sequence[dict[str, Any]]) -> tuple[pa.Table, Arrangement]:
    """The rows that take part, and their order."""
    query, matcher = runner.query, runner.matcher
    table = taking_part(query, table_of(rows), matcher.evaluator, matcher.settings)
    return table, event_engine.arrange_events(query, table, matcher.settings)


def returned_matches(
    query: EventQuery, rows: Sequence[dict[str, Any]], *, evaluator: RelationEvaluator, settings: Settings
) -> list[Match]:
    """What RETURN EVENTS gives."""
    query, table = _with_numbers(query, rows)
    return matches_of_events(query, run_relation(query, table, evaluator, settings))


def compressed_matches(
    query: EventQuery, rows: Sequence[dict[str, Any]], *, evaluator: RelationEvaluator, settings: Settings
) -> list[Match]:
    """What comes out of the buffer that the matches share."""
    query, table = _with_numbers(query, rows)
    buffer = event_engine.buffer_events(query, table, evaluator, settings)
    return matches_of_events(query, decompress_events(buffer))


def _with_numbers(query: EventQuery, rows: Sequence[dict[str, Any]]) -> tuple[EventQuery, pa.Table]:
    table = table_of(rows)
    return replace(query, input_columns=tuple(table.column_names)), table


def matches_of_events(query: EventQuery, table: pa.Table) -> list[Match]:
    """The matches in a result of RETURN EVENTS, which are numbered in their partition."""
    names = ("rex_number", "variable", "match_id", *(key.name for key in query.partition_by))
    events = zip(*(table.column(name).to_pylist() for name in names), strict=True)
    matches = []
    for _, of_match in groupby(events, key=lambda event: event[2:]):
        group = list(of_match)
        matches.append((tuple(row for row, *_ in group), tuple(variable for _, variable, *_ in group)))
    return matches


class OnePartition:
    """A runner that is fed with the rows of one partition, which are numbered by their column `t`.

    `statistics` are those of the last feed.
    """

    def __init__(self, runner: EventRunner, saved: bytes | None = None) -> None:
        self.runner = runner
        self.state = runner.open() if saved is None else runner.open().restore(saved, "a query")
        self.statistics = np.zeros(0, np.int64)
        self._table = table_of([])

    def feed(self, rows: Sequence[dict[str, Any]], *, closes: bool = False, horizon: int | None = None) -> list[Match]:
        """The matches that more rows decide."""
        table = table_of(rows) if rows else self._table.slice(0, 0)
        table = table.set_column(table.column_names.index("rex_number"), "rex_number", table.column("t"))
        self._table = table
        feed = Feed(
            table, Arrangement(None, np.array([0, len(rows)], np.int64), len(rows)), np.array([0]),
            np.array([self.state.n_slots == 0]), np.array([closes]),
            None if horizon is None else pa.scalar(horizon, pa.int64()),
        )
        decided = self.runner.decide(self.state, feed)
        self.statistics = decided.statistics
        return matches_of(self.runner, decided)

    def saved(self) -> bytes:
        """The state as bytes."""
        return self.state.snapshot("a query")

    def n_kept(self, name: str) -> int:
        """How many rows the state has in one of its tables."""
        return int(self.state.tables[name].lengths(np.array([0]))[0])


def matches_of(runner: EventRunner, decided: Decided) -> list[Match]:
    """The matches that a feed decided."""
    rows = decided.frame.arrangement.input_rows(decided.matches.rows)
    numbers = decided.frame.table.column("rex_number").take(rows).to_pylist()
    names = [runner.matcher.variables[label] for label in decided.matches.labels.tolist()]
    offsets = decided.matches.offsets.tolist()
    return [(tuple(numbers[begin:end]), tuple(names[begin:end])) for begin, end in pairwise(offsets)]
