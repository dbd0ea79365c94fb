"""Searches that Ctrl-C ends.

Python hands a signal to its main thread between two steps of Python code, and a search is one step. So the main thread
waits while other threads search; when it is interrupted it tells them to give up, which they look for at every event.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from sparkrex.kernels.nfab_codes import GIVEN_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")


def run_until_interrupted(
    task: Callable[[int, int, NDArray[np.int64]], Result], pieces: Sequence[tuple[int, int]],
    make_budget: Callable[[], NDArray[np.int64]],
) -> list[Result]:
    """`task(begin, end, budget)` for every range, each with a budget of its own; results in the order of the ranges."""
    budgets = [make_budget() for _ in pieces]
    is_main = threading.current_thread() is threading.main_thread()
    if len(pieces) == 1 and not is_main:
        return [task(*pieces[0], budgets[0])]
    pool = ThreadPoolExecutor(len(pieces))
    try:
        searches = [pool.submit(task, *piece, budget) for piece, budget in zip(pieces, budgets, strict=True)]
        return [search.result() for search in searches]
    finally:
        # Where all are done this ends nothing.
        for budget in budgets:
            budget[GIVEN_UP] = 1
        pool.shutdown(wait=False, cancel_futures=True)
