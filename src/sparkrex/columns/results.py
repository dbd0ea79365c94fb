"""Results in the library that the inputs came in: all pandas give pandas, all polars give polars, else pyarrow.

Neither library is imported unless an input is of it. Types stay what they are: a pandas frame has Arrow's dtypes, so
that no integer with a NULL becomes a float, and no date or decimal an object. Intervals, which neither library has,
become durations, as the difference of two times is one; those with months, whose length is not fixed, cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.inputs import library_of
from sparkrex.columns.values import plain
from sparkrex.errors import AnalysisError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

_INTERVAL = pa.month_day_nano_interval()
_PARTS = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
_HINT = "pass a pyarrow table, for example frame.to_arrow(), to get a pyarrow table"


def result_library(inputs: Iterable[object]) -> str:
    """The library of a result over these inputs."""
    libraries = {library_of(value) for value in inputs}
    return libraries.pop() if libraries in ({"pandas"}, {"polars"}) else "pyarrow"


def to_library(result: pa.Table, library: str) -> Any:
    """A result as a table of that library."""
    if library == "pandas":
        import pandas as pd

        def dtype(kind: pa.DataType) -> Any:
            return None if kind == _INTERVAL else pd.ArrowDtype(kind)  # pandas can show those of months as objects only

        return _with_durations(result).to_pandas(types_mapper=dtype)
    return _to_polars(_with_durations(result)) if library == "polars" else result


def _with_durations(result: pa.Table) -> pa.Table:
    """The table with intervals of days and less as durations."""
    for place, field in enumerate(result.schema):
        if field.type == _INTERVAL:
            column = _as_durations(plain(result.column(place)))
            if column is not None:
                result = result.set_column(place, field.name, column)
    return result


def _as_durations(values: pa.Array) -> pa.Array | None:
    """Intervals as durations in microseconds; None if one has months, or parts of microseconds."""
    parts = np.frombuffer(values.buffers()[1], _PARTS)[values.offset : values.offset + len(values)]
    is_null = np.asarray(values.is_null())
    known = np.where(is_null, 0, parts["months"]), np.where(is_null, 0, parts["nanoseconds"] % 1000)
    if any(part.any() for part in known):
        return None
    microseconds = parts["days"].astype(np.int64) * 86_400_000_000 + parts["nanoseconds"] // 1000
    return pa.array(microseconds, mask=is_null).cast(pa.duration("us"))


def _to_polars(result: pa.Table) -> Any:
    """The frame; what polars has no place for is refused, because there it would be a panic or another type."""
    import polars as pl

    names = result.column_names
    for name in names:
        if names.count(name) > 1:
            raise AnalysisError(
                "REX205", f"the result has two columns called {name}, which a polars frame cannot have", None, None,
                hint="tell them apart with AS",
            )
    for field in result.schema:
        if "decimal256" in str(field.type) or "interval" in str(field.type):
            raise UnsupportedError(
                "REX301", f"column {field.name} of the result is of type {field.type}, which polars does not have",
                None, None, hint=_HINT,
            )
    return pl.from_arrow(result)
