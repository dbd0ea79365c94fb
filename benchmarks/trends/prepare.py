"""What the approaches that the engine is compared with read: events as arrays, cut into partitions and windows.

None of this is part of their times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.trends.workload import SECOND, SEMANTICS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.trends.workload import Workload


class Events(NamedTuple):
    """One entry per event, partition after partition, each in order of time.

    Bit v of `codes` says whether it may be bound to variable v. Of two adjacent events that are compared, the earlier
    one's `left` must be below the later one's `right`. `weights` are aggregated where `is_weighted`.
    """

    codes: NDArray[np.uint8]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    weights: NDArray[np.float64]
    is_weighted: NDArray[np.bool_]


class Units(NamedTuple):
    """A unit is a partition in a window: its events are from `first` to `end`, all of one window stand together."""

    first: NDArray[np.int64]
    end: NDArray[np.int64]


class Machine(NamedTuple):
    """The pattern: which variables follow which, are followed, compared, begin or end trends, or are aggregated."""

    semantics: int
    follows: NDArray[np.bool_]
    is_continued: NDArray[np.bool_]
    is_compared: NDArray[np.bool_]
    starts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    has_weight: NDArray[np.bool_]
    has_aggregate: bool


@dataclass(frozen=True, eq=False, slots=True)
class Prepared:
    """A workload over a stream. `unit_window` is where a unit's window begins, `unit_group` the row of its group."""

    workload: Workload
    n_events: int
    events: Events
    units: Units
    machine: Machine
    window_offsets: NDArray[np.int64]
    unit_window: NDArray[np.int64]
    unit_group: NDArray[np.int64]
    groups: list[tuple[object, ...]]

    @property
    def n_variables(self) -> int:
        """Of the pattern."""
        return len(self.machine.starts)


def prepare(workload: Workload, table: pa.Table) -> Prepared:
    """The table is in order of time."""
    if workload.partition_by:
        partition, groups, group_of = _partitions(workload, table)
    else:
        partition, groups, group_of = np.zeros(table.num_rows, np.int64), [()], np.zeros(1, np.int64)
    events, is_kept = _evaluate(workload, table)
    times = _times(table.column(workload.time))
    order = np.flatnonzero(is_kept)
    order = order[np.argsort(partition[order], kind="stable")]
    partition, times = partition[order], times[order]
    if (np.diff(times)[np.diff(partition) == 0] <= 0).any():
        raise ValueError("events of a partition are not in order of time, or have the same time")
    first, end, unit_partition, unit_window = _units(workload, partition, times)
    in_windows = np.lexsort((unit_partition, unit_window))
    unit_window = unit_window[in_windows]
    starts = np.flatnonzero(np.diff(unit_window, prepend=unit_window[:1] - 1))
    return Prepared(
        workload, table.num_rows, _taken(events, order),
        Units(first[in_windows], end[in_windows]), _machine(workload), np.append(starts, len(unit_window)),
        unit_window, group_of[unit_partition[in_windows]], groups,
    )


def _times(column: pa.ChunkedArray) -> NDArray[np.int64]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    found: NDArray[np.int64] = column.cast(pa.int64()).to_numpy()
    return found


def _codes(column: pa.ChunkedArray) -> NDArray[np.int64]:
    chunk = column.combine_chunks()
    chunk = chunk if isinstance(chunk, pa.DictionaryArray) else chunk.dictionary_encode()
    found: NDArray[np.int64] = chunk.indices.to_numpy().astype(np.int64)
    return found


def _partitions(
    workload: Workload, table: pa.Table
) -> tuple[NDArray[np.int64], list[tuple[object, ...]], NDArray[np.int64]]:
    """Of every event the partition, the values of every group, and the group of every partition."""
    codes = np.zeros(table.num_rows, np.int64)
    for name in workload.partition_by:
        column = _codes(table.column(name))
        codes = codes * (column.max(initial=0) + 1) + column
    _, first_row, partition = np.unique(codes, return_index=True, return_inverse=True)
    keys = table.select(workload.group_by).take(pa.array(first_row)).to_pylist()
    numbers: dict[tuple[object, ...], int] = {}
    group_of = [numbers.setdefault(tuple(key.values()), len(numbers)) for key in keys]
    return partition, list(numbers), np.array(group_of, np.int64)


