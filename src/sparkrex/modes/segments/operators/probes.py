"""The cache of a probe operator: each row, with the segments referred to from there, is probed once a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.modes.segments.kernels.probes import shared_probes
from sparkrex.modes.segments.operators.arrays import sorted_groups, taken

if TYPE_CHECKING:
    from sparkrex.modes.segments.operators.contract import Binding, Rows

_SPARSE = 64
"""A table of all rows from the first probed to the last is kept unless there are so many times more of them."""


class Probes(NamedTuple):
    """Rows to probe and from where to where the other end may be; `place` says which of them answers each request."""

    rows: Rows
    low: Rows
    high: Rows
    bindings: dict[str, Binding]
    place: Rows


def shared(rows: Rows, low: Rows, high: Rows, bindings: dict[str, Binding]) -> Probes:
    """Requests as probes: those of one row and the same bindings become one, whose range has all of theirs.

    So what a probe finds must be held against the range of each request. An empty range asks for nothing: place -1.
    """
    if bindings:
        return _by_order(rows, low, high, bindings)
    if not len(rows):
        return Probes(rows, low, high, bindings, rows)
    first = int(rows.min())
    n_rows = int(rows.max()) - first + 1
    if n_rows > _SPARSE * len(rows):
        return _by_order(rows, low, high, bindings)
    n, probed, lows, highs, place = shared_probes(rows, low, high, first, n_rows)
    return Probes(probed[:n], lows[:n], highs[:n], bindings, place)


def _by_order(rows: Rows, low: Rows, high: Rows, bindings: dict[str, Binding]) -> Probes:
    place = np.full(len(rows), -1, np.int64)
    asked = np.flatnonzero(low <= high)
    if not len(asked):
        return Probes(rows[asked], low[asked], high[asked], taken(bindings, asked, bindings), place)
    keys = [rows[asked]]
    for name in sorted(bindings):
        keys += (bindings[name][0][asked], bindings[name][1][asked])
    order, is_new = sorted_groups(keys)
    place[asked[order]] = np.cumsum(is_new) - 1
    begins = np.flatnonzero(is_new)
    ordered_places = asked[order]
    firsts = ordered_places[begins]
    return Probes(
        rows[firsts], np.minimum.reduceat(low[ordered_places], begins),
        np.maximum.reduceat(high[ordered_places], begins), taken(bindings, firsts, bindings), place,
    )
