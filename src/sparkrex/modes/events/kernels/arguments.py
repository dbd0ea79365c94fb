"""What the kernels of event queries are given: arrays and numbers that belong together.

An array field has the same dtype and layout, and may be written, in all calls, so that a kernel is compiled once. Rows
are positions in the frame. What is in a `Plan` does not change during a search, what is in a `Work` does.

Kernels take groups apart at their top and hand on what a part needs: whatever a function is given is compiled into
every call, and a field that is asked for in a loop would bring its whole group there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparkrex.kernels.machine import Machine, ReadColumns


class Automaton(NamedTuple):
    """By state where its edges begin, whether one of them is a take, its variable, and the condition under which a
    match ends there (-1: none, -2: it cannot); by edge its target, its condition (-1: none), whether it is a take."""

    edge_offsets: NDArray[np.int64]
    edge_target: NDArray[np.int64]
    edge_condition: NDArray[np.int64]
    edge_is_take: NDArray[np.uint8]
    state_has_take: NDArray[np.uint8]
    state_variable: NDArray[np.int64]
    accept_condition: NDArray[np.int64]


class Events(NamedTuple):
    """By row: the first row that a match which ends here may have; a number that rises with the time, empty if tied
    events may follow each other; whether a run can start."""

    window_first: NDArray[np.int64]
    ties: NDArray[np.int64]
    can_start: NDArray[np.uint8]


class Options(NamedTuple):
    """The strategy; whether to merge runs, to keep only the first of overlapping matches, to keep the buffer of all
    rows, to make matches; the most edges that a state has."""

    strategy: np.int64
    merges: bool
    only_first: bool
    keeps_buffer: bool
    constructs: bool
    most_edges: np.int64


class Tests(NamedTuple):
    """By condition: its bitmap (-1: none), where its code begins and ends; bitmaps are (bitmaps, rows)."""

    bitmap_of: NDArray[np.int64]
    bitmaps: NDArray[np.uint8]
    code_begin: NDArray[np.int64]
    code_end: NDArray[np.int64]


class Cells(NamedTuple):
    """The columns that conditions read (`kernels.machine`), and the bits of those of doubles."""

    columns: ReadColumns
    bits: NDArray[np.int64]


class Values(NamedTuple):
    """What conditions are tested with: `kernels.machine` and its columns, `kernels.path` for records. Machine and path
    hold registers, so that each thread has its own."""

    tests: Tests
    machine: Machine
    cells: Cells
    path: tuple[Any, ...]
    no_labels: NDArray[np.int16]


class Records(NamedTuple):
    """What conditions read of a run, one record each (`kernels.path`); record 0 is that of no events."""

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    float_bits: NDArray[np.int64]


class Reads(NamedTuple):
    """What runs must agree in to be merged: by state an offset; (n, 3: kind, slot, column), see `kernels.merge`."""

    offsets: NDArray[np.int64]
    reads: NDArray[np.int64]


class Apart(NamedTuple):
    """What runs must agree in beside values.

    By state where its gaps begin: negated components whose gap its edges cross, and `~place` of postponed ones whose
    gap its runs have crossed. `reads_run` by component: 0 if rows alone decide, else what runs must agree in. Whether
    runs must agree in their first event, whether to keep best histories. `next_candidate` and `postponed` are those of
    `Absences`, `previous_candidate` is (postponed components, rows): the last one up to a row.
    """

    gap_offsets: NDArray[np.int64]
    gaps: NDArray[np.int64]
    reads_run: NDArray[np.uint8]
    by_start: bool
    keeps_best: bool
    next_candidate: NDArray[np.int64]
    postponed: NDArray[np.int64]
    previous_candidate: NDArray[np.int64]


class Compared(NamedTuple):
    """All that runs are compared by, and what it is read of."""

    reads: Reads
    apart: Apart
    ties: NDArray[np.int64]
    cells: Cells


class Absences(NamedTuple):
    """Negated components.

    By component its condition, and the side of it that a variable is on (components, variables), see `codes`;
    `next_candidate` (components, rows + 1) is the next row whose row condition holds. By row the first row that a match
    which ends here may have, the last that one which starts here may have. `at_end` are those that may stand before or
    behind all events, or around which they stand. By edge what is `asked` for there, by state the same where a match
    ends: a number, of a component between the last two rows, or `~place` of a `postponed` one (n, 3: number, the slots
    of records that hold the rows around its gap).
    """

    conditions: NDArray[np.int64]
    side: NDArray[np.uint8]
    next_candidate: NDArray[np.int64]
    window_first: NDArray[np.int64]
    window_last: NDArray[np.int64]
    at_end: NDArray[np.int64]
    ask_offsets: NDArray[np.int64]
    asked: NDArray[np.int64]
    end_offsets: NDArray[np.int64]
    asked_at_end: NDArray[np.int64]
    postponed: NDArray[np.int64]


class Lookup(NamedTuple):
    """How runs are looked up by what they await (`kernels.lookup`).

    By state: kind of key, slot of the record that holds the row of the event compared with, its column; by edge: the
    column of the event under test, -1: the edge may hold whatever a run awaits. Room: by state what a row asks, and the
    key; hits (2, runs + 1).
    """

    state_kind: NDArray[np.int64]
    state_slot: NDArray[np.int64]
    state_column: NDArray[np.int64]
    edge_column: NDArray[np.int64]
    asked: NDArray[np.int64]
    keys: NDArray[np.int64]
    hits: NDArray[np.int64]


class Nodes(NamedTuple):
    """The shared buffer, by node: row, label, node before, other node of a union (where best histories are kept: number
    of events), youngest first row."""

    row: NDArray[np.int64]
    label: NDArray[np.int16]
    before: NDArray[np.int64]
    other: NDArray[np.int64]
    youngest: NDArray[np.int64]


class Ends(NamedTuple):
    """Ends of matches: every history of a node whose first row is `first` or later is a match; its last row; whether
    rows to come decide."""

    node: NDArray[np.int64]
    row: NDArray[np.int64]
    first: NDArray[np.int64]
    is_open: NDArray[np.uint8]


class Partitions(NamedTuple):
    """By partition: its first row and the one behind its last, the first row that runs have not seen, the first row of
    which a match may still depend on rows to come, the last row of the match that runs may not overlap (-1: none), and
    where its runs begin among those that wait.

    Those are (fields, runs) as in `Work.runs`, each with a record.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    unseen: NDArray[np.int64]
    open_from: NDArray[np.int64]
    blocked: NDArray[np.int64]
    run_offsets: NDArray[np.int64]
    runs: NDArray[np.int64]
    record_ints: NDArray[np.int64]
    record_floats: NDArray[np.float64]


