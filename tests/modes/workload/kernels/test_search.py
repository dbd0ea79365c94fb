"""A whole plan over blocks of rows, against every choice of rows: A and B, then C, with roots of smaller windows."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.workload.kernels.drawn import DrawnRows, drawn_rows
from tests.modes.workload.kernels.stores import Built, NodeParts

from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels.links import EQUAL, LESS, SINGLE
from sparkrex.modes.workload.kernels.search import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.workload.kernels.stores import Instance

N_ROWS = 30
WINDOWS = (9, 5)
"""Rows that an instance may span at most, of the nodes and of the second root."""
A, B, C, PAIR, TRIPLE = range(5)


class Drawn:
    """Rows of three types. Pairs of A and B agree in a key; C comes after both, and has a greater one than B."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.rows: DrawnRows = drawn_rows(seed, N_ROWS)
        kinds = self.random.integers(0, 3, N_ROWS)
        self.of_kind = [np.flatnonzero(kinds == kind).tolist() for kind in range(3)]
        self.windows = np.stack([np.maximum(0, np.arange(N_ROWS) - size) for size in WINDOWS])
        self.gives_from = int(self.random.integers(0, 10))

    def is_pair(self, a: int, b: int) -> bool:
        keys = self.rows.keys
        is_equal = keys[0, a] == keys[1, b] and keys[0, a] >= 0  # NULL_KEY is negative
        return bool(is_equal) and abs(a - b) <= WINDOWS[0]

    def is_triple(self, a: int, b: int, c: int) -> bool:
        keys, ordinal = self.rows.keys, self.rows.ordinal
        is_less = 0 <= keys[2, b] < keys[3, c]
        return self.is_pair(a, b) and max(a, b) < ordinal[c] and bool(is_less) and c - min(a, b) <= WINDOWS[0]

    def complete(self, size: int) -> list[Instance]:
        """What a root of a window gives of triples."""
        return sorted(
            (min(a, b), c, (c, a, b)) for a, b, c in product(*self.of_kind)
            if self.is_triple(a, b, c) and c - min(a, b) <= size and c >= self.gives_from
        )

    def built(self, *, has_formulas: bool) -> Built:
        leaves = [
            NodeParts({codes.KIND: codes.LEAF, codes.KEEPS: 1}, 1, keys, [(row, row, (row,)) for row in rows])
            for keys, rows in zip(
                ([(0, 0, SINGLE)], [(0, 1, SINGLE)], [(0, 3, SINGLE)]), self.of_kind, strict=True
            )
        ]
        both = {codes.KIND: codes.JOIN, codes.LEFT_ENDS: 1, codes.RIGHT_ENDS: 1}
        pair = both | {
            codes.LEFT: A, codes.RIGHT: B, codes.WAY: codes.BY_HASH, codes.OPERATOR: EQUAL, codes.LEFT_KEY: 3,
            codes.RIGHT_KEY: 3, codes.KEEPS: 1, codes.HAS_FORMULAS: has_formulas,
        }
        triple = both | {
            codes.LEFT: PAIR, codes.RIGHT: C, codes.WAY: codes.BY_COMPARISON, codes.OPERATOR: LESS,
            codes.LEFT_KEY: 4, codes.RIGHT_KEY: 3, codes.ORDER: codes.LEFT_FIRST, codes.LEFT_ENDS: 0,
        }
        nodes = [*leaves, NodeParts(pair, 2, [(1, 2, SINGLE)]), NodeParts(triple, 3)]
        roots = [(TRIPLE, 0, (2, 0, 1)), (TRIPLE, 1, (2, 0, 1))]
        built = Built(self.rows, nodes, room=int(self.random.choice([4, 4096])), roots=roots)
        built.store.arenas[:3, codes.N] = 0
        built.at[codes.FEW] = int(self.random.choice([0, 5, 1000]))
        return built


def searched(
    drawn: Drawn, kernel: Callable[..., Any], most_out: int = 1 << 20, *, has_formulas: bool = False
) -> tuple[list[list[Instance]], set[int]]:
    """What the two roots get, and why the search returned on its way."""
    built, cells = drawn.built(has_formulas=has_formulas), drawn.rows.columns()
    rows = built.kernel_rows(drawn.windows, gives=np.arange(N_ROWS) >= drawn.gives_from)
    found: list[list[Instance]] = [[], []]
    statuses = set()
    block_rows = int(drawn.random.integers(1, 12))
    status = -1
    while status != codes.DONE:
        status = kernel(built.plan, rows, built.store, cells, block_rows, most_out, built.at)
        statuses.add(status)
        if status == codes.NEEDS_POOL:
            built.widen()
        elif status == codes.FORMULAS:  # the host throws away what has an even row of A
            arena = built.store.arenas[PAIR]
            keep = [one for one in built.instances(PAIR)[arena[codes.N_OLD] :] if one[2][0] % 2]
            for number in range(4):
                start = built.store.columns[PAIR, number] + arena[codes.N_OLD]
                values = [(low, high, *values)[number] for low, high, values in keep]
                built.store.pool[start : start + len(keep)] = values
            arena[codes.N] = arena[codes.N_OLD] + len(keep)
        elif status in (codes.DRAIN, codes.DONE):
            for root in (0, 1):
                found[root] += built.instances(5 + root)
                built.store.arenas[5 + root, codes.N] = 0
            assert built.at[codes.N_OUT] >= most_out or status == codes.DONE
            built.at[codes.N_OUT] = 0
    return found, statuses


@in_both_forms
def test_every_root_gets_what_is_in_its_window(form: str) -> None:
    n_found = 0
    statuses = set()
    for seed in range(120):
        drawn = Drawn(seed)
        most_out = 1 if seed % 3 == 0 else 1 << 20
        found, returned = searched(drawn, in_form(run, form), most_out)
        assert [sorted(one) for one in found] == [drawn.complete(size) for size in WINDOWS], seed
        n_found += len(found[0])
        statuses |= returned
    assert n_found > 200
    assert statuses == {codes.DONE, codes.NEEDS_POOL, codes.DRAIN}


def test_the_host_may_throw_instances_away() -> None:
    for seed in range(30):
        drawn = Drawn(seed)
        found, _ = searched(drawn, run.interpreted, has_formulas=True)
        expected = [[one for one in drawn.complete(size) if one[2][1] % 2] for size in WINDOWS]
        assert [sorted(one) for one in found] == expected


@pytest.mark.parametrize("makes_from", [0, 11])
def test_rows_of_before_are_not_made_again(makes_from: int) -> None:
    for seed in range(20):
        drawn = Drawn(seed)
        built, cells = drawn.built(has_formulas=False), drawn.rows.columns()
        makes, gives = (np.arange(N_ROWS) >= first for first in (makes_from, max(makes_from, drawn.gives_from)))
        rows = built.kernel_rows(drawn.windows, makes, gives)
        given = (cells, 7, 1 << 20, built.at)
        while run.interpreted(built.plan, rows, built.store, *given) != codes.DONE:
            built.widen()
        pairs = {(a, b) for a, b in product(*drawn.of_kind[:2]) if drawn.is_pair(a, b) and max(a, b) >= makes_from}
        expected = [one for one in drawn.complete(WINDOWS[0]) if one[2][1:] in pairs and one[1] >= makes_from]
        assert sorted(built.instances(5)) == expected
