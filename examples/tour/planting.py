"""What the data of several stops is made of: times, noise that never matches by chance, places to plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

BEGIN = np.datetime64("2026-11-02T08:00:00", "us")
SECOND = np.timedelta64(1_000_000, "us")


def names(letter: str, n: int) -> list[str]:
    """Keys such as s001."""
    return [f"{letter}{number:03}" for number in range(1, n + 1)]


def after(seconds: NDArray[Any]) -> NDArray[Any]:
    """Times so many seconds after the begin."""
    return BEGIN + seconds.astype(np.int64) * SECOND


def utc(times: NDArray[Any]) -> pa.Array:
    """Times as an Arrow column. With a zone they are Spark's TIMESTAMP, which streams need."""
    return pa.array(times).cast(pa.timestamp("us", "UTC"))


def moment(time: Any) -> datetime:
    """One time as a row of a result has it."""
    value: datetime = utc(np.array([time]))[0].as_py()
    return value


def zigzag(random: np.random.Generator, n: int) -> NDArray[Any]:
    """Values between -1 and 1 that go up and down in turn: two steps in one direction never follow each other."""
    return random.uniform(0.3, 1.0, n) * np.where(np.arange(n) % 2, 1.0, -1.0)


def places(random: np.random.Generator, n_rows: int, n: int, longest: int) -> list[int]:
    """Where to plant: n rows, each with `longest` rows for it, and as many to the next one and to both ends."""
    part = n_rows // n
    return [part * number + int(random.integers(longest, part - 2 * longest)) for number in range(n)]


def spells(random: np.random.Generator, n: int) -> NDArray[Any]:
    """A mask with one to three rows set in every twelve, and at least three clear rows between them."""
    mask = np.zeros(n, dtype=bool)
    for start in range(0, n - 12, 12):
        first = start + int(random.integers(0, 7))
        mask[first : first + int(random.integers(1, 4))] = True
    return mask


def in_order(parts: list[pa.Table]) -> pa.Table:
    """The rows of all partitions together in the order of time, as a log would have them."""
    return pa.concat_tables(parts).sort_by("ts")
