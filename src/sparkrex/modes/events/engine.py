"""The pipeline of an event query in one process: drop what cannot take part, arrange, match, return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.cuts import cut_chunks
from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import RexError, UnsupportedError, nearest
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.events.analyze.equalities import EqualityPartition, find_partition, key_text
from sparkrex.modes.events.explain import EventsExplained
from sparkrex.modes.events.keys import has_plain_equality, key_values, partition_column, ranks
from sparkrex.modes.events.nfab.frame import FeedArrays
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.order import order_columns
from sparkrex.modes.events.pattern import absences
from sparkrex.modes.events.streamed import StreamedEvents, tested_columns
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.split import CURRENT, Condition
from sparkrex.stopwatch import Stopwatch
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings

_LISTED_TYPES = 20


def key_columns(query: EventQuery) -> list[str]:
    """The attributes of equivalence tests."""
    return [key.expression.column for key in query.partition_by if isinstance(key.expression, ColumnAt)]


def run_events(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch | None = None
) -> pa.Table:
    """The result of one event query over its input."""
    return _run(query, table, evaluator, settings, watch or Stopwatch())[0]


def _run(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> tuple[pa.Table, StreamedEvents]:
    warn_of_unknown_types(query, table)
    table = taking_part(query, table, evaluator, settings)
    watch.lap("drop", f"{table.num_rows:,} rows can take part")
    stream = StreamedEvents(
        query, NfabMatcher(query, evaluator, settings), evaluator, key_columns(query), settings.thread_count()
    )
    table, arrangement = _arranged(stream, table, evaluator, settings)
    watch.lap("order", f"{table.num_rows:,} rows, {len(arrangement.offsets) - 1:,} partitions")
    result = _fed(stream, table, arrangement, settings)
    watch.lap("match and return", f"{stream.n_matches:,} matches, {result.num_rows:,} rows")
    return result, stream


def compress_events(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
    """The matches as the buffer that they share; see `buffer`."""
    matcher = NfabMatcher(query, evaluator, settings)
    _refuse_compressed(query, is_ambiguous=not matcher.automaton.is_unambiguous)
    warn_of_unknown_types(query, table)
    table = taking_part(query, table, evaluator, settings)
    stream = StreamedEvents(query, matcher, evaluator, key_columns(query))
    return stream.compress(*_arranged(stream, table, evaluator, settings))


def _refuse_compressed(query: EventQuery, *, is_ambiguous: bool) -> None:
    """What is decided or computed match by match cannot be had without the matches."""
    hint = "leave compressed= out"
    if absences(query.pattern):
        what = "a negated component"
    elif query.is_non_overlapping:
        what = "NON-OVERLAPPING"
    elif is_ambiguous:
        # The buffer would hold one match several times, by different ways.
        what = "a pattern that can bind the same events to the same variables in several ways"
    elif query.measures is not None:
        what, hint = "expressions in RETURN", "write RETURN EVENTS"
    else:
        return
    raise UnsupportedError("REX301", f"compressed output of a query with {what}", query.source, query.span, hint=hint)


def explain_events(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> EventsExplained:
    """How it is matched; with `analyze`, after a run, with what happened."""
    watch = Stopwatch()
    counted: dict[str, int] = {}
    if analyze:
        _, stream = _run(query, table, evaluator, settings, watch)
        counted = stream.counted()
    found = equality_keys(query, table.slice(0, 0), evaluator).found
    matcher = NfabMatcher(query, evaluator, settings)
    matcher.looks_up = matcher.looks_up and not found.keys
    return EventsExplained(
        query, settings.event_algorithm, tuple(matcher.describe()), counted, watch.laps, found.used, found.refusals
    )


def check_events(query: EventQuery, sample: pa.Table, evaluator: Evaluator, settings: Settings) -> None:
    """Fail, before there are any events, if the conditions cannot be tested; `sample` has their columns and no row."""
    matcher = NfabMatcher(query, evaluator, settings)
    tested = tested_columns(query)
    columns = Columns(sample.select([name for name in sample.column_names if name in tested]), np.zeros(1, np.int64))
    FeedArrays(query, matcher.automaton, matcher.conditions, matcher.absences, columns, evaluator, settings)


def explain_for_workers(query: EventQuery, evaluator: Evaluator, settings: Settings) -> EventsExplained:
    """How Spark's workers match it. `query.equal_by` are the keys of equalities that Spark can partition by."""
    lines = NfabMatcher(query, evaluator, settings).describe()
    found = find_partition(query)
    used = {key_text(key): text for key, text in zip(found.keys, found.used, strict=True)}
    reason = "its type, or that it may fail, keeps Spark from it"
    refused = [f"{key}: {reason}" for key in used if key not in query.equal_by]
    return EventsExplained(
        query, settings.event_algorithm, tuple(lines), refusals=(*found.refusals, *refused),
        equalities=tuple(text for key, text in used.items() if key in query.equal_by),
    )


def warn_of_unknown_types(query: EventQuery, table: pa.Table) -> None:
    """Warn of types that no event has: misspelt ones match nothing, or exclude nothing, without a word.

    The search for a type ends at its first event, so that only a type that is not there costs a pass over the column.
    """
    if query.type_column is None or not table.num_rows:
        return
    column = _searchable(table.column(query.type_column))
    for name in query.type_names:
        if pc.index(column, pa.scalar(name, column.type)).as_py() >= 0:
            continue
        known = sorted(str(value) for value in pc.unique(column).to_pylist() if value is not None)
        listed = ", ".join(known[:_LISTED_TYPES]) + (", ..." if len(known) > _LISTED_TYPES else "")
        meant = nearest(name, known)
        warn_user(
            f"no event has type {name} ({query.type_column} = '{name}'): the types in {query.type_column} are {listed}"
            + (f"; {meant}" if meant else "")
        )


