"""The oracle against answers worked out by hand; the comments say how."""

from __future__ import annotations

import math
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.modes.rows.oracle import OracleError, OracleMatch, evaluate, find_matches
from tests.modes.rows.oracle.building import (
    NEXT_ROW,
    aggregate,
    call,
    classifier,
    column,
    first,
    following,
    last,
    letters,
    make_plan,
    order_key,
    prev,
    skip_to_first,
    skip_to_last,
    target,
)
from tests.modes.rows.oracle.words import EmptyIterations, Mapping, Unpruned, Words, future_of_length

from sparkrex.languages.match_recognize.row_pattern import (
    Anchor,
    AnchorKind,
    Empty,
    Exclusion,
    Permutation,
    Quantified,
    RowPattern,
    alternation,
    concatenation,
    optional,
    plus,
    star,
    variable,
)
from sparkrex.modes.plan import RowsPerMatch
from sparkrex.scalar.expression import End, Expression, Literal, MatchNumber

if TYPE_CHECKING:
    from collections.abc import Mapping as Definitions

N = column("n")
A, B, C, D = map(variable, "ABCD")
START, END = Anchor(AnchorKind.START), Anchor(AnchorKind.END)
ANY: Definitions[str, Expression | None] = {"A": None, "B": None, "C": None}


def found(pattern: RowPattern, text: str, **options: Any) -> str:
    """The labels of all matches, as `start:labels` separated by blanks."""
    matches = find_matches(make_plan(pattern, **options), letters(text))
    return " ".join(f"{match.start}:{''.join(match.labels)}" for match in matches)


# The order of preferment.


def test_concatenation_maps_rows_in_order() -> None:
    assert found(concatenation(A, B), "ABBAB") == "0:AB 3:AB"


def test_alternation_prefers_its_first_option_even_if_the_second_is_longer() -> None:
    assert found(alternation(A, concatenation(A, B)), "AB") == "0:A"


def test_alternation_takes_the_second_option_when_the_rest_needs_it() -> None:
    # A, then C fails on B; so A B, then C.
    assert found(concatenation(alternation(A, concatenation(A, B)), C), "ABC") == "0:ABC"


def test_greedy_takes_most_and_gives_back() -> None:
    # Both A and B hold on every row: A* takes all, then gives one back to B.
    assert found(concatenation(star(A), B), "xxx", define=ANY) == "0:AAB"


def test_reluctant_takes_least() -> None:
    assert found(concatenation(star(A, is_greedy=False), B), "xxx", define=ANY) == "0:B 1:B 2:B"
    assert found(concatenation(plus(A, is_greedy=False), B), "xxxx", define=ANY) == "0:AB 2:AB"


def test_reluctant_extends_when_it_must() -> None:
    assert found(concatenation(plus(A, is_greedy=False), B), "AAAB") == "0:AAAB"


def test_the_earlier_quantifier_decides_before_the_later() -> None:
    # A{1,2} greedy takes two, so B+ has one; the reluctant form takes one, B+ the other two.
    assert found(concatenation(Quantified(A, 1, 2), plus(B)), "xxx", define=ANY) == "0:AAB"
    assert found(concatenation(Quantified(A, 1, 2, is_greedy=False), plus(B)), "xxx", define=ANY) == "0:ABB"


def test_optional_greedy_and_reluctant() -> None:
    assert found(concatenation(optional(A), optional(B)), "AB", define=ANY) == "0:AB"
    # Reluctant A? is empty, then B takes the row.
    assert found(concatenation(optional(A, is_greedy=False), B), "AB", define=ANY) == "0:B 1:B"


def test_bounded_quantifiers() -> None:
    assert found(Quantified(A, 2, 3), "AAAAAAA") == "0:AAA 3:AAA"
    assert found(Quantified(A, 2, 2), "AAAAA") == "0:AA 2:AA"
    assert found(Quantified(A, 2, None), "ABAAB") == "2:AA"
    assert found(Quantified(A, 2, 3, is_greedy=False), "AAAAA") == "0:AA 2:AA"


def test_a_quantified_group_prefers_the_first_option_in_each_iteration() -> None:
    assert found(plus(alternation(A, B)), "xx", define=ANY) == "0:AA"
    assert found(plus(alternation(A, B)), "ABBA") == "0:ABBA"


