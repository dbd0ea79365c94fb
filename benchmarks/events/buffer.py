"""What the shared buffer of matches costs: nodes, bytes, and the time to write them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.events.nfab.contract import EventBuffer

_REPEAT = 5


@dataclass(frozen=True, slots=True)
class BufferCost:
    """Nodes of events, of unions of two histories, bytes, and seconds to write them all again."""

    n_events: int
    n_unions: int
    n_bytes: int
    seconds: float


def buffer_cost(buffer: EventBuffer) -> BufferCost:
    """Count the nodes that a whole stream writes, and time a loop that writes them one by one, as the kernel does."""
    arrays = (buffer.row, buffer.label, buffer.before, buffer.other, buffer.youngest)
    n_unions = int(np.count_nonzero(buffer.label < 0))
    _rewrite(*(array[:1] for array in arrays))  # compile
    seconds = [_timed(lambda: _rewrite(*arrays)) for _ in range(_REPEAT)]
    return BufferCost(
        len(buffer.row) - n_unions, n_unions, sum(array.nbytes for array in arrays), median(seconds)
    )


def _timed(run: Callable[[], Any]) -> float:
    begin = process_time()
    run()
    return process_time() - begin


@numba.njit(cache=True)
def _rewrite(row, label, before, other, youngest):  # type: ignore[no-untyped-def]
    """Append node after node to arrays that grow by doubling."""
    new_row, new_label, new_before = np.empty(1024, np.int64), np.empty(1024, np.int16), np.empty(1024, np.int64)
    new_other, new_youngest = np.empty(1024, np.int64), np.empty(1024, np.int64)
    for n in range(row.shape[0]):
        if n == new_row.shape[0]:
            new_row, new_label = np.concatenate((new_row, new_row)), np.concatenate((new_label, new_label))
            new_before, new_other = np.concatenate((new_before, new_before)), np.concatenate((new_other, new_other))
            new_youngest = np.concatenate((new_youngest, new_youngest))
        new_row[n], new_label[n], new_before[n] = row[n], label[n], before[n]
        new_other[n], new_youngest[n] = other[n], youngest[n]
    return new_row[-1] + new_label[-1] + new_before[-1] + new_other[-1] + new_youngest[-1]
