"""The matches that a query finds, and what they say of the rows: where one starts, and which starts it skips."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.matching.feed import Feed, Frame
from sparkrex.modes.plan import Measure, RowsPerMatch, SkipTo
from sparkrex.modes.rows.matcher import Partitions
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.scalar.expression import ClassifierAt, Target

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False, slots=True)
class Matched:
    """By row the place in `matches` of the match that starts there, and of the one that skips it; -1 for none."""

    matches: Matches
    starts: NDArray[np.int64]
    skips: NDArray[np.int64]

    @property
    def tried(self) -> NDArray[np.bool_]:
        """Rows at which a search started and found nothing."""
        return (self.starts < 0) & (self.skips < 0)

    def numbers(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """By row, the number of a match that starts there, or would."""
        begun = np.zeros(len(self.starts) + 1, np.int64)
        begun[1:] = np.cumsum(self.starts >= 0)
        numbers: NDArray[np.int64] = begun[:-1] - np.repeat(begun[offsets[:-1]], np.diff(offsets)) + 1
        return numbers


def find_matched(
    plan: MatchRecognize, rows: pa.Table, offsets: NDArray[np.int64], evaluator: Evaluator, settings: Settings
) -> Matched:
    """The matches in ordered rows."""
    # What is measured does not matter; that somebody asks for variables makes matchers note them.
    asked = replace(
        plan, rows_per_match=RowsPerMatch.ONE, measures=(Measure("rex_variable", ClassifierAt(Target())),), timeout=None
    )
    runner = RowRunner.of(asked, rows.slice(0, 0), (), evaluator, settings)
    feed = Feed.whole(rows, Arrangement(None, offsets, rows.num_rows))
    frame = Frame(feed.table, feed.arrangement, np.zeros(len(feed.slots), np.int64))
    matches = runner.find_matches(feed, frame, Partitions.whole(offsets), frame.n_held, runner.choice)
    starts = np.full(rows.num_rows, -1, np.int64)
    skips = np.full(rows.num_rows, -1, np.int64)
    starts[matches.start] = np.arange(len(matches))
    resumed = _resumed(plan, matches, runner.choice.variables)
    lengths = np.maximum(resumed - matches.start - 1, 0)
    ends = np.cumsum(lengths)
    skipped = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths) + np.repeat(matches.start + 1, lengths)
    skips[skipped] = np.repeat(np.arange(len(matches)), lengths)
    return Matched(matches, starts, skips)


def _resumed(plan: MatchRecognize, matches: Matches, variables: tuple[str, ...]) -> NDArray[np.int64]:
    """By match, where the search went on."""
    skip = plan.skip
    if skip.to is SkipTo.NEXT_ROW:
        return matches.start + 1
    if skip.to is SkipTo.PAST_LAST_ROW:
        return np.maximum(matches.end, matches.start + 1)
    resumed = matches.start + 1
    is_member = np.repeat(np.array([name in skip.variables for name in variables], np.bool_), 2)
    for place in np.flatnonzero(matches.end > matches.start).tolist():
        labels = matches.labels[matches.label_offsets[place] : matches.label_offsets[place + 1]]
        found = np.flatnonzero(is_member[labels])
        resumed[place] += int(found[0] if skip.to is SkipTo.FIRST else found[-1]) - 1
    return resumed
