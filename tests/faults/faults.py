"""Deliberate faults of the engine: each puts one typical mistake into it while its context is open.

Faults are patched into Python functions. The search kernel is compiled; the two faults inside it run its plain Python
twin (`py_func`), which is the same code.
"""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.gather import shifted_positions
from sparkrex.columns.values import plain
from sparkrex.evaluate import bitmaps, run_blocks, vectorised_batch
from sparkrex.evaluate.run_blocks import leaving_rows
from sparkrex.kernels.machine import holds
from sparkrex.kernels.path import extend
from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Empty,
    Exclusion,
    Permutation,
    Quantified,
)
from sparkrex.matching import aggregation, reading, row_values
from sparkrex.matching.state import State
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows import memo, output, pieces, problem, program
from sparkrex.modes.rows.automaton import matcher as automaton
from sparkrex.modes.rows.automaton.viability import MOST_STATES, Viability
from sparkrex.modes.rows.backtrack import matcher as backtrack
from sparkrex.modes.rows.conditions import reach
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.scalar.expression import Aggregate, ClassifierAt, ColumnAt, Semantics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.evaluate.blocks import Value
    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.matching.matches import Matches
    from sparkrex.matching.reading import MatchReader, Viewpoints
    from sparkrex.scalar.expression import Target
    from sparkrex.source import Source


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done wrong, in words, and how to do it. Queries without `needs`, a regular expression, cannot show it."""

    name: str
    inject: Callable[[], AbstractContextManager[Any]]
    needs: str = ""


# Faults of the pattern compiler: it is handed another pattern.


def _with_patterns_changed(change: Callable[[RowPattern], RowPattern]) -> AbstractContextManager[Any]:
    def compiled(pattern: RowPattern, source: Source) -> program.Program:
        return program.compile_pattern(_rewritten(pattern, change), source)

    return mock.patch.object(problem, "compile_pattern", compiled)


def _rewritten(pattern: RowPattern, change: Callable[[RowPattern], RowPattern]) -> RowPattern:
    match pattern:
        case Concatenation(items) | Permutation(items):
            pattern = replace(pattern, items=tuple(_rewritten(item, change) for item in items))
        case Alternation(options):
            pattern = replace(pattern, options=tuple(_rewritten(option, change) for option in options))
        case Quantified(body) | Exclusion(body):
            pattern = replace(pattern, body=_rewritten(body, change))
        case _:
            pass
    return change(pattern)


def _last_option_first(pattern: RowPattern) -> RowPattern:
    return replace(pattern, options=pattern.options[::-1]) if isinstance(pattern, Alternation) else pattern


def _greed_swapped(pattern: RowPattern) -> RowPattern:
    return replace(pattern, is_greedy=not pattern.is_greedy) if isinstance(pattern, Quantified) else pattern


def _permuted_backwards(pattern: RowPattern) -> RowPattern:
    return replace(pattern, items=pattern.items[::-1]) if isinstance(pattern, Permutation) else pattern


def _nothing_excluded(pattern: RowPattern) -> RowPattern:
    return pattern.body if isinstance(pattern, Exclusion) else pattern


def _no_start_anchor(pattern: RowPattern) -> RowPattern:
    return Empty() if isinstance(pattern, Anchor) and pattern.kind is AnchorKind.START else pattern


def _one_iteration_less(pattern: RowPattern) -> RowPattern:
    if isinstance(pattern, Quantified) and pattern.maximum is not None and pattern.maximum > max(1, pattern.minimum):
        return replace(pattern, maximum=pattern.maximum - 1)
    return pattern


# Faults of conditions


def _shifts_leave_partitions(goes_wrong: Callable[[int], bool]) -> AbstractContextManager[Any]:
    def shifted(offsets: NDArray[np.int64], n_rows: int, shift: int) -> NDArray[np.int64]:
        return shifted_positions(np.array([0, n_rows]) if goes_wrong(shift) else offsets, n_rows, shift)

    def leaving(offsets: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
        return leaving_rows(offsets[[0, -1]] if goes_wrong(shift) else offsets, shift)

    stack = ExitStack()
    stack.enter_context(mock.patch.object(bitmaps, "shifted_positions", shifted))
    stack.enter_context(mock.patch.object(vectorised_batch, "leaving_rows", leaving))
    return stack


def _null_holds() -> AbstractContextManager[Any]:
    def truth(value: Value) -> Any:
        return value.data if value.nulls is None else value.data | value.nulls

    stack = ExitStack()
    stack.enter_context(mock.patch.object(bitmaps, "plain", lambda values: plain(values).fill_null(True)))
    stack.enter_context(mock.patch.object(run_blocks, "truth", truth))
    return stack


def _context_failures_remembered() -> AbstractContextManager[Any]:
    return mock.patch.object(memo, "context_level", lambda _: 0)


@contextmanager
def _accumulators_not_restored() -> Iterator[None]:
    latest: list[NDArray[Any]] = []

    def extended(path: Any, columns: Any, variable: int, row: int, version: int) -> int:
        records = path[2:4]
        if version > 0 and latest:
            # As if one accumulator served the whole search: refused rows and abandoned ways stay in it.
            for record, values in zip(records, latest, strict=True):
                record[version] = values
        result: int = extend.py_func(path, columns, variable, row, version)
        latest[:] = [record[version + 1].copy() for record in records]
        return result

    with _in_plain_python(), mock.patch.object(kernel, "extend", extended):
        yield


@contextmanager
def _tested_row_not_aggregated() -> Iterator[None]:
    def tested(
        begin: int, end: int, machine: Any, columns: Any, ints: Any, floats: Any, version: int, *rest: Any
    ) -> int:
        kept = [record[version].copy() for record in (ints, floats)]
        for record in (ints, floats):
            record[version] = record[max(0, version - 1)]
        result: int = holds.py_func(begin, end, machine, columns, ints, floats, version, *rest)
        for record, values in zip((ints, floats), kept, strict=True):
            record[version] = values
        return result

    with _in_plain_python(), mock.patch.object(kernel, "holds", tested):
        yield


def _in_plain_python() -> AbstractContextManager[Any]:
    return mock.patch.object(kernel, "search", kernel.search.py_func)


# Faults of the search's order


def _skip_taken_as(given: SkipTo, taken: int) -> AbstractContextManager[Any]:
    return mock.patch.dict(problem.SKIP_MODES, {given: taken})


def _matches_changed(change: Callable[[Matches, Arrangement], Matches]) -> AbstractContextManager[Any]:
    """What a matcher finds in whole partitions is changed, whichever it is."""
    correct = RowRunner.find_matches

    def find(runner: RowRunner, feed: Feed, frame: Frame, *rest: Any) -> Matches:
        found = correct(runner, feed, frame, *rest)
        return change(found, frame.arrangement) if feed.is_whole else found

    return mock.patch.object(RowRunner, "find_matches", find)


def _empty_matches_not_numbered(matches: Matches, arrangement: Arrangement) -> Matches:
    partition = np.searchsorted(arrangement.offsets, matches.start, side="right")
    is_empty = matches.start == matches.end
    before = [int((is_empty[:index] & (partition[:index] == partition[index])).sum()) for index in range(len(matches))]
    return dataclasses.replace(matches, number=matches.number - np.array(before, np.int64))


def _numbers_go_on(matches: Matches, arrangement: Arrangement) -> Matches:
    del arrangement
    return dataclasses.replace(matches, number=np.arange(1, len(matches) + 1))


def _nulls_at_the_other_end() -> AbstractContextManager[Any]:
    def key(values: pa.ChunkedArray, is_descending: bool, nulls_first: bool) -> SortKey:
        return SortKey(values, is_descending, not nulls_first)

    return mock.patch.object(row_values, "SortKey", key)


def _ties_turned_round() -> AbstractContextManager[Any]:
    def arranged(partition_by: Any, order_by: Any, n_rows: int, threads: int = 1) -> Arrangement:
        place = pa.chunked_array([pa.array(range(n_rows), pa.int64())])
        return arrange(partition_by, [*order_by, SortKey(place, True, False)], n_rows, threads)

    return mock.patch.object(row_values, "arrange", arranged)


# Faults of measures and output


def _aggregates_see(semantics: Semantics) -> AbstractContextManager[Any]:
    correct = reading.MatchReader.aggregate_over

    def aggregated(self: MatchReader, node: Aggregate, views: Viewpoints) -> pa.ChunkedArray:
        return correct(self, replace(node, semantics=semantics), views)

    return mock.patch.object(reading.MatchReader, "aggregate_over", aggregated)


def _navigation_sees(semantics: Semantics) -> AbstractContextManager[Any]:
    correct = reading.MatchReader.positions_of

    def positions(self: MatchReader, target: Target, views: Viewpoints) -> NDArray[np.int64]:
        return correct(self, replace(target, semantics=semantics), views)

    return mock.patch.object(reading.MatchReader, "positions_of", positions)


def _measures_leave_partitions() -> AbstractContextManager[Any]:
    def bounds(self: MatchReader) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_matches = len(self.matches)
        return np.zeros(n_matches, np.int64), np.full(n_matches, self.arrangement.n_rows)

    return mock.patch.object(reading.MatchReader, "partition_bounds", property(bounds))


def _excluded_rows_not_aggregated() -> AbstractContextManager[Any]:
    correct = aggregation.member_labels

    def members(reader: MatchReader, node: Aggregate) -> NDArray[np.bool_] | None:
        is_member = correct(reader, node)
        if not len(reader.matches.labels):
            return is_member
        is_shown: NDArray[np.bool_] = np.arange(2 * len(reader.variables)) % 2 == 0
        return is_shown if is_member is None else is_member & is_shown

    return mock.patch.object(aggregation, "member_labels", members)


def _classifier_of_the_first_row() -> AbstractContextManager[Any]:
    correct = reading.MatchReader.classifiers_at

    def classifiers(self: MatchReader, positions: NDArray[np.int64], views: Viewpoints) -> pa.ChunkedArray:
        return correct(self, np.where(positions < 0, -1, self.matches.start[views.match]), views)

    return mock.patch.object(reading.MatchReader, "classifiers_at", classifiers)


def _null_classifier_counts() -> AbstractContextManager[Any]:
    correct = reading.MatchReader.leaf

    def leaf(self: MatchReader, node: Any, views: Viewpoints) -> pa.ChunkedArray:
        values = correct(self, node, views)
        return values.fill_null("") if isinstance(node, ClassifierAt) else values

    return mock.patch.object(reading.MatchReader, "leaf", leaf)


def _unmatched_rows_repeated() -> AbstractContextManager[Any]:
    def unmatched(reader: MatchReader) -> NDArray[np.int64]:
        # Rows inside a match begin none, which does not make them unmatched.
        return np.setdiff1d(np.arange(reader.arrangement.n_rows), reader.matches.start)

    return mock.patch.object(output, "unmatched_positions", unmatched)


def _empty_match_counts_its_row() -> AbstractContextManager[Any]:
    correct = reading.MatchReader.leaf

    def leaf(self: MatchReader, node: Any, views: Viewpoints) -> pa.ChunkedArray:
        values = correct(self, node, views)
        if not isinstance(node, ColumnAt) or node.target.variables is not None or node.target.shift:
            return values
        here = self.table.column(node.column).take(
            pa.array(self.arrangement.input_rows(self.matches.start[views.match]))
        )
        is_empty = pa.array(views.mapped_row < 0)
        return pa.chunked_array([pa.compute.if_else(is_empty, here.combine_chunks(), values.combine_chunks())])

    return mock.patch.object(reading.MatchReader, "leaf", leaf)


# Faults of feeding in chunks


@contextmanager
def _nothing_held_before_a_start() -> Iterator[None]:
    with (
        mock.patch.object(problem, "reach", lambda plan, least: (0, reach(plan, least)[1])),
        mock.patch.object(problem, "measured_reach", lambda plan, least: 0),
    ):
        yield


def _numbers_forgotten() -> AbstractContextManager[Any]:
    correct = State.close

    def close(state: State, feed: Feed, *rest: Any) -> None:
        correct(state, feed, *rest)
        state.numbers["number"][feed.slots] = 1

    return mock.patch.object(State, "close", close)


def _no_lookahead() -> AbstractContextManager[Any]:
    return mock.patch.object(problem, "reach", lambda plan, least: (reach(plan, least)[0], 0))


_AGGREGATE_IN_DEFINE = "DEFINE.*(sum|count|avg|min|max)"

# Faults of threads that share a partition


def _every_row_attempted() -> AbstractContextManager[Any]:
    return mock.patch.object(pieces, "_attempted_from", lambda start, following, row: row)


def _numbers_of_pieces() -> AbstractContextManager[Any]:
    correct: Any = pieces._enter

    def enter(*arguments: Any) -> Any:
        return correct(*arguments[:-1], 1)

    return mock.patch.object(pieces, "_enter", enter)


def _everything_settled() -> AbstractContextManager[Any]:
    return mock.patch.object(Viability, "settled", lambda self: np.ones(MOST_STATES, np.bool_))


def _cuts_are_ends() -> AbstractContextManager[Any]:
    return mock.patch.object(Viability, "open_end", lambda self, barred: 0)


def _pieces_end_at_cuts() -> AbstractContextManager[Any]:
    correct = pieces.put_together

    def put_together(*arguments: Any) -> Any:
        found = correct(*arguments)
        cuts = {int(until) for piece in arguments[2] for until in piece.until}
        matches = found.matches
        crosses = [any(a < cut < b for cut in cuts) for a, b in zip(matches.start, matches.end, strict=True)]
        return replace(found, matches=matches.take(np.flatnonzero(~np.array(crosses, np.bool_))))

    stack = ExitStack()
    for module in (automaton, backtrack):
        stack.enter_context(mock.patch.object(module, "put_together", put_together))
    return stack


FAULTS = (
    Fault("lost preferment: the last option of an alternation is tried first",
          lambda: _with_patterns_changed(_last_option_first), r"PATTERN .*\|"),
    Fault("greedy and reluctant are swapped", lambda: _with_patterns_changed(_greed_swapped)),
    Fault("PERMUTE prefers the reverse order", lambda: _with_patterns_changed(_permuted_backwards), "PERMUTE"),
    Fault("an upper bound is one too low", lambda: _with_patterns_changed(_one_iteration_less)),
    Fault("^ holds anywhere", lambda: _with_patterns_changed(_no_start_anchor), r"\^"),
    Fault("excluded rows are shown", lambda: _with_patterns_changed(_nothing_excluded), "{-"),
    Fault("PREV in DEFINE reads the partition before",
          lambda: _shifts_leave_partitions(lambda shift: shift < 0), "PARTITION.*DEFINE.*PREV"),
    Fault("NEXT in DEFINE reads the partition behind",
          lambda: _shifts_leave_partitions(lambda shift: shift > 0), "PARTITION.*DEFINE.*NEXT"),
    Fault("PREV and NEXT in MEASURES leave the partition",
          _measures_leave_partitions, "PARTITION.*MEASURES.*(PREV|NEXT)"),
    Fault("a NULL condition holds", _null_holds),
    Fault("failures are remembered although the condition reads the match", _context_failures_remembered, "DEFINE"),
    Fault("an aggregate in DEFINE is not restored when a row is refused",
          _accumulators_not_restored, _AGGREGATE_IN_DEFINE),
    Fault("an aggregate in DEFINE leaves out the row under test", _tested_row_not_aggregated, _AGGREGATE_IN_DEFINE),
    Fault("SKIP TO NEXT ROW goes past the last row",
          lambda: _skip_taken_as(SkipTo.NEXT_ROW, kernel.PAST_LAST_ROW), "SKIP TO NEXT"),
    Fault("SKIP TO FIRST goes to the last", lambda: _skip_taken_as(SkipTo.FIRST, kernel.TO_LAST), "SKIP TO FIRST"),
    Fault("empty matches take no number", lambda: _matches_changed(_empty_matches_not_numbered), "MATCH_NUMBER"),
    Fault("match numbers go on in the next partition",
          lambda: _matches_changed(_numbers_go_on), "PARTITION.*MATCH_NUMBER"),
    Fault("NULLs are ordered at the other end", _nulls_at_the_other_end, "ORDER BY"),
    Fault("ties are ordered against the input", _ties_turned_round),
    Fault("RUNNING aggregates are final", lambda: _aggregates_see(Semantics.FINAL)),
    Fault("FINAL aggregates are running", lambda: _aggregates_see(Semantics.RUNNING), "FINAL"),
    Fault("RUNNING navigation is final", lambda: _navigation_sees(Semantics.FINAL)),
    Fault("FINAL navigation is running", lambda: _navigation_sees(Semantics.RUNNING), "FINAL"),
    Fault("excluded rows are left out of aggregates",
          _excluded_rows_not_aggregated, "MEASURES.*(sum|count|avg|min|max|agg).*{-"),
    Fault("CLASSIFIER is that of the match's first row", _classifier_of_the_first_row, "CLASSIFIER"),
    Fault("the classifier of a row outside the match is not NULL", _null_classifier_counts, "CLASSIFIER"),
    Fault("rows inside a match are also shown as unmatched", _unmatched_rows_repeated, "UNMATCHED"),
    Fault("columns of an empty match are those of its row", _empty_match_counts_its_row),
    Fault("in chunks: rows that PREV reads are not held back", _nothing_held_before_a_start, "DEFINE.*PREV"),
    Fault("in chunks: rows that NEXT reads are not waited for", _no_lookahead, "DEFINE.*NEXT"),
    Fault("in chunks: match numbers begin again", _numbers_forgotten, "MATCH_NUMBER"),
    Fault("in pieces: a piece's own search is right from any row on", _every_row_attempted, "PATTERN"),
    Fault("in pieces: match numbers begin again", _numbers_of_pieces, "MATCH_NUMBER"),
    Fault("in pieces: all states before a cut are settled", _everything_settled),
    Fault("in pieces: a cut is an end", _cuts_are_ends),
    Fault("in pieces: matches that begin before a cut end there", _pieces_end_at_cuts),
)