def test_nested_quantifiers() -> None:
    # (A B?){2}: A B, then A B.
    assert found(Quantified(concatenation(A, optional(B)), 2, 2), "ABABA") == "0:ABAB"
    # (A{2})+ takes pairs only.
    assert found(plus(Quantified(A, 2, 2)), "AAAAA") == "0:AAAA"
    # ((A+?)+? B): every level is reluctant, but B forces three A.
    lazy = plus(plus(A, is_greedy=False), is_greedy=False)
    assert found(concatenation(lazy, B), "AAAB") == "0:AAAB"


def test_nested_quantifiers_do_not_explode() -> None:
    pattern: RowPattern = concatenation(plus(plus(plus(plus(A)))), B)
    assert found(pattern, "A" * 12) == ""


# Empty iterations, anchors, permutation, exclusion.


def test_patterns_of_nothing_match_emptily_at_every_row() -> None:
    nothing: list[RowPattern] = [
        concatenation(Empty(), Empty()), star(Empty()), plus(Empty()), Quantified(Empty(), 2, None), optional(Empty()),
    ]
    for pattern in nothing:
        assert found(pattern, "xx") == "0: 1:", str(pattern)


def test_star_matches_emptily_where_nothing_else_is() -> None:
    assert found(star(A), "ABA") == "0:A 1: 2:A"


def test_reluctant_star_alone_is_always_empty() -> None:
    assert found(star(A, is_greedy=False), "AA") == "0: 1:"


def test_optional_iterations_within_the_minimum_may_be_empty() -> None:
    # (A?){2,} on one A: the first iteration takes it, the second is empty, a third would be empty and is not made.
    assert found(Quantified(optional(A), 2, None), "AB") == "0:A 1:"
    assert found(Quantified(optional(A), 2, None), "AAAA") == "0:AAAA"
    # A reluctant body: the two iterations it must make are empty, a further one could only be a row: refused first.
    assert found(Quantified(optional(A, is_greedy=False), 2, 3, is_greedy=False), "AA") == "0: 1:"


def test_an_empty_iteration_that_reaches_the_minimum_is_the_last() -> None:
    # (() | A)*: the body's preferred word is empty, and then nothing follows.
    assert found(star(alternation(Empty(), A)), "AAB") == "0: 1: 2:"
    # In (() | A){1,} the first iteration reaches the minimum.
    assert found(plus(alternation(Empty(), A)), "AA") == "0: 1:"
    # A body that prefers a row takes all it can.
    assert found(star(alternation(A, Empty())), "AAB") == "0:AA 2:"
    # With an upper bound of one there is no rest.
    assert found(Quantified(alternation(Empty(), A), 1, 1), "AA") == "0: 1:"


def test_anchors() -> None:
    assert found(concatenation(START, A), "AA") == "0:A"
    assert found(concatenation(A, END), "AA") == "1:A"
    assert found(concatenation(START, plus(A), END), "AAB") == ""
    assert found(concatenation(A, START), "AA") == ""
    assert found(concatenation(END, A), "AA") == ""
    assert found(star(START), "xx") == "0: 1:"
    assert found(plus(START), "xx") == "0:"
    # $ lies after the last row, which is no start.
    assert found(END, "xx") == ""


def test_anchors_are_of_the_partition_not_of_the_match() -> None:
    # The second match does not start the partition.
    assert found(concatenation(optional(START), A), "AAA") == "0:A 1:A 2:A"


def test_permute_is_lexicographic() -> None:
    assert found(Permutation((A, B)), "xx", define=ANY) == "0:AB"
    assert found(Permutation((A, B, C)), "CAB") == "0:CAB"
    # Any row can be A or B, only the second is C: ABC and ACB... the first order with C second is A C B.
    assert found(Permutation((A, B, C)), "xCx", define={"A": None, "B": None}) == "0:ACB"
    assert found(Permutation((A,)), "A") == "0:A"


def test_permute_of_quantified_items() -> None:
    # A? first: A? B needs B now; row 0 is B, so A? is empty, then B. A B would need A first.
    assert found(Permutation((optional(A), B)), "BA") == "0:B"
    # The same with A+: only B A+ fits.
    assert found(Permutation((plus(A), B)), "BAA") == "0:BAA"


