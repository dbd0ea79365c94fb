"""Look-alikes of the data sets, of the same shape, for when the real ones are not there; and the jobs of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import generator, timestamps
from benchmarks.trends.workload import SECOND

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_BARS, N_TICKERS = 390, 2_314
N_SUBJECTS, N_SECONDS = 10, 66_000
N_FLIGHTS, N_AIRCRAFT, N_CARRIERS = 334_000, 4_043, 16
N_MAPPERS, LOADS_OF_JOB = 40, 8
POSTURES = ("standing", "sitting", "lying", "off")


def generated(name: str) -> pa.Table:
    """A data set by its file's name, in order of time."""
    random = generator(sum(name.encode()))
    return {"activity": _activity, "flights": _flights, "nasdaq": _bars, "cluster": _cluster}[name](random)


def named(codes: NDArray[np.int64], names: list[str]) -> pa.Array:
    """Names by their numbers, dictionary-encoded."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names))


def _bars(random: np.random.Generator) -> pa.Table:
    """One session of bars: some companies are traded in every minute, some hardly ever."""
    share = random.beta(0.8, 1.0, N_TICKERS)
    is_traded = random.random((N_BARS, N_TICKERS)) < share
    steps = random.normal(0, 0.002, (N_BARS, N_TICKERS))
    close = np.round(np.exp(random.normal(3, 1, N_TICKERS) + np.cumsum(steps, axis=0)), 2)
    minute, ticker = np.nonzero(is_traded)
    letters = [chr(ord("A") + number % 26) for number in range(N_TICKERS)]
    return pa.table({
        "ticker": named(ticker, [f"{letter}{number:04d}" for number, letter in enumerate(letters)]),
        "sector": named(ticker % 26, letters[:26]), "tstamp": timestamps(minute * 60 * SECOND),
        "close": close[minute, ticker],
    })


def _activity(random: np.random.Generator) -> pa.Table:
    """A reading a second; heart rates wander, more slowly at rest; postures change every few minutes."""
    n = N_SUBJECTS * N_SECONDS
    posture = np.repeat(random.choice(4, (N_SUBJECTS, N_SECONDS // 300), p=[0.34, 0.29, 0.14, 0.23]), 300, axis=1)
    level = np.where(posture == 0, 88.0, np.where(posture == 2, 58.0, 72.0))
    wave = 25 * np.sin(np.arange(N_SECONDS) / 400 + random.random((N_SUBJECTS, 1)))
    rate = np.clip(np.round(level + wave + random.normal(0, 8, posture.shape)), 40, 180).astype(np.int64)
    second, subject = np.divmod(np.arange(n), N_SUBJECTS)
    return pa.table({
        "subject": subject + 1, "tstamp": timestamps(second * SECOND),
        "posture": named(posture[subject, second], list(POSTURES)), "heart_rate": rate[subject, second],
    })


def _flights(random: np.random.Generator) -> pa.Table:
    """A year of flights, a fifth of them delayed: a delay makes the next one likelier."""
    aircraft = random.integers(0, N_AIRCRAFT, N_FLIGHTS)
    minute = np.sort(random.choice(365 * 1_440, N_FLIGHTS, replace=False))
    day_is_bad = random.random(366) < 0.25
    is_delayed = random.random(N_FLIGHTS) < np.where(day_is_bad[minute // 1_440], 0.5, 0.12)
    kind = np.where(random.random(N_FLIGHTS) < 0.017, 2, is_delayed)
    distance = random.integers(90, 2_600, N_FLIGHTS)
    return pa.table({
        "tstamp": timestamps(minute * 60 * SECOND), "event_type": named(kind, ["ONTIME", "DELAYED", "CANCELLED"]),
        "carrier": named(aircraft % N_CARRIERS, [f"C{number:02d}" for number in range(N_CARRIERS)]),
        "tailnum": named(aircraft, [f"N{number:05d}" for number in range(N_AIRCRAFT)]),
        "distance": distance,
        "air_time": pa.array(distance // 7 + random.integers(15, 40, N_FLIGHTS), mask=kind == 2),
    })


def _cluster(random: np.random.Generator, n_jobs: int = 20_000) -> pa.Table:
    """Jobs one after the other on each mapper: a start, some loads that mostly rise, an end."""
    n_loads = 1 + random.poisson(LOADS_OF_JOB - 1, n_jobs)
    n_events = n_loads + 2
    job = np.repeat(np.arange(n_jobs), n_events)
    place = np.arange(len(job)) - np.repeat(np.cumsum(n_events) - n_events, n_events)
    kind = np.where(place == 0, 0, np.where(place == n_events[job] - 1, 2, 1))
    # A mapper's jobs follow each other, so its clock goes on from job to job; the mappers' clocks differ by a second.
    mapper = job % N_MAPPERS
    order = np.argsort(mapper, kind="stable")
    seconds = np.empty(len(job), np.int64)
    steps = random.integers(1, 4, len(job))
    first = np.searchsorted(mapper[order], np.arange(N_MAPPERS))
    walked = np.cumsum(steps[order])
    seconds[order] = walked - np.repeat(walked[first], np.diff([*first, len(job)]))
    in_time = np.argsort(seconds, kind="stable")
    cpu = 10 * place + random.integers(0, 14, len(job))
    return pa.table({
        "tstamp": timestamps(seconds * SECOND), "kind": named(kind, ["Start", "Load", "End"]), "job": job,
        "mapper": mapper, "cpu": cpu,
    }).take(pa.array(in_time))
