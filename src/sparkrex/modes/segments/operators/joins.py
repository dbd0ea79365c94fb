"""Concat, And and Or over two children: each evaluated once and merged, or one probed at the other's segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels.probes import Probed, offsets_of, probed_distinct, probed_pairs
from sparkrex.modes.segments.kernels.segments import Lefts, Limits, join_distinct, join_pairs, same_segments
from sparkrex.modes.segments.operators.arrays import (
    check_number,
    distinct,
    distinct_spaces,
    no_segments,
    projected,
    taken,
    together,
)
from sparkrex.modes.segments.operators.contract import Operator, Segments, Spaces
from sparkrex.modes.segments.operators.probes import shared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.modes.segments.operators.series import Frame, Series
    from sparkrex.modes.segments.pattern import Window


@dataclass(eq=False)
class Join:
    """What the joins share.

    `needs` are the variables of the other side that each side's conditions refer to: only a probe can serve them. `gap`
    is how far the right segment's first row is from the left's last: 0 if they share a row, 1 if not.
    """

    name: str
    series: Series
    windows: tuple[Window, ...]
    children: tuple[Operator, Operator]
    needs: tuple[frozenset[str], frozenset[str]]
    gives: frozenset[str]
    limit: int
    gap: int = 0

    @cached_property
    def frame(self) -> Frame:
        """What the windows allow."""
        return self.series.frame(self.windows)

    @cached_property
    def limits(self) -> Limits:
        """What kernels keep to."""
        return Limits(self.series.longest(self.windows), self.limit, self.series.budget)

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        raise NotImplementedError

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        return []

    def reach(self, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and last row at which the right segment may start behind a left one that ends there."""
        return ends + self.gap, ends + self.gap

    def inside(self, spaces: Spaces) -> Spaces:
        """The spaces without rows that no segment of the window reaches from them; parts are looked for inside only."""
        return inside_windows(self.series.n_rows, self.frame, spaces)

    def joined(self, spaces: Spaces, left: Segments, right: Segments) -> Segments:
        """Concatenations of the left and right segments of the same space."""
        sides = (Lefts(left.space, left.start, *self.reach(left.end)), right.triples)
        if not self.gives & (left.bindings.keys() | right.bindings.keys()):
            n, space, start, end = join_distinct(*sides, spaces.ranges, tuple(self.frame), self.limits)
            check_number(n)
            return Segments(space[:n], start[:n], end[:n])
        n, lefts, rights = join_pairs(*sides, spaces.ranges, tuple(self.frame), self.limits)
        check_number(n)
        lefts, rights = lefts[:n], rights[:n]
        bindings = {
            **taken(left.bindings, lefts, self.gives), **taken(right.bindings, rights, self.gives),
        }
        return distinct(Segments(left.space[lefts], left.start[lefts], right.end[rights], bindings))

    def same(self, left: Segments, right: Segments) -> Segments:
        """Segments that both sides have."""
        n, lefts, rights = same_segments(left.triples, right.triples, self.limit)
        check_number(n)
        lefts, rights = lefts[:n], rights[:n]
        bindings = {**taken(left.bindings, lefts, self.gives), **taken(right.bindings, rights, self.gives)}
        segments = Segments(left.space[lefts], left.start[lefts], left.end[lefts], bindings)
        is_projected = len(bindings) < len({*left.bindings, *right.bindings})
        return distinct(segments) if is_projected or bindings else segments


def inside_windows(n_rows: int, frame: Frame, spaces: Spaces) -> Spaces:
    """The spaces narrowed to what the windows allow. Bounds ascend, so the last start reaches furthest."""
    if not n_rows:
        return spaces
    ends, starts = spaces.end_low, spaces.start_high
    if len(frame.first_end):
        # A space that starts or ends outside of the series is empty, and stays so.
        ends, starts = np.clip(ends, 0, n_rows - 1), np.clip(starts, 0, n_rows - 1)
    start_low = np.maximum(spaces.start_low, frame.starts_to(ends)[0])
    end_high = np.minimum(spaces.end_high, frame.ends_from(starts)[1])
    return Spaces(start_low, spaces.start_high, spaces.end_low, end_high, spaces.bindings)


def _left_spaces(spaces: Spaces) -> Spaces:
    """Where the left part of a concatenation may lie: its end may be anywhere up to the whole's."""
    return Spaces(spaces.start_low, spaces.start_high, spaces.start_low, spaces.end_high, spaces.bindings)


def _right_spaces(spaces: Spaces) -> Spaces:
    return Spaces(spaces.start_low, spaces.end_high, spaces.end_low, spaces.end_high, spaces.bindings)


