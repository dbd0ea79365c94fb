"""Random columns of one or two partitions with segments over them, as kernels of aggregates take them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """Values, which of them are NULL (empty: none), partitions, and some segments."""

    values: NDArray[Any]
    nulls: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_segments(self) -> int:
        return len(self.start)

    def of(self, segment: int) -> list[Any]:
        """The values of a segment that are not NULL."""
        rows = range(int(self.start[segment]), int(self.end[segment]) + 1)
        return [self.values[row].item() for row in rows if not len(self.nulls) or not self.nulls[row]]

    def results(self, kind: type = np.float64) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Room for what a kernel writes; whatever it does not write shows."""
        return np.full(self.n_segments, -99, kind), np.zeros(self.n_segments, np.bool_)

    def counts(self) -> NDArray[np.int64]:
        """Values before each row, by rows and one."""
        valid = np.ones(self.n_rows, np.int64) if not len(self.nulls) else 1 - self.nulls.astype(np.int64)
        return np.concatenate([[0], np.cumsum(valid)])


KINDS = ("empty", "one row", "integers", "far integers", "doubles", "far doubles", "extremes", "NULL", "constant")


def drawn(kind: str, seed: int) -> Column:
    """A column of a kind. Where NULL is, there is a value that must not be read."""
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    n = {"empty": 0, "one row": 1}.get(kind, int(generator.integers(2, 14)))
    whole = generator.integers(-4, 5, n)
    real = np.round(generator.normal(size=n), 2)
    values: NDArray[Any] = {
        "far integers": whole + 1_700_000_000_000_000, "doubles": real, "far doubles": real + 1e6,
        "extremes": generator.choice([0.0, 1.0, -3.0, 1e200, -math.inf, math.inf, math.nan], n),
        "constant": np.full(n, 3.5),
    }.get(kind, whole)
    nulls = np.zeros(0, np.uint8)
    if kind == "NULL" or seed % 2:
        nulls = (generator.random(n) < (0.8 if kind == "NULL" else 0.2)).astype(np.uint8)
        values = np.where(nulls, 777, values)
    cut = n // 2
    offsets = np.array(sorted({0, cut, n}), np.int64) if n else np.array([0, 0])
    pairs = [(a, b) for low, high in pairwise(offsets) for a in range(low, high) for b in range(a, high)]
    start, end = (np.array([pair[k] for pair in pairs], np.int64) for k in range(2))
    return Column(values, nulls, offsets, start, end)


def drawn_long(kind: str, seed: int, n_rows: int = 45) -> Column:
    """A column of two partitions of several blocks, and some of its segments, the ends of one start in order."""
    generator = np.random.default_rng([seed, 99, KINDS.index(kind)])
    parts = [drawn(kind, seed + 2 * k) for k in range(60)]
    values = np.concatenate([part.values for part in parts])[:n_rows]
    nulls = np.concatenate([part.nulls for part in parts])[:n_rows] if len(parts[0].nulls) else np.zeros(0, np.uint8)
    offsets = np.array([0, n_rows // 4, n_rows])
    pairs = [(a, b) for low, high in pairwise(offsets) for a in range(low, high) for b in range(a, high)]
    chosen = [pair for pair in pairs if generator.random() < 0.3]
    start, end = (np.array([pair[k] for pair in chosen], np.int64) for k in range(2))
    return Column(values, nulls, offsets, start, end)


def values_of(result: NDArray[Any], is_null: NDArray[np.bool_]) -> list[Any]:
    """What a kernel wrote, None for NULL."""
    return [None if null else value for value, null in zip(result.tolist(), is_null, strict=True)]


def check_equal(found: list[Any], expected: list[Any], tolerance: float = 0.0) -> None:
    """The same NULLs and NaN, and otherwise values that differ by a share, or by an amount, of `tolerance` at most."""
    assert [value is None for value in found] == [value is None for value in expected]
    ours, theirs = ([float(value) for value in some if value is not None] for some in (found, expected))
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
