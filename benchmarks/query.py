"""What one benchmark query is: its data, its text, its answer by other means, its goals, and the same by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa

Answer = dict[str, "np.ndarray[Any, Any] | pa.Array"]
"""Columns in the order of the result; partitions in the order of their first row, then matches, then rows."""


@dataclass(frozen=True)
class Query:
    """A query over one table called `t`.

    `expected` computes the answer without SparkRex. `duckdb`, `chdb` and `flink` ask the same question in the SQL of
    these engines, whose result has the same columns in any order of rows; None where they cannot, or where only a text
    much longer than the pattern could. `rate_goal` is in rows per second, `ratio_goal` in times the speed of `duckdb`.
    """

    name: str
    title: str
    make: Callable[[int], pa.Table]
    sql: str
    expected: Callable[[pa.Table], Answer]
    reads_match: bool = False
    """Whether a condition depends on the match so far, so that no automaton can decide it."""
    rate_goal: float | None = None
    kernel_goal: float | None = None
    ratio_goal: float | None = None
    duckdb: str | None = None
    chdb: str | None = None
    flink: str | None = None
