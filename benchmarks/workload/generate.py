"""The generated domain and its streams.

Types differ in how often they come, evenly by logarithms from 2 to 47 events in 15 minutes, and in where the values of
their attributes lie: each is normal with a deviation of 1 around a place of its own. So `a.x < b.x` holds for few or
nearly all pairs of two types, and it is known for how many.

The time between two events of a type is not exponential: the k-th one is at a random time of the k-th equal part of the
stream. Any window then has at most two events more than the mean, which bounds Kleene and keeps what is promised of
every window.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import generator, timestamps
from benchmarks.workload.domain import Domain, choose_pool
from benchmarks.workload.pattern import Condition
from benchmarks.workload.stream import MINUTE, Stream, permuted

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 15
"""Minutes, to which rates refer."""
RAREST, COMMONEST = 2.0, 47.0
ATTRIBUTES = ("x", "y", "z")
SPREAD = 2.2
"""Half of the range in which values of types lie: far enough for 0.003, near enough for every step up to 0.92."""
DIGITS = 1000
N_TYPES, POOL_SIZE = 30, 60


@dataclass(frozen=True, eq=False, slots=True)
class Generator:
    """A domain, and where the attributes of each of its types lie."""

    domain: Domain
    places: NDArray[np.float64]

    def stream(self, n_windows: float, *, n_keys: int = 0, n_between: int = 0, seed: int = 0) -> Stream:
        """So many windows of events. With `n_keys`, each event has a random `site`.

        With `n_between`, 5 types exchange their rates after every so many events; their values stay where they were.
        """
        random = generator(1620 + seed)
        minutes = n_windows * WINDOW
        times, codes = [], []
        for code, rate in enumerate(self.domain.rates.values()):
            n_events = round(rate * minutes)
            parts = np.arange(n_events) + random.random(n_events)
            times.append((parts * (minutes * MINUTE / max(n_events, 1))).astype(np.int64))
            codes.append(np.full(n_events, code, np.int32))
        ts, kind = np.concatenate(times), np.concatenate(codes)
        order = np.argsort(ts, kind="stable")
        ts, kind = _apart(ts[order]), kind[order]
        if n_between:
            kind = permuted(kind, len(self.domain.rates), n_between, random)
        columns = {
            "ts": timestamps(ts),
            "kind": pa.DictionaryArray.from_arrays(pa.array(kind), pa.array(list(self.domain.rates))),
            "id": pa.array(np.arange(len(ts))),
        }
        for column, attribute in enumerate(ATTRIBUTES):
            values = self.places[kind, column] + random.standard_normal(len(ts))
            columns[attribute] = pa.array(np.rint(DIGITS * values).astype(np.int32))
        if n_keys:
            columns["site"] = pa.array(random.integers(0, n_keys, len(ts), dtype=np.int32))
        return Stream(pa.table(columns))


def make_generator(n_types: int = N_TYPES, pool_size: int = POOL_SIZE) -> Generator:
    """Types with their rates and places, and a pool of conditions on them."""
    random = generator(161)
    names = [f"T{number:02}" for number in range(1, n_types + 1)]
    per_window = np.geomspace(RAREST, COMMONEST, n_types)
    random.shuffle(per_window)
    places = random.uniform(-SPREAD, SPREAD, (n_types, len(ATTRIBUTES)))
    candidates = []
    for one, other in permutations(range(n_types), 2):
        for column, attribute in enumerate(ATTRIBUTES):
            # The difference of two normal values has a deviation of sqrt(2).
            share = NormalDist(0, 2**0.5).cdf(float(places[other, column] - places[one, column]))
            candidates.append(Condition(names[one], names[other], attribute, share))
    rates = dict(zip(names, (per_window / WINDOW).tolist(), strict=True))
    shares = dict(zip(names, (per_window / per_window.sum()).tolist(), strict=True))
    return Generator(Domain("generated", rates, choose_pool(candidates, pool_size), shares), places)


def _apart(times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Times in order, no two of them equal: later by as little as it takes."""
    steps = np.arange(len(times))
    apart: NDArray[np.int64] = np.maximum.accumulate(times - steps) + steps
    return apart
