"""Calls of aggregates over segments: whose segments, which columns; the values over many segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.wrap import wrap
from sparkrex.evaluate.row_kinds import CannotVectoriseError
from sparkrex.modes.segments.aggregates.contract import CostClass
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.operators.decimals import DOUBLES, form_for
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ColumnAt, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import SegmentAggregate, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions
    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.modes.segments.operators.series import Column

_ROWS_AT_ONCE = 1 << 24
"""Rows that even the slowest scan is through with in about a second."""
_SHORT = 0.05
"""Seconds of a part beyond which the next one does not get larger."""


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate with its columns, over the segments of one or two variables; of none, over the whole match."""

    aggregate: SegmentAggregate
    columns: tuple[str, ...]
    variables: tuple[str, ...]
    form: str = DOUBLES
    """As what it reads a column of decimals (see `decimals`)."""


def call_of(node: Aggregate) -> AggregateCall:
    """The call that a node of a condition or measure makes. Its arguments are columns (see `arguments`)."""
    aggregate = find(node.function)
    if aggregate is None or node.filter is not None or node.is_distinct:
        raise CannotVectoriseError(f"aggregate {node.function}")
    constants = tuple(argument.value for argument in node.arguments if isinstance(argument, Literal))
    columns: list[str] = []
    variables: list[str] = []
    for argument in node.arguments:
        if isinstance(argument, Literal):
            continue
        if not isinstance(argument, ColumnAt):
            raise CannotVectoriseError(f"{node.function} of an expression")
        columns.append(argument.column)
        if argument.target != EACH_ROW and argument.target.variables is not None:
            variables += sorted(argument.target.variables)
    if aggregate.n_segments == 1 or len(variables) != aggregate.n_segments:
        variables = sorted(node.variables or ())
    return AggregateCall(aggregate.bound(constants) if constants else aggregate, tuple(columns), tuple(variables))


def over_segments(
    aggregate: SegmentAggregate, segments: Sequence[Binding], compute: Callable[[Sequence[Binding]], Values]
) -> Values:
    """The values where the segments are there. Over none everything is NULL but a count, which is 0."""
    is_there = np.ones(len(segments[0][0]), np.bool_)
    for first, _ in segments:
        is_there &= first >= 0
    if is_there.all():
        return compute(segments)
    places = np.flatnonzero(is_there)
    found, found_null = compute([(first[places], last[places]) for first, last in segments])
    values = np.zeros(len(is_there), found.dtype)
    is_null = np.full(len(is_there), aggregate.name != "count")
    values[places], is_null[places] = found, found_null
    return values, is_null


def in_parts(compute: Callable[..., Values], *bounds: NDArray[np.int64]) -> Values:
    """The values over segments, their first and last rows, some at a time: in between, a search can be given up.

    A scan reads all rows of a segment, a lookup sometimes does. Parts grow while they take no time; the values are the
    same however they are cut.
    """
    n_segments = len(bounds[0])
    longest = sum(int((end - start).max(initial=0)) + 1 for start, end in zip(bounds[::2], bounds[1::2], strict=True))
    n_at_once = max(1, _ROWS_AT_ONCE // longest)
    if n_segments <= n_at_once:
        return compute(*bounds)
    parts: list[Values] = []
    begin = 0
    while begin < n_segments:
        begun = perf_counter()
        parts.append(compute(*(bound[begin : begin + n_at_once] for bound in bounds)))
        begin += n_at_once
        if perf_counter() - begun < _SHORT:
            n_at_once *= 4
    values, is_null = zip(*parts, strict=True)
    return np.concatenate(values), np.concatenate(is_null)


def measured(
    aggregate: SegmentAggregate, columns: Sequence[Column], segments: Sequence[Binding], partitions: Partitions
) -> pa.Array:
    """The values of a measure, by lookup if the segments together have more rows than an index is made of."""
    values = arguments_of(aggregate, columns)
    nulls = tuple(column.nulls for column in columns)

    def compute(segments: Sequence[Binding]) -> Values:
        if len(segments) == 2:
            return in_parts(partial(aggregate.scan_pairs, values, nulls), *segments[0], *segments[1])
        start, end = segments[0]
        index: Any = None
        is_linear = aggregate.cost.index is CostClass.LINEAR
        if aggregate.needs_index or (is_linear and int((end - start + 1).sum()) > partitions.offsets[-1]):
            index = aggregate.index(values, nulls, partitions, None)
        if index is None:
            return in_parts(partial(aggregate.scan_many, values, nulls, partitions), start, end)
        return in_parts(partial(aggregate.lookup, index), start, end)

    return as_measure(over_segments(aggregate, segments, compute))


def arguments_of(aggregate: SegmentAggregate, columns: Sequence[Column]) -> tuple[NDArray[Any], ...]:
    """The columns as an aggregate that is a measure reads them. Those that are decimals are the host's."""
    decimals = columns[0].decimals if columns else None
    form = DOUBLES if decimals is None else form_for(aggregate.name, decimals.values.type)
    return tuple(column.form(form) for column in columns)


def as_measure(values: Values) -> pa.Array:
    """Doubles, or booleans; Spark must know the type beforehand."""
    found, is_null = values
    return wrap(found if found.dtype == np.bool_ else found.astype(np.float64, copy=False), is_null)
