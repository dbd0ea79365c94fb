"""Random buffers of nodes and unions, and their histories one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.events.kernels.arguments import Nodes
from sparkrex.modes.events.kernels.matches import UNION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.events.kernels.letters import EventRows


def drawn_buffer(seed: int, most: int = 14) -> Nodes:
    """Nodes and unions, each over nodes before it."""
    generator = np.random.default_rng(seed)
    rows: list[Any] = []
    for n in range(int(generator.integers(1, most))):
        if n >= 2 and generator.random() < 0.3:
            left, right = generator.choice(n, 2, replace=False).tolist()
            youngest = max(rows[left][4], rows[right][4])
            rows.append((max(rows[left][0], rows[right][0]), UNION, left, right, youngest))
        else:
            before = int(generator.integers(-1, n)) if n else -1
            row = n if before < 0 else max(n, rows[before][0] + 1)
            rows.append((row, int(generator.integers(0, 3)), before, -1, row if before < 0 else rows[before][4]))
    columns = list(zip(*rows, strict=True))
    types = (np.int64, np.int16, np.int64, np.int64, np.int64)
    return Nodes._make(np.array(column, kind) for column, kind in zip(columns, types, strict=True))


def copy_to_front(arrays: Iterable[Any], longer: Iterable[Any]) -> None:
    """Write arrays into the first places of longer ones."""
    for array, into in zip(arrays, longer, strict=True):
        into[: len(array)] = array


def histories(nodes: Nodes, node: int) -> list[EventRows]:
    """All ways from the first events to a node."""
    if node < 0:
        return [()]
    before = histories(nodes, int(nodes.before[node]))
    if nodes.label[node] == UNION:
        return before + histories(nodes, int(nodes.other[node]))
    event = (int(nodes.row[node]), int(nodes.label[node]))
    return [(*history, event) for history in before]


def youngest_history(nodes: Nodes, node: int) -> EventRows:
    """The one that began last; of two, the one that stands first."""
    if node < 0:
        return ()
    before = int(nodes.before[node])
    if nodes.label[node] != UNION:
        return (*youngest_history(nodes, before), (int(nodes.row[node]), int(nodes.label[node])))
    other = int(nodes.other[node])
    return max((youngest_history(nodes, side) for side in (before, other)), key=lambda history: history[0][0])
