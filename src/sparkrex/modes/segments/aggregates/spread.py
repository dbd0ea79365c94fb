"""var and stddev, of the sample (n - 1) and of the population (n), from centred prefix sums of x and x^2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room
from sparkrex.modes.segments.aggregates.sums import INDEXED
from sparkrex.modes.segments.kernels.moments import (
    centre,
    moment_prefix,
    next_changes,
    power_for,
    spread_lookup,
    spread_scan,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values


@dataclass(frozen=True, eq=False, slots=True)
class Moments:
    """Prefix sums of the rescaled x and x^2, and what a lookup needs where they are not enough."""

    sums: NDArray[np.float64]
    counts: Rows
    changes: Rows
    scale: float
    values: NDArray[Any]
    nulls: NDArray[np.uint8]


@dataclass(frozen=True, eq=False, slots=True)
class Centred:
    """A column relative to each partition's first value, as pairs; the scale that brings it to at most 1."""

    pairs: NDArray[np.float64]
    is_finite: NDArray[np.bool_]
    scale: float
    changes: Rows

    @classmethod
    def of(cls, values: NDArray[Any], nulls: NDArray[np.uint8], offsets: Rows) -> Centred:
        """The column so prepared."""
        pairs, is_finite = np.empty((len(values), 2)), np.empty(len(values), np.bool_)
        changes = np.empty(len(values), np.int64)
        next_changes(values, nulls, offsets, changes)
        largest = centre(values, nulls, offsets, pairs, is_finite) if len(values) else 0.0
        return cls(pairs, is_finite, power_for(largest), changes)


class Spread(Aggregate):
    """Variance or standard deviation; NULL unless there are more values than the divisor loses."""

    cost = INDEXED

    def __init__(self, name: str, is_sample: bool, is_root: bool) -> None:
        self.name = name
        self.lost = int(is_sample)
        self.is_root = is_root

    def scan_many(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        spread_scan(columns[0], null_marks(*nulls), start, end, self.lost, self.is_root, result, is_null)
        return result, is_null

    def index(self, columns: Columns, nulls: Nulls, offsets: Rows, longest: int | None) -> Moments | None:
        """See the protocol."""
        values, marks = columns[0], null_marks(*nulls)
        x = Centred.of(values, marks, offsets)
        sums, counts = np.zeros((len(values) + 1, 4)), np.zeros((len(values) + 1, 2), np.int64)
        moment_prefix(x.pairs, marks, x.is_finite, x.scale, sums, counts)
        return Moments(sums, counts, x.changes, x.scale, values, marks)

    def lookup(self, index: Moments, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        spread_lookup(
            index.sums, index.counts, index.changes, index.scale, index.values, index.nulls, start, end, self.lost,
            self.is_root, result, is_null,
        )
        return result, is_null
