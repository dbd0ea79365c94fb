"""Searches of event queries that Ctrl-C ends: `threads.spread` waits for it, a search looks for it at every event."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sparkrex.modes.events.kernels.codes import GIVEN_UP
from sparkrex.threads import spread

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
    budgets = {piece: make_budget() for piece in pieces}

    def give_up() -> None:
        for budget in budgets.values():
            budget[GIVEN_UP] = 1

    return spread(lambda begin, end: task(begin, end, budgets[begin, end]), pieces, give_up)
