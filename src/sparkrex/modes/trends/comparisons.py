"""Comparisons of adjacent events as integers: keys that are ordered as the values are, of both sides in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import kind_of, nulls_of, numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.modes.trends.kernels.machine import (
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    NULL_KEY,
    UNEQUAL,
    Pairs,
)
from sparkrex.modes.trends.weights import order_keys

if TYPE_CHECKING:
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
                found = _joint_keys(values[one.left], values[one.right], one, query)
                known[one.left, one.right] = (put_in_order(found[0], order), put_in_order(found[1], order))
            left[place], right[place] = known[one.left, one.right]
        offsets = np.cumsum([0, *map(len, self.of_pairs)], dtype=np.int64)
        return Pairs(offsets, np.array([OPERATORS[one.operator] for one in every], np.int64), left, right)


def _joint_keys(
    left: pa.Array, right: pa.Array, comparison: Adjacent, query: TrendQuery
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    left, right = _of_one_type(left, right, comparison, query)
    kind = kind_of(left.type)
    if kind is not None and kind.name != "string":
        keys = order_keys(left), order_keys(right)
        if all(not len(side) or int(side.min()) > int(NULL_KEY) for side in keys):
            return _with_null(keys[0], left), _with_null(keys[1], right)
    if pa.types.is_nested(left.type):
        raise UnsupportedError(
            "REX301", f"a comparison of adjacent events by values of type {left.type}", query.source,
            comparison.span or query.span, hint="compare a part of it",
        )
    # By the order of all values that occur.
    both = pa.concat_arrays([left, right]).dictionary_encode()
    order = numpy_of(pc.array_sort_indices(both.dictionary).cast(pa.int64()))
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    codes = ranks[numpy_of(both.indices.cast(pa.int64()).fill_null(len(order)))]
    return _with_null(codes[: len(left)], left), _with_null(codes[len(left) :], right)


def _with_null(keys: NDArray[np.int64], values: pa.Array) -> NDArray[np.int64]:
    return np.where(nulls_of(values) == 1, NULL_KEY, keys) if values.null_count else keys


def _of_one_type(
    left: pa.Array, right: pa.Array, comparison: Adjacent, query: TrendQuery
) -> tuple[pa.Array, pa.Array]:
    """Both sides in the type that hosts compare them in."""
    one, other = left.type, right.type
    if one == other:
        return left, right
    target: pa.DataType | None = None
    if pa.types.is_null(one) or pa.types.is_null(other):
        target = other if pa.types.is_null(one) else one
    elif all(_is_number(kind) for kind in (one, other)):
        target = _number_type(one, other)
    elif all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in (one, other)):
        zones = {kind.tz for kind in (one, other) if pa.types.is_timestamp(kind)}
        units = {kind.unit for kind in (one, other) if pa.types.is_timestamp(kind)}
        if len(zones) == 1:
            target = pa.timestamp("ns" if "ns" in units else "us", zones.pop())
    elif all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in (one, other)):
        target = pa.large_string()
    if target is None:
        raise AnalysisError(
            "REX214", f"a {one} and a {other} cannot be compared", query.source, comparison.span or query.span,
            hint="cast one of them",
        )
    return _cast(left, target), _cast(right, target)


def _cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(values.type) and pa.types.is_floating(target):
        from sparkrex.columns.values import floats_of

        return wrap(floats_of(values), nulls_of(values) == 1)
    return pc.cast(values, target, safe=not pa.types.is_floating(target))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(one) or pa.types.is_floating(other):
        return pa.float64()
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return pa.int64()
    scale = max(kind.scale for kind in (one, other) if pa.types.is_decimal(kind))
    return pa.decimal128(38, scale)
