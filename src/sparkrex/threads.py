"""A plain thread pool over ranges of rows or partitions.

Kernels and NumPy release the GIL, so threads are enough; Numba's own threading layer breaks in forked Spark workers.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Result = TypeVar("Result")

LEAST = 1 << 16
"""Fewer items than this are not worth a second thread."""


def available_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ranges(n_items: int, threads: int, least: int | None = None) -> list[tuple[int, int]]:
    """About equal ranges that cover `n_items`, one a thread, none below `least` items unless it is the only one."""
    pieces = max(1, min(threads, n_items // (least or LEAST)))
    cuts = [n_items * piece // pieces for piece in range(pieces + 1)]
    return list(pairwise(cuts))


def spread(task: Callable[[int, int], Result], pieces: Sequence[tuple[int, int]]) -> list[Result]:
    """`task(begin, end)` for every range, each on a thread of its own; results in the order of the ranges."""
    if len(pieces) == 1:
        return [task(*pieces[0])]
    with ThreadPoolExecutor(len(pieces)) as pool:
        return list(pool.map(lambda piece: task(*piece), pieces))


def in_parallel(tasks: Sequence[Callable[[], Result]], threads: int, n_items: int) -> list[Result]:
    """The results of tasks that treat `n_items` items each, at most `threads` at a time; in the order of the tasks."""
    threads = min(threads, len(tasks))
    if threads < 2 or n_items < LEAST:
        return [task() for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda task: task(), tasks))