class SortMergeConcat(Join):
    """Both children once, over the whole space."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        spaces = self.inside(spaces)
        left = self.children[0].find(_left_spaces(spaces))
        if not len(left):
            return projected(left, self.gives)
        right = self.children[1].find(_right_spaces(spaces))
        return self.joined(spaces, left, right)


@dataclass(eq=False)
class WildcardConcat(SortMergeConcat):
    """`A W B` where W is any segment in `between`'s windows: the outer parts are paired over the gap."""

    between: tuple[Window, ...] = ()
    gaps: tuple[int, int] = (0, 0)
    """From A's last row to W's first, and from W's last to B's first: 0 if they share a row, 1 if not."""

    def reach(self, ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where W may end if it starts behind A, and B one gap further."""
        begin = ends + self.gaps[0]
        inside = begin < self.series.n_rows
        first_end, last_end = self.series.frame(self.between).ends_from(np.where(inside, begin, 0))
        # Behind the last row no W starts: an empty range.
        return np.where(inside, first_end + self.gaps[1], 1), np.where(inside, last_end + self.gaps[1], 0)


class ProbeConcat(Join):
    """One child once, the other from the rows where what it found can go on."""

    def _ask_child(
        self, side: int, spaces: Spaces, base: Segments, rows: NDArray[np.int64], low: NDArray[np.int64],
        high: NDArray[np.int64],
    ) -> tuple[Segments, NDArray[np.int64], NDArray[np.int64]]:
        """What the probed child has at these rows, the place among the probes of each base segment, and offsets."""
        probes = shared(rows, low, high, _references(spaces, base, self.needs[side]))
        ranges = (probes.rows, probes.rows, probes.low, probes.high)
        found = self.children[side].find(Spaces(*(ranges if side else ranges[2:] + ranges[:2]), probes.bindings))
        return found, probes.place, offsets_of(found.space, len(probes.rows))

    def _pairs(
        self, base: Segments, found: Segments, low: NDArray[np.int64], high: NDArray[np.int64],
        place: NDArray[np.int64], offsets: NDArray[np.int64], *, is_left_base: bool,
    ) -> Segments:
        """The concatenations with their bindings, each once."""
        far = found.end if is_left_base else found.start
        n, bases, places = probed_pairs(Probed(low, high, place, offsets, far), self.limits)
        check_number(n)
        bases, places = bases[:n], places[:n]
        start, end = (base.start[bases], far[places]) if is_left_base else (far[places], base.end[bases])
        bindings = {**taken(base.bindings, bases, self.gives), **taken(found.bindings, places, self.gives)}
        return distinct(Segments(base.space[bases], start, end, bindings))


class RightProbeConcat(ProbeConcat):
    """The left child once; the right child from the ends of what it found."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        left = self.children[0].find(_left_spaces(self.inside(spaces)))
        if not len(left):
            return no_segments(self.gives)
        begin = left.end + self.gap
        first_end, last_end = self.frame.ends_from(left.start)
        low = np.maximum(np.maximum(spaces.end_low[left.space], begin), first_end)
        high = np.minimum(spaces.end_high[left.space], last_end)
        right, place, offsets = self._ask_child(1, spaces, left, begin, low, high)
        if self.gives & (left.bindings.keys() | right.bindings.keys()):
            return self._pairs(left, right, low, high, place, offsets, is_left_base=True)
        probed = Probed(low, high, place, offsets, right.end)
        n, space, start, end = probed_distinct(left.triples, probed, self.limits)
        check_number(n)
        return Segments(space[:n], start[:n], end[:n])


class LeftProbeConcat(ProbeConcat):
    """The right child once; the left child up to the starts of what it found."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        right = self.children[1].find(_right_spaces(self.inside(spaces)))
        if not len(right):
            return no_segments(self.gives)
        stop = right.start - self.gap
        first_start, last_start = self.frame.starts_to(right.end)
        low = np.maximum(spaces.start_low[right.space], first_start)
        high = np.minimum(np.minimum(spaces.start_high[right.space], last_start), stop)
        left, place, offsets = self._ask_child(0, spaces, right, stop, low, high)
        return self._pairs(right, left, low, high, place, offsets, is_left_base=False)


class SortMergeAnd(Join):
    """Both children once."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        left = self.children[0].find(spaces)
        if not len(left):
            return projected(left, self.gives)
        return self.same(left, self.children[1].find(spaces))


class ProbeAnd(Join):
    """One child once, the other exactly at its segments. RightProbeAnd probes the right one, LeftProbeAnd the left."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        probed = 1 if self.name == "RightProbeAnd" else 0
        base = self.children[1 - probed].find(spaces)
        probes = Spaces(base.start, base.start, base.end, base.end, _references(spaces, base, self.needs[probed]))
        if not base.bindings:
            found = self.children[probed].find(probes)
            bases, places = found.space, np.arange(len(found))
        else:
            # The same segment may be there more than once, with different bindings.
            asked, place = distinct_spaces(probes)
            found = self.children[probed].find(asked)
            offsets = offsets_of(found.space, len(asked))
            n, bases, places = probed_pairs(Probed(base.end, base.end, place, offsets, found.end), self.limits)
            check_number(n)
            bases, places = bases[:n], places[:n]
        bindings = {**taken(base.bindings, bases, self.gives), **taken(found.bindings, places, self.gives)}
        segments = Segments(base.space[bases], base.start[bases], base.end[bases], bindings)
        return distinct(segments) if base.bindings or found.bindings else segments


class SortMergeOr(Join):
    """What either child has."""

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        found = together([projected(child.find(spaces), self.gives) for child in self.children])
        # A side that finds nothing may not even name its variables, and the other need not know them.
        nowhere = np.full(len(found), -1, np.int64)
        bindings = {name: found.bindings.get(name, (nowhere, nowhere)) for name in self.gives}
        return distinct(Segments(found.space, found.start, found.end, bindings))


def _references(spaces: Spaces, found: Segments, needed: frozenset[str]) -> dict[str, Binding]:
    """The bindings that the probed side refers to: those found beside it, else those given from above."""
    beside = {name: binding for name, binding in found.bindings.items() if name in needed}
    return {**taken(spaces.bindings, found.space, spaces.bindings), **beside}