class Waiting(NamedTuple):
    """Ends of matches that are not given yet: partition, node, first and last row of all its histories, and whether
    rows to come decide (else ends in front of it do, which matches must not overtake)."""

    place: NDArray[np.int64]
    node: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    is_open: NDArray[np.uint8]


class Bounds(NamedTuple):
    """Of a run: its first row; the first row of the partition and the one behind its last; the first row of which a
    match may still depend on rows to come."""

    start: np.int64
    low: np.int64
    high: np.int64
    open_from: np.int64


class Run(NamedTuple):
    """The fields of a run; one that has selected nothing is in state 0."""

    state: np.int64
    node: np.int64
    start: np.int64
    last: np.int64
    record: np.int64
    label: np.int64


class Step(NamedTuple):
    """A row, the first row that its window allows, the side that runs are written to, and whether runs have anything to
    remember: then each has a record."""

    row: np.int64
    bound: np.int64
    side: np.int64
    has_record: np.int64


class Counts(NamedTuple):
    """How many runs a row has left so far; how many nodes, ends, free and used records there are; how many runs have
    selected the row, and the bits of what those await (`lookup.bit_of`)."""

    runs: np.int64
    nodes: np.int64
    ends: np.int64
    free: np.int64
    records: np.int64
    changed: np.int64
    bits: np.uint64


class Plan(NamedTuple):
    """What a search reads."""

    automaton: Automaton
    events: Events
    options: Options
    reads: Reads
    apart: Apart
    values: Values


class Work(NamedTuple):
    """What a search writes.

    `runs` are (2 sides, fields, runs): those of side `at[SIDE]` wait, the other side is written; where runs are looked
    up there are three sides and one field more. `left` (fields, runs) are those that wait in partitions which are done.
    `free` are records that no run has; with room for all, and one place more, which is never read. `table` and `used`
    see `kernels.merge.merge`.
    """

    runs: NDArray[np.int64]
    left: NDArray[np.int64]
    free: NDArray[np.int64]
    table: NDArray[np.int64]
    used: NDArray[np.int64]
    nodes: Nodes
    ends: Ends
    records: Records


class Matches(NamedTuple):
    """Matches that are written: rows and labels of their events, offsets, whether they are open; how many matches and
    events there are."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int16]
    offsets: NDArray[np.int64]
    is_open: NDArray[np.uint8]
    counts: NDArray[np.int64]


class Walk(NamedTuple):
    """Room for a walk back through the buffer: rows and labels of a history, a stack of nodes and depths."""

    rows: NDArray[np.int64]
    labels: NDArray[np.int16]
    nodes: NDArray[np.int64]
    depths: NDArray[np.int64]


class Memory(NamedTuple):
    """What searches at the same time have taken, the place of this one among them, and what they may take together."""

    taken: NDArray[np.int64]
    own: np.int64
    most: np.int64


class Stack(NamedTuple):
    """Runs of backtracking that wait: state, node of the last event, its row, the row to go on from."""

    state: NDArray[np.int64]
    node: NDArray[np.int64]
    last: NDArray[np.int64]
    next: NDArray[np.int64]


class Trail(NamedTuple):
    """Events that runs of backtracking have selected, by node: row, label, node before."""

    row: NDArray[np.int64]
    label: NDArray[np.int16]
    before: NDArray[np.int64]
