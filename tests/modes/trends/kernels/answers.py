"""Counts of plain queries over streams that are written down, by an algorithm that is asked for."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.modes.trends.kernels.long_streams import always_compiled

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}
"""Comparisons of values that are not NULL."""


def holds(sign: str, one: int | None, other: int | None) -> bool:
    """A comparison of SQL."""
    return one is not None and other is not None and OPERATORS[sign](one, other)


def table(kinds: str, values: Sequence[int | None] | None = None, times: Sequence[int] | None = None) -> pa.Table:
    """One event for every letter."""
    n_rows = len(kinds)
    return pa.table({
        "ts": pa.array(range(n_rows) if times is None else times, pa.int64()), "kind": list(kinds),
        "x": pa.array([0] * n_rows if values is None else values, pa.int64()),
    })


def count(stream: pa.Table, pattern: str, semantics: str, matcher: str, where: str = "", counts: Any = "exact") -> Any:
    """COUNT(*), compiled; 0 if there is no trend."""
    text = f"RETURN COUNT(*) AS n PATTERN {pattern} SEMANTICS {semantics} {where and f'WHERE {where}'}"
    with always_compiled():
        found = rex.trends(text, stream, time="ts", type="kind", counts=counts, settings={"matcher": matcher})
    return found["n"][0].as_py() if found.num_rows else 0


def is_count(found: Any, expected: int, counts: str) -> bool:
    """Whether a count is the exact one, as far as a logarithm tells."""
    if counts != "log":
        return int(found) == expected
    if not expected:
        return bool(found == 0)
    logarithm = math.log10(expected)
    return bool(abs(found - logarithm) <= 1e-12 * max(1.0, logarithm))


def drawn_values(random: np.random.Generator, n_values: int, n_different: int, nulls: float = 0.05) -> list[int | None]:
    """Values of which some are NULL."""
    drawn = random.integers(0, n_different, n_values).tolist()
    return [None if random.random() < nulls else value for value in drawn]
