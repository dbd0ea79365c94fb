"""Sequences of prices: the real daily index, and generated ones. Tables have `day` (0, 1, ...), `price` and `date`."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SEED = 20010521
FIRST_YEAR, N_YEARS = 1975, 25
"""The paper, of May 2001, has "the last 25 years" of the index: the last 25 whole ones before it was written."""

_DAYS_OF_YEAR = 253


def is_real(folder: Path) -> bool:
    """Whether the folder has the index."""
    return (folder / "djia.parquet").exists()


def load_index(folder: Path) -> pa.Table:
    """Closing values of the years from 1975 on, or a look-alike."""
    if not is_real(folder):
        return _look_alike(N_YEARS)
    table = pq.read_table(folder / "djia.parquet", columns=["tstamp", "price"])
    years = pc.year(table.column("tstamp"))
    wanted = pc.and_(pc.greater_equal(years, FIRST_YEAR), pc.less(years, FIRST_YEAR + N_YEARS))
    rows = table.filter(wanted).combine_chunks()
    return _table(rows.column("price").to_numpy(), rows.column("tstamp"))


def load_all_years(folder: Path) -> pa.Table:
    """All of the index, since 1885, or a look-alike of that length."""
    if not is_real(folder):
        return _look_alike(140)
    table = pq.read_table(folder / "djia.parquet", columns=["tstamp", "price"]).combine_chunks()
    return _table(table.column("price").to_numpy(), table.column("tstamp"))


def _look_alike(n_years: int) -> pa.Table:
    """A walk whose volatility comes and goes, so that days of more than 2 % come together."""
    random = np.random.default_rng([SEED, n_years])
    n = n_years * _DAYS_OF_YEAR
    calm = np.cumsum(random.normal(0, 0.15, n))
    volatility = 0.009 * np.exp(0.5 * np.sin(calm / 4))
    price = 600 * np.exp(np.cumsum(random.normal(0.0004, 1, n) * volatility))
    begin = datetime.date(FIRST_YEAR, 1, 1)
    return _table(price, pa.array([begin + datetime.timedelta(days=day) for day in range(n)], pa.date32()))


def random_walk(n: int, volatility: float) -> pa.Table:
    """Steps of independent sizes; `volatility` is their deviation, 0.02 for 2 %."""
    random = np.random.default_rng([SEED, n, round(volatility * 1e6)])
    steps = random.normal(0, volatility, n)
    # Held near 0, where a price is neither 0 nor infinite after however many steps.
    level = np.cumsum(steps)
    return _table(1000 * np.exp(level - np.linspace(0, level[-1], n)))


def runs(n: int, length: int) -> pa.Table:
    """Flat runs with a mean length, and between them a day or two of falls or rises."""
    random = np.random.default_rng([SEED, n, length])
    steps: list[NDArray[np.float64]] = []
    n_steps = 0
    while n_steps < n:
        move = np.full(random.integers(1, 3), random.choice([-0.03, 0.03]))
        steps += [random.normal(0, 0.002, random.geometric(1 / length)), move]
        n_steps += len(steps[-2]) + len(move)
    return _table(1000 * np.exp(np.cumsum(np.concatenate(steps)[:n])))


def teeth(length: int, n_teeth: int) -> pa.Table:
    """A saw: up for `length` rows and down in one."""
    tooth = np.append(np.arange(1, length + 1), 0) + 10.0
    return _table(np.tile(tooth, n_teeth))


def peaks(length: int, n_peaks: int) -> pa.Table:
    """Up for `length` rows and down for as many."""
    peak = np.concatenate((np.arange(1, length + 1), np.arange(length - 1, -1, -1))) + 10.0
    return _table(np.tile(peak, n_peaks))


def flats(length: int, n_falls: int) -> pa.Table:
    """`length` flat days, a day that falls by 3 %, and so on; never a day that rises by more than 2 %."""
    ratios = np.tile(np.append(np.full(length, 1.0001), 0.97), n_falls)
    return _table(1e9 * np.exp(np.cumsum(np.log(ratios))))


def _table(price: NDArray[np.float64], date: pa.Array | None = None) -> pa.Table:
    columns = {"day": np.arange(len(price)), "price": price}
    return pa.table(columns if date is None else {**columns, "date": date})
