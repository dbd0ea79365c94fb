"""Answers by group and window, and whether two are the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.trends.online import Tally
    from benchmarks.trends.prepare import Prepared
    from benchmarks.trends.workload import Workload

Key = tuple[object, ...]
"""Where the window begins in microseconds, then the group."""
EXACT = 2.0**53
"""Doubles below are exact."""
LOST = 300.0
"""A logarithm above which other approaches may have lost trends that ended."""
CLOSE = 1e-9
"""How far logarithms and sums in doubles may be apart, relative to them."""
CLOSE_LOGARITHM = 2e-12
"""How far the engine's logarithm may be from that of an exact number: what it promises, and rounding."""


class Found(NamedTuple):
    """The number of trends, or its logarithm to base 10 if it is not exact; what is aggregated over them."""

    number: int | None
    logarithm: float
    value: float | None


Answer = dict[Key, Found]


def answer_of(prepared: Prepared, tally: Tally) -> Answer:
    """A tally by unit, summed up by group and window; those without a trend are left out."""
    aggregate = prepared.workload.aggregate
    n_groups = len(prepared.groups)
    numbers, place = np.unique(
        np.searchsorted(np.unique(prepared.unit_window), prepared.unit_window) * n_groups + prepared.unit_group,
        return_inverse=True,
    )
    windows = np.unique(prepared.unit_window)
    highest = np.zeros(len(numbers), np.int64)
    np.maximum.at(highest, place, tally.exponent)
    count, total, number = np.zeros((3, len(numbers)))
    np.add.at(count, place, np.ldexp(tally.n_trends, (tally.exponent - highest[place]).astype(np.int32)))
    np.add.at(total, place, tally.total)
    np.add.at(number, place, tally.number)
    found = {}
    for at in np.flatnonzero(count > 0).tolist():
        window, group = divmod(int(numbers[at]), n_groups)
        is_exact = not highest[at] and count[at] < EXACT
        value = None
        if aggregate is not None and number[at]:
            value = float(total[at] / number[at] if aggregate.function == "AVG" else total[at])
        begin = int(windows[window]) if prepared.workload.window is not None else None
        found[(begin, *prepared.groups[group])] = Found(
            int(count[at]) if is_exact else None, math.log10(count[at]) + highest[at] * math.log10(2), value
        )
    return found


def answer_of_engine(workload: Workload, table: pa.Table, counts: str) -> Answer:
    """What the engine gave."""
    if workload.window is None:
        begins: list[int | None] = [None] * table.num_rows
    else:
        begins = table.column("window_start").cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
    keys = zip(begins, *(table.column(name).to_pylist() for name in workload.group_by), strict=True)
    numbers = table.column("n").to_pylist()
    values = table.column("value").to_pylist() if workload.aggregate else [None] * len(numbers)
    is_log = counts == "log"
    return {
        key: Found(
            None if is_log else int(number), number if is_log else math.log10(number),
            None if value is None else float(value),
        )
        for key, number, value in zip(keys, numbers, values, strict=True)
    }


def difference(engine: Answer, other: Answer) -> str | None:
    """The first key at which answers differ, with both; None if they are the same.

    Approaches with one exponent for all counts of a unit lose those that are 2^1074 times smaller than the largest,
    ended trends among them: they may lack a number that is large enough for that.
    """
    for key in engine.keys() | other.keys():
        if key in engine and key not in other and engine[key].logarithm > LOST:
            continue
        if key not in engine or key not in other or not _is_same(engine[key], other[key]):
            return f"{key}: {engine.get(key)} and {other.get(key)}"
    return None


def _is_same(engine: Found, other: Found) -> bool:
    if (engine.value is None) != (other.value is None):
        return False
    if engine.value is not None and not math.isclose(engine.value, other.value or 0.0, rel_tol=CLOSE):
        return False
    if engine.number is not None and other.number is not None:
        return engine.number == other.number
    allowed = CLOSE if other.number is None else CLOSE_LOGARITHM
    return abs(engine.logarithm - other.logarithm) <= allowed * max(1.0, other.logarithm)


def n_trends(answer: Answer) -> str:
    """All trends, in a few digits."""
    if not answer:
        return "0"
    numbers = [found.number for found in answer.values()]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and sum(known) < 10**7:
        return f"{sum(known):,}"
    logarithms: NDArray[np.float64] = np.array([found.logarithm for found in answer.values()])
    total = logarithms.max() + math.log10(np.power(10.0, logarithms - logarithms.max()).sum())
    if total < 7:
        return f"{round(10**total):,}"
    return f"10^{total:,.1f}" if total < 10_000 else f"10^{total:,.0f}"
