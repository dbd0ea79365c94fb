"""Look-alikes of the data sets, of the same shape, for when the real ones are not there."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa

SEED = 20261115


def generated(name: str, n_series: int | None = None) -> pa.Table:
    """A data set by its file's name; with fewer series if so wished."""
    random = np.random.default_rng([SEED, *name.encode()])
    return {"sp500": _prices, "covid": _cases, "weather": _temperatures, "taxi": _rides, "nasdaq": _bars}[name](
        random, n_series
    )


def _days(first: str, n: int) -> pa.Array:
    begin = datetime.date.fromisoformat(first)
    return pa.array([begin + datetime.timedelta(days=day) for day in range(n)], pa.date32())


def _tiled(days: pa.Array, n_series: int) -> pa.Array:
    return days.take(pa.array(np.tile(np.arange(len(days)), n_series)))


def _names(prefix: str, n_series: int, length: int) -> pa.Array:
    return pa.array([f"{prefix}{number:04d}" for number in range(n_series)]).take(
        pa.array(np.repeat(np.arange(n_series), length))
    )


def _prices(random: np.random.Generator, n_series: int | None) -> pa.Table:
    """Random walks with a few large steps, as on days of earnings."""
    n, length = n_series or 505, 1259
    steps = random.normal(0.0004, 0.015, (n, length)) + (random.random((n, length)) < 0.02) * random.normal(
        0, 0.07, (n, length)
    )
    price = np.round(100 * np.exp(np.cumsum(steps, axis=1)), 2)
    days = _tiled(_days("2013-02-08", length), n)
    return pa.table({"ticker": _names("T", n, length), "tstamp": days, "price": price.ravel()})


def _cases(random: np.random.Generator, n_series: int | None) -> pa.Table:
    """Two or three waves of cases in 64 weeks."""
    n, length = n_series or 3342, 64
    weeks = np.arange(length)
    rate = np.full((n, length), 0.5)
    for _ in range(3):
        height = random.lognormal(4, 1.2, (n, 1))
        centre, width = random.uniform(0, length, (n, 1)), random.uniform(3, 8, (n, 1))
        rate += height * np.exp(-(((weeks - centre) / width) ** 2))
    confirmed = random.poisson(rate * random.lognormal(0, 0.2, (n, length)))
    return pa.table({
        "county": _names("C", n, length), "tstamp": pa.array(np.tile(weeks, n), pa.int32()),
        "confirmed": pa.array(confirmed.ravel(), pa.int32()),
    })


def _temperatures(random: np.random.Generator, n_series: int | None) -> pa.Table:
    """A year's wave, and weather that remembers some days, with sudden cold."""
    n, length = n_series or 36, 1854
    noise = random.normal(0, 3.2, (n, length)) - 9 * (random.random((n, length)) < 0.03)
    weather = np.empty((n, length))
    weather[:, 0] = noise[:, 0]
    for day in range(1, length):
        weather[:, day] = 0.72 * weather[:, day - 1] + noise[:, day]
    year = 14 * np.sin(2 * np.pi * np.arange(length) / 365.25 - 0.4)
    temp = np.round(10 + year + weather, 2)
    days = _tiled(_days("2009-03-11", length), n)
    return pa.table({"city": _names("city", n, length), "tstamp": days, "temp": temp.ravel()})


def _rides(random: np.random.Generator, n_series: int | None) -> pa.Table:
    """Half hours of days with a low at five in the morning; one series, shorter if few are asked for."""
    length = 10_320 if n_series is None else 1_500
    hour = np.arange(length) / 2
    day = 1 - 0.85 * np.cos(2 * np.pi * (hour - 17) / 24 + np.pi) * np.abs(np.cos(np.pi * (hour - 17) / 24))
    rides = 9_000 * np.maximum(day, 0.05) * random.normal(1, 0.05, length) + 500
    stamps = pa.array(1_404_172_800_000_000 + (hour * 3_600_000_000).astype(np.int64), pa.timestamp("us"))
    return pa.table({"tstamp": stamps, "rides": pa.array(rides.astype(np.int32))})


def _bars(random: np.random.Generator, n_series: int | None) -> pa.Table:
    """A session of 390 minutes of many tickers, GOOG among them; not each has a bar every minute."""
    n, length = n_series or 1_000, 390
    price = 100 * np.exp(np.cumsum(random.normal(0, 0.001, (n, length)), axis=1))
    is_there = random.random((n, length)) < random.uniform(0.2, 1.0, (n, 1))
    is_there[0] = True
    ticker, minute = np.nonzero(is_there)
    names = np.array(["GOOG", *(f"N{number:04d}" for number in range(1, n))])
    stamps = pa.array(1_644_312_600_000_000 + minute * 60_000_000, pa.timestamp("us"))
    return pa.table({"ticker": names[ticker], "tstamp": stamps, "peak": np.round(price[ticker, minute], 4)})
