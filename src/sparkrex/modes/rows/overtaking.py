"""Starts that overtake earlier ones which are still undecided.

Under SKIP TO NEXT ROW no match decides where another may start, so each start is on its own: on a stream its match
comes out as soon as it is decided, whatever becomes of starts before it. Who reads MATCH_NUMBER() gets matches in order
of their starts. Nobody waits for single chunks of a partition: there one start is searched after the other.

Of the rows held back, from the first undecided start on, must then be known which starts are still asked for, and which
rows lie in a match that was given, so that they are not unmatched. Slots where every start is asked for and no row was
given, which is the normal case, keep nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import offsets_of, rows_of_spans
from sparkrex.modes.plan import SkipTo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.matching.matches import Matches
    from sparkrex.matching.state import State
    from sparkrex.modes.rows.matcher import Matcher

MARKS = "marks"
"""The table of marks, one for each row held back of a slot that has any."""
_ASKED, _COVERED = 1, 2


def may_overtake(matcher: Matcher) -> bool:
    """Whether starts are on their own, the order of starts is not asked for, and the matcher can tell them apart."""
    problem = matcher.problem
    return matcher.takes_asked and problem.plan.skip.to is SkipTo.NEXT_ROW and not problem.reads_number


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """By row of a frame: whether a match may start there that is still asked for, and whether a given match has it."""

    asked: NDArray[np.uint8]
    is_covered: NDArray[np.bool_]

    @staticmethod
    def of(
        state: State, feed: Feed, frame: Frame, first: NDArray[np.int64], covered: NDArray[np.int64]
    ) -> Marks | None:
        """Those of a feed; None if starts are searched in order, since no one says how far rows have come.

        What is not marked is asked for from `first` on and covered up to `covered`, by partition.
        """
        marks, offsets = state.tables[MARKS].read(feed.slots)
        if marks is None and feed.horizon is None:
            return None
        n_rows = int(frame.offsets[-1])
        row = np.arange(n_rows)
        length = np.diff(frame.offsets)
        asked = row >= np.repeat(first, length)
        is_covered = row < np.repeat(covered, length)
        if marks is not None:
            places = rows_of_spans(frame.begin, np.diff(offsets))
            values = np.asarray(plain(marks.column(MARKS)))
            asked[places], is_covered[places] = values & _ASKED != 0, values & _COVERED != 0
        return Marks(asked.astype(np.uint8), is_covered)

    def cover(self, matches: Matches) -> None:
        """The matches are given."""
        changes = np.zeros(len(self.asked) + 1, np.int64)
        np.add.at(changes, matches.start, 1)
        # An empty match has a row of its own in the result.
        np.add.at(changes, np.maximum(matches.end, matches.start + 1), -1)
        self.is_covered[np.cumsum(changes[:-1]) > 0] = True

    def keep(self, state: State, feed: Feed, frame: Frame, keep: NDArray[np.int64], start: NDArray[np.int64]) -> None:
        """Hold back the marks of each partition from position `keep` on, where one says more than `start` does."""
        is_plain = (self.asked != 0) & ~self.is_covered
        changes = np.append(0, np.cumsum(~is_plain))
        is_told = (changes[frame.end] > changes[np.minimum(start, frame.end)]) & ~feed.closes
        length = np.where(is_told, frame.end - keep, 0)
        table = None
        if is_told.any():
            rows = rows_of_spans(keep, length)
            marks = self.asked[rows] * np.uint8(_ASKED) | self.is_covered[rows] * np.uint8(_COVERED)
            table = pa.table({MARKS: wrap(marks)})
        state.tables[MARKS].write(feed.slots, table, offsets_of(length))
