"""Comparisons of adjacent events as integers: keys that are ordered as the values are, of both sides in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import plain
from sparkrex.evaluate.joint_keys import joint_keys
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.modes.trends.kernels.machine import (
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    UNEQUAL,
    Pairs,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.plan import Adjacent, TrendQuery

OPERATORS = {"<": LESS, "<=": LESS_OR_EQUAL, ">": GREATER, ">=": GREATER_OR_EQUAL, "=": EQUAL, "<>": UNEQUAL}


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The comparisons of a query by pair of variables: `numbers` of pairs, and the comparisons of each."""

    numbers: dict[tuple[str, str], int]
    of_pairs: tuple[tuple[Adjacent, ...], ...]

    @staticmethod
    def of(query: TrendQuery) -> Comparisons:
        """Those of a query."""
        found: dict[tuple[str, str], list[Adjacent]] = {}
        for comparison in query.adjacent:
            found.setdefault((comparison.before, comparison.after), []).append(comparison)
        return Comparisons({pair: number for number, pair in enumerate(found)}, tuple(map(tuple, found.values())))

    def keys(
        self, query: TrendQuery, table: pa.Table, order: NDArray[np.int64] | None, evaluator: Evaluator
    ) -> Pairs:
        """The keys of a table's rows, put in order."""
        every = [comparison for pair in self.of_pairs for comparison in pair]
        sides = list(dict.fromkeys(side for one in every for side in (one.left, one.right)))
        values = dict(zip(sides, map(plain, project_rows(sides, table, evaluator)), strict=True))
        n_rows = table.num_rows if order is None else len(order)
        left = np.empty((len(every), n_rows), np.int64)
        right = np.empty((len(every), n_rows), np.int64)
        known: dict[tuple[object, object], tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for place, one in enumerate(every):
            if (one.left, one.right) not in known:
                found = joint_keys(values[one.left], values[one.right], query.source, one.span or query.span)
                known[one.left, one.right] = (put_in_order(found[0], order), put_in_order(found[1], order))
            left[place], right[place] = known[one.left, one.right]
        offsets = np.cumsum([0, *map(len, self.of_pairs)], dtype=np.int64)
        return Pairs(offsets, np.array([OPERATORS[one.operator] for one in every], np.int64), left, right)
