"""A domain: the types of a stream, how often each comes, and the pool from which conditions of patterns are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from benchmarks.workload.pattern import Condition
    from benchmarks.workload.stream import Stream

LEAST, MOST = 0.003, 0.92
"""The paper's range of selectivities."""


@dataclass(frozen=True)
class Domain:
    """`rates` are events per minute by type."""

    name: str
    rates: dict[str, float]
    pool: tuple[Condition, ...]
    per_event: dict[str, float]
    """The share of each type among all events, for windows that count them."""

    def per_window(self, size: float, unit: str) -> dict[str, float]:
        """How many events of each type a window has."""
        shares = self.rates if unit == "minutes" else self.per_event
        return {name: size * share for name, share in shares.items()}


def choose_pool(candidates: Iterable[Condition], size: int) -> tuple[Condition, ...]:
    """Conditions whose selectivities are evenly spread over the range, by logarithms; at most one for two types."""
    free = [one for one in candidates if LEAST <= one.selectivity <= MOST]
    pool: list[Condition] = []
    for target in np.geomspace(LEAST, MOST, size).tolist():
        if not free:
            break
        chosen = min(free, key=lambda one: abs(log(one.selectivity / target)))
        pool.append(chosen)
        types = {chosen.left, chosen.right}
        free = [one for one in free if {one.left, one.right} != types]
    return tuple(pool)


def selectivity(stream: Stream, left: str, right: str, attribute: str, minutes: float, n_left: int = 400) -> float:
    """For which share of pairs of events, at most so far apart, the condition holds; by a sample of the left ones."""
    one, other = stream.events(left, attribute), stream.events(right, attribute)
    chosen = np.unique(np.linspace(0, len(one.times) - 1, min(n_left, len(one.times))).astype(np.int64))
    span = round(minutes * 60_000_000)
    first = np.searchsorted(other.times, one.times[chosen] - span)
    end = np.searchsorted(other.times, one.times[chosen] + span, side="right")
    places = _ranges(first, end)
    if not len(places):
        return 0.0
    return float(np.mean(np.repeat(one.values[chosen], end - first) < other.values[places]))


def _ranges(first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """All places from each first to each end, one range after the other."""
    lengths = end - first
    offsets = np.cumsum(lengths) - lengths
    places: NDArray[np.int64] = np.arange(int(lengths.sum())) - np.repeat(offsets - first, lengths)
    return places