def test_exclusion_marks_rows_and_they_vanish_from_all_rows() -> None:
    plan = make_plan(
        concatenation(A, Exclusion(plus(B)), C), mode=RowsPerMatch.ALL_SHOW_EMPTY,
        measures={"count": aggregate("count"), "before": prev("n")},
    )
    assert find_matches(plan, letters("ABBC")) == [
        OracleMatch(0, (0, 1, 2, 3), 0, ("A", "B", "B", "C"), (False, True, True, False), 1)
    ]
    # Excluded rows count and are navigated to.
    assert evaluate(plan, letters("ABBC")) == (
        ("count", "before", "n", "letter"), [(1, None, 0, "A"), (4, 2, 3, "C")]
    )


def test_exclusion_in_an_iteration_marks_only_its_own_rows() -> None:
    plan = make_plan(plus(concatenation(A, Exclusion(B))))
    assert find_matches(plan, letters("ABAB"))[0].excluded == (False, True, False, True)


def test_a_match_of_excluded_rows_only_gives_no_rows() -> None:
    plan = make_plan(Exclusion(plus(A)), mode=RowsPerMatch.ALL_SHOW_EMPTY)
    assert evaluate(plan, letters("AA"))[1] == []


# AFTER MATCH SKIP.


def test_skip_past_last_row() -> None:
    assert found(Quantified(A, 2, 2), "AAA") == "0:AA"


def test_skip_to_next_row() -> None:
    assert found(Quantified(A, 2, 2), "AAA", skip=NEXT_ROW) == "0:AA 1:AA"


def test_skip_to_first_and_last() -> None:
    pattern = concatenation(A, plus(B))
    anything: dict[str, Any] = {"define": {"A": None}}
    # From 0: A B B. First B is row 1, where B (as A) B matches again, then skip to row 2, where no B follows.
    assert found(pattern, "ABB", skip=skip_to_first("B"), **anything) == "0:ABB 1:AB"
    assert found(pattern, "ABB", skip=skip_to_last("B"), **anything) == "0:ABB"


def test_skip_to_a_union_variable() -> None:
    pattern = concatenation(A, B, C)
    # The last row of {B, C} is C's: row 2, which starts nothing.
    assert found(pattern, "ABCABC", skip=skip_to_last("B", "C")) == "0:ABC 3:ABC"


def test_skip_to_the_first_row_of_the_match_is_an_error() -> None:
    with pytest.raises(OracleError) as caught:
        found(concatenation(A, B), "AB", skip=skip_to_first("A"))
    assert caught.value.code == "REX401"
    # The first match is A A and goes on at its last A; the match found there is that A alone.
    with pytest.raises(OracleError, match="REX401"):
        found(plus(A), "AAB", skip=skip_to_last("A"))


def test_skip_to_an_absent_variable_is_an_error() -> None:
    with pytest.raises(OracleError) as caught:
        found(concatenation(A, optional(B)), "AC", skip=skip_to_first("B"))
    assert caught.value.code == "REX402"


def test_an_empty_match_skips_to_the_next_row_whatever_is_asked() -> None:
    for skip in (NEXT_ROW, skip_to_first("A"), skip_to_last("A")):
        assert found(star(A), "BB", skip=skip) == "0: 1:"


def test_skip_errors_do_not_arise_without_a_match() -> None:
    assert found(concatenation(A, B), "xx", skip=skip_to_first("A")) == ""


# Rows per match, match numbers.


def modes(pattern: RowPattern, text: str, mode: RowsPerMatch, **options: Any) -> list[tuple[Any, ...]]:
    """n, match number, classifier, count(*) and a coalesced last for each row of the result."""
    measures: dict[str, Expression] = {
        "number": MatchNumber(), "label": classifier(), "count": aggregate("count"),
        "filled": call("coalesce", last("n"), -1),
    }
    names, rows = evaluate(make_plan(pattern, measures=measures, mode=mode, **options), letters(text))
    if mode is RowsPerMatch.ONE:
        assert names == ("number", "label", "count", "filled")
        return rows
    assert names == ("number", "label", "count", "filled", "n", "letter")
    return [(row[4], *row[:4]) for row in rows]


def test_one_row_per_match_sees_the_last_row() -> None:
    assert modes(plus(A), "AABA", RowsPerMatch.ONE) == [(1, "A", 2, 1), (2, "A", 1, 3)]


def test_one_row_per_empty_match() -> None:
    assert modes(star(A), "BA", RowsPerMatch.ONE) == [(1, None, 0, -1), (2, "A", 1, 1)]


