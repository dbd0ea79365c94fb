"""Partial matches of two nodes put together, against looking at every pair."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.workload.kernels.drawn import DrawnRows, drawn_link, drawn_rows, drawn_slot, link_holds
from tests.modes.workload.kernels.stores import Built, Instance, NodeParts

from sparkrex.kernels.lazy import njit
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.kernels.join import join

if TYPE_CHECKING:
    from collections.abc import Callable

N_ROWS = 14
BLOCKS = (5, 9, N_ROWS)


@njit(nogil=True)
def run_join(node, nodes, links, rows, store, cells, at):  # type: ignore[no-untyped-def]
    """A way in for Python."""
    return join(node, nodes, links, rows, store, cells, at)


def drawn_side(random: np.random.Generator, rows: DrawnRows, parity: int) -> tuple[list[bool], list[Instance]]:
    """Instances of one side, whose last rows are even or odd: no two of both sides have the same."""
    is_kleene = (random.random(int(random.integers(1, 3))) < 0.3).tolist()
    found = []
    for _ in range(int(random.integers(4, 30))):
        values = tuple(drawn_slot(random, rows, is_kleene=kleene) for kleene in is_kleene)
        events = [
            row for value, kleene in zip(values, is_kleene, strict=True) for row in rows.events(value, is_kleene=kleene)
        ]
        if max(events) % 2 == parity:
            found.append((min(events), max(events), values))
    return is_kleene, sorted(found, key=lambda one: one[1])


class Drawn:
    """A join of two nodes with all their instances, and what it must make."""

    def __init__(self, seed: int) -> None:
        random, self.rows = np.random.default_rng(seed), drawn_rows(seed, N_ROWS)
        (left_kleene, self.left), (right_kleene, self.right) = (drawn_side(random, self.rows, one) for one in (0, 1))
        self.links = []
        for _ in range(int(random.integers(0, 4))):
            slots = int(random.integers(0, len(left_kleene))), int(random.integers(0, len(right_kleene)))
            self.links.append(drawn_link(random, (left_kleene[slots[0]], right_kleene[slots[1]]), slots))
        self.first = self._first_comparison()
        self.way = codes.ALL
        if self.first is not None:
            is_equal = self.first[link_codes.OPERATOR] == link_codes.EQUAL
            self.way = codes.BY_HASH if is_equal else codes.BY_COMPARISON
        self.order = int(random.choice([codes.UNORDERED, codes.UNORDERED, codes.LEFT_FIRST, codes.RIGHT_FIRST]))
        self.ends = (self.order != codes.LEFT_FIRST and random.random() < 0.9,
                     self.order != codes.RIGHT_FIRST and random.random() < 0.9)
        self.window_first = np.maximum(0, np.arange(N_ROWS) - int(random.integers(N_ROWS // 2, N_ROWS)))
        self.makes = np.arange(N_ROWS) >= int(random.integers(0, 4))
        self.n_slots = len(left_kleene), len(right_kleene)
        self.is_tight = seed % 3 == 0

    def _first_comparison(self) -> list[int] | None:
        fitting = [
            link for link in self.links
            if link[link_codes.KIND] == link_codes.COMPARE and link_codes.LATER not in link[link_codes.LEFT_READS :]
            and link[link_codes.OPERATOR] != link_codes.UNEQUAL
        ]
        return fitting[-1] if fitting else None

    def pairs(self) -> list[Instance]:
        """The pairs whose later part is to be made and may be the later one, and between which all holds."""
        found = []
        for one in self.left:
            for other in self.right:
                row, low = max(one[1], other[1]), min(one[0], other[0])
                is_ended = self.ends[0] if one[1] > other[1] else self.ends[1]
                is_allowed = self.makes[row] and is_ended and low >= self.window_first[row]
                if is_allowed and self._in_order(one, other) and all(
                    link_holds(self.rows, link, one[2][link[1]], other[2][link[2]]) for link in self.links
                ):
                    found.append((low, row, one[2] + other[2]))
        return sorted(found)

    def _in_order(self, one: Instance, other: Instance) -> bool:
        ordinal = self.rows.ordinal
        if self.order == codes.LEFT_FIRST:
            return bool(ordinal[one[1]] < ordinal[other[0]])
        return self.order != codes.RIGHT_FIRST or bool(ordinal[other[1]] < ordinal[one[0]])

    def built(self, n_old: list[Instance]) -> Built:
        """The two sides and their join, which had some instances before."""
        keys: list[list[tuple[int, int, int]]] = [[], []]
        fields = {
            codes.KIND: codes.JOIN, codes.LEFT: 0, codes.RIGHT: 1, codes.LEFT_ENDS: self.ends[0],
            codes.RIGHT_ENDS: self.ends[1], codes.ORDER: self.order, codes.WAY: self.way,
        }
        links = self.links
        if self.first is not None:
            first = self.first
            links = [link for link in links if link is not first]
            fields[codes.OPERATOR] = first[link_codes.OPERATOR]
            fields[codes.LEFT_KEY] = codes.VALUES + self.n_slots[0]
            fields[codes.RIGHT_KEY] = codes.VALUES + self.n_slots[1]
            keys = [
                [(first[link_codes.LEFT_SLOT], first[link_codes.LEFT_KEYS], first[link_codes.LEFT_READS])],
                [(first[link_codes.RIGHT_SLOT], first[link_codes.RIGHT_KEYS], first[link_codes.RIGHT_READS])],
            ]
        fields[codes.LINKS_END] = len(links)
        nodes = [
            NodeParts({}, self.n_slots[0], keys[0], self.left), NodeParts({}, self.n_slots[1], keys[1], self.right),
            NodeParts(fields, sum(self.n_slots), kept=n_old),
        ]
        return Built(self.rows, nodes, links, room=4 if self.is_tight else 1 << 12)


def joined(drawn: Drawn, kernel: Callable[..., Any], kept: list[Instance]) -> list[Instance]:
    """What a join makes of its sides, block by block; it gets more room when it asks for it."""
    built = drawn.built(kept)
    rows, cells = built.kernel_rows(drawn.window_first, drawn.makes), drawn.rows.columns()
    for end in BLOCKS:
        arenas = built.store.arenas
        for side, instances in ((0, drawn.left), (1, drawn.right)):
            arenas[side, codes.N_OLD] = arenas[side, codes.N] if end > BLOCKS[0] else 0
            arenas[side, codes.N] = sum(one[1] < end for one in instances)
        built.at[codes.BLOCK_END] = end
        while kernel(2, built.plan.nodes, built.plan.links, rows, built.store, cells, built.at) == codes.NEEDS_POOL:
            built.widen()
    found = built.instances(2)
    assert [one[1] for one in found] == sorted(one[1] for one in found)
    assert built.at[codes.N_MADE] == len(found) - len(kept)
    return sorted(found)


@in_both_forms
def test_all_pairs_that_fit_are_made(form: str) -> None:
    n_made: Counter[tuple[str, int]] = Counter()
    for seed in range(300):
        drawn = Drawn(seed)
        expected = drawn.pairs()
        assert joined(drawn, in_form(run_join, form), []) == expected, seed
        n_made.update({("way", drawn.way): len(expected), ("order", drawn.order): len(expected)})
    assert min(n_made.values()) > 60, n_made


def test_instances_of_earlier_feeds_stand_among_those_that_are_made() -> None:
    for seed in range(40):
        drawn = Drawn(seed)
        first_new = int(drawn.makes.argmax())
        slots = sum(drawn.n_slots)
        kept = [(0, row, (row,) * slots) for row in range(first_new)]
        assert joined(drawn, run_join.py_func, kept) == sorted(kept + drawn.pairs())


def test_a_side_that_was_tidied_up_is_found_again() -> None:
    """Between the second and the third block the first half of the left side goes."""
    n_made = 0
    for seed in range(120):
        drawn = Drawn(seed)
        built = drawn.built([])
        rows, cells = built.kernel_rows(drawn.window_first, drawn.makes), drawn.rows.columns()
        pool, columns, arenas, _, _, _ = built.store
        gone = [one for one in drawn.left if one[1] < 4]
        for end in (9, N_ROWS):
            for side, instances in ((0, drawn.left), (1, drawn.right)):
                arenas[side, codes.N_OLD] = arenas[side, codes.N] if end > 9 else 0
                arenas[side, codes.N] = sum(one[1] < end for one in instances)
            if end == N_ROWS:
                for column in range(arenas[0, codes.WIDTH]):
                    start, n = columns[0, column], len(drawn.left)
                    pool[start : start + n - len(gone)] = pool[start + len(gone) : start + n].copy()
                arenas[0, [codes.N, codes.N_OLD]] -= len(gone)
                arenas[0, codes.EPOCH] += 1
            built.at[codes.BLOCK_END] = end
            while run_join.py_func(
                2, built.plan.nodes, built.plan.links, rows, built.store, cells, built.at
            ) == codes.NEEDS_POOL:
                built.widen()
                pool = built.store.pool
        slots = drawn.n_slots[0]
        expected = [
            one for one in drawn.pairs() if one[1] < 9 or one[2][:slots] not in [values for _, _, values in gone]
        ]
        alike = {values for _, _, values in gone} & {one[2] for one in drawn.left if one[1] >= 4}
        if not alike:
            assert sorted(built.instances(2)) == expected, seed
            n_made += len(expected)
    assert n_made > 100


def test_it_ends_when_it_is_given_up() -> None:
    drawn = Drawn(4)
    built = drawn.built([])
    built.at[codes.GIVEN_UP] = 1
    built.at[codes.BLOCK_END] = N_ROWS
    rows = built.kernel_rows(drawn.window_first)
    arguments = (2, built.plan.nodes, built.plan.links, rows, built.store, drawn.rows.columns(), built.at)
    assert run_join.py_func(*arguments) == codes.STOPPED
    assert built.instances(2) == []
