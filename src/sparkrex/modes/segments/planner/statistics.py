"""What the cost model must know of the data: sizes, steps, and sampled selectivities of the leaves' conditions.

Segments are drawn from the windowed search space of a few series (appendix D.3), the same ones every time. A condition
that refers to other variables' segments is tested with such segments drawn next to its own: one that the pattern has
earlier ends at this one's first row, one that it has later starts at its last. That is where they are in most queries;
where it is not, the selectivity is a guess, and is therefore not believed to be below `LEAST_WITH_REFERENCES`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from sparkrex.modes.segments.planner.condition_cost import condition_cost
from sparkrex.modes.segments.planner.logical import Leaf, Logical, parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.modes.segments.operators.series import Series
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.containment_sample import ContainmentSample
    from sparkrex.modes.segments.planner.weights import Weights

    Rows = NDArray[np.int64]

SAMPLED_SERIES = 5
LEAST_WITH_REFERENCES = 0.02
_SEED = 20240601
_FEWEST, _MOST = 200, 1500
_BUDGET = 50_000.0
"""Nanoseconds that testing one condition's sample may take, by the cost model, as far as `_FEWEST` allows."""


class Tested(Protocol):
    """A condition over arrays of segments (`operators.conditions.Condition`)."""

    def holds(self, start: Rows, end: Rows, bindings: dict[str, Binding]) -> NDArray[np.bool_]:
        """Where it holds."""
        ...

    @property
    def end_test(self) -> object | None:
        """Not None if it only compares the values at both ends."""
        ...


class Conditions(Protocol):
    """The conditions over the series (`operators.conditions.SegmentConditions`)."""

    def of(self, leaf: Leaf, *, uses_index: bool) -> Tested:
        """The condition of a leaf that has one."""
        ...


