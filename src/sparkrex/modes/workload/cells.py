"""Cells, the events of arrays (`kernels.arguments.Cells`): each refers to the one before it in its array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def reachable(before: NDArray[np.int64], lasts: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Which cells arrays have that end in some cells. No array has more events than `max_kleene`."""
    found = np.zeros(len(before), np.bool_)
    reached = np.concatenate([np.empty(0, np.int64), *lasts])
    while len(reached):
        reached = np.unique(reached)
        reached = reached[~found[reached]]
        found[reached] = True
        reached = before[reached]
        reached = reached[reached >= 0]
    return found
