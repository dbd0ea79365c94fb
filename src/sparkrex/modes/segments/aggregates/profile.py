"""How long an aggregate takes: weights for its cost classes, fitted on synthetic segments (appendix D.2)."""

from __future__ import annotations

from functools import partial
from statistics import median
from time import thread_time_ns
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Weights
from sparkrex.modes.segments.kernels.pivots import Partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.segments.aggregates.contract import CostClass, SegmentAggregate

_N_ROWS = 1000
_LENGTHS = (8, 32, 64)
_N_SEGMENTS = 20
_ENDS = 8


def profile(aggregate: SegmentAggregate, n_segments: int = _N_SEGMENTS) -> Weights:
    """Nanoseconds per unit of each cost class; the first call, which may compile, is not counted."""
    generator = np.random.default_rng(7)
    x = np.arange(_N_ROWS, dtype=np.float64)
    columns = (x, *(generator.normal(size=_N_ROWS).cumsum() for _ in range(aggregate.arity)))[-aggregate.arity :]
    nulls = (None,) * aggregate.arity
    partitions = Partitions.whole(np.array([0, _N_ROWS]))
    longest = max(_LENGTHS)
    segments = {}
    for length in _LENGTHS:
        # As generators and probes ask: from a start to ends one after the other.
        start = np.repeat(generator.integers(0, _N_ROWS - length, -(-n_segments // _ENDS)), _ENDS)[:n_segments]
        segments[length] = (start, start + length - 1 - np.arange(n_segments)[::-1] % _ENDS)

    scan = 0.0
    if not aggregate.needs_index:
        scanned = [
            (length, _time(partial(aggregate.scan_many, columns, nulls, partitions, *segments[length])) / n_segments)
            for length in _LENGTHS
        ]
        scan = _fit(aggregate.cost.scan, scanned)
    index = aggregate.index(columns, nulls, partitions, longest)
    if index is None or aggregate.cost.index is None or aggregate.cost.lookup is None:
        return Weights(scan)
    built = _time(lambda: aggregate.index(columns, nulls, partitions, longest))
    looked_up = [
        (length, _time(partial(aggregate.lookup, index, *segments[length])) / n_segments)
        for length in _LENGTHS
    ]
    return Weights(
        scan, built / aggregate.cost.index.units(_N_ROWS, longest), _fit(aggregate.cost.lookup, looked_up)
    )


def _time(run: Callable[[], object]) -> float:
    """The median of three runs after one that does not count, in nanoseconds of this thread."""
    run()
    times = []
    for _ in range(3):
        begun = thread_time_ns()
        run()
        times.append(thread_time_ns() - begun)
    return float(median(times))


def _fit(cost: CostClass, measured: Sequence[tuple[int, float]]) -> float:
    """The weight of least squares: time = weight * units."""
    units = np.array([cost.units(length) for length, _ in measured])
    times = np.array([time for _, time in measured])
    return float((units * times).sum() / (units * units).sum())
