"""Rows that follow the pattern's segment and belong to the match (rule 5 of the rewritings of plain queries)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.operators.arrays import kept
from sparkrex.modes.segments.operators.contract import Segments

if TYPE_CHECKING:
    from numpy.typing import NDArray


def with_rows_after(found: Segments, offsets: NDArray[np.int64], n_rows: int) -> Segments:
    """The segments with so many rows more, without those that their partition has no such rows for."""
    if not n_rows:
        return found
    partition = np.searchsorted(offsets, found.start, side="right") - 1
    there = kept(found, found.end + n_rows < offsets[partition + 1])
    return Segments(there.space, there.start, there.end + n_rows, there.bindings)