def _evaluate(workload: Workload, table: pa.Table) -> tuple[Events, NDArray[np.bool_]]:
    """The events in the table's order, and which of them take part: those of a named type that fit nothing do not."""
    aggregate, comparison = workload.aggregate, workload.comparison
    sign = "-" if comparison is not None and comparison.operator == ">" else ""
    selected = {
        f"fits{number}": f"coalesce(({step.condition.format('') if step.condition else 'true'})"
        + (f" AND {workload.type} = '{step.type}', false)" if workload.type else ", false)")
        for number, step in enumerate(workload.steps)
    }
    names = ", ".join(f"'{step.type}'" for step in workload.steps)
    selected["is_named"] = f"{workload.type} IN ({names})" if workload.type else "true"
    selected["left_value"] = f"{sign}({comparison.left.format('')})" if comparison else "0.0"
    selected["right_value"] = f"{sign}({comparison.right.format('')})" if comparison else "0.0"
    selected["weight"] = aggregate.argument.format("") if aggregate else "NULL"
    items = ", ".join(f"{text} AS {name}" for name, text in selected.items())
    with duckdb.connect() as connection:
        connection.register("stream", table)
        found = connection.sql(f"SELECT {items} FROM stream").to_arrow_table()
    codes = np.zeros(table.num_rows, np.uint8)
    for number in range(len(workload.steps)):
        codes |= found.column(f"fits{number}").to_numpy().astype(np.uint8) << np.uint8(number)
    weights = found.column("weight").cast(pa.float64()).combine_chunks()
    events = Events(
        codes, _reals(found.column("left_value")), _reals(found.column("right_value")),
        weights.fill_null(0.0).to_numpy(), weights.is_valid().to_numpy(zero_copy_only=False),
    )
    return events, (codes > 0) | ~found.column("is_named").to_numpy().astype(np.bool_)


def _taken(events: Events, order: NDArray[np.int64]) -> Events:
    codes, left, right, weights, is_weighted = events
    return Events(codes[order], left[order], right[order], weights[order], is_weighted[order])


def _reals(column: pa.ChunkedArray) -> NDArray[np.float64]:
    found: NDArray[np.float64] = column.cast(pa.float64()).to_numpy()
    return found


def _units(
    workload: Workload, partition: NDArray[np.int64], times: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First and end event, partition and begin of the window, of every unit."""
    n_events = len(times)
    if not n_events:
        return tuple(np.empty((4, 0), np.int64))  # type: ignore[return-value]  # four of them
    is_first = np.diff(partition, prepend=partition[:1] - 1) != 0
    if workload.window is None:
        first = np.flatnonzero(is_first)
        return first, np.append(first[1:], n_events), partition[first], np.zeros(len(first), np.int64)
    size, slide = workload.window.size * SECOND, workload.window.slide * SECOND
    highest = times // slide
    lowest = (times - size) // slide + 1
    known = np.where(is_first, np.iinfo(np.int64).min // 2, np.concatenate(([0], highest[:-1])))
    lowest = np.maximum(lowest, known + 1)
    n_new = highest - lowest + 1
    row = np.repeat(np.arange(n_events), n_new)
    begin = (lowest[row] + np.arange(len(row)) - np.repeat(np.cumsum(n_new) - n_new, n_new)) * slide
    # Times of later partitions are above those of earlier ones, so that all are searched at once.
    origin, width = times.min() - size, times.max() - times.min() + 3 * size
    end = np.searchsorted(partition * width + times - origin, partition[row] * width + begin + size - origin)
    return row, end, partition[row], begin


def _machine(workload: Workload) -> Machine:
    names = [step.variable for step in workload.steps]
    n_variables = len(names)
    follows = np.eye(n_variables, k=1, dtype=np.bool_)
    follows |= np.diag([step.is_repeated for step in workload.steps])
    is_compared = np.zeros((n_variables, n_variables), np.bool_)
    if workload.comparison is not None:
        place = names.index(workload.comparison.variable)
        is_compared[place, place] = True
    every = np.arange(n_variables)
    weighted = names.index(workload.aggregate.variable) if workload.aggregate else -1
    return Machine(
        SEMANTICS.index(workload.semantics), follows, np.asarray(follows.any(axis=1)), is_compared,
        every == 0, every == n_variables - 1, every == weighted, workload.aggregate is not None,
    )
