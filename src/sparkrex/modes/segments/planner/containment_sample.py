"""How many segments contain another: from the first ends of X after rows drawn at random, not from selectivities.

Segments that overlap are alike, so the selectivity of X says little about how many segments have none inside: on a
random walk a fall of 3% is one segment in ten, and yet half of all segments of a hundred rows have none. So F(s) itself
is sampled (see `contains`): from each of a few rows X is looked for up to the window, or as far as a budget allows, and
the rows that the shortest segment with an X has there are kept. Conditions of the same And are tested on segments from
the same rows: what rises seldom has a fall inside.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.contract import Spaces
from sparkrex.modes.segments.planner.alternatives import Alternatives
from sparkrex.modes.segments.planner.condition_cost import condition_cost
from sparkrex.modes.segments.planner.contains import containment_of
from sparkrex.modes.segments.planner.joint_selectivity import as_bits
from sparkrex.modes.segments.planner.logical import Both, Leaf, Logical, Neither, parts
from sparkrex.modes.segments.planner.optimizer import NoPlanError
from sparkrex.modes.segments.planner.rule_planners import probing_plan
from sparkrex.modes.segments.planner.statistics import leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.conditions import SegmentConditions
    from sparkrex.modes.segments.operators.contract import Operator
    from sparkrex.modes.segments.operators.series import Series
    from sparkrex.modes.segments.planner.contains import Containment
    from sparkrex.modes.segments.planner.statistics import Statistics
    from sparkrex.modes.segments.planner.weights import Weights
    from sparkrex.modes.segments.planner.windows_selectivity import Lengths

    Rows = NDArray[np.int64]

_SEED = 20240602
_FEWEST_ROWS, _MOST_ROWS = 24, 400
_FEWEST_TESTS = 3_000
_LEAST_TIME, _MOST_TIME = 1.5e6, 1e7
_PART = 0.005
"""Nanoseconds that a sample may take, by the cost model; between them, this part of testing X everywhere."""
_TEST = 3.0
"""Nanoseconds of comparing the values at both ends of a segment."""
_LENGTHS = 256
"""Lengths at which a share is added up."""
_BESIDE = 48
"""Segments from each row on which other conditions are tested."""
_MOST_BESIDE = 8
"""Other conditions that are tested, those that hold least often: each of n with each containment would be n^2."""
_PRIOR = 2.0
"""Hits for which conditions of the same And count as independent."""
_LIMIT = 1 << 24


@dataclass(slots=True)
class _Memory:
    """What a sample was asked before: planning asks the same of many sets of leaves. Leaves are kept with their ids."""

    shares: dict[tuple[Lengths, int], float] = field(default_factory=dict)
    leaves: dict[int, tuple[Leaf, int | None]] = field(default_factory=dict)
    sets: dict[frozenset[int], int | None] = field(default_factory=dict)
    inside: dict[Lengths, tuple[int, int]] = field(default_factory=dict)



@dataclass(frozen=True, eq=False, slots=True)
class ContainmentSample:
    """From each row drawn: the rows of the shortest segment there with an X, and those up to which it was looked for.

    `shortest` is above `looked` where there is none that far. `beside` says of other leaves where they hold, on the
    segments of `beside_rows` rows from the row at `beside_place`.
    """

    shortest: Rows
    looked: Rows
    is_negated: bool
    beside_place: Rows
    beside_rows: Rows
    beside: Mapping[Leaf, NDArray[np.bool_]] = field(default_factory=dict)
    _memory: _Memory = field(default_factory=_Memory, init=False, repr=False)

    def share(self, lengths: Lengths, n_rows: int) -> float:
        """Which part of all segments of these lengths matches."""
        key = (lengths, n_rows)
        known = self._memory.shares.get(key)
        if known is None:
            known = self._memory.shares[key] = self._new_share(lengths, n_rows)
        return known

    def _new_share(self, lengths: Lengths, n_rows: int) -> float:
        if lengths.low > lengths.high:
            return 0.0
        step = max(1, (lengths.high - lengths.low + 1) // _LENGTHS)
        rows = np.arange(lengths.low, lengths.high + 1, step)
        # There are more of the short ones in a series.
        weight = np.maximum(n_rows - rows + 1, 1)
        without = float((self._without(rows) * weight).sum() / weight.sum())
        return without if self.is_negated else 1 - without

    def _without(self, rows: Rows) -> NDArray[np.float64]:
        """Of segments of so many rows, the part without an X inside."""
        near = np.minimum(rows, self.looked.max())
        # Rows at the end of a series have no such segments.
        is_there = self.looked >= near[:, np.newaxis]
        n_without = (is_there & (self.shortest > near[:, np.newaxis])).sum(axis=1)
        # Half of one more keeps 0 from being certain.
        part = (n_without + 0.5) / (is_there.sum(axis=1) + 1)
        # Further than it was looked for: as likely again, for each such stretch.
        return np.asarray(part ** np.maximum(rows / near, 1.0))

    def share_beside(self, leaves: Sequence[Leaf], lengths: Lengths, n_rows: int) -> float:
        """The same of the segments that other conditions of an And leave."""
        alone = self.share(lengths, n_rows)
        together = self._together(leaves)
        if together is None:
            return alone
        left, hits = self._inside(lengths)
        return ((together & hits).bit_count() + _PRIOR * alone) / ((together & left).bit_count() + _PRIOR)

    def _together(self, leaves: Sequence[Leaf]) -> int | None:
        """The segments on which all those of the leaves hold that were tested; None if none was."""
        key = frozenset(map(id, leaves))
        sets = self._memory.sets
        if key not in sets:
            found: int | None = None
            for leaf in leaves:
                holds = self._holds(leaf)
                found = holds if found is None else found if holds is None else found & holds
            sets[key] = found
        return sets[key]

    def _holds(self, leaf: Leaf) -> int | None:
        known = self._memory.leaves.get(id(leaf))
        if known is None:
            holds = self.beside.get(leaf)
            known = self._memory.leaves[id(leaf)] = (leaf, None if holds is None else as_bits(holds))
        return known[1]

    def _inside(self, lengths: Lengths) -> tuple[int, int]:
        """The segments of these lengths, and those of them that match."""
        known = self._memory.inside.get(lengths)
        if known is None:
            left = (self.beside_rows >= lengths.low) & (self.beside_rows <= lengths.high)
            contains = self.beside_rows >= self.shortest[self.beside_place]
            known = as_bits(left), as_bits(left & (contains != self.is_negated))
            self._memory.inside[lengths] = known
        return known


def with_containments(
    statistics: Statistics, logical: Logical, series: Series, conditions: SegmentConditions, weights: Weights
) -> Statistics:
    """The statistics with a sample of every containment in a query."""
    found: dict[Logical, ContainmentSample] = {}
    sampler = _Sampler(statistics, series, conditions, weights)
    for node, containment, beside in _containments(logical, ()):
        if node not in found:
            sample = sampler.sample(containment, beside)
            if sample is not None:
                found[node] = sample
                if isinstance(node, Neither):
                    found[node.part] = replace(sample, is_negated=False)
    return replace(statistics, containments=found) if found else statistics


def _containments(node: Logical, beside: tuple[Leaf, ...]) -> Iterator[tuple[Logical, Containment, tuple[Leaf, ...]]]:
    """Nodes, what they say, and the leaves that stand in the same And."""
    containment = containment_of(node)
    if containment is not None:
        yield node, containment, beside
        if isinstance(node, Neither):
            node = node.part  # what a Not denies has the same sample
    if isinstance(node, Both):
        beside += tuple(part for part in node.parts if isinstance(part, Leaf) and part.condition and not part.needs)
    else:
        beside = ()
    for part in parts(node):
        yield from _containments(part, beside)


class _Sampler:
    def __init__(
        self, statistics: Statistics, series: Series, conditions: SegmentConditions, weights: Weights
    ) -> None:
        self.statistics = statistics
        self.series = series
        self.conditions = conditions
        self.weights = weights
        self.generator = np.random.default_rng(_SEED)

    def sample(self, found: Containment, beside: tuple[Leaf, ...]) -> ContainmentSample | None:
        """None if there are no rows, or X is too much to ask for.

        Without a sample the segments that contain an X are estimated from its selectivity, which is seldom far wrong;
        so they are not sampled where that is more than a small part of testing X everywhere. Those that contain none
        are few or many, whatever the selectivity says.
        """
        alternatives = Alternatives()
        contained = [alternatives.taken(found.chain, range(*piece)) for piece in found.pieces]
        longest = self.series.longest(tuple(type(one)(one.column, None, one.high) for one in found.chain.windows))
        each = sum(self._cost(leaf, longest) for one in contained for leaf in leaves_of(one))
        n_rows = self.series.n_rows
        if not n_rows or each * _FEWEST_TESTS > _MOST_TIME:
            return None
        if not found.is_negated and _PART * n_rows * longest < _FEWEST_TESTS:
            return None
        most = max(self._longest(one) for one in contained)
        is_pairs = len(contained) > 1 or (found.lead is not None and found.trail is not None)
        n_drawn, furthest = self._sizes(each, longest, most if is_pairs else 1)
        places = (np.arange(n_drawn) + self.generator.random(n_drawn)) * (n_rows / n_drawn)
        rows = np.unique(np.minimum(places.astype(np.int64), n_rows - 1))
        try:
            builder = Builder(self.series, self.conditions, _LIMIT)
            operators = [builder.build(probing_plan(one)) for one in contained]
            shortest, looked = self._shortest(found, operators, rows, furthest)
        except (NoPlanError, TooManySegmentsError):
            return None
        place = np.repeat(np.arange(len(rows)), _BESIDE)
        length = 1 + (np.tile((np.arange(_BESIDE) + 0.5) / _BESIDE, len(rows)) * looked[place]).astype(np.int64)
        sample = ContainmentSample(shortest, looked, found.is_negated, place, length)
        if furthest < longest:
            return sample  # what is further away is not known together with others
        start = rows[place] if found.trail is not None else rows[place] - length + 1
        cheap = [leaf for leaf in beside if self._cost(leaf, longest) * len(start) < 1e6]
        if len(cheap) > _MOST_BESIDE:
            cheap = sorted(cheap, key=self.statistics.selectivity)[:_MOST_BESIDE]
        holds = {
            leaf: self.conditions.of(leaf, uses_index=False).holds(start, start + length - 1, {}) for leaf in cheap
        }
        return replace(sample, beside=holds)

    def _longest(self, contained: Logical) -> int:
        is_point = isinstance(contained, Leaf) and contained.is_point
        return 1 if is_point else self.series.longest(contained.windows)

    def _cost(self, leaf: Leaf, longest: int) -> float:
        """Nanoseconds of testing a condition once."""
        if leaf.condition is None or self.statistics.tests_ends(leaf):
            return _TEST
        return condition_cost(
            leaf.condition, self.weights, self.statistics, longest / 3, None, uses_index=False
        ).each

    def _sizes(self, each: float, longest: int, most: int) -> tuple[int, int]:
        """How many rows to draw, and how far to look from each. From every row on the way X has `most` ends at most."""
        time = min(max(_PART * self.series.n_rows * longest * each, _LEAST_TIME), _MOST_TIME)
        n_tests = max(int(time / each), _FEWEST_TESTS)
        tests_a_row = n_tests // _FEWEST_ROWS
        furthest = max(1, min(longest, max(isqrt(2 * tests_a_row), tests_a_row // most)))
        tests_a_row = furthest * min(most, (furthest + 1) // 2)
        return min(max(_FEWEST_ROWS, n_tests // tests_a_row), _MOST_ROWS), furthest

    def _shortest(
        self, found: Containment, operators: list[Operator], rows: Rows, furthest: int
    ) -> tuple[Rows, Rows]:
        offsets = self.series.offsets
        partition = np.searchsorted(offsets, rows, side="right")
        upper = tuple(type(one)(one.column, None, one.high) for one in found.chain.windows)
        frame = self.series.frame(upper)
        if found.trail is None:
            assert found.lead is not None
            first = np.maximum(np.maximum(frame.starts_to(rows)[0], offsets[partition - 1]), rows - furthest + 1)
            near = _last_starts(operators[-1], rows, first + found.lead, is_prefix=False)
            for operator, gap in zip(operators[-2::-1], reversed(found.gaps), strict=True):
                near = _last_starts(operator, near - gap, first + found.lead, is_prefix=True)
            return np.where(near >= 0, rows - near + 1 + found.lead, rows + furthest), rows - first + 1
        last = np.minimum(np.minimum(frame.ends_from(rows)[1], offsets[partition] - 1), rows + furthest - 1)
        stop = last - found.trail
        near = _first_ends(operators[0], rows + (found.lead or 0), stop, is_suffix=found.lead is not None)
        for operator, gap in zip(operators[1:], found.gaps, strict=True):
            near = _first_ends(operator, near + gap, stop, is_suffix=True)
        return np.where(near <= stop, near - rows + 1 + found.trail, furthest + 1), last - rows + 1


def _first_ends(operator: Operator, start: Rows, stop: Rows, *, is_suffix: bool) -> Rows:
    """From each start the first end of an X up to `stop`, that starts there, or there or later; beyond it if none."""
    counts = np.maximum(stop - start + 1, 0) if is_suffix else (stop >= start).astype(np.int64)
    place = np.repeat(np.arange(len(start)), counts)
    asked = start[place] + np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    nearest = stop + 1
    offset, width = 0, 1
    while len(asked):
        low = asked + offset
        high = np.minimum(low + width - 1, nearest[place] - 1)
        is_open = low <= high
        asked, place, low, high = asked[is_open], place[is_open], low[is_open], high[is_open]
        found = operator.find(Spaces(asked, asked, low, high))
        np.minimum.at(nearest, place[found.space], found.end)
        offset, width = offset + width, 2 * width
    return nearest


def _last_starts(operator: Operator, end: Rows, first: Rows, *, is_prefix: bool) -> Rows:
    """To each end the last start of an X from `first` on, that ends there, or there or earlier; -1 if none."""
    counts = np.maximum(end - first + 1, 0) if is_prefix else (end >= first).astype(np.int64)
    place = np.repeat(np.arange(len(end)), counts)
    asked = end[place] - np.arange(len(place)) + np.repeat(np.cumsum(counts) - counts, counts)
    nearest = np.full(len(end), -1)
    offset, width = 0, 1
    while len(asked):
        high = asked - offset
        low = np.maximum(np.maximum(high - width + 1, first[place]), nearest[place] + 1)
        is_open = low <= high
        asked, place, low, high = asked[is_open], place[is_open], low[is_open], high[is_open]
        found = operator.find(Spaces(low, high, asked, asked))
        np.maximum.at(nearest, place[found.space], found.start)
        offset, width = offset + width, 2 * width
    return nearest
