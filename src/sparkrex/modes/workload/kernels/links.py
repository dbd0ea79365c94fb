"""What must hold between an event, or array of events, of one partial match and one of another.

A link is a line of numbers: its kind, the slots, and for comparisons the operator and where the keys of the two sides
stand. A slot holds a row; that of a Kleene holds the *cell* of its last event (`arguments.Cells`). The key of a row
stands at the beginning of its line of keys plus the row's rank: keys are there for the rows of one type only.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.null_key import NULL_KEY

BEFORE, AFTER, DIFFERENT, COMPARE = 0, 1, 2, 3
"""Kinds: all of the left before all of the right, the reverse, no event in common, a comparison of values."""
LESS, LESS_OR_EQUAL, EQUAL, UNEQUAL, GREATER_OR_EQUAL, GREATER = 0, 1, 2, 3, 4, 5
"""Operators, so that turning a comparison round is GREATER - operator but for EQUAL and UNEQUAL."""
CODES = {"lt": LESS, "le": LESS_OR_EQUAL, "eq": EQUAL, "ne": UNEQUAL, "ge": GREATER_OR_EQUAL, "gt": GREATER}
"""Operators by the name of the function."""
SINGLE, FIRST, LAST, LATER = 0, 1, 2, 3
"""What is read of a slot: its one event, or of a Kleene the first, the last, or every later one."""

(
    KIND, LEFT_SLOT, RIGHT_SLOT, OPERATOR, LEFT_KEYS, RIGHT_KEYS, LEFT_RANK, RIGHT_RANK, LEFT_READS, RIGHT_READS,
) = range(10)
"""The columns of a line."""
N_COLUMNS = 10


@inlined
def compares(operator, one, other):
    """Whether a comparison holds between two keys. With a NULL it does not."""
    if one == NULL_KEY or other == NULL_KEY:
        return False
    if operator == LESS:
        return one < other
    if operator == LESS_OR_EQUAL:
        return one <= other
    if operator == EQUAL:
        return one == other
    if operator == UNEQUAL:
        return one != other
    if operator == GREATER_OR_EQUAL:
        return one >= other
    return one > other


@inlined
def row_read(value, reads, cell_row, cell_first):
    """The row of the event that is read of a slot; not for LATER, which reads several."""
    if reads == SINGLE:
        return value
    return cell_first[value] if reads == FIRST else cell_row[value]


@inlined
def _has_event(value, reads, cell_row, cell_before, ordinal, time):
    """Whether a slot has an event of the given place in time."""
    if reads == SINGLE:
        return ordinal[value] == time
    cell = value
    while cell >= 0:
        if ordinal[cell_row[cell]] == time:
            return True
        cell = cell_before[cell]
    return False


@inlined
def holds(link, left, right, pool, rank, ordinal, cell_row, cell_first, cell_before):
    """Whether a link holds between the values of its two slots. The keys stand in the pool."""
    kind, left_reads, right_reads = link[KIND], link[LEFT_READS], link[RIGHT_READS]
    if kind == BEFORE:
        last = left if left_reads == SINGLE else cell_row[left]
        return last < ordinal[row_read(right, right_reads and FIRST, cell_row, cell_first)]
    if kind == AFTER:
        last = right if right_reads == SINGLE else cell_row[right]
        return last < ordinal[row_read(left, left_reads and FIRST, cell_row, cell_first)]
    if kind == DIFFERENT:
        if right_reads == SINGLE:
            return not _has_event(left, left_reads, cell_row, cell_before, ordinal, ordinal[right])
        cell = right
        while cell >= 0:
            if _has_event(left, left_reads, cell_row, cell_before, ordinal, ordinal[cell_row[cell]]):
                return False
            cell = cell_before[cell]
        return True
    operator, left_keys, right_keys = link[OPERATOR], link[LEFT_KEYS], link[RIGHT_KEYS]
    left_rank, right_rank = link[LEFT_RANK], link[RIGHT_RANK]
    if left_reads == LATER:
        other = pool[right_keys + rank[right_rank, row_read(right, right_reads, cell_row, cell_first)]]
        cell = left
        while cell_before[cell] >= 0:
            if not compares(operator, pool[left_keys + rank[left_rank, cell_row[cell]]], other):
                return False
            cell = cell_before[cell]
        return True
    one = pool[left_keys + rank[left_rank, row_read(left, left_reads, cell_row, cell_first)]]
    if right_reads == LATER:
        cell = right
        while cell_before[cell] >= 0:
            if not compares(operator, one, pool[right_keys + rank[right_rank, cell_row[cell]]]):
                return False
            cell = cell_before[cell]
        return True
    return compares(
        operator, one, pool[right_keys + rank[right_rank, row_read(right, right_reads, cell_row, cell_first)]]
    )
