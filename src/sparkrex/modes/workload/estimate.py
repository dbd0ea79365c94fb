"""Statistics from rows: how often the events of every leaf come, and on which share of pairs a condition holds.

Rows are sampled in blocks that stand side by side, because windows do. For a condition, pairs of events are drawn that
lie within the largest window; a share of hits among few pairs is drawn towards one half, so that no condition that
happened never to hold is taken for one that never does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.columns.wrap import wrap
from sparkrex.errors import RexError
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.workload.arrays import SegmentArrays
from sparkrex.modes.workload.formulas import where_holds
from sparkrex.modes.workload.kernels.arguments import Cells
from sparkrex.modes.workload.lines import Lines
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.symbols import Comparison
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Hashable

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.compiled import Compiled
    from sparkrex.modes.workload.prepared import Window
    from sparkrex.modes.workload.symbols import Formula
    from sparkrex.settings import Settings
    from sparkrex.source import Source

SAMPLE_ROWS = 100_000
N_BLOCKS = 8
N_PAIRS = 400
_OPERATORS = {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "ge": np.greater_equal, "gt": np.greater,
}


def estimate(
    compiled: Compiled, table: pa.Table, arrangement: Arrangement, evaluator: Evaluator, settings: Settings,
    seed: int = 0,
) -> Statistics:
    """The statistics of all leaves and conditions in some ordered rows."""
    sampled = _Sampled(compiled, sample(table, arrangement), evaluator, np.random.default_rng(seed))
    return sampled.statistics()


def sample(table: pa.Table, arrangement: Arrangement) -> Columns:
    """Rows in their order: all of them, or blocks from everywhere. A block is cut where partitions are."""
    n_rows = int(arrangement.offsets[-1])
    order = arrangement.order
    if n_rows <= SAMPLE_ROWS:
        return Columns(table, arrangement.offsets, order)
    length = SAMPLE_ROWS // N_BLOCKS
    starts = np.linspace(0, n_rows - length, N_BLOCKS).astype(np.int64)
    positions = (starts[:, None] + np.arange(length)).ravel()
    partition = np.searchsorted(arrangement.offsets, positions, side="right")
    cuts = np.flatnonzero((np.diff(partition) != 0) | (np.diff(positions) != 1)) + 1
    offsets = np.concatenate(([0], cuts, [len(positions)])).astype(np.int64)
    return Columns(table.take(wrap(positions if order is None else order[positions])), offsets)


class Unplanned:
    """What `SegmentArrays` asks of a plan, of patterns that have none yet."""

    def __init__(self, compiled: Compiled) -> None:
        self.symbols = compiled.symbols
        self.queries = [form.query for form in compiled.forms]
        self.source: Source = self.queries[0].source
        self.has_strict_ties = self.queries[0].has_strict_ties
        self.windows: list[Window] = [(False, None)]
        self.lines = Lines(compiled.symbols, self.source, self.queries[0].span)
        for condition in compiled.symbols.conditions:
            if isinstance(condition, Comparison):
                self.line(condition)

    def line(self, condition: Comparison) -> int:
        """The line of keys of a comparison."""
        left, right = condition.leaves
        return self.lines.number((condition.left, left), (condition.right, right), condition.source, condition.span)

    def largest(self, *, counts_events: bool) -> EventQuery | None:
        """The query with the largest window of a clock; None without one."""
        found = [
            query for query in self.queries
            if query.window is not None and (query.window.unit is WindowUnit.EVENTS) == counts_events
        ]
        return max(found, key=lambda query: query.window.size, default=None)  # type: ignore[union-attr]

    def query_of(self, window: Window) -> EventQuery:
        """The query with the largest window, whatever the size asked for; without a window, any."""
        counts_events, size = window
        found = None if size is None else self.largest(counts_events=counts_events)
        return replace(self.queries[0], window=None) if found is None else found


class _Sampled:
    def __init__(
        self, compiled: Compiled, rows: Columns, evaluator: Evaluator, random: np.random.Generator
    ) -> None:
        self.symbols, self.random = compiled.symbols, random
        self.unplanned = Unplanned(compiled)
        self.arrays = SegmentArrays(self.unplanned, rows.ordered, rows.offsets, evaluator)  # type: ignore[arg-type]
        self.n_rows = rows.n_rows

    def statistics(self) -> Statistics:
        span = self._span()
        rates: dict[Hashable, float] = {}
        for label, leaf in enumerate(self.symbols.leaves):
            n_events = len(self.arrays.leaf_rows(label))
            rates[label] = n_events / (max(1, self.n_rows) if leaf.counts_events else span)
        shares: dict[Hashable, float] = {
            key: self._share(condition) for key, condition in enumerate(self.symbols.conditions)
        }
        return Statistics(rates, shares, span)

    def _span(self) -> float:
        """How long the partitions are, all together, in the unit of windows."""
        query = self.unplanned.largest(counts_events=False)
        times = self.arrays.times((False, None if query is None else 0.0))
        offsets = times.offsets[np.concatenate(([True], np.diff(times.offsets) > 0))]
        first, last = times.values[offsets[:-1]], times.values[offsets[1:] - 1]
        length = float(sum(float(one) for one in last - first)) if len(first) else 0.0
        if query is not None and query.window is not None and times.size is not None and times.size:
            length *= float(query.window.size) / float(times.size)
        return length if 0.0 < length < float("inf") else 1.0

    def _share(self, condition: Comparison | Formula) -> float:
        """The share of tuples near each other on which a condition holds."""
        rows = self._tuples(condition.leaves)
        if not rows.shape[1]:
            return 0.5
        try:
            holds = self._holds(condition, rows)
        except RexError:  # it is asked of events here that the search may never ask it of
            return 0.5
        return (float(holds.sum()) + 0.5) / (len(holds) + 1.0)

    def _holds(self, condition: Comparison | Formula, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        if not isinstance(condition, Comparison):
            return where_holds(condition, rows, Cells(*(np.empty(0, np.int64) for _ in range(3))), self.arrays)
        line = self.unplanned.line(condition)
        one, other = self.arrays.keys_at(line, rows[0]), self.arrays.keys_at(line + 1, rows[1])
        holds: NDArray[np.bool_] = _OPERATORS[condition.operator](one, other) & (one != NULL_KEY) & (other != NULL_KEY)
        return holds

    def _tuples(self, leaves: tuple[int, ...]) -> NDArray[np.int64]:
        """Rows of some leaves, drawn by chance: one of the first leaf, and of every other one within a window of it."""
        first = self.arrays.leaf_rows(leaves[0])
        if not len(first):
            return np.empty((len(leaves), 0), np.int64)
        counts_events = self.symbols.leaves[leaves[0]].counts_events
        drawn = [self.random.choice(first, N_PAIRS)]
        times = self.arrays.times((counts_events, 0.0))
        low, high = times.window_first()[drawn[0]], times.window_last()[drawn[0]]
        keep = np.ones(N_PAIRS, np.bool_)
        for label in leaves[1:]:
            rows = self.arrays.leaf_rows(label)
            begin, end = np.searchsorted(rows, low), np.searchsorted(rows, high, side="right")
            keep &= end > begin
            place = begin + (self.random.random(N_PAIRS) * (end - begin)).astype(np.int64)
            drawn.append(rows[np.minimum(place, len(rows) - 1)] if len(rows) else drawn[0])
            keep &= drawn[-1] != drawn[0]
        return np.stack(drawn)[:, keep]
