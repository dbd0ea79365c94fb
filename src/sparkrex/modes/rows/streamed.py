"""A relation fed in ordered chunks, with the rows that undecided matches need held back between feeds.

The chunks hold all columns that the plan reads or passes on, ordered; results come out as soon as they are decided, so
memory is bounded by the chunk and the open match, not by the partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError
from sparkrex.matching.output import name_partition
from sparkrex.matching.reading import MatchReader
from sparkrex.modes.rows.output import Decided, build_output
from sparkrex.scalar.expression import ClassifierAt, ColumnAt, End, walk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.contract import Matcher
    from sparkrex.modes.rows.plan import MatchRecognize


def measure_reach(plan: MatchRecognize) -> tuple[int, int]:
    """How many rows before a match's first and behind its last row the measures may read."""
    before = behind = 0
    for measure in plan.measures:
        for node in walk(measure.expression):
            if isinstance(node, ColumnAt | ClassifierAt):
                before = max(before, -node.target.shift)
                reaches = node.target.shift - (node.target.offset if node.target.end is End.LAST else 0)
                behind = max(behind, reaches)
    return before, behind


@dataclass
class StreamedRelation:
    """Runs one plan over chunks. Changes with every feed. `keys` are the columns that hold the partition keys."""

    plan: MatchRecognize
    matcher: Matcher
    variables: tuple[str, ...]
    evaluator: Evaluator
    keys: list[str]

    def __post_init__(self) -> None:
        self.state = self.matcher.open()
        self.rows: pa.Table | None = None
        self.decided = 0
        self.covered = 0

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """The result rows that this chunk decides."""
        if opens:
            self.rows, self.decided, self.covered = None, 0, 0
        used = {n.column for d in self.plan.definitions for n in walk(d.condition) if isinstance(n, ColumnAt)}
        columns = chunk.select([name for name in chunk.column_names if name in used])
        if not used:
            columns = pa.table({"rex_row": pa.nulls(chunk.num_rows, pa.int8())})
        frame = chunk if self.rows is None else pa.concat_tables([self.rows, chunk])
        n_held = frame.num_rows - chunk.num_rows
        frame_offsets = offsets + n_held
        frame_offsets[0] = 0
        try:
            matches = self.matcher.feed(self.state, Columns(columns, offsets), opens=opens, closes=closes)
        except ExecutionError as error:
            if error.span is None:
                error.source, error.span = self.plan.source, self.plan.pattern.span or self.plan.span
            if error.row is not None:
                names = [key.name for key in self.plan.partition_by]
                name_partition(error, names, [frame.column(name) for name in self.keys], error.row)
            raise
        held = self.state.held
        n_kept = 0 if held is None else held.num_rows
        next_start = frame.num_rows if closes else frame.num_rows - n_kept + self.state.next_start
        reader = MatchReader(
            frame, Arrangement(None, frame_offsets, frame.num_rows), matches, self.variables, self.plan.dialect,
            self.evaluator,
        )
        keys = [frame.column(name) for name in self.keys]
        result = build_output(self.plan, reader, keys, Decided(self.decided, next_start, self.covered))
        covered = int(matches.end.max(initial=0))
        self.rows = None if closes else frame.slice(frame.num_rows - n_kept)
        dropped = frame.num_rows - n_kept
        self.decided = 0 if closes else next_start - dropped
        self.covered = 0 if closes else max(0, max(covered, self.covered) - dropped)
        return result
