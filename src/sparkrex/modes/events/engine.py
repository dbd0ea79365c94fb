"""The pipeline of an event query in one process: drop what cannot take part, arrange, match, return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement, SortKey, arrange
from sparkrex.columns.cuts import lap_order
from sparkrex.columns.gaps import kept_rows, without_empty
from sparkrex.columns.wrap import wrap
from sparkrex.errors import RexError, UnsupportedError
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.matching.event_order import check_order, order_columns
from sparkrex.matching.feed import Feed, Frame
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.gaps import end_at_gaps
from sparkrex.matching.unknown_types import warn_of_unknown_types
from sparkrex.modes.events.analyze.equalities import EqualityPartition, find_partition, key_text
from sparkrex.modes.events.buffer import buffer_table
from sparkrex.modes.events.explain import EventsExplained
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.keys import has_plain_equality, partition_column, ranks
from sparkrex.modes.events.nfab.frame import FeedArrays
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.pattern import absences
from sparkrex.modes.events.ranked import Ranking
from sparkrex.modes.events.runner import EventRunner, arranged_columns, placed
from sparkrex.modes.events.taking_part import key_columns, rows_taking_part
from sparkrex.scalar.expression import ColumnAt
from sparkrex.scalar.split import CURRENT
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings

_GAP_REFUSAL = "partition_gap is between all events of a partition"
_COUNTED = {
    "run steps": codes.RUN_STEPS, "edge evaluations": codes.EDGE_TESTS, "runs merged": codes.MERGES,
    "nodes in the buffer": codes.NODES, "ends of matches": codes.MATCH_ENDS,
}


def event_results(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    counts: NDArray[np.int64] | None = None,
) -> Iterator[pa.Table]:
    """The result of an event query as it is decided: in one piece, or chunk by chunk.

    What the matcher counts is added to `counts`.
    """
    counts = _no_counts() if counts is None else counts
    warn_of_unknown_types(query.type_column, query.type_names, table)
    keep = rows_taking_part(query, table, evaluator, settings)
    watch.lap("drop", {"rows can take part": int(np.count_nonzero(keep))})
    # Those that cannot are not fed.
    fed = replace(query, relevant=None)
    runner = EventRunner(fed, NfabMatcher(fed, evaluator, settings), settings.thread_count())
    table, arrangement, ranking = arrange_for_search(query, runner.matcher, table, keep, evaluator, settings)
    lap_order(watch, arrangement.offsets)
    state = runner.open()
    parts = []
    n_matches = n_rows = 0
    for feed in feeds_of(table, arrangement, None if runner.refusal else settings.chunk_rows):
        with _partition_named(query, feed):
            decided = runner.decide(state, feed)
        counts += decided.statistics
        n_matches += len(decided.matches)
        part = runner.build(decided if ranking is None else ranking.rank(query, decided))
        n_rows += part.num_rows
        if ranking is None:
            yield part
        else:
            parts.append(part)
    if ranking is not None:
        yield ranking.rank_all(query, pa.concat_tables(parts))
    watch.lap("match and return", {"matches": n_matches, "rows": n_rows})


def _no_counts() -> NDArray[np.int64]:
    return np.zeros(codes.N_STATISTICS, np.int64)


def _partition_named(query: EventQuery, feed: Feed) -> AbstractContextManager[None]:
    return partition_named(feed, [key.name for key in query.partition_by], key_columns(query))


def buffer_events(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
    """The matches as the buffer that they share; see `buffer`."""
    matcher = NfabMatcher(query, evaluator, settings)
    _refuse_buffer(query, is_ambiguous=not matcher.automaton.is_unambiguous)
    warn_of_unknown_types(query.type_column, query.type_names, table)
    keep = rows_taking_part(query, table, evaluator, settings)
    table, arrangement, ranking = arrange_for_search(query, matcher, table, keep, evaluator, settings)
    feed = Feed.whole(table, arrangement)
    frame = Frame(table, arrangement, np.zeros(len(feed.slots), np.int64))
    with _partition_named(query, feed), placed(query, frame, feed.slots):
        check_order(query, table, arrangement.order, arrangement.offsets)
        buffer = matcher.find_compressed(arranged_columns(query, frame))
    place = np.searchsorted(frame.end, buffer.row, side="right")
    if ranking is not None:
        place = ranking.place(ranking.in_order(table, arrangement.order)[buffer.row])
        buffer = ranking.rank_buffer(buffer, table, arrangement.order)
    return buffer_table(buffer, place, matcher.variables, query.input_columns, table, arrangement.order)


def _refuse_buffer(query: EventQuery, *, is_ambiguous: bool) -> None:
    """What is decided or computed match by match cannot be had without the matches."""
    hint = "ask for its matches"
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
    raise UnsupportedError("REX301", f"the buffer of a query with {what}", query.source, query.span, hint=hint)


def explain_events(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> EventsExplained:
    """How it is matched; with `analyze`, after a run, with what happened."""
    watch = Stopwatch()
    counted: dict[str, int] = {}
    if analyze:
        counts = _no_counts()
        for _ in event_results(query, table, evaluator, settings, watch, counts):
            pass
        counted = {name: int(counts[place]) for name, place in _COUNTED.items()}
    found = equality_keys(query, table.slice(0, 0), evaluator).found
    matcher = NfabMatcher(query, evaluator, settings)
    matcher.looks_up = matcher.looks_up and not found.keys
    return EventsExplained(
        query, settings.matcher or "nfab", tuple(matcher.describe()), counted, watch.laps, found.used, found.refusals
    )


def check_events(query: EventQuery, sample: pa.Table, evaluator: Evaluator, settings: Settings) -> None:
    """Fail, before there are any events, if the conditions cannot be tested; `sample` has their columns and no row."""
    matcher = NfabMatcher(query, evaluator, settings)
    frame = Frame(sample, Arrangement(None, np.zeros(1, np.int64), 0), np.empty(0, np.int64))
    columns = arranged_columns(query, frame)
    FeedArrays(query, matcher.automaton, matcher.conditions, matcher.absences, columns, evaluator, settings)


def explain_for_workers(query: EventQuery, evaluator: Evaluator, settings: Settings) -> EventsExplained:
    """How Spark's workers match it. `query.equal_by` are the keys of equalities that Spark can partition by."""
    lines = NfabMatcher(query, evaluator, settings).describe()
    found = find_partition(query)
    used = {key_text(key): text for key, text in zip(found.keys, found.used, strict=True)}
    reason = "its type, or that it may fail, keeps Spark from it"
    if query.partition_gap is not None:
        reason = _GAP_REFUSAL
    elif query.measures is None:
        reason = "match_id numbers the matches of a partition, which must be whole in one task"
    refused = [f"{key}: {reason}" for key in used if key not in query.equal_by]
    return EventsExplained(
        query, settings.matcher or "nfab", tuple(lines), refusals=(*found.refusals, *refused),
        equalities=tuple(text for key, text in used.items() if key in query.equal_by),
    )


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
    if found.keys and query.partition_gap is not None:
        found = EqualityPartition(refusals=(*found.refusals, _GAP_REFUSAL))
    kept: dict[Expression, pa.ChunkedArray] = {}
    refusals = list(found.refusals)
    for key in found.keys:
        try:
            (values,) = project_rows([key], table, evaluator)
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


