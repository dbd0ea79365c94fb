"""What runs in a Spark worker that searches a slice of a series: it reads the row groups that reach into the slice.

Row groups know their first and last time. A slice reads those of its own time, of the time that its matches may take
after it, and, where it matters which row is attempted first, some before it. If these prove nothing, it reads more, and
in the end finds out where the slices before it are left, one after the other: the answer is right whatever the rows
are, and at worst a task reads all rows that come before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slices import Slice, SliceNeeds, Slicing
from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.slices import SliceSearch
    from sparkrex.spark.files.reading import FileReading
    from sparkrex.spark.files.units import Piece
    from sparkrex.stopwatch import Stopwatch

BEFORE = (2, 8, 32)
"""How many times as much as a match may take is read before a slice, at first and when that proves nothing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Groups of rows by their first and last time, and the times at which slices begin, but for the first one."""

    groups: tuple[tuple[int, int], ...]
    bounds: tuple[int, ...]

    @property
    def n_slices(self) -> int:
        """How many slices there are."""
        return len(self.bounds) + 1


@dataclass(frozen=True, eq=False, slots=True)
class SlicedRows:
    """The rows of slices. `read` gives those of a group, `order` puts rows in order, and `empty` has no rows."""

    cut: Cut
    needs: SliceNeeds
    read: Callable[[int], pa.Table]
    order: Callable[[pa.Table], pa.Table]
    empty: pa.Table
    _read: dict[int, tuple[pa.Table, NDArray[np.int64]]] = field(default_factory=dict)

    def part(self, number: int, before: int) -> Slice:
        """A slice, with `before` times what a match may take before it."""
        needs, bounds, groups = self.needs, self.cut.bounds, self.cut.groups
        low = bounds[number - 1] if number else None
        high = bounds[number] if number < len(bounds) else None
        length = needs.length or 0
        since = None if low is None else low - before * length
        until = None if high is None else high + length
        # A row more, so that a stretch of time without rows does not hide what comes before.
        n_before = needs.n_before + before * needs.n_rows + min(before, 1)
        n_behind = needs.n_behind + needs.n_rows
        while True:
            times = self._times(since, until)
            if low is not None and _count(times, since, low) < n_before:
                earlier = [group for group in groups if since is not None and group[0] < since]
                if earlier:
                    since = max(earlier, key=lambda group: group[1])[0]
                    continue
            if high is not None and _count(times, high + length, until) < n_behind:
                later = [group for group in groups if until is not None and group[1] >= until]
                if later:
                    until = min(later)[1] + 1
                    continue
            break
        is_first = since is None or not any(group[0] < since for group in groups)
        return Slice(
            self.order(self._rows(since, until)), _count(times, since, low) if low is not None else 0,
            _count(times, since, until if high is None else high), is_first,
        )

    def _times(self, since: int | None, until: int | None) -> list[NDArray[np.int64]]:
        """The times of the groups that reach into a stretch of time. Other groups are forgotten."""
        chosen = [
            number for number, (least, most) in enumerate(self.cut.groups)
            if (since is None or most >= since) and (until is None or least < until)
        ]
        for number in [number for number in self._read if number not in chosen]:
            del self._read[number]
        for number in chosen:
            if number not in self._read:
                rows = self.read(number)
                self._read[number] = rows, ints_of(plain(rows.column(self.needs.column)))
        return [self._read[number][1] for number in chosen]

    def _rows(self, since: int | None, until: int | None) -> pa.Table:
        """The rows of a stretch of time, ties in the order of groups."""
        parts = [self.empty]
        for number in sorted(self._read):
            rows, times = self._read[number]
            inside = _between(times, since, until)
            parts.append(rows if inside.all() else rows.filter(wrap(inside)))
        return pa.concat_tables(parts)


def _between(times: NDArray[np.int64], since: int | None, until: int | None) -> NDArray[np.bool_]:
    inside = np.ones(len(times), np.bool_)
    if since is not None:
        inside &= times >= since
    if until is not None:
        inside &= times < until
    return inside


def _count(times: list[NDArray[np.int64]], since: int | None, until: int | None) -> int:
    return sum(int(np.count_nonzero(_between(each, since, until))) for each in times)


def answer(rows: SlicedRows, search: SliceSearch, number: int) -> pa.Table:
    """The result rows of a slice."""
    found = _enter(rows, search, number)
    back = number
    while found is None:
        back -= 1
        found = _enter(rows, search, back)
    part, entry = found
    while back < number:
        n_rows = search.leave(part, entry)
        back += 1
        part = rows.part(back, 0)
        entry = part.begin + n_rows
    return search.answer(part, entry)


def _enter(rows: SlicedRows, search: SliceSearch, number: int) -> tuple[Slice, int] | None:
    """A slice and where its search begins, if the rows before it prove that."""
    for before in BEFORE if rows.needs.scans else (0,):
        part = rows.part(number, before)
        entry = search.entry(part)
        if entry is not None:
            return part, entry
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceTask(WorkerTask):
    """The work on slices, which are given by their numbers; `pieces` are the groups of `cut`."""

    reading: FileReading
    pieces: tuple[Piece, ...]
    cut: Cut
    needs: SliceNeeds

    def _results(
        self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        from sparkrex.matching.row_values import arrange_rows

        assert isinstance(self.mode, Slicing)  # else nobody cut slices
        sample = self.reading.schema.empty_table()
        search = self.mode.slice_search(self.plan, sample, self.needs, evaluator, self.settings)

        def order(rows: pa.Table) -> pa.Table:
            arrangement, _ = arrange_rows(self.plan, rows, evaluator, 1)
            return rows if arrangement.order is None else rows.take(wrap(arrangement.order))

        def read(number: int) -> pa.Table:
            return pa.Table.from_batches(self.reading.rows(self.pieces[number], watch), self.reading.schema)

        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield answer(SlicedRows(self.cut, self.needs, read, order, sample), search, number)
