"""The engine's matcher on an event query, whole or in chunks, its matches as the oracle writes them."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot.dialects.dialect import Dialect

from sparkrex.columns.cuts import cut_chunks
from sparkrex.columns.ordered import Columns
from sparkrex.hosts.duckdb.host import DuckDbHost, RelationEvaluator
from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events.buffer import decompress_events
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.nfab.state import NfabState
    from sparkrex.modes.events.plan import EventQuery

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
    settings = settings or Settings(threads=1)
    table = event_engine.taking_part(query, table_of(rows), evaluator, settings)
    arrangement = event_engine.arrange_events(query, table, settings)
    if arrangement.order is not None:
        table = table.take(pa.array(arrangement.order))
    matcher = NfabMatcher(query, evaluator, settings)
    if chunk is None:
        columns = Columns(table, arrangement.offsets)
        return _fed(matcher, matcher.open(), columns, opens=True, closes=True)
    state = matcher.open()
    found: list[Match] = []
    for piece in cut_chunks(arrangement.offsets, chunk):
        columns = Columns(table.slice(piece.first, piece.last - piece.first), piece.offsets)
        found += _fed(matcher, state, columns, opens=piece.opens, closes=piece.closes)
        state = matcher.restore(matcher.snapshot(state))
    return found


def returned_matches(
    query: EventQuery, rows: Sequence[dict[str, Any]], *, evaluator: RelationEvaluator, settings: Settings
) -> list[Match]:
    """What RETURN EVENTS gives."""
    query, table = _with_numbers(query, rows)
    return matches_of_events(event_engine.run_events(query, table, evaluator, settings))


def compressed_matches(
    query: EventQuery, rows: Sequence[dict[str, Any]], *, evaluator: RelationEvaluator, settings: Settings
) -> list[Match]:
    """What comes out of the buffer that the matches share."""
    query, table = _with_numbers(query, rows)
    return matches_of_events(decompress_events(event_engine.compress_events(query, table, evaluator, settings)))


def _with_numbers(query: EventQuery, rows: Sequence[dict[str, Any]]) -> tuple[EventQuery, pa.Table]:
    table = table_of(rows)
    return replace(query, input_columns=tuple(table.column_names)), table


def matches_of_events(table: pa.Table) -> list[Match]:
    """The matches in a result of RETURN EVENTS."""
    names = ("match_id", "variable", "rex_number")
    events = zip(*(table.column(name).to_pylist() for name in names), strict=True)
    matches = []
    for _, of_match in groupby(events, key=lambda event: event[0]):
        group = list(of_match)
        matches.append((tuple(row for _, _, row in group), tuple(variable for _, variable, _ in group)))
    return matches


def feed_rows(
    matcher: NfabMatcher, state: NfabState, rows: Sequence[dict[str, Any]], *, opens: bool, closes: bool
) -> list[Match]:
    """The matches that more rows of one partition decide; they are numbered by their column `t`."""
    table = table_of(rows)
    table = table.set_column(table.column_names.index("rex_number"), "rex_number", table.column("t"))
    columns = Columns(table, np.array([0, len(rows)], np.int64))
    return _fed(matcher, state, columns, opens=opens, closes=closes)


def _fed(matcher: NfabMatcher, state: NfabState, columns: Columns, *, opens: bool, closes: bool) -> list[Match]:
    held = [] if opens or state.held is None else state.held.column("rex_number").to_pylist()
    numbers = held + columns.table.column("rex_number").to_pylist()
    matches = matcher.feed(state, columns, opens=opens, closes=closes)
    found = []
    for begin, end in zip(matches.offsets[:-1].tolist(), matches.offsets[1:].tolist(), strict=True):
        rows = tuple(numbers[row] for row in matches.rows[begin:end].tolist())
        found.append((rows, tuple(matcher.variables[label] for label in matches.labels[begin:end].tolist())))
    return found