def test_all_rows_show_empty_matches() -> None:
    assert modes(star(A), "AABA", RowsPerMatch.ALL_SHOW_EMPTY) == [
        (0, 1, "A", 1, 0), (1, 1, "A", 2, 1), (2, 2, None, 0, -1), (3, 3, "A", 1, 3)
    ]


def test_all_rows_omit_empty_matches_leaves_a_gap_in_numbering() -> None:
    assert modes(star(A), "ABA", RowsPerMatch.ALL_OMIT_EMPTY) == [(0, 1, "A", 1, 0), (2, 3, "A", 1, 2)]


def test_all_rows_with_unmatched_rows() -> None:
    # Row 0 has no match: all measures NULL, even those that would fill it in.
    assert modes(plus(A), "BAB", RowsPerMatch.ALL_WITH_UNMATCHED) == [
        (0, None, None, None, None), (1, 1, "A", 1, 1), (2, None, None, None, None)
    ]


def test_with_unmatched_rows_shows_empty_matches_too() -> None:
    assert modes(star(A), "BA", RowsPerMatch.ALL_WITH_UNMATCHED) == [(0, 1, None, 0, -1), (1, 2, "A", 1, 1)]


def test_a_row_of_an_earlier_match_is_not_unmatched() -> None:
    # SKIP TO NEXT ROW: row 1 begins no match but lies in the first one; row 2 lies in none.
    rows = modes(concatenation(A, B), "ABB", RowsPerMatch.ALL_WITH_UNMATCHED, skip=NEXT_ROW)
    assert [row[:2] for row in rows] == [(0, 1), (1, 1), (2, None)]


def test_overlapping_matches_repeat_rows() -> None:
    rows = modes(Quantified(A, 2, 2), "AAA", RowsPerMatch.ALL_SHOW_EMPTY, skip=NEXT_ROW)
    assert [row[:2] for row in rows] == [(0, 1), (1, 1), (1, 2), (2, 2)]


# Navigation.


def at_each_row(measure: Expression, pattern: RowPattern, text: str, **options: Any) -> list[Any]:
    """The measure at each row of ALL ROWS PER MATCH."""
    plan = make_plan(pattern, measures={"m": measure}, mode=RowsPerMatch.ALL_SHOW_EMPTY, **options)
    return [row[0] for row in evaluate(plan, letters(text))[1]]


ABBC = concatenation(A, plus(B), C)


def test_running_and_final_last() -> None:
    assert at_each_row(last("n", "B"), ABBC, "ABBC") == [None, 1, 2, 2]
    assert at_each_row(last("n", "B", final=True), ABBC, "ABBC") == [2, 2, 2, 2]
    assert at_each_row(last("n", final=True), ABBC, "ABBC") == [3, 3, 3, 3]


def test_first_and_last_with_offsets() -> None:
    assert at_each_row(first("n", "B", offset=1), ABBC, "ABBC") == [None, None, 2, 2]
    assert at_each_row(last("n", "B", offset=1), ABBC, "ABBC") == [None, None, 1, 1]
    assert at_each_row(first("n", "B", offset=2, final=True), ABBC, "ABBC") == [None] * 4
    assert at_each_row(last("n", "A", "C", final=True, offset=1), ABBC, "ABBC") == [0] * 4


def test_prev_and_next_leave_the_match_but_not_the_partition() -> None:
    assert at_each_row(prev("n"), concatenation(B, C), "ABCD") == [0, 1]
    assert at_each_row(following("n", 2), concatenation(B, C), "ABCD") == [3, None]
    assert at_each_row(prev("n", 2), concatenation(B, C), "ABCD") == [None, 0]


def test_prev_around_first() -> None:
    # The row before the first B is row 0; before B's last, a moving one.
    assert at_each_row(first("n", "B", shift=-1), ABBC, "ABBC") == [None, 0, 0, 0]
    assert at_each_row(last("n", "B", shift=1), ABBC, "ABBC") == [None, 2, 3, 3]


def test_navigation_stays_in_its_partition() -> None:
    rows = [{"k": key, "n": number, "letter": "A"} for number, key in enumerate("xyxy")]
    plan = make_plan(
        A, measures={"before": prev("n"), "after": following("n")}, partition_by=["k"], columns=("k", "n", "letter")
    )
    assert evaluate(plan, rows)[1] == [("x", None, 2), ("x", 0, None), ("y", None, 3), ("y", 1, None)]


