"""Deliberate faults of segment search, typical mistakes: in windows, junctions, Not, probes, closures, answers."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
from tests.faults.faults import Fault

from sparkrex.modes.plan import SkipTo
from sparkrex.modes.segments import find, planning
from sparkrex.modes.segments.kernels.segments import value_window
from sparkrex.modes.segments.operators import build, conditions, joins, output, series, skip, unary
from sparkrex.modes.segments.operators.arguments import number_column
from sparkrex.modes.segments.operators.arrays import kept, taken
from sparkrex.modes.segments.operators.contains import Contains
from sparkrex.modes.segments.operators.contract import Segments, Spaces
from sparkrex.modes.segments.operators.leaves import candidates_of
from sparkrex.modes.segments.operators.probes import Probes, shared
from sparkrex.modes.segments.planner import lengths, make_logical
from sparkrex.modes.segments.planner.logical import Concat, Neither
from sparkrex.modes.segments.planner.references import without_rows
from sparkrex.modes.segments.rewrite import flatten, push_down_windows
from sparkrex.scalar.expression import Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.evaluate.blocks import Value
    from sparkrex.modes.plan import Skip
    from sparkrex.modes.segments.operators.series import Column
    from sparkrex.modes.segments.planner.lengths import Lengths
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.scalar.expression import Expression


# Windows and junctions


def _row_windows_lose_an_edge() -> AbstractContextManager[Any]:
    correct = series.window_in_rows

    def narrowed(windows: Any, n_rows: int) -> tuple[int, int]:
        low, high = correct(windows, n_rows)
        return low, high - 1 if 1 < high < n_rows else high

    return mock.patch.object(series, "window_in_rows", narrowed)


def _column_windows_are_exclusive() -> AbstractContextManager[Any]:
    def narrowed(offsets: Any, values: Any, low: Any, high: Any, has_high: bool, *rest: Any) -> None:
        narrower = high - 1 if has_high and high > 0 else high
        value_window(offsets, values, low, values.dtype.type(narrower), has_high, *rest)

    return mock.patch.object(series, "value_window", narrowed)


def _parts_of_a_chain_are_pushed_too_far() -> AbstractContextManager[Any]:
    """Shared rows are counted once for each part, as if rows simply added up."""
    piece = push_down_windows.window_of_piece

    def narrowed(whole: Any, others: Any, n_shared: int, *rest: Any) -> Any:
        return piece(whole, others, 0, *rest)

    return mock.patch.object(push_down_windows, "window_of_piece", narrowed)


def _flattening_shares_every_row() -> AbstractContextManager[Any]:
    correct = flatten.flat_chain

    def shared(node: Concat) -> Concat:
        flat = correct(node)
        return replace(flat, shares=(True,) * len(flat.shares))

    return mock.patch.object(flatten, "flat_chain", shared)


def _neighbouring_rows_are_joined_as_one() -> AbstractContextManager[Any]:
    return mock.patch.dict(
        build.JOINS, {op: lambda *given, kind=kind: kind(*given[:-1], 0) for op, kind in build.JOINS.items()}
    )


# Not


def _not_without_its_window() -> AbstractContextManager[Any]:
    return mock.patch.object(unary, "candidates_of", lambda rows, _, spaces: candidates_of(rows, (), spaces))


def _windows_move_out_of_not() -> AbstractContextManager[Any]:
    correct = lengths.lengths_from_parts

    def moved(node: Logical, column: str | None) -> Lengths:
        return lengths.lengths(node.part, column) if isinstance(node, Neither) else correct(node, column)

    return mock.patch.object(lengths, "lengths_from_parts", moved)


# Contains


def _contained_by(changed: Callable[[Contains], Contains]) -> AbstractContextManager[Any]:
    return mock.patch.object(build, "Contains", lambda *given: changed(Contains(*given)))


def _the_next_one_overlaps() -> AbstractContextManager[Any]:
    """In `W X W Y W`, Y is looked for from a row before the one where X and W leave off."""
    return _contained_by(lambda one: replace(one, gaps=tuple(gap - 1 for gap in one.gaps)))


def _a_contained_segment_may_stand_out() -> AbstractContextManager[Any]:
    return _contained_by(lambda one: one if one.trail is None else replace(one, trail=one.trail - 1))


# Probes and references


def _probes_are_remembered_without_bindings() -> AbstractContextManager[Any]:
    def forgetful(rows: Any, low: Any, high: Any, bindings: Any) -> Probes:
        probes = shared(rows, low, high, {})
        first = np.zeros(len(probes.rows), np.int64)
        asked = np.flatnonzero(probes.place >= 0)[::-1]
        first[probes.place[asked]] = asked  # the first request is written last
        return probes._replace(bindings=taken(bindings, first, bindings))

    return mock.patch.object(joins, "shared", forgetful)


def _a_branch_not_taken_is_zero() -> AbstractContextManager[Any]:
    def zero(expression: Expression, names: frozenset[str]) -> Expression:
        found = without_rows(expression, names)
        return Literal(True) if isinstance(found, Literal) and found.value is None else found

    return mock.patch.object(make_logical, "without_rows", zero)


def _decimals_are_cast_to_doubles() -> AbstractContextManager[Any]:
    """As it was: Arrow multiplies by a power of ten, which is rounded itself."""
    def cast(values: pa.ChunkedArray) -> Column:
        return number_column(values.cast(pa.float64()) if pa.types.is_decimal(values.type) else values)

    return mock.patch.object(planning, "number_column", cast)


def _null_holds() -> AbstractContextManager[Any]:
    def truth(value: Value) -> Any:
        return value.data if value.nulls is None else value.data | value.nulls

    return mock.patch.object(conditions, "truth", truth)


# Closures


def _one_round_too_few() -> AbstractContextManager[Any]:
    correct = unary.MaterializeKleene.find

    def fewer(self: Any, spaces: Spaces) -> Segments:
        maximum = None if self.maximum is None else max(self.minimum, self.maximum - 1)
        return correct(replace(self, maximum=maximum), spaces)

    return mock.patch.object(unary.MaterializeKleene, "find", fewer)


def _an_iteration_must_advance() -> AbstractContextManager[Any]:
    correct = unary.MaterializeKleene.find

    def advancing(self: Any, spaces: Spaces) -> Segments:
        child = self.children[0]

        class Longer:
            name, children = child.name, child.children

            def find(self, spaces: Spaces) -> Segments:
                found = child.find(spaces)
                return kept(found, found.end > found.start)

        found: Segments = correct(replace(self, children=(Longer(),)), spaces)
        return found

    return mock.patch.object(unary.MaterializeKleene, "find", advancing)


def _the_first_iteration_is_seen_from_outside() -> AbstractContextManager[Any]:
    def kept_from_the_first(join: Any, spaces: Spaces, latest: Segments, base: Segments) -> Segments:
        found: Segments = join.joined(spaces, latest, Segments(base.space, base.start, base.end))
        return found

    return mock.patch.object(unary, "longer_by_one", kept_from_the_first)


# Results


@contextmanager
def _nothing_is_made_distinct() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (joins, unary):
            stack.enter_context(mock.patch.object(module, "distinct", lambda segments: segments))
        yield


def _skips_to_the_last_row() -> AbstractContextManager[Any]:
    correct = skip.next_starts

    def following(goal: Skip, found: Segments) -> Any:
        rows = correct(goal, found)
        return np.where(rows - 1 > found.start, rows - 1, rows) if goal.to is SkipTo.PAST_LAST_ROW else rows

    return mock.patch.object(skip, "next_starts", following)


def _indexes_count_all_partitions() -> AbstractContextManager[Any]:
    def positions(arrangement: Arrangement, first: Any) -> Any:
        indexes = np.arange(arrangement.n_rows)
        if arrangement.order is not None:
            indexes[arrangement.order] = np.arange(arrangement.n_rows)
        return indexes

    return mock.patch.object(output, "indexes_in_partitions", positions)


def _the_row_after_is_forgotten() -> AbstractContextManager[Any]:
    """Rule 5(2) as it is printed."""
    return mock.patch.object(find, "with_rows_after", lambda found, *_: found)


SEGMENT_FAULTS = (
    Fault("a window of rows loses its edge", _row_windows_lose_an_edge, r"window\(\d"),
    Fault("the upper bound of a window on a column is exclusive", _column_windows_are_exclusive, r"window\(t"),
    Fault("shared rows are not counted when windows are pushed down", _parts_of_a_chain_are_pushed_too_far, "window"),
    Fault("flattening shares every row", _flattening_shares_every_row, r"\* |\+ "),
    Fault("neighbouring rows are joined as a shared row",
          _neighbouring_rows_are_joined_as_one, r"[PABCD]\d?\+? [PABCD]"),
    Fault("Not forgets its window", _not_without_its_window, r"~(?s:.*)window"),
    Fault("a window moves out of Not", _windows_move_out_of_not, r"~(?s:.*)window"),
    Fault("the next of two contained segments overlaps the first", _the_next_one_overlaps, r"W \S+ W \S+ W"),
    Fault("a contained segment may stand out by a row", _a_contained_segment_may_stand_out, r"~\(W"),
    Fault("probes are remembered without the bindings they refer to",
          _probes_are_remembered_without_bindings, r"- S\d\."),
    Fault("a condition on a branch not taken holds", _a_branch_not_taken_is_zero, r"\|(?s:.*)- S\d\."),
    Fault("a NULL condition of a segment holds", _null_holds),
    Fault("decimals are read through a cast that is not the nearest double",
          _decimals_are_cast_to_doubles, r"\b[dw]\)"),
    Fault("one iteration too few", _one_round_too_few, r"\{1,2\}|\{2\}"),
    Fault("an iteration of one row does not count", _an_iteration_must_advance, r"\)[+{*]"),
    Fault("the first iteration is seen from outside, not the last",
          _the_first_iteration_is_seen_from_outside, r"\)[+{*]"),
    Fault("results are not made distinct", _nothing_is_made_distinct),
    Fault("SKIP PAST LAST ROW goes to the last row", _skips_to_the_last_row, r"PAST LAST"),
    Fault("START_INDEX counts the rows of all partitions", _indexes_count_all_partitions),
    Fault("rule 5 forgets the row that must follow", _the_row_after_is_forgotten),
)
