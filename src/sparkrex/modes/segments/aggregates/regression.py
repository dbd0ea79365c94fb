"""linear_reg_r2, linear_reg_r2_signed, linear_reg_slope (Example 2 of the paper, made safe for large offsets)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room
from sparkrex.modes.segments.aggregates.spread import Centred
from sparkrex.modes.segments.aggregates.sums import INDEXED
from sparkrex.modes.segments.kernels.moments import pair_prefix, regression_lookup, regression_scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values


@dataclass(frozen=True, eq=False, slots=True)
class PairMoments:
    """Prefix sums of the rescaled x, y, x^2, y^2 and x y, and what a lookup needs where they are not enough."""

    sums: NDArray[np.float64]
    counts: Rows
    changes: tuple[Rows, Rows]
    scales: tuple[float, float]
    columns: Columns
    nulls: NDArray[np.uint8]


class Regression(Aggregate):
    """A figure of the least-squares line of y over x; rows in which either is NULL are left out."""

    arity = 2
    cost = INDEXED

    def __init__(self, name: str, kind: int, short: int = 24) -> None:
        self.name = name
        self.kind = kind
        self.short = short

    def scan_many(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        x, y = columns
        regression_scan(self.kind, x, y, null_marks(*nulls), start, end, result, is_null)
        return result, is_null

    def index(self, columns: Columns, nulls: Nulls, offsets: Rows, longest: int | None) -> PairMoments | None:
        """See the protocol."""
        marks = null_marks(*nulls)
        x, y = (Centred.of(values, marks, offsets) for values in columns)
        n_rows = len(columns[0])
        sums, counts = np.zeros((n_rows + 1, 10)), np.zeros((n_rows + 1, 2), np.int64)
        pair_prefix(x.pairs, y.pairs, marks, x.is_finite, y.is_finite, x.scale, y.scale, sums, counts)
        return PairMoments(sums, counts, (x.changes, y.changes), (x.scale, y.scale), columns, marks)

    def lookup(self, index: PairMoments, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        regression_lookup(
            self.kind, index.sums, index.counts, index.changes[0], index.changes[1], index.scales[0], index.scales[1],
            index.columns[0], index.columns[1], index.nulls, start, end, self.short, result, is_null,
        )
        return result, is_null
