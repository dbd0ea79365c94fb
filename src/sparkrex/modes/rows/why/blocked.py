"""What is known of every start, whichever way it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Blocked:
    """By row of the frame; rows that are not looked into have a need of -1.

    `last_variable` and `close_variable` are numbers, -1 for none; `close` is NaN without a comparison of numbers.
    `is_exact` says that nothing was left out. By variable: how many starts it blocked, and the least distance.
    """

    need: NDArray[np.int64]
    count: NDArray[np.int64]
    last_row: NDArray[np.int64]
    last_variable: NDArray[np.int32]
    close: NDArray[np.float64]
    close_row: NDArray[np.int64]
    close_variable: NDArray[np.int32]
    is_exact: NDArray[np.bool_]
    starts_of_variable: NDArray[np.int64]
    apart_of_variable: NDArray[np.float64]

    @staticmethod
    def empty(n_rows: int, n_variables: int) -> Blocked:
        """Nothing is known yet."""
        return Blocked(
            np.full(n_rows, -1, np.int64), np.zeros(n_rows, np.int64), np.full(n_rows, -1, np.int64),
            np.full(n_rows, -1, np.int32), np.full(n_rows, np.nan), np.full(n_rows, -1, np.int64),
            np.full(n_rows, -1, np.int32), np.ones(n_rows, np.bool_), np.zeros(n_variables, np.int64),
            np.full(n_variables, np.nan),
        )