@dataclass(frozen=True, slots=True)
class Sampled:
    """Of a leaf: Sel_{P|w}, and l_in, the average rows of a segment in its windows.

    `holds` says of which of the sampled segments. They are the same ones for all leaves of the same windows, so that
    conditions on one segment can be looked at together.
    """

    selectivity: float
    length: float
    holds: NDArray[np.bool_] | None = field(default=None, compare=False, repr=False)
    tests_ends: bool = False
    """Whether the condition only compares the values at both ends."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """`n_series` series of `n_rows` rows stand for all: they have as many rows, and as many segments, in all.

    So `n_rows` is the average over rows, not series: long series count more. `steps` is by how much a window's column
    grows from row to row.
    """

    n_series: float
    n_rows: int
    steps: Mapping[str, float] = field(default_factory=dict)
    leaves: Mapping[Leaf, Sampled] = field(default_factory=dict)
    containments: Mapping[Logical, ContainmentSample] = field(default_factory=dict)
    """Of the nodes that only say what a segment contains (`contains`)."""

    def selectivity(self, leaf: Leaf) -> float:
        """Sel_{P|w}; of nothing sampled, 1 without a condition and a half with one."""
        found = self.leaves.get(leaf)
        return found.selectivity if found is not None else 1.0 if leaf.condition is None else 0.5

    def tests_ends(self, leaf: Leaf) -> bool:
        """Whether its condition only compares the values at both ends."""
        found = self.leaves.get(leaf)
        return found is not None and found.tests_ends

    def length(self, leaf: Leaf) -> float | None:
        """l_in if it was sampled."""
        found = self.leaves.get(leaf)
        return None if found is None else found.length


def leaves_of(logical: Logical) -> list[Leaf]:
    """The leaves in the order of the pattern."""
    found: list[Leaf] = []
    pending = [logical]
    while pending:
        node = pending.pop()
        if isinstance(node, Leaf):
            found.append(node)
        pending += reversed(parts(node))
    return found


def collect(
    logical: Logical, series: Series, conditions: Conditions, weights: Weights,
    sample_series: int = SAMPLED_SERIES,
) -> Statistics:
    """Sample."""
    sizes = np.diff(series.offsets)
    n_all = int(sizes.sum())
    n_rows = max(1, round(float((sizes.astype(np.float64) ** 2).sum()) / n_all)) if n_all else 1
    generator = np.random.default_rng(_SEED)
    filled = np.flatnonzero(sizes)
    chosen = np.sort(generator.permutation(filled)[:sample_series])
    leaves = leaves_of(logical)
    plain = Statistics(max(n_all / n_rows, 1.0), n_rows, _steps(logical, series, chosen))
    draw = _Draw(series, chosen, generator)
    sampled: dict[Leaf, Sampled] = {}
    for place, leaf in enumerate(leaves):
        if leaf not in sampled and len(draw.rows):
            sampled[leaf] = _sample_condition(place, leaves, draw, conditions, weights, plain)
    return Statistics(plain.n_series, n_rows, plain.steps, sampled)


def _sample_condition(
    place: int, leaves: Sequence[Leaf], draw: _Draw, conditions: Conditions, weights: Weights, statistics: Statistics,
) -> Sampled:
    leaf = leaves[place]
    start, end = draw.segments(leaf.windows, is_point=leaf.is_point)
    length = float((end - start + 1).mean()) if len(start) else 1.0
    if leaf.condition is None or not len(start):
        return Sampled(1.0 if leaf.condition is None else 0.5, length)
    condition = conditions.of(leaf, uses_index=False)
    tests_ends = condition.end_test is not None
    wanted = len(start)
    if not tests_ends:
        scanning, indexing = (
            condition_cost(leaf.condition, weights, statistics, length, None, uses_index=uses_index)
            for uses_index in (False, True)
        )
        wanted = int(min(max(_FEWEST, _BUDGET / max(scanning.each, 1e-9)), len(start)))
        if indexing.once + wanted * indexing.each < scanning.once + wanted * scanning.each:
            condition = conditions.of(leaf, uses_index=True)
    start, end = start[:wanted], end[:wanted]
    bindings: dict[str, Binding] = {}
    for name in sorted(leaf.needs):
        bindings[name] = _sample_references(name, place, leaves, draw, start, end)
    holds = condition.holds(start, end, bindings)
    # Half a hit more keeps what never held from looking impossible.
    selectivity = (int(np.count_nonzero(holds)) + 0.5) / (len(start) + 1)
    if leaf.needs:
        return Sampled(max(selectivity, LEAST_WITH_REFERENCES), length)
    return Sampled(selectivity, length, holds, tests_ends)


def _sample_references(name: str, place: int, leaves: Sequence[Leaf], draw: _Draw, start: Rows, end: Rows) -> Binding:
    """Segments of a variable next to those of the leaf at `place`; -1 where its windows allow none there."""
    for other, leaf in enumerate(leaves):
        if name in leaf.variables:
            is_earlier = other < place
            return draw.beside(leaf.windows, start if is_earlier else end, is_earlier, is_point=leaf.is_point)
    return start, end  # nobody binds it: not a plan that can run, but one that can be estimated


class _Draw:
    """Random segments of the chosen series."""

    def __init__(self, series: Series, chosen: NDArray[np.int64], generator: np.random.Generator) -> None:
        self.series = series
        self.generator = generator
        spans = [(int(series.offsets[number]), int(series.offsets[number + 1])) for number in chosen]
        self.rows = np.concatenate([np.arange(*span) for span in spans]) if spans else np.empty(0, np.int64)
        self.last_row = np.repeat(series.offsets[chosen + 1] - 1, [stop - begin for begin, stop in spans])
        self._drawn: dict[tuple[tuple[Window, ...], bool], tuple[Rows, Rows]] = {}

    def segments(self, windows: tuple[Window, ...], *, is_point: bool) -> tuple[Rows, Rows]:
        """Start and end of segments, each in the windows as likely as any other; none if there are none."""
        key = (windows, is_point)
        if key not in self._drawn:
            self._drawn[key] = self._new(windows, is_point)
        return self._drawn[key]

    def _new(self, windows: tuple[Window, ...], is_point: bool) -> tuple[Rows, Rows]:
        rows = self.rows
        first_end, last_end = self.series.frame(windows).ends_from(rows)
        room = np.maximum(np.minimum(last_end, self.last_row) - first_end + 1, 0)
        if is_point:
            room = np.minimum(room, (first_end <= rows) & (rows <= last_end))
        until = np.cumsum(room)
        if not len(until) or until[-1] == 0:
            return rows[:0], rows[:0]
        # One out of each of so many equal stretches: in order they are found faster, but they are used in none.
        picked = ((np.arange(_MOST) + self.generator.random(_MOST)) * (until[-1] / _MOST)).astype(np.int64)
        picked = np.minimum(picked, until[-1] - 1)
        places = np.searchsorted(until, picked, side="right")
        start = rows[places]
        end = start if is_point else first_end[places] + picked - (until[places] - room[places])
        order = self.generator.permutation(_MOST)
        return start[order], end[order]

    def beside(self, windows: tuple[Window, ...], at: Rows, ends_there: bool, *, is_point: bool) -> Binding:
        """A segment for each row, that ends there or starts there."""
        if is_point:
            return at, at
        frame, offsets = self.series.frame(windows), self.series.offsets
        low, high = frame.starts_to(at) if ends_there else frame.ends_from(at)
        partition = np.searchsorted(offsets, at, side="right")
        low, high = np.maximum(low, offsets[partition - 1]), np.minimum(high, offsets[partition] - 1)
        is_there = low <= high
        far = low + (self.generator.random(len(at)) * np.maximum(high - low + 1, 1)).astype(np.int64)
        far, near = np.where(is_there, far, -1), np.where(is_there, at, -1)
        return (far, near) if ends_there else (near, far)


def _steps(logical: Logical, series: Series, chosen: NDArray[np.int64]) -> dict[str, float]:
    """The average step per row, over the chosen series, of every column that a window names."""
    names: set[str] = set()
    pending = [logical]
    while pending:
        node = pending.pop()
        names |= {window.column for window in node.windows if window.column is not None}
        pending += parts(node)
    first, last = series.offsets[chosen], series.offsets[chosen + 1] - 1
    n_steps = max(1, int((last - first).sum()))
    with np.errstate(invalid="ignore"):  # infinity less infinity is NaN
        return {
            name: float((series.columns[name].values[last] - series.columns[name].values[first]).sum()) / n_steps
            for name in sorted(names)
        }
