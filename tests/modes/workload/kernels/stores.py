"""What the kernels of workloads are given, by hand: nodes with the instances that they have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.kernels.arguments import Plan, Rows, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tests.modes.workload.kernels.drawn import DrawnRows

Instance = tuple[int, int, tuple[int, ...]]
"""First row, last row, values."""


@dataclass
class NodeParts:
    """A node: its fields, columns of keys (slot, line by number, which event), and instances that are there."""

    fields: dict[int, int]
    n_slots: int
    keys: list[tuple[int, int, int]] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    kept: list[Instance] = field(default_factory=list)


class Built:
    """Arguments of kernels for some nodes over drawn rows."""

    def __init__(
        self, rows: DrawnRows, nodes: Sequence[NodeParts], links: Sequence[list[int]] = (), room: int = 1 << 12,
        roots: Sequence[tuple[int, int, tuple[int, ...]]] = (),
    ) -> None:
        """A root is a node, a window and the slots of its items; roots of one node stand together."""
        self.rows, self.n_nodes = rows, len(nodes)
        self._parts = [rows.pool]
        self._used = len(rows.pool)
        table = np.zeros((len(nodes), codes.N_NODE_FIELDS), np.int64)
        widths = [codes.VALUES + node.n_slots + len(node.keys) for node in nodes]
        widths += [codes.VALUES + len(slots) for _, _, slots in roots]
        arenas = np.zeros((len(widths), codes.N_ARENA_FIELDS), np.int64)
        arenas[:, codes.WIDTH] = widths
        columns = np.zeros((len(widths), max(widths)), np.int64)
        kept = np.zeros((len(nodes), codes.N_KEPT_FIELDS), np.int64)
        keys: list[list[int]] = []
        for place, node in enumerate(nodes):
            for name, value in node.fields.items():
                table[place, name] = value
            table[place, codes.N_SLOTS] = node.n_slots
            table[place, codes.KEYS_BEGIN] = len(keys)
            keys += [[slot, line * rows.n, line % 2, reads] for slot, line, reads in node.keys]
            table[place, codes.KEYS_END] = len(keys)
            table[place, codes.ROOTS_BEGIN] = sum(owner < place for owner, _, _ in roots)
            table[place, codes.ROOTS_END] = sum(owner <= place for owner, _, _ in roots)
            columns[place, : widths[place]] = self._put_columns(lines_of(node, rows))
            arenas[place, codes.N] = arenas[place, codes.ROOM] = len(node.instances)
            if node.kept:
                kept[place] = self._put(_lines(node.kept, node.n_slots).ravel()), len(node.kept), 0
        self.at = np.zeros(codes.N_AT, np.int64)
        self.at[codes.USED] = self._used
        pool = np.concatenate([*self._parts, np.zeros(room, np.int64)])
        root_slots = [slot for _, _, slots in roots for slot in slots]
        begins = np.cumsum([0, *(len(slots) for _, _, slots in roots)])
        self.plan = Plan(
            table, _table([rows.place(link) for link in links], link_codes.N_COLUMNS), _table(keys, codes.N_KEY_FIELDS),
            _table([[window, len(slots), begins[number]] for number, (_, window, slots) in enumerate(roots)],
                   codes.N_ROOT_FIELDS),
            np.array(root_slots, np.int64),
        )
        self.store = Store(
            pool, columns, arenas, np.zeros((len(nodes), 2, codes.N_SIDE_FIELDS), np.int64),
            np.zeros((len(nodes), codes.N_KLEENE_FIELDS), np.int64), kept,
        )

    def kernel_rows(
        self, window_first: Any, makes: Any = None, gives: Any = None, offsets: Any = None, open_from: Any = None
    ) -> Rows:
        """The rows; by default one partition that is over, and everything is to be made."""
        n = self.rows.n
        offsets = np.array([0, n] if offsets is None else offsets, np.int64)
        windows = np.atleast_2d(window_first)
        if open_from is None:
            open_from = np.repeat(offsets[None, 1:], len(windows), axis=0)
        makes = np.ones(n, np.bool_) if makes is None else makes
        return Rows(
            windows, self.rows.ordinal, self.rows.rank, makes, makes if gives is None else gives, offsets, open_from
        )

    def widen(self) -> None:
        """More room in the pool."""
        pool = np.zeros(2 * len(self.store.pool), np.int64)
        pool[: len(self.store.pool)] = self.store.pool
        self.store = self.store._replace(pool=pool)

    def instances(self, arena: int) -> list[Instance]:
        """The instances of an arena."""
        n = int(self.store.arenas[arena, codes.N])
        n_slots = int(self.store.arenas[arena, codes.WIDTH]) - codes.VALUES
        if arena < self.n_nodes:
            n_slots = int(self.plan.nodes[arena, codes.N_SLOTS])
        low, high, *values = (
            self.store.pool[start : start + n].tolist() for start in self.store.columns[arena, : codes.VALUES + n_slots]
        )
        return list(zip(low, high, zip(*values, strict=True), strict=True))

    def column(self, arena: int, number: int) -> list[int]:
        """A column of an arena."""
        start = self.store.columns[arena, number]
        found: list[int] = self.store.pool[start : start + self.store.arenas[arena, codes.N]].tolist()
        return found

    def _put(self, array: NDArray[np.int64]) -> int:
        self._parts.append(array)
        self._used += len(array)
        return self._used - len(array)

    def _put_columns(self, lines: NDArray[np.int64]) -> list[int]:
        return [self._put(line) for line in lines]


def lines_of(node: NodeParts, rows: DrawnRows) -> NDArray[np.int64]:
    """The columns of a node's instances: low, high, values, keys."""
    lines = list(_lines(node.instances, node.n_slots))
    for slot, line, reads in node.keys:
        lines.append(np.array([
            rows.keys[line, read_row(rows, values[slot], reads)] for _, _, values in node.instances
        ], np.int64))
    return np.array(lines, np.int64)


def read_row(rows: DrawnRows, value: int, reads: int) -> int:
    """The row that is read of a slot."""
    events = rows.events(value, is_kleene=reads != link_codes.SINGLE)
    return events[-1] if reads == link_codes.LAST else events[0]


def _lines(instances: Sequence[Instance], n_slots: int) -> NDArray[np.int64]:
    columns = [[low, high, *values] for low, high, values in instances]
    return np.array(columns, np.int64).reshape(len(instances), codes.VALUES + n_slots).T


def _table(lines: list[list[int]], width: int) -> NDArray[np.int64]:
    return np.array(lines, np.int64).reshape(len(lines), width)
