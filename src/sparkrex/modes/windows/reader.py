"""Reads matches that see a frame: PREV and NEXT do not leave it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.reading import MatchReader

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.found import Found


class FrameReader(MatchReader):
    """A reader of what was found in frames. `ends` are those of frames by row, None where they end with partitions."""

    def __init__(
        self, table: pa.Table, arrangement: Arrangement, found: Found, ends: NDArray[np.int64] | None,
        variables: tuple[str, ...], dialect: str, evaluator: Evaluator, threads: int = 1,
    ) -> None:
        super().__init__(table, arrangement, found.matches, variables, dialect, evaluator, threads)
        self._frames = found.row
        self._ends = ends

    @cached_property
    def partition_bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First row of every match's frame, and the one behind its last."""
        if self._ends is None:
            offsets = self.arrangement.offsets
            return self._frames, offsets[np.searchsorted(offsets, self._frames, side="right")]
        return self._frames, self._ends[self._frames] + 1

