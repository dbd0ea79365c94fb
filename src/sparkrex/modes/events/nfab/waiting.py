"""Ends of matches that wait: because rows to come decide about them, or because of one that does in front of them.

Matches of a partition come in the order of their ends, however the rows are cut into feeds. So no match is given before
one whose end is in front of its own is decided. On a stream matches have no order, and each comes when it is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.events.kernels.arguments import Waiting

if TYPE_CHECKING:
    from numpy.typing import NDArray


def set_aside(
    place: NDArray[np.int64], row: NDArray[np.int64], is_open: NDArray[np.uint8], waits: NDArray[np.bool_], *,
    together: bool, in_order: bool,
) -> NDArray[np.bool_]:
    """Which ends wait: those that are open, and, where matches come in order, all behind one in their partition.

    Parameters
    ----------
    place, row, is_open : of ends in order: partition, last row, whether rows to come decide
    waits : by partition, whether an end in front of these waits; written
    together : whether all ends of one last row wait if one does. One match may have several of them, and is given once
    """
    if not in_order:
        is_found = is_open.astype(np.bool_)
        return is_found | np.isin(row, row[is_found]) if together else is_found
    n_partitions = len(waits)
    first_open = np.full(n_partitions, len(place), np.int64)
    open_ends = np.flatnonzero(is_open)
    np.minimum.at(first_open, place[open_ends], open_ends)
    found: NDArray[Any] = waits[place] | (np.arange(len(place)) >= first_open[place])
    if together and len(open_ends):
        least = np.append(row, np.iinfo(np.int64).max)[first_open]
        found |= row >= least[place]
    waits[place[found]] = True
    return found


def select_ends(waiting: Waiting, which: NDArray[np.bool_]) -> Waiting:
    """Some of the ends."""
    return Waiting._make(array[which] for array in waiting)


def join_ends(waiting: Waiting, more: Waiting) -> Waiting:
    """More ends behind those that wait."""
    pairs = zip(_arrays(waiting), _arrays(more), strict=True)
    return Waiting._make(np.concatenate([one, other]) for one, other in pairs)


def _arrays(waiting: Waiting) -> tuple[NDArray[Any], ...]:
    return tuple(waiting)
