"""A user's class as an aggregate: plain NumPy in, numbers out; NULLs and segments are taken care of here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Cost, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions


class UserDefined(Aggregate):
    """Calls the user's `scan` for each segment, or `index` once and `lookup` for all.

    A value that is None, NaN or infinite, or divides by zero, is NULL. Where a column has NULLs there is no index:
    positions would shift.
    """

    def __init__(self, name: str, user: Any, cost: Cost) -> None:
        if not callable(getattr(user, "scan", None)):
            raise TypeError(f"{name} has no method scan")
        if hasattr(user, "index") != hasattr(user, "lookup"):
            raise TypeError(f"{name} has only one of index and lookup")
        self.name = name.lower()
        self.cost = cost
        self.user = user
        self.arity = len(inspect.signature(user.scan).parameters)

    @property
    def has_index(self) -> bool:
        """Whether values may come from an index."""
        return hasattr(self.user, "index")

    def scan(self, columns: Columns, start: int, end: int) -> Any:
        """See the protocol."""
        return self._value([values[start : end + 1] for values in columns])

    def _value(self, given: list[NDArray[Any]]) -> Any:
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                return self.user.scan(*given)
        except ZeroDivisionError:
            return None

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        marks = null_marks(*nulls)
        for k, (first, last) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
            given = [values[first : last + 1] for values in columns]
            if len(marks):
                given = [part[marks[first : last + 1] == 0] for part in given]
            try:
                value = self._value(given) if len(given[0]) else None
                result[k] = 0.0 if value is None else value
            except Exception as error:
                raise self._failure_of("scan", error, first) from error
            is_null[k] = value is None
        return _without_oddities(result, is_null)

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> Any | None:
        """See the protocol."""
        if not self.has_index or len(null_marks(*nulls)):
            return None
        try:
            return self.user.index(*columns)
        except Exception as error:
            raise self._failure_of("index", error) from error

    def lookup(self, index: Any, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                result = np.asarray(self.user.lookup(index, start, end), np.float64)
            if result.shape != start.shape:
                raise TypeError(f"{result.shape} values for {start.shape} segments")
        except Exception as error:
            raise self._failure_of("lookup", error) from error
        return _without_oddities(result, np.zeros(len(start), np.bool_))

    def _failure_of(self, method: str, error: Exception, row: int | None = None) -> ExecutionError:
        failed = ExecutionError("REX411", f"{method} of {self.name}: {type(error).__name__}: {error}", None, None)
        failed.row = row
        return failed


def _without_oddities(result: Any, is_null: Any) -> Values:
    is_null |= ~np.isfinite(result)
    return np.where(is_null, 0.0, result), is_null
