"""Seeded tables at any number of rows. Time stamps are distinct, so that every ORDER BY is total."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

SEED = 20261115
EPOCH = 1_800_000_000_000_000
"""The first time stamp, in microseconds."""

Array = np.ndarray[Any, Any]


def generator(salt: int = 0) -> np.random.Generator:
    """Random numbers of a data set; `salt` tells data sets apart."""
    return np.random.default_rng([SEED, salt])


def timestamps(microseconds: Array) -> pa.Array:
    """Time stamps at these distances from the first."""
    return pa.array(EPOCH + microseconds, pa.timestamp("us"))


def walks(keys: Array, steps: Array) -> Array:
    """For each row the sum of its key's steps so far."""
    order = np.argsort(keys, kind="stable")
    totals = np.cumsum(steps[order])
    first = np.flatnonzero(np.diff(keys[order], prepend=keys[order][:1] - 1))
    before = totals[first] - steps[order][first]
    walked = np.empty(len(keys), np.int64)
    walked[order] = totals - np.repeat(before, np.diff(np.append(first, len(keys))))
    return walked


def ticks(n_rows: int, *, n_symbols: int = 1_000, is_string: bool = False, is_shuffled: bool = False) -> pa.Table:
    """Ticks: each row is the next step in the random walk of a random symbol, in whole cents; in time order or not."""
    random = generator()
    symbol = random.integers(0, n_symbols, n_rows)
    price = (100_000 + walks(symbol, random.integers(-30, 31, n_rows))) / 100.0
    volume = random.integers(100, 1_100, n_rows)
    rows = random.permutation(n_rows) if is_shuffled else np.arange(n_rows)
    names = np.array([f"SYM{number:05d}" for number in range(n_symbols)])
    return pa.table(
        {
            "symbol": pa.array(names[symbol[rows]] if is_string else symbol[rows]),
            "ts": timestamps(np.arange(n_rows)[rows] * 1_000),
            "price": pa.array(price[rows]),
            "volume": pa.array(volume[rows]),
        }
    )


def values(n_rows: int, *, n_keys: int = 1, n_values: int = 100, salt: int = 1) -> pa.Table:
    """(key, ts, x): x is uniform among the whole numbers below `n_values`."""
    random = generator(salt)
    return pa.table(
        {
            "key": pa.array(random.integers(0, n_keys, n_rows)),
            "ts": timestamps(np.arange(n_rows) * 1_000),
            "x": pa.array(random.integers(0, n_values, n_rows)),
        }
    )


EVENTS = ("view", "cart", "buy", *(f"other_{number}" for number in range(17)))


def clicks(n_rows: int) -> pa.Table:
    """Events of users, 20 kinds, about 250 of a user and two minutes apart; in time order."""
    random = generator(2)
    n_users = max(1, n_rows // 250)
    apart = 120_000_000 // n_users
    return pa.table(
        {
            "user_id": pa.array(random.integers(0, n_users, n_rows)),
            "ts": timestamps(np.arange(n_rows) * apart),
            "event": pa.array(np.array(EVENTS)[random.integers(0, len(EVENTS), n_rows)]),
        }
    )