def test_classifiers() -> None:
    assert at_each_row(classifier(), ABBC, "ABBC") == ["A", "B", "B", "C"]
    # Of the last row of the union of A and B so far; of that of C in the end.
    assert at_each_row(classifier(target("A", "B")), ABBC, "ABBC") == ["A", "B", "B", "B"]
    assert at_each_row(classifier(target("C", final=True)), ABBC, "ABBC") == ["C"] * 4
    assert at_each_row(classifier(target(end=End.FIRST)), ABBC, "ABBC") == ["A"] * 4


def test_classifier_of_a_neighbour_is_null_outside_the_match() -> None:
    # In MEASURES the next row's classifier is known although running; the row after the match has none.
    assert at_each_row(classifier(target(shift=1)), ABBC, "ABBCC") == ["B", "B", "C", None]
    assert at_each_row(classifier(target(shift=-1)), ABBC, "DABBC") == [None, "A", "B", "B"]


def test_classifier_in_define() -> None:
    # B must not follow a B: PREV(CLASSIFIER()) sees the tentative mapping, so only one B can be taken.
    not_after_b = call("ne", classifier(target(shift=-1)), "B")
    assert found(concatenation(A, star(B)), "xxx", define={"A": None, "B": not_after_b}) == "0:AB 2:A"
    # The next row is not mapped yet.
    unknown = call("is_null", classifier(target(shift=1)))
    assert found(concatenation(A, B), "xx", define={"A": unknown, "B": unknown}) == "0:AB"
    own = call("eq", classifier(), "A")
    assert found(A, "x", define={"A": own}) == "0:A"


# DEFINE.


def test_a_condition_sees_the_row_before() -> None:
    falls = call("lt", column("n"), prev("n"))
    rows = [{"n": number, "letter": "x"} for number in (5, 4, 3, 6, 2)]
    plan = make_plan(concatenation(A, plus(B)), define={"A": None, "B": falls})
    assert [match.rows for match in find_matches(plan, rows)] == [(0, 1, 2), (3, 4)]


def test_a_null_condition_does_not_hold() -> None:
    # At the first row PREV is NULL, and so is the comparison; NOT of it too.
    compares = call("ge", column("n"), prev("n"))
    assert found(A, "xx", define={"A": compares}) == "1:A"
    assert found(A, "xx", define={"A": call("not", compares)}) == ""
    assert found(A, "xx", define={"A": call("is_null", compares)}) == "0:A"


def test_a_variable_without_definition_maps_any_row() -> None:
    assert found(concatenation(A, B), "  B", define={"A": None}) == "1:AB"


def test_the_own_variable_means_the_tested_row() -> None:
    # B.letter in B's definition is the row being tested, A.letter the last A.
    same = call("eq", last("letter", "B"), last("letter", "A"))
    assert found(concatenation(A, B), "xxyx", define={"A": None, "B": same}) == "0:AB"


def test_an_aggregate_in_define_includes_the_tested_row() -> None:
    # n is 0 1 2 3: sums 0, 1, 3, 6; A+ stops before the sum passes 3.
    small = call("le", aggregate("sum", column("n"), over="A"), 3)
    assert found(plus(A), "xxxx", define={"A": small}) == "0:AAA 3:A"


def test_an_aggregate_in_define_is_restored_when_a_row_is_refused() -> None:
    # (A | B)* C on n = 0..3: A while the sum of A's n is at most 2. 0, 1 are A (sum 1); 2 would make 3, refused, so it
    # is B and A's sum is still 1; 3 would make 4: B. C needs the sum of A to be 1 before it, and takes the last row.
    a_sum = aggregate("sum", column("n"), over="A")
    define = {
        "A": call("le", a_sum, 2), "B": None,
        "C": call("and", call("eq", a_sum, 1), call("eq", column("n"), 3)),
    }
    assert found(concatenation(star(alternation(A, B)), C), "xxxx", define=define) == "0:AABC"


def test_backtracking_undoes_aggregates() -> None:
    # A+ takes three rows, then B needs count(A) = 1: two A are given back.
    one = call("eq", aggregate("count", over="A"), 1)
    assert found(concatenation(plus(A), B), "xxxx", define={"A": None, "B": one}) == "0:AB 2:AB"


