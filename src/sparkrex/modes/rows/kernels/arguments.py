"""Arguments of the search that belong together. Every array has one dtype, is contiguous and may be written to."""

from __future__ import annotations

from typing import Any, NamedTuple


class Bounds(NamedTuple):
    """The partitions, and where the search stands in each.

    `offsets` int64 (n_partitions + 1, ends at n_rows); `begins` and `ends` bool: whether it begins with its first row
    here, and ends with its last; `start` and `number` int64: the next start and the number of the next match, both
    changed to where the search stands afterwards; `barred` uint8 (n_partitions, n_variables or 1): whether the next row
    of one that is open cannot be mapped to a variable; `asked`: see `modes.rows.matcher`; `until` int64: before which
    row matches start.
    """

    offsets: Any
    begins: Any
    ends: Any
    start: Any
    number: Any
    barred: Any
    asked: Any
    until: Any


class Instructions(NamedTuple):
    """The program: operation int8, variable int32, label int16, first and second int32, and where it begins."""

    operation: Any
    variable: Any
    label: Any
    first: Any
    second: Any
    entry: int


class RunTables(NamedTuple):
    """By instruction, for runs.

    `exit_bitmap` int32 (-1: its exit is not a variable with a bitmap), `body_bitmap` int32 (-1: holds for every row,
    -2: rows must be tested one by one), `n_versions` int8 (1: mapping a row changes what conditions read), `bound_of`
    int32 (-1: none). `bounds` int64 (n, 4: column, target and column of the limit, constant added to it). `possible`
    uint8 by row: whether a match can start there (no entry: everywhere), or GIVEN_UP, where none may.
    """

    exit_bitmap: Any
    body_bitmap: Any
    n_versions: Any
    bound_of: Any
    bounds: Any
    possible: Any


class Memo(NamedTuple):
    """What splits remember: by instruction its slot int32 (-1: nothing) and whether it is forgotten at every start,
    bool; how many slots there are that keep for the partition, and that keep for a start."""

    slot: Any
    is_per_start: Any
    n_slots: int
    n_start_slots: int


class Tests(NamedTuple):
    """Conditions: `bitmap_of` int32 by variable (-1: holds for every row), `bitmaps` uint8 (n_bitmaps, n_rows),
    `code_begin` and `code_end` int64 by variable (equal: no context condition)."""

    bitmap_of: Any
    bitmaps: Any
    code_begin: Any
    code_end: Any


class Deadlines(NamedTuple):
    """Bounds in time of variables: `begin` int64 (n_variables + 1) cuts `bounds`, which are as those of runs; the
    columns there are the order column. No row to come has less than `earliest` there.

    `ahead_begin` int64 (n_instructions + 1) cuts `ahead` int64 (n, 2): bounds of variables that every way on from an
    instruction maps, and whether one that is NULL stays so (1) or may yet have a value (0).
    """

    begin: Any
    bounds: Any
    earliest: int
    ahead_begin: Any
    ahead: Any


class Limits(NamedTuple):
    """`lookahead`: rows behind a row that its conditions read; `max_steps` from one start row; `stop` uint8, one entry,
    set by another thread when nobody waits for the answer any more (see `threads`). `reports`: whether the search goes
    on at the next row after an error."""

    lookahead: int
    max_steps: int
    stop: Any
    reports: bool = False


class StateTables(NamedTuple):
    """Sets of places as states; see `modes.rows.why.states`."""

    following: Any
    accepts: Any
    need: Any
    offsets: Any
    variables: Any
    bits: Any
    entry: int
    first: int


class Barred(NamedTuple):
    """What `^` bars: the need of these places, how many variables they have, and these as bits, uint64."""

    need: int
    n_variables: int
    bits: Any


class Blocked(NamedTuple):
    """By start row: see `kernels.blockers.find_blockers`."""

    need: Any
    n_blockers: Any
    last_row: Any
    last_state: Any
    close: Any
    close_row: Any
    close_variable: Any
    bits: Any
