"""A segment search inside a Spark worker: the series of one Spark partition are one batch of the engine.

The plan is chosen here, from a sample of the series at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.wrap import wrap
from sparkrex.modes.segments.aggregates.registry import install
from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.registry import Shipped

SERIES = "rex_series"
"""A column that numbers the series of rows that Spark has ordered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTask(WorkerTask):
    """One search, shipped to the workers with the aggregates that the user has registered and it uses."""

    aggregates: tuple[Shipped, ...] = ()

    def prepare(self) -> None:
        """Teach the worker the aggregates."""
        install(self.aggregates)

    def _number_series(self, rows: pa.Table, offsets: NDArray[np.int64]) -> pa.Table:
        """Rows that Spark has ordered with the number of their series; others as they are."""
        if self.carried.cut is None:
            return rows
        number = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return rows.append_column(SERIES, wrap(number))