def _searchable(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The column, or of one with a dictionary, which Arrow cannot search, the values that rows have."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pc.unique(column.unify_dictionaries()).dictionary_decode()


def taking_part(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
    """The rows that can influence a match: of types that the query names, without NULL in an equivalence test."""
    n_rows = table.num_rows
    keep = np.ones(n_rows, np.bool_)
    if query.relevant is not None:
        columns = Columns(_read_by(query.relevant, table), np.array([0, n_rows], np.int64))
        conditions = [Condition("an event", query.relevant, None)]
        _, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, query.source, settings.thread_count())
        keep &= bitmaps[0].view(np.bool_)
    for name in key_columns(query):
        if table.column(name).null_count:
            keep &= numpy_of(plain(table.column(name).is_valid()))
    return table if keep.all() else table.filter(wrap(keep))


def _read_by(condition: Expression, table: pa.Table) -> pa.Table:
    used = {node.column for node in walk(condition) if isinstance(node, ColumnAt)}
    read = table.select([name for name in table.column_names if name in used])
    return read if used else pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})


@dataclass(frozen=True, eq=False, slots=True)
class EqualityKeys:
    """The partition that equalities make of a table's rows: what was found, and the values of its keys."""

    found: EqualityPartition
    values: tuple[pa.ChunkedArray, ...]


def equality_keys(query: EventQuery, table: pa.Table, evaluator: Evaluator) -> EqualityKeys:
    """The keys by which events are matched apart: those whose values can be computed and compared."""
    if query.equal_by:
        found = EqualityPartition(tuple(ColumnAt(CURRENT, name) for name in query.equal_by), query.equal_by)
    else:
        found = find_partition(query)
    if found.keys and query.has_strict_ties and not query.equal_by:
        # Runs are merged when the time has moved on, which events of other values tell too: the matches are the same,
        # but those of one last event would come in another order.
        refusal = "with strict ties, matches of one last event would come in another order"
        found = EqualityPartition(refusals=(*found.refusals, refusal))
    kept: dict[Expression, pa.ChunkedArray] = {}
    refusals = list(found.refusals)
    for key in found.keys:
        try:
            (values,) = key_values([key], table, evaluator)
        except RexError:
            # It is asked of rows here that the conditions may never ask.
            refusals.append(f"{key_text(key)}: it cannot be computed for every event")
            continue
        if query.equal_by or has_plain_equality(values.type):  # Spark has seen to it
            kept[key] = values
        else:
            refusals.append(f"{key_text(key)}: values of type {values.type} are compared part by part")
    used = tuple(text for key, text in zip(found.keys, found.used, strict=True) if key in kept)
    return EqualityKeys(EqualityPartition(tuple(kept), used, tuple(refusals)), tuple(kept.values()))


def _arranged(
    stream: StreamedEvents, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> tuple[pa.Table, Arrangement]:
    """The rows to feed and their arrangement: partitions by equivalence tests and by equalities.

    The latter are ours alone: ties count, and matches come, as if they were not there.
    """
    query = stream.query
    equal = equality_keys(query, table, evaluator).values if table.num_rows else ()
    if not equal:
        return table, arrange_events(query, table, settings)
    stream.matcher.looks_up = False
    whole = arrange_events(query, table, settings)
    if not query.equal_by:  # in a worker, which tied events of other keys are there is chance
        stream.check_order(table, whole)
    stream.rank = _unused_name(table)
    table = table.append_column(stream.rank, wrap(ranks(whole.order, table.num_rows)))
    keys = [table.column(name) for name in key_columns(query)] + [partition_column(values) for values in equal]
    by_rank = SortKey(table.column(stream.rank), False, False)
    return table, arrange(keys, [by_rank], table.num_rows, settings.thread_count())


def _unused_name(table: pa.Table) -> str:
    name = "rex_rank"
    while name in table.column_names:
        name += "_"
    return name


def arrange_events(query: EventQuery, table: pa.Table, settings: Settings) -> Arrangement:
    """Partitions by the equivalence tests, in order of time and tie-breaks."""
    sort_keys = [
        SortKey(table.column(name), key.is_descending, key.nulls_first)
        for name, key in zip(order_columns(query), query.order_by, strict=True)
    ]
    keys = [table.column(name) for name in key_columns(query)]
    return arrange(keys, sort_keys, table.num_rows, settings.thread_count())


def _fed(stream: StreamedEvents, table: pa.Table, arrangement: Arrangement, settings: Settings) -> pa.Table:
    """All rows at once, or `chunk_rows` at a time."""
    if settings.chunk_rows is None or not table.num_rows:
        return stream.feed_whole(table, arrangement)
    if arrangement.order is not None:
        table = table.take(wrap(arrangement.order))
    result = pa.concat_tables(
        stream.feed(
            table.slice(chunk.first, chunk.last - chunk.first), chunk.offsets, opens=chunk.opens, closes=chunk.closes
        )
        for chunk in cut_chunks(arrangement.offsets, settings.chunk_rows)
    )
    return stream.in_order_of_rank(result)
