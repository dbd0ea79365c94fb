"""One feed's rows: those held back from before, then the new ones; and what is held back after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from sparkrex.matching.contract import State
    from sparkrex.settings import Settings


def frame_of(state: State, columns: Columns, *, opens: bool) -> Columns:
    """The rows of a feed with the state's rows in front."""
    if opens:
        state.held, state.next_start, state.next_number, state.begins = None, 0, 1, True
    if state.held is None:
        return columns
    n_held = state.held.num_rows
    offsets = columns.offsets + n_held
    offsets[0] = 0
    return Columns(pa.concat_tables([state.held, columns.ordered]), offsets)


def hold_back(
    state: State, frame: Columns, next_start: int, next_number: int, reach_back: int, settings: Settings
) -> None:
    """Keep the open partition's rows from `next_start` on, and as many before it as conditions may read."""
    first = int(frame.offsets[-2]) if len(frame.offsets) > 1 else 0
    keep = max(first, next_start - reach_back)
    n_rows = frame.table.num_rows
    if n_rows - keep > settings.max_open_rows:
        error = ExecutionError(
            "REX406",
            f"a match is undecided over {n_rows - keep:,} rows, more than max_open_rows = {settings.max_open_rows:,}",
            None, None, hint="raise max_open_rows, or bound the pattern with WITHIN or a quantifier",
        )
        error.row = keep
        raise error
    begins_here = keep == first
    # A frame with one partition may itself continue a partition that was cut before.
    state.begins = begins_here and (len(frame.offsets) > 2 or state.begins)
    state.held = frame.ordered.slice(keep)
    state.next_start = next_start - keep
    state.next_number = next_number


def release(state: State) -> None:
    """Nothing is held back once a partition closed."""
    state.held, state.next_start, state.next_number, state.begins = None, 0, 1, True
