"""The search of a segment: instances of all nodes in one pool, which grows while a kernel goes through the rows."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.workload.cells import reachable
from sparkrex.modes.workload.formulas import where_holds
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.kernels.arguments import Cells, Plan, Rows, Store
from sparkrex.modes.workload.kernels.search import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sparkrex.modes.workload.arrays import SegmentArrays
    from sparkrex.modes.workload.overflow import Overflow
    from sparkrex.modes.workload.prepared import Node, Prepared

BLOCK_ROWS = 1 << 12
MOST_COMPLETE = 1 << 20
"""So many complete instances wait at most to be written as matches."""
ROOM = 1 << 14
"""Of the pool and of cells, in the beginning."""
FEW = 256
"""Arenas of so many instances are not worth tidying up."""
_HINT = "shorten WITHIN, add a predicate or an equivalence test, or raise the setting max_event_memory"
host_lock = Lock()
"""The host is asked by one thread at a time."""


class Instances(NamedTuple):
    """Instances of a node, or complete ones of a root, in the order of their last row: [slots, instances]."""

    values: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def where(self, keep: NDArray[np.bool_]) -> Instances:
        """Some of them."""
        return self if keep.all() else Instances(self.values[:, keep], self.low[keep], self.high[keep])


class Share:
    """What searches that run at the same time may take together, in bytes; `taken` is gone already."""

    def __init__(self, most: int, n_searches: int, taken: int) -> None:
        self.most, self.taken = most, [0] * n_searches + [taken]

    def take(self, number: int, n_bytes: int) -> None:
        """A search has so many bytes from now on."""
        self.taken[number] = n_bytes
        if sum(self.taken) > self.most:
            raise ExecutionError(
                "REX410", "matches of the workload, whole and partial, need more than "
                f"max_event_memory = {self.most:,} bytes", None, None, hint=_HINT,
            )


class Search:
    """The instances of all nodes over the rows of one segment.

    `makes` says by row whether instances that end there are to be made, `gives` whether matches are to be given,
    `open_from` has by window and partition the first row whose instances rows to come may complete, and `kept` the
    instances of earlier feeds, by node. `share` is the search's own number in what may be taken, `room` what
    instances may need.
    """

    def __init__(
        self, prepared: Prepared, arrays: SegmentArrays, overflow: Overflow, makes: NDArray[np.bool_],
        gives: NDArray[np.bool_], open_from: NDArray[np.int64], kept: tuple[dict[int, Instances], Cells],
        share: tuple[Share, int], room: int = 0,
    ) -> None:
        self.prepared, self.arrays, self._share = prepared, arrays, share
        self.where, self.ranks = arrays.lines
        self._make_store(overflow, kept[0], max(room, ROOM))
        self.cells = kept[1]
        self.at = np.zeros(codes.N_AT, np.int64)
        self.at[codes.USED], self.at[codes.N_CELLS] = arrays.n_static, len(self.cells.row)
        self.at[codes.FEW] = FEW
        self.n_given = 0
        """Bytes of the matches that complete instances have become."""
        self.plan = self._make_plan()
        self.rows = Rows(arrays.window_first, arrays.ordinal, arrays.ranks, makes, gives, arrays.offsets, open_from)

    def _make_plan(self) -> Plan:
        links, keys = self.prepared.kernel_links.copy(), self.prepared.kernel_keys.copy()
        is_compared = links[:, link_codes.KIND] == link_codes.COMPARE
        for line, rank in (
            (link_codes.LEFT_KEYS, link_codes.LEFT_RANK), (link_codes.RIGHT_KEYS, link_codes.RIGHT_RANK)
        ):
            lines = links[is_compared, line]
            links[is_compared, rank], links[is_compared, line] = self.ranks[lines], self.where[lines]
        lines = keys[:, codes.KEY_LINE]
        keys[:, codes.KEY_RANK], keys[:, codes.KEY_LINE] = self.ranks[lines], self.where[lines]
        roots, slots = self.prepared.kernel_roots
        return Plan(self.prepared.kernel_nodes, links, keys, roots, slots)

    def _make_store(self, overflow: Overflow, kept: dict[int, Instances], room: int) -> None:
        nodes, roots = self.prepared.nodes, self.prepared.roots
        n_nodes = len(nodes)
        self._n_slots = [len(node.labels) for node in nodes] + [len(root.slots) for root in roots]
        arenas = np.zeros((n_nodes + len(roots), codes.N_ARENA_FIELDS), np.int64)
        widths = [codes.VALUES + len(node.labels) + len(node.keys) for node in nodes]
        arenas[:, codes.WIDTH] = widths + [codes.VALUES + len(root.slots) for root in roots]
        columns = np.zeros((len(arenas), int(arenas[:, codes.WIDTH].max(initial=1))), np.int64)
        kleenes = np.zeros((n_nodes, codes.N_KLEENE_FIELDS), np.int64)
        before = np.zeros((n_nodes, codes.N_KEPT_FIELDS), np.int64)
        put = self.arrays.put
        placed: dict[object, int] = {}
        for place, node in enumerate(nodes):
            if node.kind == codes.LEAF:
                self._put_leaf(node, arenas[place], columns[place], placed)
            elif node.kind == codes.KLEENE:
                rows, begins, continues = self.arrays.kleene_rows(node.labels[0])
                flags = codes.BEGINS * begins + codes.CONTINUES * continues
                kleenes[place, : codes.NEXT_ROW] = put(rows), put(overflow.first_rows(node)), put(flags), len(rows)
            own = kept.get(place)
            if own is not None:
                before[place] = put(np.concatenate([own.low, own.high, *own.values])), len(own.low), 0
        pool = self.arrays.static(room)
        sides = np.zeros((n_nodes, 2, codes.N_SIDE_FIELDS), np.int64)
        self.store = Store(pool, columns, arenas, sides, kleenes, before)

    def _put_leaf(
        self, node: Node, arena: NDArray[np.int64], columns: NDArray[np.int64], placed: dict[object, int]
    ) -> None:
        """The instances of a leaf are there from the beginning. Leaves of one label share them."""
        (label,) = node.labels
        rows = self.arrays.leaf_rows(label)
        arena[codes.ROOM] = len(rows)
        if label not in placed:
            placed[label] = self.arrays.put(rows)
        columns[: codes.VALUES + 1] = placed[label]
        for number, (_, line, _) in enumerate(node.keys):
            if (label, line) not in placed:
                placed[label, line] = self.arrays.keys_of(label, line)
            columns[codes.VALUES + 1 + number] = placed[label, line]

    def run(self, take_complete: Callable[[Search], None]) -> None:
        """Go through all rows. `take_complete` is called when there are many complete instances, and at the end."""
        status = -1
        while status != codes.DONE:
            self._count_bytes()
            status = run(self.plan, self.rows, self.store, self.cells, BLOCK_ROWS, MOST_COMPLETE, self.at)
            if status == codes.NEEDS_POOL:
                self._widen_pool()
            elif status == codes.NEEDS_CELLS:
                self._make_cells()
            elif status == codes.FORMULAS:
                self._test_formulas(int(self.at[codes.NODE]))
            elif status == codes.STOPPED:
                return
            else:
                take_complete(self)
                self.store.arenas[len(self.prepared.nodes) :, codes.N] = 0
                self.at[codes.N_OUT] = 0
        self._count_bytes()

    def give_up(self) -> None:
        """End the search soon."""
        self.at[codes.GIVEN_UP] = 1

    def instances(self, arena: int, first: int = 0) -> Instances:
        """Those of a node, or of a root, whose arenas come after the nodes'; from one on."""
        pool, columns, arenas = self.store.pool, self.store.columns[arena], self.store.arenas
        n = int(arenas[arena, codes.N])
        cut = [pool[start + first : start + n] for start in columns[: codes.VALUES + self._n_slots[arena]]]
        return Instances(np.stack(cut[codes.VALUES :]), cut[codes.LOW], cut[codes.HIGH])

    def complete_roots(self) -> list[int]:
        """The roots that have complete instances that nobody took yet."""
        return np.flatnonzero(self.store.arenas[len(self.prepared.nodes) :, codes.N]).tolist()

    def complete(self, root: int) -> Instances:
        """The complete instances of a root that nobody took yet."""
        return self.instances(len(self.prepared.nodes) + root)

    def _test_formulas(self, place: int) -> None:
        """Of the new instances of a node, those stay on which its formulas hold."""
        node, arena = self.prepared.nodes[place], self.store.arenas[place]
        n_old = int(arena[codes.N_OLD])
        found = self.instances(place, n_old)
        with host_lock:
            for slots, formula in node.formulas:
                found = found.where(where_holds(formula, found.values[list(slots)], self.cells, self.arrays))
        n = arena[codes.N] = n_old + len(found.low)
        for column, values in zip(self.store.columns[place], (found.low, found.high, *found.values), strict=False):
            self.store.pool[column + n_old : column + n] = values

    def _widen_pool(self) -> None:
        pool = self.store.pool
        room = 2 * len(pool)
        self._count_bytes(8 * room)  # for a moment there are both
        self.store = self.store._replace(pool=_widened(pool, room, int(self.at[codes.USED])))

    def _make_cells(self) -> None:
        """Room for more cells: those that no instance has are thrown away, if that gives enough."""
        n, before = int(self.at[codes.N_CELLS]), self.cells.before
        slots = list(self._kleene_columns())
        needed = reachable(before[:n], [self.store.pool[slot] for slot in slots])
        number = np.cumsum(needed) - 1
        for slot in slots:
            self.store.pool[slot] = number[self.store.pool[slot]]
        n_left = int(needed.sum())
        room = 2 * max(n_left, ROOM) if 2 * n_left <= n else 2 * len(before) + ROOM
        self._count_bytes(24 * room)
        row, first, before = (array[:n][needed] for array in self.cells)
        before = np.where(before < 0, -1, number[before])
        self.cells = Cells(*(_widened(array, room, n_left) for array in (row, first, before)))
        self.at[codes.N_CELLS] = n_left

    def _kleene_columns(self) -> Iterator[slice]:
        """Where the pool has cells."""
        arenas, columns, kept = self.store.arenas, self.store.columns, self.store.kept
        for place, node in enumerate(self.prepared.nodes):
            for slot, is_kleene in enumerate(node.slots_are_kleene):
                if is_kleene:
                    start = columns[place, codes.VALUES + slot]
                    yield slice(start, start + arenas[place, codes.N])
                    n_kept = kept[place, codes.N_KEPT_BEFORE]
                    start = kept[place, codes.KEPT_AT] + (codes.VALUES + slot) * n_kept
                    yield slice(start + kept[place, codes.NEXT_KEPT], start + n_kept)
        for place, root in enumerate(self.prepared.roots, len(self.prepared.nodes)):
            for item, clause_item in enumerate(root.form.clause.items):
                if clause_item.is_kleene:
                    start = columns[place, codes.VALUES + item]
                    yield slice(start, start + arenas[place, codes.N])

    def _count_bytes(self, more: int = 0) -> None:
        share, number = self._share
        share.take(number, self.store.pool.nbytes + sum(array.nbytes for array in self.cells) + self.n_given + more)


def _widened(array: NDArray[np.int64], room: int, n: int) -> NDArray[np.int64]:
    wider = np.empty(room, np.int64)
    wider[:n] = array[:n]
    return wider
