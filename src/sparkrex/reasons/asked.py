"""What `rex.why` is asked about: which partition, which row."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, UnsupportedError, nearest
from sparkrex.matching.row_values import row_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.plan import Plan


@dataclass(frozen=True, slots=True)
class Asked:
    """`key` are values of PARTITION BY by name, None for all partitions; `at` is a row or a time, None for all rows."""

    key: Mapping[str, Any] | None = None
    at: Any = None


def refuse_row(plan: Plan, asked: Asked, what: str) -> None:
    """Refuse to be asked about one row."""
    if asked.at is not None:
        raise UnsupportedError(
            "REX301", f"at= is a start of a row pattern, and this is {what}", plan.source, plan.span,
            hint="leave it out", command_hint="leave --at out",
        )


def rows_of_key(plan: Plan, table: pa.Table, evaluator: Evaluator, asked: Asked) -> pa.Table:
    """The rows of the partitions that are asked about."""
    if not asked.key:
        return table
    chosen = key_places(plan, asked.key)
    columns = row_values([plan.partition_by[place].expression for place in chosen], table, evaluator)
    kept: NDArray[np.bool_] = np.ones(table.num_rows, np.bool_)
    for column, place in zip(columns, chosen, strict=True):
        kept &= _is_value(column, chosen[place], plan, plan.partition_by[place].name)
    if not kept.any() and table.num_rows:
        shown = ", ".join(f"{name} = {value!r}" for name, value in asked.key.items())
        raise AnalysisError(
            "REX240", f"no row has {shown}", plan.source, plan.span, hint=_some_keys(columns, plan, list(chosen)),
        )
    return table.take(wrap(np.flatnonzero(kept)))


def key_places(plan: Plan, key: Mapping[str, Any]) -> dict[int, Any]:
    """The value asked for, by place in PARTITION BY."""
    names = [one.name for one in plan.partition_by]
    found: dict[int, Any] = {}
    for name, value in key.items():
        matching = [place for place, known in enumerate(names) if known.lower() == name.lower()]
        if not matching:
            raise AnalysisError(
                "REX240", f"key= names {name}, and PARTITION BY has {', '.join(names) or 'nothing'}", plan.source,
                plan.span, hint=nearest(name, names) or ("leave key= out" if not names else None),
            command_hint=nearest(name, names) or ("leave --key out" if not names else None),
            )
        found[matching[0]] = value
    return found


def _is_value(column: pa.ChunkedArray, value: Any, plan: Plan, name: str) -> NDArray[np.bool_]:
    """Where a key has a value; NULL is one."""
    if value is None:
        return np.asarray(pc.is_null(column), np.bool_)
    return np.asarray(pc.fill_null(pc.equal(column, _scalar(column.type, value, plan, name)), False), np.bool_)


def _scalar(kind: pa.DataType, value: Any, plan: Plan, name: str) -> pa.Scalar:
    """A value as a column of that type has it. A time without a zone is one of the column's zone."""
    try:
        scalar = pa.scalar(value)
        if pa.types.is_timestamp(kind) and kind.tz is not None and getattr(scalar.type, "tz", None) is None:
            return pc.assume_timezone(scalar.cast(pa.timestamp(kind.unit)), kind.tz)
        return scalar if scalar.type == kind else scalar.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise AnalysisError(
            "REX240", f"{value!r} is no value of {name}, which is of type {kind}", plan.source, plan.span,
        ) from error


def _some_keys(columns: Sequence[pa.ChunkedArray], plan: Plan, places: Sequence[int]) -> str:
    """A few keys that there are."""
    first = pa.table({plan.partition_by[place].name: column for place, column in zip(places, columns, strict=True)})
    seen = dict.fromkeys(tuple(row.values()) for row in first.slice(0, 1_000).to_pylist())
    shown = [", ".join(f"{name} = {value!r}" for name, value in zip(first.column_names, key, strict=True))
             for key in list(seen)[:3]]
    return f"there is {'; '.join(shown)}" + ("; ..." if len(seen) > len(shown) else "")


def place_of(plan: Plan, asked: Asked, times: pa.ChunkedArray | None, offsets: NDArray[np.int64]) -> int | None:
    """The position of the row asked about, None if none is.

    `times` has the first column of ORDER BY in order, and `offsets` cuts the rows into partitions.
    """
    at = asked.at
    if at is None:
        return None
    n_rows, n_partitions = int(offsets[-1]), len(offsets) - 1
    if isinstance(at, Integral) and not isinstance(at, bool):
        if n_partitions != 1:
            raise AnalysisError(
                "REX240", f"at={at} is a row of a partition, and there are {n_partitions:,}", plan.source, plan.span,
                hint="name one: key={...}; or give a time",
                command_hint="name one: --key NAME=VALUE; or give a time",
            )
        number = int(at)
        if not 1 <= number <= n_rows:
            raise AnalysisError(
                "REX240", f"at={at}, and the partition has {n_rows:,} rows, counted from 1", plan.source, plan.span,
            )
        return number - 1
    if times is None:
        raise AnalysisError(
            "REX240", f"at={at!r} is a time, and the query has no ORDER BY", plan.source, plan.span,
            hint="give the number of a row, counted from 1",
        )
    name = plan.order_by[0].column or str(plan.order_by[0].expression)
    places = np.flatnonzero(_is_value(times, at, plan, name))
    if len(places):
        return int(places[0])
    behind = np.asarray(pc.fill_null(pc.greater(times, _scalar(times.type, at, plan, name)), False), np.bool_)
    near = int(np.flatnonzero(behind)[0]) if behind.any() else n_rows - 1
    raise AnalysisError(
        "REX240", f"no row has {name} = {at!r}", plan.source, plan.span,
        hint=f"near it is {times[near].as_py()!r}" if n_rows else None,
    )
