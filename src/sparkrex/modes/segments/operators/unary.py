"""Not, Kleene and Filter: operators over one child."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels.closures import KnownSteps, close, first_rows, new_rows, next_rows, reached_ends
from sparkrex.modes.segments.kernels.probes import offsets_of
from sparkrex.modes.segments.kernels.reach import close_by_sets
from sparkrex.modes.segments.kernels.segments import Limits, Triples, is_among
from sparkrex.modes.segments.operators.arrays import (
    TooManySegmentsError,
    check_number,
    distinct,
    kept,
    no_segments,
    projected,
    sorted_groups,
    taken,
    together,
)
from sparkrex.modes.segments.operators.contract import Operator, Segments, Spaces
from sparkrex.modes.segments.operators.joins import Join, inside_windows
from sparkrex.modes.segments.operators.leaves import candidates_of
from sparkrex.modes.segments.operators.steps import Steps, steps_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.conditions import Condition
    from sparkrex.modes.segments.operators.contract import Rows
    from sparkrex.modes.segments.operators.series import Frame, Series
    from sparkrex.modes.segments.pattern import Window


_MOST_WORDS = 1 << 23
"""Words of 64 bits that sets of ends may take: 64 MB."""
_WORDS_A_SEGMENT = 8
"""Words for each segment of an iteration, up to which its closure is found by sets of ends."""


@dataclass(eq=False)
class Unary:
    """What the operators over one child share."""

    name: str
    series: Series
    windows: tuple[Window, ...]
    children: tuple[Operator]
    gives: frozenset[str]
    limit: int

    @cached_property
    def frame(self) -> Frame:
        """What the windows allow."""
        return self.series.frame(self.windows)

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        return []


class MaterializeNot(Unary):
    """The child once; then every segment of the window that it does not have."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        having = projected(self.children[0].find(spaces), frozenset())
        return self._without(spaces, having)

    def _without(self, spaces: Spaces, having: Segments) -> Segments:
        found: list[Segments] = []
        total = 0
        for candidates in candidates_of(self.series, self.windows, spaces):
            is_had = self._is_had(spaces, candidates, having)
            found.append(kept(candidates, ~is_had))
            total += len(found[-1])
            if total > self.limit:
                raise TooManySegmentsError
        return together(found) if found else no_segments()

    def _is_had(self, spaces: Spaces, candidates: Segments, having: Segments) -> NDArray[np.bool_]:
        is_had = np.zeros(len(candidates), np.bool_)
        # Both are in order, so only a stretch of the child's segments can be among these.
        low = np.searchsorted(having.space, candidates.space[0], side="left")
        high = np.searchsorted(having.space, candidates.space[-1], side="right")
        part = slice(low, high)
        others = Triples(having.space[part], having.start[part], having.end[part])
        is_among(candidates.triples, others, is_had)
        return is_had


class ProbeNot(MaterializeNot):
    """The child asked at every segment of the window, whether it has it."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        return self._without(spaces, no_segments())

    def _is_had(self, spaces: Spaces, candidates: Segments, having: Segments) -> NDArray[np.bool_]:
        probes = Spaces(
            candidates.start, candidates.start, candidates.end, candidates.end,
            taken(spaces.bindings, candidates.space, spaces.bindings),
        )
        is_had = np.zeros(len(candidates), np.bool_)
        is_had[self.children[0].find(probes).space] = True
        return is_had


@dataclass(eq=False)
class Filter(Unary):
    """The child's segments that satisfy a condition and a window."""

    condition: Condition | None = None
    binds: tuple[str, ...] = ()
    """Variables whose segment this is."""
    n_tested: int = field(default=0, init=False)

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        found = self.children[0].find(spaces)
        inside = self.frame.fits(found.start, found.end)
        if not inside.all():
            found = kept(found, inside)
        if self.condition is not None:
            self.n_tested += len(found)
            bindings = {**taken(spaces.bindings, found.space, spaces.bindings), **found.bindings}
            found = kept(found, self.condition.holds(found.start, found.end, bindings))
        if self.binds:
            itself = dict.fromkeys(self.binds, (found.start, found.end))
            found = Segments(found.space, found.start, found.end, {**found.bindings, **itself})
        return projected(found, self.gives)

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        return [] if self.condition is None else [str(self.condition)]


