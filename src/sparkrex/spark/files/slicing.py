"""A series without PARTITION BY, cut into slices of time by what the footers of its files say: one task searches each.

Slices begin where row groups begin, so that of files in order of time a task reads its own row groups and those at its
edges. No row is shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.matching.slices import Slicing
from sparkrex.spark.files.row_language import OutsideError
from sparkrex.spark.files.slices import BEFORE, Cut, SliceTask
from sparkrex.spark.shipping import shipped_task
from sparkrex.spark.worker import WorkerEvaluator
from sparkrex.spark.worker_expressions import proven_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

    from sparkrex.matching.slices import SliceNeeds
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Mode
    from sparkrex.settings import Settings
    from sparkrex.spark.files.reading import FileReading
    from sparkrex.spark.files.units import Piece
    from sparkrex.spark.host import SparkHost
    from sparkrex.spark.worker import WorkerTask

_MOST_READ = 2.0
"""Slices are worth it up to here: how many rows all tasks read, by how many there are."""
_MOST_AT_ONCE = 1 << 15
"""Rows that lie within the longest match, where it has to be found out which is attempted first: see `slice_search`."""


@dataclass(frozen=True, slots=True)
class SlicesRead:
    """Slices of a series in files; `n_pruned` row groups were left out. All tasks read `read` times the rows."""

    reading: FileReading
    pieces: tuple[Piece, ...]
    cut: Cut
    needs: SliceNeeds
    n_files: int
    n_pruned: int
    read: float

    def results(self, spark: SparkSession, task: WorkerTask, output: StructType) -> DataFrame:
        """What the tasks find, in the order of the slices."""
        known: dict[str, Any] = {field.name: getattr(task, field.name) for field in fields(task)}
        work = SliceTask(**known, reading=self.reading, pieces=self.pieces, cut=self.cut, needs=self.needs)
        n_slices = self.cut.n_slices
        return spark.range(0, n_slices, 1, n_slices).mapInArrow(shipped_task(work), output)

    def line(self) -> str:
        """What EXPLAIN says."""
        pruned = f", {self.n_pruned} more are left out by their statistics" if self.n_pruned else ""
        names = ", ".join(wanted.name for wanted in self.reading.columns)
        return (
            f"Files: workers read {len(self.pieces)} row groups of {self.n_files} files by Arrow{pruned}; columns "
            f"{names}; {self._tasks()}"
        )

    def _tasks(self) -> str:
        n_slices = self.cut.n_slices
        if n_slices == 1:
            return "one task searches them: there are few"
        return f"{n_slices} tasks search a slice of time each, of {self.read:.2f} times the rows in all"


def find_needs(
    mode: Mode[Any], written: Plan, worker: Plan, sample: pa.Table, types: Mapping[str, DataType], host: SparkHost,
    settings: Settings,
) -> SliceNeeds:
    """What slices need; `OutsideError` if one task has to search all rows."""
    if not isinstance(mode, Slicing):
        raise OutsideError("there is no PARTITION BY")
    if not settings.slices:
        raise OutsideError("there is no PARTITION BY, and the setting slices is off")
    try:
        plan = proven_calls(worker, types, host, settings.functions)
        workers = WorkerEvaluator(plan, settings)
        try:
            needs = mode.slice_needs(written, plan, sample, workers, settings)
        finally:
            workers.close()
    except (AnalysisError, UnsupportedError) as error:  # the ordinary way says it with its place
        raise OutsideError(f"there is no PARTITION BY, and {error.message}") from error
    if isinstance(needs, str):
        raise OutsideError(f"there is no PARTITION BY, and {needs}")
    return needs


def cut_slices(
    reading: FileReading, pieces: Sequence[Piece], needs: SliceNeeds, n_wanted: int, most_rows: int, n_files: int,
    n_pruned: int,
) -> SlicesRead:
    """Slices with about as many rows each; fewer, if tasks would read too much twice, but not so few that one of them
    reads more than `most_rows`."""
    timed = sorted((piece for piece in pieces if piece.times is not None), key=lambda piece: piece.times or (0, 0))
    groups = tuple(piece.times for piece in timed if piece.times is not None)
    if n_wanted == 1:
        return SlicesRead(reading, tuple(timed), Cut(groups, ()), needs, n_files, n_pruned, 1.0)
    n_rows = [piece.n_rows for piece in timed]
    if needs.scans and _rows_of_a_match(groups, n_rows, needs) > _MOST_AT_ONCE:
        raise OutsideError("there is no PARTITION BY, and a match may reach over too many rows to search slices")
    n_slices = min(n_wanted, len(groups))
    while n_slices > 1:
        cut = Cut(groups, _even_bounds(groups, n_rows, n_slices))
        rows_read = _rows_read(cut, n_rows, needs)
        read = sum(rows_read) / max(1, sum(n_rows))
        if max(rows_read) > most_rows:
            raise OutsideError("there is no PARTITION BY, and a slice may take more memory than sort_memory")
        if cut.bounds and read <= _MOST_READ:
            return SlicesRead(reading, tuple(timed), cut, needs, n_files, n_pruned, read)
        n_slices //= 2
    raise OutsideError(
        "there is no PARTITION BY, and row groups that overlap in time, few row groups or long matches would make "
        "every task read most rows" if len(groups) > 1 else "there is no PARTITION BY, and only one row group"
    )


def _even_bounds(groups: Sequence[tuple[int, int]], n_rows: Sequence[int], n_slices: int) -> tuple[int, ...]:
    """The times at which row groups begin that are nearest to even shares of the rows."""
    ends = list(accumulate(n_rows))
    bounds = {
        groups[min(range(1, len(groups)), key=lambda place: abs(ends[place - 1] * n_slices - ends[-1] * share))][0]
        for share in range(1, n_slices)
    }
    return tuple(sorted(bounds - {groups[0][0]}))


def _rows_read(cut: Cut, n_rows: Sequence[int], needs: SliceNeeds) -> list[int]:
    """How many rows every task reads, about."""
    length = needs.length or 1
    before = BEFORE[0] * length if needs.scans else 0
    is_before = needs.scans or needs.n_before > 0
    found = []
    edges = [None, *cut.bounds, None]
    for low, high in pairwise(edges):
        since = None if low is None else low - before - is_before
        until = None if high is None else high + length
        found.append(sum(
            own for (least, most), own in zip(cut.groups, n_rows, strict=True)
            if (since is None or most >= since) and (until is None or least < until)
        ))
    return found


def _rows_of_a_match(groups: Sequence[tuple[int, int]], n_rows: Sequence[int], needs: SliceNeeds) -> int:
    if needs.length is None:
        return needs.n_rows
    span = max(most for _, most in groups) - groups[0][0] if groups else 0
    return sum(n_rows) * min(needs.length, span) // max(1, span)
