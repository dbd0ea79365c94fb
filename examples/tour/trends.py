"""Trend query: how many rising sequences of heart beats there are. They are counted, and none is built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, utc
from examples.tour.stop import Scene, Stop

N_WINDOWS = 24
N_BEATS = 30  # of a window, one for each minute

QUERY = """RETURN    patient, COUNT(*) AS trends, MAX(b.rate) AS highest
PATTERN   Beat b+
SEMANTICS skip-till-any-match
WHERE     [patient] AND b.rate < NEXT(b).rate
GROUP-BY  patient
WITHIN    30 minutes SLIDE 30 minutes"""

RISING = rex.trends(QUERY, time="ts")
MANY = 1_000


def find(beats: Any) -> Any:
    return rex.trends(QUERY, beats, time="ts")


def plant(random: np.random.Generator, n_patients: int) -> Scene:
    patients, parts, planted = names("p", n_patients), [], []
    ts = after(60 * np.arange(N_WINDOWS * N_BEATS))
    for patient in patients:
        climbs = random.integers(2, 6, N_WINDOWS)
        climbs[random.choice(N_WINDOWS, 2, replace=False)] = random.integers(12, 25, 2)
        rates = [_window(random, int(climb)) for climb in climbs]
        for number, climb in enumerate(climbs.tolist()):
            # Every choice of beats in the climb rises; outside it a beat is only a trend by itself.
            n_trends = 2**climb - 1 + N_BEATS - climb
            if n_trends > MANY:
                planted.append((patient, moment(ts[number * N_BEATS]), n_trends))
        parts.append(pa.table({"patient": [patient] * len(ts), "ts": utc(ts), "rate": np.concatenate(rates)}))
    return Scene(in_order(parts), planted, patients[:3])


def _window(random: np.random.Generator, climb: int) -> np.ndarray[Any, Any]:
    """Falling rates with one climb in them: all before it are above it, all after it below."""
    before = int(random.integers(0, N_BEATS - climb + 1))
    low = 80
    high = low + climb
    after_climb = N_BEATS - climb - before
    above, rising = np.arange(high + before, high, -1), np.arange(low, high)
    return np.concatenate([above, rising, np.arange(low - 1, low - 1 - after_climb, -1)])


STOP = Stop(
    title="Trend",
    about=(
        "Skip till any match finds every rising choice of beats, exponentially many. A trend query counts them (or "
        "sums, or averages over them) and builds none. For each patient two half hours have a climb of at least 12 "
        "beats; the number of its trends is known exactly, and is what is compared."
    ),
    decoys="Climbs of up to five beats in all other half hours.",
    query=QUERY, key="patient", n_keys=100, plant=plant, find=find,
    answers=lambda found: [
        (row["patient"], row["window_start"], int(row["trends"])) for row in found.to_pylist() if row["trends"] > MANY
    ],
    draw=lambda beats, found: rex.plot(RISING, beats, title="Rising trends in each half hour"),
    page="trends.md",
)
