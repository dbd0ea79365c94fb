"""Sub-patterns: what has one number, and in which order items are placed."""

from __future__ import annotations

import pytest
from tests.modes.workload.planner import checks
from tests.modes.workload.planner.workloads import conjunction, seq

from sparkrex.modes.workload.clause import Joint, Link
from sparkrex.modes.workload.planner.subpattern import MAX_ORDERS, SubPatterns


@pytest.mark.parametrize("seed", range(40))
def test_one_number_is_one_sub_pattern(seed: int) -> None:
    assert checks.subpatterns(seed) is None


def test_clauses_that_differ_in_names_and_windows_have_one_shape() -> None:
    patterns = SubPatterns()
    assert patterns.shape(seq("AB", window=5.0)) is patterns.shape(seq("AB", window=None))
    assert patterns.shape(seq("AB")) is not patterns.shape(seq("BA"))
    assert patterns.shape(seq("AB"), owner=1) is not patterns.shape(seq("AB"))


def test_a_condition_has_a_direction_and_difference_has_none() -> None:
    patterns = SubPatterns()
    numbers = [
        patterns.number(shape, shape.full)
        for shape in map(
            patterns.shape,
            [
                conjunction("AA", (0, 1, "less")), conjunction("AA", (1, 0, "less")),
                conjunction("AA", (0, 1, "less"), (1, 0, "less")), conjunction("AB", (0, 1, "less")),
                conjunction("AB", (1, 0, "less")), conjunction("BA", (1, 0, "less")),
            ],
        )
    ]
    assert numbers[0] == numbers[1]
    assert numbers[3] == numbers[5]
    assert len(set(numbers)) == 4


def test_items_are_placed_by_labels() -> None:
    patterns = SubPatterns()
    first, second = patterns.shape(conjunction("ABC")), patterns.shape(conjunction("CAB"))
    assert patterns.placed(first, 0b101) == (0, (0, 2))
    assert patterns.placed(second, 0b011) == (0, (1, 0))


def test_joints_belong_to_a_part_that_has_all_their_items() -> None:
    patterns = SubPatterns()
    with_joint = patterns.shape(conjunction("ABCD", joints=[Joint((0, 1, 2), "sum")]))
    without = patterns.shape(conjunction("ABCD"))
    for mask in range(1, 16):
        is_same = patterns.number(with_joint, mask) == patterns.number(without, mask)
        assert is_same == (mask & 0b0111 != 0b0111)


def test_a_label_that_repeats_very_often_is_never_confused() -> None:
    """Seven times one label has 5040 orders, more than are compared: SEQ and a chain of conditions stay apart."""
    assert MAX_ORDERS < 5040
    patterns = SubPatterns()
    chain = conjunction("A" * 7, *((at, at + 1, "less") for at in range(6)))
    shapes = [patterns.shape(clause) for clause in (seq("A" * 7), chain, conjunction("A" * 7))]
    assert len({patterns.number(shape, shape.full) for shape in shapes}) == 3


def test_a_link_that_is_there_twice_counts_once() -> None:
    patterns = SubPatterns()
    clause = conjunction("AB", (0, 1, "less"), (0, 1, "less"))
    assert clause.links == (Link(0, 1, "less"), Link(0, 1, "less"))
    assert patterns.shape(clause) is patterns.shape(conjunction("AB", (0, 1, "less")))
