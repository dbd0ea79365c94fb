"""Arrow columns as positions on an axis: doubles, NaN where there is no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import floats_of, ints_of, nulls_of, numpy_of, plain
from sparkrex.errors import AnalysisError
from sparkrex.pictures.picture import Axis, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Positions = NDArray[np.float64]

_DAY = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MOST_CATEGORIES = 12
"""Texts that have a line of their own on the y axis; the others share one."""


def is_number(kind: pa.DataType) -> bool:
    """Whether values can be drawn by their size."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_time(kind: pa.DataType) -> bool:
    """Whether values are days or moments."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether values are names."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind))


def make_axis(name: str, columns: Sequence[pa.ChunkedArray]) -> tuple[Axis, list[Positions]]:
    """The axis of a column, given in parts, and the positions of all its values."""
    arrays = [plain(column) for column in columns]
    kind = arrays[0].type if arrays else pa.float64()
    if is_number(kind):
        grain = 1.0 if pa.types.is_integer(kind) else 0.0
        return Axis(name, grain=grain), [_with_gaps(array, floats_of(array)) for array in arrays]
    if is_time(kind):
        return _times(name, kind, arrays)
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        unit = _PER_SECOND[kind.unit]
        return Axis(f"{name} (seconds)"), [_with_gaps(array, ints_of(array) / unit) for array in arrays]
    if is_text(kind):
        return _categories(name, arrays)
    raise AnalysisError(
        "REX202", f"column {name} is of type {kind}, which has no place on an axis", None, None,
        hint="draw a column of numbers, times or texts",
    )


def _with_gaps(array: pa.Array, values: NDArray[Any]) -> Positions:
    if not array.null_count:
        return values.astype(np.float64, copy=False)
    values = values.astype(np.float64)
    values[nulls_of(array).view(np.bool_)] = np.nan
    return values


def _times(name: str, kind: pa.DataType, arrays: list[pa.Array]) -> tuple[Axis, list[Positions]]:
    unit = _PER_SECOND[kind.unit] if pa.types.is_timestamp(kind) else 1
    unit = 1000 if pa.types.is_date64(kind) else unit
    integers = [ints_of(array) * (_DAY if pa.types.is_date32(kind) else 1) for array in arrays]
    known = [values[~nulls_of(array).view(np.bool_)] for array, values in zip(arrays, integers, strict=True)]
    least = min((int(values.min()) for values in known if len(values)), default=0)
    origin = least // unit // _DAY * _DAY
    is_zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    positions = [
        _with_gaps(array, (values - origin * unit) / unit) for array, values in zip(arrays, integers, strict=True)
    ]
    grain = float(_DAY) if pa.types.is_date(kind) else 0.0
    return Axis(f"{name} (UTC)" if is_zoned else name, Scale.TIME, origin, grain=grain), positions


def _categories(name: str, arrays: list[pa.Array]) -> tuple[Axis, list[Positions]]:
    texts = [array.cast(pa.string()) for array in arrays]
    counted = pc.value_counts(pa.chunked_array(texts, pa.string()).drop_null())
    counts = sorted(
        zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True),
        key=lambda one: -one[1],
    )
    named = sorted(text for text, _ in counts[:MOST_CATEGORIES])
    shown = tuple(named) if len(counts) <= MOST_CATEGORIES else (*named, f"{len(counts) - len(named):,} others")
    positions = []
    for array in texts:
        codes = numpy_of(pc.fill_null(pc.index_in(array, value_set=pa.array(named, pa.string())), len(named)))
        positions.append(_with_gaps(array, codes.astype(np.float64)))
    return Axis(name, Scale.CATEGORY, categories=shown), positions


def position_of(axis: Axis, kind: pa.DataType, value: object) -> float:
    """Where a value that a user gave stands on an axis; texts are read as times."""
    try:
        scalar = pa.scalar(value)
        if is_time(kind):
            is_zoned = pa.types.is_timestamp(kind) and kind.tz is not None
            target = pa.timestamp("us", "UTC" if is_zoned else None)
            if is_zoned and isinstance(value, str) and not _has_zone(value):
                scalar = pa.scalar(f"{value}Z")
            elif is_zoned and pa.types.is_timestamp(scalar.type) and scalar.type.tz is None:
                scalar = pa.scalar(scalar.cast(pa.int64()).as_py(), pa.timestamp(scalar.type.unit, "UTC"))
            return float((scalar.cast(target).cast(pa.int64()).as_py() - axis.origin * 10**6) / 10**6)
        return float(scalar.cast(pa.float64()).as_py())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise AnalysisError(
            "REX202", f"{value!r} is no value of {axis.name}, which is of type {kind}", None, None,
            hint="give numbers for a column of numbers, and datetimes or ISO texts for times",
        ) from error


def _has_zone(text: str) -> bool:
    return text.endswith("Z") or "+" in text or text[10:].count("-") > 0
