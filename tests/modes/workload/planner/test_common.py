"""Maximal common sub-patterns: the paper's examples, and the definition by brute force."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner import checks, oracle
from tests.modes.workload.planner.workloads import conjunction, seq

from sparkrex.modes.workload.clause import Joint
from sparkrex.modes.workload.planner.common import MAX_FOUND, maximal_common
from sparkrex.modes.workload.planner.subpattern import SubPatterns
from sparkrex.modes.workload.planner.tree import items_of

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause


def labels_in_common(one: Clause, other: Clause) -> list[str]:
    """The labels of each maximal common sub-pattern, as the first clause has them."""
    patterns = SubPatterns()
    found = maximal_common(patterns.shape(one), patterns.shape(other))
    for mask, other_mask in found:
        assert oracle.subpattern(one, items_of(mask)) == oracle.subpattern(other, items_of(other_mask))
    return sorted("".join(str(one.items[item].label) for item in items_of(mask)) for mask, _ in found)


@pytest.mark.parametrize("seed", range(120))
def test_it_is_the_definition(seed: int) -> None:
    assert checks.common(seed) is None


def test_section_4_the_events_of_both_in_the_same_order() -> None:
    assert labels_in_common(seq("ABCD", window=10.0), seq("AECD", window=20.0)) == ["ACD"]


def test_appendix_a_conditions_that_differ_on_a_leave_c() -> None:
    """P_1: AND(A, B, C) with A.x < 10 and P_2: AND(A, D, C) with A.x >= 10 have the event types {A, C} in common.

    A condition on one event is a part of its label, so only C is left; the paper prints {A, B} and AND(B). One item is
    nothing to share beyond the leaf, so that there is no edge; with another type in common there is.
    """
    one, other = conjunction("abC"), conjunction("xdC")
    assert labels_in_common(one, other) == []
    assert labels_in_common(conjunction("abCE"), conjunction("xdCE")) == ["CE"]


def test_appendix_a_two_maximal_common_sub_patterns() -> None:
    assert labels_in_common(seq("ABC"), seq("ACB")) == ["AB", "AC"]


def test_sequences_and_conjunctions_have_nothing_in_common() -> None:
    assert labels_in_common(seq("ABC"), conjunction("ABC")) == []


def test_a_condition_that_one_has_breaks_the_pair() -> None:
    assert labels_in_common(conjunction("ABC", (0, 1, "less")), conjunction("ABC")) == ["AC", "BC"]
    assert labels_in_common(conjunction("ABC", (0, 1, "less")), conjunction("ABC", (0, 1, "less"))) == ["ABC"]


def test_a_joint_that_one_has_costs_one_of_its_items() -> None:
    with_joint = conjunction("ABCD", joints=[Joint((0, 1, 2), "sum")])
    assert labels_in_common(with_joint, conjunction("ABCD")) == ["ABD", "ACD", "BCD"]
    assert labels_in_common(conjunction("ABCD"), with_joint) == ["ABD", "ACD", "BCD"]
    assert labels_in_common(with_joint, conjunction("DCBA", joints=[Joint((3, 2, 1), "sum")])) == ["ABCD"]


def test_a_kleene_is_not_the_event() -> None:
    assert labels_in_common(seq("ABC", kleene="B"), seq("ABC")) == ["AC"]


def test_equal_patterns_have_all_in_common() -> None:
    assert labels_in_common(seq("ABC"), seq("ABC")) == ["ABC"]
    assert labels_in_common(seq("A"), seq("A")) == []
    assert labels_in_common(replace(seq("AB"), window=1.0), seq("AB")) == ["AB"]


def test_very_many_common_parts_are_not_all_found() -> None:
    """Each of eight A of one sequence may be any of eight A of the other, and B tells the sequences apart."""
    one, other = seq("AAAAAAAAB"), conjunction("AAAAAAAAB", *((at, at + 1, "less") for at in range(0, 7, 2)))
    patterns = SubPatterns()
    assert len(maximal_common(patterns.shape(one), patterns.shape(other))) <= 2 * MAX_FOUND
