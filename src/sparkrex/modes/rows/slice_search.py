"""The search of a slice of one partition, as the search of the whole partition would find its matches.

Under SKIP TO NEXT ROW every row is attempted, so a slice gives the matches that start in it. Under SKIP PAST LAST ROW a
match may reach into the slice, and from which row the search goes on there depends on all that was found before. Call
`next(s)` the row that is attempted after row s, whichever the search: s + 1, or the row behind the match that starts at
s. It depends on no row before s but those that conditions read, and on no row behind the longest match from s but
those that conditions read. So:

1. Let `first` be a row before the slice, and `last` the first row that no match can reach that starts at `first` or
   before it. Of the rows that the search of the whole partition attempts, let a be the last one up to `first`. If a is
   not `first` itself, next(a) is behind it, and at most `last`. So that search attempts a row from `first` up to
   `last`. Take all of these.
2. Follow `next` from every one of them up to the slice. If all come to the same row there, the search of the whole
   partition comes to it too: that is the *entry*.
3. Else the rows before the slice prove nothing, and the caller comes with more of them, in the end with the exit of
   the slice before.

An attempt that fails with an error has no `next`, so a way that comes to one proves nothing either. Whether the query
fails there is decided in the slice where the row is: the search of the whole partition may pass it over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.values import ints_of, plain
from sparkrex.matching.feed import Frame
from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.rows.matcher import Partitions
from sparkrex.modes.rows.pieces import next_attempts, part_of
from sparkrex.modes.rows.runner import RowRunner

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.errors import ExecutionError
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.matching.slices import Slice, SliceNeeds
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings

_LAST = 2**63 - 1
NOWHERE = -1
MOST_ROWS = 1 << 15
"""From so many rows at most the search is followed: from each of them a match is searched for, which may be as long."""


@dataclass(frozen=True, eq=False, slots=True)
class RowSlices:
    """See `matching.slices.SliceSearch`. `each` is the runner of the same plan under SKIP TO NEXT ROW."""

    runner: RowRunner
    each: RowRunner
    needs: SliceNeeds

    @staticmethod
    def of(
        plan: MatchRecognize, sample: pa.Table, needs: SliceNeeds, evaluator: Evaluator, settings: Settings
    ) -> RowSlices:
        """The search of a plan over columns of the sample's types."""
        every_start = replace(plan, skip=Skip(SkipTo.NEXT_ROW))
        runner, each = (RowRunner.of(one, sample, (), evaluator, settings) for one in (plan, every_start))
        return RowSlices(runner, each, needs)

    def entry(self, part: Slice) -> int | None:
        """See `matching.slices.SliceSearch`."""
        if part.is_first:
            return 0
        if not self.needs.scans:
            return part.begin
        first = self.needs.n_before
        if first >= part.begin:
            return None
        last = self._behind(part, first)
        if last > part.begin or last - first > MOST_ROWS:
            return None
        # The matches from these rows on end before `length` is over again.
        until = self._behind(part, part.begin) + self.needs.n_behind + 1
        matches, failures = self._find(self.each, part.rows.slice(0, until), first, is_first=False)
        following = np.arange(1, part.begin + 1)
        n_before = int(np.searchsorted(matches.start, part.begin))
        following[matches.start[:n_before]] = next_attempts(self.runner.choice.problem, matches)[:n_before]
        following[[row for row, _ in failures if row < part.begin]] = NOWHERE
        entries = follow(following, first, last)
        return entries.pop() if len(entries) == 1 and entries != {NOWHERE} else None

    def leave(self, part: Slice, entry: int) -> int:
        """See `matching.slices.SliceSearch`."""
        matches = self._own(part, entry)
        at = max(part.until, entry)
        if len(matches):
            last = part_of(matches, len(matches) - 1, len(matches))
            at = max(at, int(next_attempts(self.runner.choice.problem, last)[0]))
        return at - part.until

    def answer(self, part: Slice, entry: int) -> pa.Table:
        """See `matching.slices.SliceSearch`."""
        matches = self._own(part, entry)
        own = part_of(matches, int(np.searchsorted(matches.start, part.begin)), len(matches))
        return self.runner.read(_frame(part.rows), own, None)

    def _own(self, part: Slice, entry: int) -> Matches:
        """The matches of the whole search that start from the entry on, up to the slice's last row."""
        matches, failures = self._find(self.runner, part.rows, entry, is_first=part.is_first)
        first_error = min(failures, key=lambda failure: failure[0], default=None)
        if first_error is not None and first_error[0] < part.until:
            raise self._told(first_error[1], part)
        # Behind the slice there may be too few rows for a match.
        return part_of(matches, 0, int(np.searchsorted(matches.start, part.until)))

    def _find(
        self, runner: RowRunner, rows: pa.Table, start: int, *, is_first: bool
    ) -> tuple[Matches, list[tuple[int, ExecutionError]]]:
        """The matches from a row on, and the rows at which the search fails."""
        failures: list[tuple[int, ExecutionError]] = []
        frame = _frame(rows)
        one = np.ones(1, np.bool_)
        partitions = Partitions(
            frame.offsets, one & is_first, one, np.array([min(start, rows.num_rows)]), np.ones(1, np.int64),
            failures=failures,
        )
        return runner.search(frame, partitions, runner.choice), failures

    def _behind(self, part: Slice, row: int) -> int:
        """The first row behind all matches that start at a row or before it."""
        n_rows = int(part.rows.num_rows)
        if row >= n_rows:
            return n_rows
        if self.needs.length is None:
            return min(row + self.needs.n_rows, n_rows)
        times = ints_of(plain(part.rows.column(self.needs.column)))
        return int(np.searchsorted(times, min(int(times[row]) + self.needs.length, _LAST), side="right"))

    def _told(self, error: ExecutionError, part: Slice) -> ExecutionError:
        """The error with its place."""
        plan = self.runner.plan
        if error.span is None:
            error.source, error.span = plan.source, plan.pattern.span or plan.span
        if error.row is not None:
            at = self.runner.time_of(_frame(part.rows), error.row)
            error.notes += (f"the match starts at the row of {at}",)
        return error


def follow(following: NDArray[np.int64], first: int, last: int) -> set[int]:
    """Where all ways lead that begin at rows from `first` up to `last`, once they have left the rows that `following`
    has; NOWHERE is among these if a way comes to a row that nothing follows."""
    n_rows = len(following)
    is_met = bytearray(n_rows)
    is_met[first : last + 1] = b"\1" * (min(last + 1, n_rows) - first)
    left = {n_rows} if last >= n_rows else set()
    for row, after in enumerate(following[first:].tolist(), first):
        if not is_met[row]:
            continue
        if after == NOWHERE or after >= n_rows:
            left.add(after)
        else:
            is_met[after] = 1
    return left


def _frame(rows: pa.Table) -> Frame:
    offsets = np.array([0, rows.num_rows], np.int64)
    return Frame(rows, Arrangement(None, offsets, rows.num_rows), np.zeros(1, np.int64))
