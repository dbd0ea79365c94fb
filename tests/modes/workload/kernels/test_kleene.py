"""Arrays of events, against every choice of rows."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.workload.kernels.drawn import DrawnRows
from tests.modes.workload.kernels.stores import Built, NodeParts

from sparkrex.kernels.lazy import njit
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels.arguments import Cells
from sparkrex.modes.workload.kernels.kleene import extend

if TYPE_CHECKING:
    from collections.abc import Callable

N_ROWS = 20


@njit(nogil=True)
def run_extend(node, nodes, rows, store, cells, at):  # type: ignore[no-untyped-def]
    """A way in for Python."""
    return extend(node, nodes, rows, store, cells, at)


class Drawn:
    """Events of a Kleene, of which some may begin an array and some continue one."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        n = int(random.integers(0, 8))
        self.rows = np.sort(random.choice(N_ROWS, n, replace=False)).astype(np.int64)
        self.begins, self.continues = random.random(n) < 0.7, random.random(n) < 0.8
        self.first = np.maximum(0, self.rows - int(random.integers(0, 15)))
        if seed % 5 == 0:  # an event that may end no array
            self.first = np.maximum.accumulate(np.where(random.random(n) < 0.2, self.rows + 1, self.first))
        times = np.cumsum(random.integers(0, 2, N_ROWS)) if seed % 2 else np.arange(N_ROWS)
        self.ordinal = np.searchsorted(times, times)
        self.makes = np.arange(N_ROWS) >= (int(random.integers(0, 6)) if seed % 3 == 0 else 0)
        self.blocks = [*sorted(random.choice(N_ROWS, 2, replace=False).tolist()), N_ROWS]

    def arrays(self) -> set[tuple[int, ...]]:
        """All arrays inside the window of their last event that end where arrays are to be made."""
        rows = self.rows.tolist()
        found = set()
        for size in range(1, len(rows) + 1):
            for places in combinations(range(len(rows)), size):
                chosen = tuple(rows[place] for place in places)
                if (
                    self.begins[places[0]] and all(self.continues[place] for place in places[1:])
                    and all(self.ordinal[one] < self.ordinal[other] for one, other in pairwise(chosen))
                    and chosen[0] >= self.first[places[-1]] and all(self.makes[row] for row in chosen)
                ):
                    found.add(chosen)
        return found

    def built(self) -> Built:
        flags = codes.BEGINS * self.begins + codes.CONTINUES * self.continues
        rank = np.arange(N_ROWS)[None]
        built = Built(DrawnRows(self.ordinal, np.zeros((0, N_ROWS), np.int64), rank), [NodeParts({}, 1)], room=8)
        pool = np.concatenate([self.rows, self.first, flags, built.store.pool])
        n = len(self.rows)
        built.store.kleenes[0, : codes.NEXT_ROW] = 0, n, 2 * n, n
        built.store = built.store._replace(pool=pool)
        built.at[codes.USED] = 3 * n
        return built


def extended(drawn: Drawn, kernel: Callable[..., Any]) -> list[tuple[int, ...]]:
    """What a Kleene makes, block by block; it gets more room when it asks for it."""
    built, cells = drawn.built(), Cells(*(np.zeros(1, np.int64) for _ in range(3)))
    rows = built.kernel_rows(np.zeros((1, N_ROWS), np.int64), drawn.makes)
    for built.at[codes.BLOCK_END] in drawn.blocks:
        while (status := kernel(0, built.plan.nodes, rows, built.store, cells, built.at)) != codes.DONE:
            if status == codes.NEEDS_POOL:
                built.widen()
            else:
                assert status == codes.NEEDS_CELLS
                cells = Cells(*(np.concatenate([array, np.zeros_like(array)]) for array in cells))
    found = []
    for low, high, (cell,) in built.instances(0):
        array, place = [], cell
        while place >= 0:
            array.append(int(cells.row[place]))
            assert cells.first[place] == low
            place = int(cells.before[place])
        found.append(tuple(reversed(array)))
        assert (found[-1][0], found[-1][-1]) == (low, high)
    assert [array[-1] for array in found] == sorted(array[-1] for array in found)
    assert built.at[codes.N_MADE] == len(found) == built.at[codes.N_CELLS]
    return found


@in_both_forms
def test_arrays_are_all_choices_in_order(form: str) -> None:
    n_found = 0
    for seed in range(80):
        drawn = Drawn(seed)
        found = extended(drawn, in_form(run_extend, form))
        assert len(set(found)) == len(found)
        assert set(found) == drawn.arrays(), seed
        n_found += len(found)
    assert n_found > 300


def test_it_ends_when_it_is_given_up() -> None:
    drawn = Drawn(1)
    built = drawn.built()
    built.at[[codes.GIVEN_UP, codes.BLOCK_END]] = 1, N_ROWS
    cells = Cells(*(np.zeros(1, np.int64) for _ in range(3)))
    rows = built.kernel_rows(np.zeros((1, N_ROWS), np.int64))
    assert run_extend.py_func(0, built.plan.nodes, rows, built.store, cells, built.at) == codes.STOPPED