def test_define_can_look_at_later_rows() -> None:
    assert found(A, "AB", define={"A": call("eq", following("letter"), "B")}) == "0:A"


def test_match_number_in_define() -> None:
    # The number that the match would have: the second A is match 2 and refused.
    assert found(A, "xx", define={"A": call("eq", MatchNumber(), 1)}) == "0:A"


# Aggregates in MEASURES.


def test_running_and_final_aggregates() -> None:
    assert at_each_row(aggregate("sum", N), ABBC, "ABBC") == [0, 1, 3, 6]
    assert at_each_row(aggregate("sum", N, final=True), ABBC, "ABBC") == [6] * 4
    assert at_each_row(aggregate("sum", N, over="B"), ABBC, "ABBC") == [None, 1, 3, 3]
    assert at_each_row(aggregate("count", over="BC"), ABBC, "ABBC") == [0, 1, 2, 3]


def test_aggregates_over_classifiers() -> None:
    assert at_each_row(aggregate("array_agg", classifier()), ABBC, "ABBC") == [
        ["A"], ["A", "B"], ["A", "B", "B"], ["A", "B", "B", "C"]
    ]
    number = aggregate("sum", MatchNumber())
    assert [row[0] for row in evaluate(make_plan(plus(A), measures={"m": number}), letters("ABAA"))[1]] == [1, 4]


def test_aggregates_of_an_empty_match() -> None:
    measures: dict[str, Expression] = {
        "count": aggregate("count"), "if": aggregate("count_if", Literal(True)), "sum": aggregate("sum", N),
        "list": aggregate("array_agg", N), "plus": call("add", aggregate("count", N), 1),
    }
    assert evaluate(make_plan(star(A), measures=measures), letters("B"))[1] == [(0, 0, None, None, 1)]


# Partitions and order.


def test_partitions_stand_in_order_of_first_appearance() -> None:
    keys = [None, 0.0, math.nan, -0.0, None, math.nan]
    rows = [{"k": key, "n": number} for number, key in enumerate(keys)]
    plan = make_plan(plus(A), define=ANY, partition_by=["k"], columns=("k", "n"))
    matches = find_matches(plan, rows)
    assert [(match.partition, match.rows, match.number) for match in matches] == [
        (0, (0, 4), 1), (1, (1, 3), 1), (2, (2, 5), 1)
    ]


def test_ties_keep_input_order() -> None:
    rows = [{"t": time, "n": number} for number, time in enumerate([2, 1, 2, 1])]
    plan = make_plan(plus(A), define=ANY, order_by=[order_key("t")], columns=("t", "n"))
    assert find_matches(plan, rows)[0].rows == (1, 3, 0, 2)
    plan = make_plan(plus(A), define=ANY, order_by=[order_key("t", descending=True)], columns=("t", "n"))
    assert find_matches(plan, rows)[0].rows == (0, 2, 1, 3)


@pytest.mark.parametrize(
    ("descending", "nulls_first", "answer"),
    [
        (False, True, (1, 2, 0, 3)),
        (False, False, (2, 0, 3, 1)),
        (True, True, (1, 3, 0, 2)),
        (True, False, (3, 0, 2, 1)),
    ],
)
def test_nulls_and_nan_in_order(descending: bool, nulls_first: bool, answer: tuple[int, ...]) -> None:
    rows = [{"t": time} for time in (5.0, None, -math.inf, math.nan)]
    key = order_key("t", descending=descending, nulls_first=nulls_first)
    assert find_matches(make_plan(plus(A), define=ANY, order_by=[key], columns=("t",)), rows)[0].rows == answer


def test_several_order_keys() -> None:
    rows = [{"s": s, "t": t} for s, t in ((1, 1), (0, 1), (1, 2), (0, 2))]
    keys = [order_key("s"), order_key("t", descending=True)]
    assert find_matches(make_plan(plus(A), define=ANY, order_by=keys, columns=("s", "t")), rows)[0].rows == (3, 1, 2, 0)


def test_output_columns_stand_partition_order_measures_rest() -> None:
    rows = [{"x": 1, "t": 2, "k": 3}]
    plan = make_plan(
        A, define=ANY, measures={"m": Literal("v")}, mode=RowsPerMatch.ALL_SHOW_EMPTY, partition_by=["k"],
        order_by=[order_key("t")], columns=("x", "t", "k"),
    )
    assert evaluate(plan, rows) == (("k", "t", "m", "x"), [(3, 2, "v", 1)])