@dataclass(eq=False)
class MaterializeKleene(Unary):
    """The child once over the whole stretch, then what its segments make one after the other.

    Where all spaces have one start row only, as a probe's have, and nothing is bound, the stretch is not filled: the
    child is asked at the rows that are reached, round by round, at each row once for all spaces.
    """

    minimum: int = 1
    maximum: int | None = None
    gap: int = 0

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        if not self.gives and not spaces.bindings and bool((spaces.start_low == spaces.start_high).all()):
            return self._from_starts(spaces)
        near = inside_windows(self.series.n_rows, self.frame, spaces)
        stretch = Spaces(near.start_low, near.end_high, near.start_low, near.end_high, spaces.bindings)
        base = projected(self.children[0].find(stretch), self.gives)
        upper = self._upper
        join = Join(
            "", self.series, upper, (self.children[0], self.children[0]), (frozenset(), frozenset()), self.gives,
            self.limit, self.gap,
        )
        starts = (base.start >= spaces.start_low[base.space]) & (base.start <= spaces.start_high[base.space])
        latest = kept(base, starts)
        for _ in range(self.minimum - 1):
            latest = longer_by_one(join, stretch, latest, base)
        whole = self._bound_closure(join, stretch, latest, base) if base.bindings else self._closure(
            stretch, latest, base, upper
        )
        fits = self.frame.fits(whole.start, whole.end)
        fits &= (whole.end >= spaces.end_low[whole.space]) & (whole.end <= spaces.end_high[whole.space])
        return kept(whole, fits)

    @cached_property
    def _upper(self) -> tuple[Window, ...]:
        """The windows without lower bounds: some iterations of several may be shorter."""
        return tuple(replace(window, low=None) for window in self.windows)

    @cached_property
    def _limits(self) -> Limits:
        return Limits(self.series.longest(self._upper), self.limit, self.series.budget)

    def _from_starts(self, spaces: Spaces) -> Segments:
        starts = spaces.start_low
        if len(self.frame.first_end):
            starts = np.clip(starts, 0, max(0, self.series.n_rows - 1))
        first_end, last_end = self.frame.ends_from(starts)
        nearest = np.maximum(spaces.end_low, first_end)
        furthest = np.minimum(spaces.end_high, last_end)
        furthest = np.where(spaces.start_low > spaces.end_high, -1, furthest)
        if self._steps is not None:
            space, end = self._steps.ends(
                spaces.start_low, nearest, furthest, self.limit, self.series.budget
            )
        else:
            space, end = self._reach_ends(spaces.start_low, furthest)
            is_far = end >= nearest[space]
            space, end = space[is_far], end[is_far]
        return Segments(space, spaces.start_low[space], end)

    @cached_property
    def _steps(self) -> Steps | None:
        return steps_of(self.children[0], self.minimum, self.maximum, self.frame) if self.gap == 0 else None

    def _reach_ends(self, start: Rows, furthest: Rows) -> tuple[Rows, Rows]:
        """Spaces and the rows that iterations from their start end at, each once, in order."""
        asked = start <= furthest
        if not asked.any():
            return start[:0], start[:0]
        # How far to look from a row: as far as any of the spaces that it may be in.
        begins = np.sort(start[asked])
        reach = np.maximum.accumulate(furthest[asked][np.argsort(start[asked], kind="stable")])
        first_row = int(begins[0])
        n_rows = int(reach[-1]) - first_row + 1
        kind = np.int32 if self.series.n_rows < 1 << 31 else np.int64
        known, far = np.full(n_rows, -1, kind), np.full(n_rows, -1, kind)
        offsets, steps = np.zeros(1, np.int64), np.empty(0, np.int64)
        rows = first_rows(start, furthest, far, first_row)
        while len(rows):
            new = new_rows(rows, known, first_row, len(offsets) - 1)
            if len(new):
                ends = reach[np.searchsorted(begins, new, side="right") - 1]
                found = self.children[0].find(Spaces(new, new, new, ends))
                offsets = np.concatenate((offsets, offsets[-1] + offsets_of(found.space, len(new))[1:]))
                steps = np.concatenate((steps, found.end))
            rows = next_rows(rows, far, KnownSteps(known, first_row, offsets, steps, self.gap))
        n, place, end = reached_ends(
            start, furthest, KnownSteps(known, first_row, offsets, steps, self.gap), self.minimum,
            -1 if self.maximum is None else self.maximum, self._limits,
        )
        check_number(n)
        return place[:n], end[:n]

    def _closure(
        self, spaces: Spaces, latest: Segments, base: Segments, upper: tuple[Window, ...]
    ) -> Segments:
        """Everything that more iterations reach from the latest, start row by start row."""
        rounds = -1 if self.maximum is None else self.maximum - self.minimum
        frame = tuple(self.series.frame(upper))
        given = (latest.triples, base.triples, self.gap, spaces.end_high, frame)
        if rounds < 0 and self._fills_sets(spaces, base, upper):
            n, space, start, end = close_by_sets(*given, self._limits)
            check_number(n)
            return Segments(space[:n], start[:n], end[:n])
        n, space, start, end = close(*given, rounds, self._limits)
        check_number(n)
        return Segments(space[:n], start[:n], end[:n])

    def _fills_sets(self, spaces: Spaces, base: Segments, upper: tuple[Window, ...]) -> bool:
        """Whether sets of ends are small, and most of them not empty: then adding them up takes fewest steps."""
        if not len(base):
            return False
        n_words = (self.series.longest(upper) + 63) // 64
        n_rows = np.maximum(spaces.end_high - spaces.start_low + 1, 0)
        if int(n_rows.max()) * n_words > _MOST_WORDS:
            return False
        return int(n_rows.sum()) * n_words <= _WORDS_A_SEGMENT * len(base)

    def _bound_closure(self, join: Join, stretch: Spaces, latest: Segments, base: Segments) -> Segments:
        """The same with the last iteration's bindings: joined until nothing new comes (semi-naive)."""
        found = [latest]
        seen = latest
        rounds = self.minimum
        while len(latest) and (self.maximum is None or rounds < self.maximum):
            latest = _minus(longer_by_one(join, stretch, latest, base), seen)
            seen = distinct(together([seen, latest]))
            if len(seen) > self.limit:
                raise TooManySegmentsError
            found.append(latest)
            rounds += 1
        return distinct(together(found))


def longer_by_one(join: Join, spaces: Spaces, latest: Segments, base: Segments) -> Segments:
    """One iteration more. What is bound is the last iteration's."""
    return join.joined(spaces, Segments(latest.space, latest.start, latest.end), base)


def _minus(segments: Segments, others: Segments) -> Segments:
    """The segments that are not among the others."""
    if not len(segments) or not len(others):
        return segments
    both = together([others, segments])
    keys = [both.space, both.start, both.end]
    for name in sorted(both.bindings):
        keys += both.bindings[name]
    order, is_new = sorted_groups(keys)  # of equal ones the other's comes first
    marked = np.zeros(len(both), np.bool_)
    marked[order[is_new]] = True
    return kept(segments, marked[len(others) :])
