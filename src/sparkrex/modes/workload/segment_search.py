"""The search of a frame, segment by segment: some at a time, each on a thread of its own."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import check_order
from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.events.pattern import events
from sparkrex.modes.workload.arrays import SegmentArrays
from sparkrex.modes.workload.decide import Decider
from sparkrex.modes.workload.kept import kept_of, restored
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.language import name_pattern
from sparkrex.modes.workload.overflow import NEVER, Overflow
from sparkrex.modes.workload.search import Search, Share
from sparkrex.modes.workload.segments import SEGMENT_ROWS, Segment, cut_segments
from sparkrex.modes.workload.waiting import Waiting, settle
from sparkrex.syntax.units import WindowUnit
from sparkrex.threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.kept import Kept
    from sparkrex.modes.workload.runner import GroupRunner


class FrameSearch:
    """What a frame's segments give: matches by pattern, those that wait, what is kept, where patterns stop.

    Rows are those of the frame.
    """

    def __init__(
        self, runner: GroupRunner, frame: Frame, feed: Feed, stop_row: dict[int, NDArray[np.int64]], *, may_stop: bool
    ) -> None:
        """`stop_row` has where patterns stopped, as far as that is known; others do where they must, if they may."""
        self.runner, self.prepared, self.frame, self.feed = runner, runner.prepared, frame, feed
        self.stop_row, self.may_stop = stop_row, may_stop
        self.first_held = frame.end.copy()
        self.waiting: dict[int, Waiting] = {}
        self.kept: list[Kept] = []
        self.n_looks = self.n_made = self._n_given = 0
        self.seconds = 0.0
        """Of the processor, in which partial matches were made: what depends on the plan."""
        self._parts: dict[int, list[EventMatches]] = {}
        self._columns = [name for name in frame.table.column_names if name in runner.read]

    def found(self, pattern: int) -> EventMatches:
        """The matches of a pattern that does not wait, in no order."""
        return EventMatches.joined(self._parts[pattern]) if pattern in self._parts else EventMatches.none()

    def run(self, kept: Kept, waiting: dict[int, Waiting]) -> None:
        """Search all segments. `kept` and `waiting` are from earlier feeds."""
        self.waiting = dict(waiting)
        segments = cut_segments(self.prepared, self.frame, SEGMENT_ROWS)
        n_threads = max(1, self.runner.settings.thread_count())
        for number in range(0, len(segments), n_threads):
            some = segments[number : number + n_threads]
            share = Share(self.runner.settings.max_event_memory, len(some), self._n_given)
            parts = [_Part(self, segment, kept, (share, place)) for place, segment in enumerate(some)]

            def give_up(parts: list[_Part] = parts) -> None:
                for part in parts:
                    part.search.give_up()

            def task(begin: int, _end: int, parts: list[_Part] = parts) -> float:
                since = thread_time()
                parts[begin].search.run(parts[begin].decider.take)
                return thread_time() - since

            self.seconds += sum(spread(task, [(place, place + 1) for place in range(len(parts))], give_up))
            while parts:
                self._finish(parts.pop(0))

    def _finish(self, part: _Part) -> None:
        """Take what a segment gave; segments come here in their order."""
        segment, search = part.segment, part.search
        new: dict[int, list[Waiting]] = {}
        for number, found in part.decider.found.items():
            pattern = self.prepared.roots[number].pattern
            matches = EventMatches.joined(found)
            matches = EventMatches(matches.rows + segment.first, matches.labels, matches.offsets)
            if self.prepared.patterns[pattern].waits:
                new.setdefault(pattern, []).append(Waiting.of(matches, number))
            else:
                self._parts.setdefault(pattern, []).append(matches)
        for pattern in self.waiting.keys() | new.keys():
            before = [self.waiting[pattern]] if pattern in self.waiting else []
            joined = Waiting.joined(before + new.get(pattern, []))
            self.waiting[pattern] = settle(joined, search, segment.first, search.rows.open_from)
        if part.stays_open.any():
            self.kept.append(kept_of(search, segment.first, np.flatnonzero(part.stays_open)))
        windows = [self.prepared.windows.index(root.window) for root in self.prepared.roots]
        held = search.rows.open_from[windows].min(axis=0, initial=NEVER) + segment.first
        ends = part.ends_here
        self.first_held[part.places][ends] = np.minimum(self.first_held[part.places][ends], held[ends])
        self.runner.room = max(self.runner.room, int(search.at[codes.USED]) - search.arrays.n_static)
        self.n_looks += int(search.at[codes.N_LOOKS])
        self.n_made += int(search.at[codes.N_MADE])
        self._n_given += search.n_given

    @staticmethod
    def check_ties(runner: GroupRunner, frame: Frame) -> None:
        """Fail if events that one pattern may use are tied."""
        order = frame.arrangement.order
        table = frame.table
        segment = Segment(0, 0, int(frame.offsets[-1]))
        arrays = SegmentArrays(
            runner.prepared, segment.table(frame, table.column_names), frame.offsets, runner.evaluator
        )
        for pattern in runner.prepared.patterns:
            query = pattern.query
            rows = np.arange(arrays.n_rows)
            if not _reads_all(query):
                rows = np.unique(np.concatenate([arrays.type_rows(one.condition) for one in query.types]))
            cuts = np.searchsorted(rows, frame.offsets)
            try:
                check_order(query, table.take(wrap(rows if order is None else order[rows])), None, cuts)
            except ExecutionError as error:
                error.row = None if error.row is None else int(rows[error.row])
                error.source, error.span = query.source, query.pattern.span or query.span
                name_pattern(error, pattern.name)
                raise


def _reads_all(query: EventQuery) -> bool:
    """Whether events of any type count: they are counted, or may be of any type."""
    is_counted = query.window is not None and query.window.unit is WindowUnit.EVENTS
    return is_counted or len(query.types) < sum(1 for _ in events(query.pattern))


class _Part:
    """A segment made ready: its arrays, its search and who takes its matches."""

    def __init__(self, whole: FrameSearch, segment: Segment, kept: Kept, share: tuple[Share, int]) -> None:
        self.segment = segment
        runner, frame, prepared = whole.runner, whole.frame, whole.prepared
        offsets, self.places = segment.offsets(frame)
        self.ends_here = frame.end[self.places] <= segment.end
        closes = whole.feed.closes[self.places]
        self.stays_open = self.ends_here & ~closes
        arrays = SegmentArrays(prepared, segment.table(frame, whole._columns), offsets, runner.evaluator)
        before = {
            pattern: np.where((rows[self.places] < 0) | (rows[self.places] == NEVER), rows[self.places],
                              rows[self.places] - segment.first)
            for pattern, rows in whole.stop_row.items()
        }
        n_held, length = frame.n_held[self.places], np.diff(offsets)
        row = np.arange(segment.first, segment.end)
        is_new = row >= np.repeat(frame.begin[self.places] + n_held, length)
        overflow = Overflow(prepared, arrays, runner.max_kleene, before, is_new & whole.may_stop)
        for pattern, rows in overflow.stop_row.items():
            own = whole.stop_row[pattern][self.places]
            own[:] = np.where((rows < 0) | (rows == NEVER), own, np.minimum(own, rows + segment.first))
        self.decider = Decider(overflow.stop_row)
        # Rows of the segment before are looked at again; those of the feed before were, and left what is kept.
        is_cut = frame.begin[self.places] < segment.begin
        makes = is_new | np.repeat(is_cut, length)
        gives = is_new & (row >= segment.begin)
        open_from = np.stack([self._open_from(arrays, window, closes, whole.feed) for window in prepared.windows])
        first_new = segment.begin if not is_cut.any() else int(frame.end[self.places][is_cut].max())
        taken_up = restored(kept, prepared, segment.first, first_new, segment.end)
        self.search = Search(
            prepared, arrays, overflow, makes, gives, open_from, taken_up, share, runner.room
        )

    def _open_from(self, arrays, window, closes, feed) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
        """By partition the first row whose window is not over; where the partition goes on, none is known to come."""
        times = arrays.times(window)
        found: NDArray[np.int64] = times.open_from(closes, feed.horizon)
        if not self.ends_here.all():
            going_on = times.open_from(np.zeros_like(closes), None)
            found = np.where(self.ends_here, found, going_on)
        return found