def arrange_for_search(
    query: EventQuery, matcher: NfabMatcher, table: pa.Table, keep: NDArray[np.bool_], evaluator: Evaluator,
    settings: Settings,
) -> tuple[pa.Table, Arrangement, Ranking | None]:
    """The rows to feed, those of a table that are kept, and their arrangement: by equivalence tests and by equalities.

    The latter are ours alone: ties count, and matches come and are numbered, as if they were not there.
    """
    table, whole = arrange_kept(query, table, keep, settings)
    equal = equality_keys(query, table, evaluator).values if table.num_rows else ()
    if not equal:
        return table, whole, None
    matcher.looks_up = False
    if not query.equal_by:  # in a worker, which tied events of other keys are there is chance
        feed = Feed.whole(table, whole)
        frame = Frame(table, whole, np.zeros(len(feed.slots), np.int64))
        with _partition_named(query, feed), placed(query, frame, feed.slots):
            check_order(query, table, whole.order, whole.offsets)
    ranking = Ranking(_unused_name(table), whole.offsets)
    table = table.append_column(ranking.column, wrap(ranks(whole.order, table.num_rows)))
    keys = [table.column(name) for name in key_columns(query)] + [partition_column(values) for values in equal]
    by_rank = SortKey(table.column(ranking.column), False, False)
    return table, arrange(keys, [by_rank], table.num_rows, settings.thread_count()), ranking


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
    return end_at_gaps(query, arrange(keys, sort_keys, table.num_rows, settings.thread_count()), sort_keys)


def arrange_kept(
    query: EventQuery, table: pa.Table, keep: NDArray[np.bool_], settings: Settings
) -> tuple[pa.Table, Arrangement]:
    """The rows of a table that are kept, and their arrangement. The setting `partition_gap` is of all rows."""
    if query.partition_gap is not None:
        table, arrangement = kept_rows(table, arrange_events(query, table, settings), keep)
        return table, without_empty(arrangement)
    table = table if keep.all() else table.filter(wrap(keep))
    return table, arrange_events(query, table, settings)
