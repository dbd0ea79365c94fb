"""Results in the library that the inputs came in: all pandas give pandas, all polars give polars, else pyarrow.

Neither library is imported unless an input is of it. Types stay what they are: a pandas frame has Arrow's dtypes, so
that no integer with a NULL becomes a float, and no date or decimal an object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import library_of
from sparkrex.errors import AnalysisError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

_HINT = "pass a pyarrow table, for example frame.to_arrow(), to get a pyarrow table"


def result_library(inputs: Iterable[object]) -> str:
    """The library of a result over these inputs."""
    libraries = {library_of(value) for value in inputs}
    return libraries.pop() if libraries in ({"pandas"}, {"polars"}) else "pyarrow"


def to_library(result: pa.Table, library: str) -> Any:
    """A result as a table of that library."""
    if library == "pandas":
        import pandas as pd

        return result.to_pandas(types_mapper=pd.ArrowDtype)
    return _to_polars(result) if library == "polars" else result


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