def test_no_rows_no_matches() -> None:
    assert evaluate(make_plan(star(A), measures={"m": MatchNumber()}), []) == (("m",), [])


# The shortcut of `words`.


def test_pruning_changes_no_answer() -> None:
    """Random small patterns, with conditions that read the mapping and without, pruned and unpruned."""
    chance = random.Random(20261)
    after_a = call("eq", classifier(target(shift=-1)), "A")
    few = call("le", aggregate("count", over="B"), 2)
    choices: list[dict[str, Expression | None]] = [
        {}, {"A": None}, {"A": None, "B": None}, {"B": after_a}, {"A": None, "B": few}, {"B": few, "C": after_a},
    ]
    for _ in range(1500):
        pattern = _random_pattern(chance, 3)
        text = "".join(chance.choice("ABC") for _ in range(chance.randint(1, 5)))
        define = {name: condition for name, condition in chance.choice(choices).items() if name in str(pattern)}
        plan = make_plan(pattern, define=define, skip=NEXT_ROW)
        unpruned = find_matches(plan, letters(text), future=Unpruned())
        assert find_matches(plan, letters(text)) == unpruned, f"{pattern} on {text}"


def _random_pattern(chance: random.Random, depth: int) -> RowPattern:
    if depth == 0 or chance.random() < 0.25:
        leaves: list[RowPattern] = [A, A, B, B, C, Empty(), START, END]
        return chance.choice(leaves)
    parts = [_random_pattern(chance, depth - 1) for _ in range(2)]
    match chance.randrange(6):
        case 0 | 1:
            return concatenation(*parts)
        case 2:
            return alternation(*parts)
        case 3:
            return Permutation(tuple(parts))
        case 4:
            return Exclusion(parts[0])
        case _:
            minimum = chance.randint(0, 2)
            maximum = None if chance.random() < 0.5 else max(1, minimum + chance.randint(0, 1))
            return Quantified(parts[0], minimum, maximum, chance.random() < 0.7)


# A second opinion from outside: Python's regular expressions have the same order of preferment.


def test_preferred_matches_end_where_regular_expressions_do() -> None:
    """Random patterns over overlapping conditions: A holds on a, b; B on b, c; C on c. Spans must agree.

    Regular expressions end a loop at an empty iteration.
    """
    chance = random.Random(20262)
    rows_of = {"A": "ab", "B": "bc", "C": "c"}
    n_matches = 0
    for _ in range(3000):
        pattern, expression = _random_pair(chance, 3)
        text = "".join(chance.choice("abc") for _ in range(chance.randint(1, 6)))
        for start in range(len(text)):
            def holds(labels: tuple[str, ...], start: int = start, text: str = text) -> bool:
                return text[start + len(labels) - 1] in rows_of[labels[-1]]

            words = Words(len(text), start, holds, future_of_length, EmptyIterations.END)
            ours = next(words.of(pattern, Mapping()), None)
            theirs = re.compile(expression).match(text, start)
            assert (ours is None) == (theirs is None), f"{pattern} = {expression} on {text} at {start}"
            if ours is not None and theirs is not None:
                n_matches += 1
                assert start + len(ours.labels) == theirs.end(), f"{pattern} = {expression} on {text} at {start}"
    assert n_matches > 3000


def _random_pair(chance: random.Random, depth: int) -> tuple[RowPattern, str]:
    """A pattern and the regular expression that means it."""
    if depth == 0 or chance.random() < 0.2:
        name, text = chance.choice([("A", "[ab]"), ("B", "[bc]"), ("C", "c")])
        return variable(name), text
    (left, left_text), (right, right_text) = (_random_pair(chance, depth - 1) for _ in range(2))
    match chance.randrange(4):
        case 0 | 1:
            return concatenation(left, right), f"(?:{left_text})(?:{right_text})"
        case 2:
            return alternation(left, right), f"(?:{left_text}|{right_text})"
        case _:
            minimum = chance.randint(0, 2)
            maximum = None if chance.random() < 0.5 else max(1, minimum + chance.randint(0, 2))
            is_greedy = chance.random() < 0.6
            bounds = f"{{{minimum},{'' if maximum is None else maximum}}}{'' if is_greedy else '?'}"
            return Quantified(left, minimum, maximum, is_greedy), f"(?:{left_text}){bounds}"
