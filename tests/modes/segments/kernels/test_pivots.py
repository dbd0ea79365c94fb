"""How segments are cut into blocks: one pivot, and a table that has the sums on both sides of it."""

from __future__ import annotations

import numpy as np
import pytest

from sparkrex.modes.segments.kernels import pivots
from sparkrex.modes.segments.kernels.pivots import BLOCK, LINE, N_BLOCKS, PIVOT, PLACE, Partitions, Places


def power(number: int) -> int:
    """The highest power of two that divides a number; of 0, more than any."""
    return (number & -number).bit_length() - 1 if number else 99


@pytest.mark.parametrize("first", range(20))
def test_the_pivot_is_the_one_block_that_most_powers_of_two_divide(first: int) -> None:
    for last in range(first + 1, 40):
        level = pivots.level_of(first, last)
        pivot = (last >> level) << level
        inside = range(first + 1, last + 1)
        assert pivot in inside
        assert [block for block in inside if power(block) >= level] == [pivot]


def test_the_partition_of_a_row() -> None:
    offsets = np.array([0, 3, 4, 9])
    for row, expected in enumerate([0, 0, 0, 1, 2, 2, 2, 2, 2]):
        for likely in range(3):
            assert pivots.partition_of(offsets, row, likely) == expected


@pytest.mark.parametrize("lost", [0, 3, 21])
@pytest.mark.parametrize("longest", [1, 9, 24, 40, 200])
def test_the_table_has_what_segments_ask_for(longest: int, lost: int) -> None:
    """Every stretch of whole blocks between a segment's pivot and its outermost whole block is in a line."""
    n_rows = 130
    partitions = Partitions(np.array([0, 10, n_rows]), np.array([0, lost]))
    places, n_blocks = Places.of(partitions, longest)
    stretches = pivots.stretches_of(partitions, places)
    known = {}
    for line, pivot, place, n in stretches[:, [LINE, PIVOT, PLACE, N_BLOCKS]].tolist():
        step = 1 if n > 0 else -1
        for block in range(abs(n)):
            # In this place of the line is the sum from the pivot's row up to this block.
            assert (line, place + step * block) not in known
            known[line, place + step * block] = (pivot, step * (block + 1))
    assert all(0 <= place < n_blocks for _, place in known)
    for partition, (low, high) in enumerate([(0, 10), (10, n_rows)]):
        shift = int(partitions.first[partition]) - low
        origin = int(places.begin[partition]) - (int(partitions.first[partition]) >> 3)
        for first in range(low, high, 3):
            for last in range(first, min(first + longest, high), 2):
                first_block, last_block = (first + shift) // BLOCK, (last + shift) // BLOCK
                if first_block == last_block:
                    continue
                level = pivots.level_of(first_block, last_block)
                pivot = (last_block >> level) << level
                row = pivot * BLOCK - shift
                if first_block + 1 < pivot:
                    line = pivots.left_line(level, places.levels)
                    assert known[line, origin + first_block + 1] == (row, first_block + 1 - pivot)
                if pivot < last_block:
                    line = pivots.right_line(level, places.levels)
                    assert known[line, origin + last_block - 1] == (row, last_block - pivot)


def test_no_rows_and_short_segments_need_no_table() -> None:
    for offsets in ([0, 0], [0, 0, 0], [0, 5]):
        partitions = Partitions.whole(np.array(offsets))
        places, _ = Places.of(partitions, 1)
        assert len(pivots.stretches_of(partitions, places)) == 0
