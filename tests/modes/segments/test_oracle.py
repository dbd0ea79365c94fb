"""The oracle on cases whose answers are derived by hand. Rows count from 0; x are the values given to `series`."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.modes.segments import building as b
from tests.modes.segments import definitions
from tests.modes.segments.building import (
    absent,
    aggregate,
    both,
    call,
    concat,
    define,
    either,
    first,
    last,
    point,
    repeat,
    rows_window,
    search,
    segment,
    series,
)
from tests.modes.segments.draws import Example, examples
from tests.modes.segments.oracle import SkipFails, evaluate, find_segments

from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.segments.pattern import Window
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ColumnAt, Semantics

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch

S, W, P1, P2 = segment("S"), segment("W"), point("P1"), point("P2")
RISING = define("S", call("gt", last("S", "x"), first("S", "x")))
ANY = define("W")


def is_value(name: str, value: int) -> Any:
    """A point variable for rows with this x."""
    return define(name, call("eq", last(name, "x"), value), point=True)


def spans(asked: SegmentSearch, rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """First and last rows of what is found, once each."""
    return sorted({(found.start, found.end) for found in find_segments(asked, rows)})


def bound(asked: SegmentSearch, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """(start, end, bindings of the measured variables...) of what is found."""
    return [(found.start, found.end, *found.bindings) for found in find_segments(asked, rows)]


# Junctions: Definition 2.1 and the rule for chains.


def test_points_then_a_segment() -> None:
    # P1 at 0, P2 at 1 (neighbours), S from 1 on (shared) to a row above x[1] = 2.
    asked = search(concat(P1, P2, S), is_value("P1", 1), is_value("P2", 2), RISING)
    assert spans(asked, series(1, 2, 5, 6, 0)) == [(0, 2), (0, 3)]


def test_a_segment_then_points() -> None:
    # S ends on P1's row 1, P2 is the row after.
    asked = search(concat(S, P1, P2), RISING, is_value("P1", 1), is_value("P2", 2))
    assert spans(asked, series(0, 1, 2)) == [(0, 2)]


def test_a_group_that_ends_in_a_point_holds_a_segment_variable_all_the_same() -> None:
    # (S P1) P2: both junctions share, so P1 and P2 are one row; as a chain, P2 would be the row after.
    one, two = define("P1", call("ge", last("P1", "x"), 1), point=True), is_value("P2", 1)
    assert spans(search(concat(concat(S, P1), P2), RISING, one, two), series(0, 1, 2)) == [(0, 1)]
    assert spans(search(concat(S, P1, P2), RISING, one, two), series(0, 1, 2)) == []


def test_an_optional_segment_between_points() -> None:
    # P1 S? P2 = P1 S P2 | P1 P2. On [0, 1] both hold: with S on it, and without S, the points being neighbours.
    pattern = either(concat(P1, S, P2), concat(P1, P2))
    asked = search(pattern, is_value("P1", 1), is_value("P2", 2), ANY_S, measured=["S"])
    assert bound(asked, series(1, 2)) == [(0, 1, None), (0, 1, (0, 1))]
    # Where S cannot hold, the neighbours remain; where the points are further apart, only S bridges them.
    never = define("S", call("lt", 1, 0))
    assert spans(search(pattern, is_value("P1", 1), is_value("P2", 2), never), series(1, 2)) == [(0, 1)]
    assert bound(asked, series(1, 7, 2)) == [(0, 2, (0, 2))]


ANY_S = define("S")


def test_points_alone_are_neighbours_and_their_negation_counts_as_points() -> None:
    asked = search(concat(P1, P2), is_value("P1", 1), is_value("P2", 2))
    assert spans(asked, series(1, 2, 1, 3, 2)) == [(0, 1)]
    # ~P1 is any segment but a row of 1; P2 is the row behind it.
    asked = search(concat(absent(P1), P2), is_value("P1", 1), is_value("P2", 2))
    assert spans(asked, series(1, 1, 2)) == [(0, 2)]


def test_a_reference_tells_segments_with_the_same_end_apart() -> None:
    # A is [0, 2] or [1, 2]; B = [2, 3] must lie above A's first row: 4 > 3 holds for [1, 2] alone, 4 > 5 does not.
    a = define("A", call("and", call("eq", last("A", "x"), 1), call("gt", first("A", "x"), 2)))
    b_ = define("B", call("and", call("gt", last("B", "x"), first("A", "x")), call("eq", aggregate("count", "B"), 2)))
    asked = search(concat(segment("A"), segment("B")), a, b_, measured=["A", "B"])
    assert bound(asked, series(5, 3, 1, 4)) == [(1, 3, (1, 2), (2, 3))]
    assert bound(asked, series(5, 3, 1, 6)) == [(0, 3, (0, 2), (2, 3)), (1, 3, (1, 2), (2, 3))]


# Not.


def test_not_is_every_other_segment_of_the_partition() -> None:
    asked = search(absent(S), RISING)
    assert spans(asked, series(1, 2, 0)) == [(0, 0), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert len(find_segments(asked, [*series(1, 2, key="a"), *series(2, 1, key="b")])) == 2 + 3


def test_limit_sell() -> None:
    # RISE & WINDOW & ~(FALL W): at least doubled, at most 4 rows, and no fall below 0.8 of the first row on the way.
    rise = define("RISE", call("ge", call("divide", last("RISE", "x"), first("RISE", "x")), 2))
    fall = define("FALL", call("lt", call("divide", last("FALL", "x"), first("FALL", "x")), 0.8))
    window = define("WINDOW", None, rows_window(1, 4))
    fall_then_any = concat(segment("FALL"), W)
    rows = series(10, 7, 20, 21, 40)
    pattern = both(segment("RISE"), segment("WINDOW"), absent(fall_then_any))
    # From 10: all reach over the 7. From 7: 20, 21, 40. From 20: 40. From 21 no doubling.
    assert spans(search(pattern, rise, fall, window, ANY), rows) == [(1, 2), (1, 3), (1, 4), (2, 4)]
    # ~(FALL W) alone: one-row segments and those that never fall.
    assert spans(search(absent(fall_then_any), fall, ANY), rows) == [
        (0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4),
    ]


def test_a_window_inside_not_stays_inside() -> None:
    # ~(S & two rows): everything but rising pairs.
    two = define("TWO", None, rows_window(2, 2))
    asked = search(absent(both(S, segment("TWO"))), RISING, two)
    assert spans(asked, series(1, 2, 3)) == [(0, 0), (0, 2), (1, 1), (2, 2)]


def test_not_may_refer_to_the_outside_and_its_own_variables_are_existential() -> None:
    # B without any row above A's last row in it.
    high = define("P1", call("gt", last("P1", "x"), last("A", "x")), point=True)
    one_row = define("A", None, rows_window(1, 1))
    inside = concat(W, P1, W)
    asked = search(concat(segment("A"), both(segment("B"), absent(inside))), one_row, define("B"), high, ANY)
    assert spans(asked, series(2, 1, 3)) == [(0, 0), (0, 1), (1, 1), (2, 2)]


# Kleene.


def test_one_row_iterations_count() -> None:
    assert spans(search(repeat(S, 3, 3), ANY_S), series(1)) == [(0, 0)]
    two = define("S", None, rows_window(2, 2))
    assert spans(search(repeat(S, 2, 2), two), series(1, 1, 1, 1)) == [(0, 2), (1, 3)]
    assert spans(search(repeat(S, 2), two), series(1, 1, 1, 1)) == [(0, 2), (0, 3), (1, 3)]


def test_repeated_points_are_neighbours() -> None:
    asked = search(repeat(P1, 2, 3), is_value("P1", 1))
    assert spans(asked, series(1, 1, 1, 1, 2, 1)) == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]


def test_iterations_that_never_advance_come_to_an_end() -> None:
    one = define("S", None, rows_window(1, 1))
    assert spans(search(repeat(S, 5), one), series(1, 2)) == [(0, 0), (1, 1)]
    assert spans(search(repeat(repeat(S, 2)), one), series(1, 2)) == [(0, 0), (1, 1)]


def test_references_inside_an_iteration_and_to_the_last_one() -> None:
    # (A B)+ with B's last row above A's first, in the same iteration; C must end where the last A started, in value.
    pairs = rows_window(2, 2)
    a, b_ = define("A", None, pairs), define("B", call("gt", last("B", "x"), first("A", "x")), pairs)
    pair = concat(segment("A"), segment("B"))
    rows = series(1, 0, 2, 1, 0)
    assert spans(search(repeat(pair), a, b_), rows) == [(0, 2), (1, 3)]
    assert spans(search(repeat(pair), a, b_), series(1, 0, 2, 1, 3)) == [(0, 2), (0, 4), (1, 3), (2, 4)]
    c = define("C", call("eq", last("C", "x"), first("A", "x")), rows_window(2, 2))
    asked = search(concat(repeat(pair), segment("C")), a, b_, c, measured=["A"])
    # One iteration on [0, 2], A from 1, C to the 1 of row 3. Two iterations on [0, 4], the last A from the 2 of row 2,
    # or that iteration alone, C to the 2 of row 5. On [1, 3] A is from 0, which row 4 is not.
    assert bound(asked, series(1, 0, 2, 1, 3, 2)) == [(0, 3, (0, 1)), (0, 5, (2, 3)), (2, 5, (2, 3))]


def test_a_branch_not_taken_is_null_for_others() -> None:
    # (A | B) C with C where A is NULL: the second branch only.
    c = define("C", call("is_null", last("A", "x")), point=True)
    pattern = concat(either(point("A"), point("B")), point("C"))
    asked = search(pattern, is_value("A", 1), is_value("B", 2), c, measured=["A", "B"])
    assert bound(asked, series(1, 5, 2, 5)) == [(2, 3, None, (2, 2))]


def test_the_count_of_a_branch_not_taken_is_zero() -> None:
    c = define("C", call("eq", aggregate("count", "A"), 0), point=True)
    pattern = concat(either(point("A"), point("B")), point("C"))
    asked = search(pattern, is_value("A", 1), is_value("B", 2), c)
    assert spans(asked, series(1, 5, 2, 5)) == [(2, 3)]


def test_a_variable_that_the_iteration_does_not_bind_is_null_in_it() -> None:
    # A ((A | B) C)+ with C where A is NULL: the A before the group and those of other iterations are not meant.
    c = define("C", call("is_null", last("A", "x")), point=True)
    group = concat(either(point("A"), point("B")), point("C"))
    asked = search(concat(point("A"), repeat(group)), is_value("A", 1), is_value("B", 2), c)
    assert spans(asked, series(1, 2, 5, 2, 5)) == [(0, 2), (0, 4)]
    assert spans(asked, series(1, 1, 5, 2, 5)) == []


def test_from_outside_only_the_last_iteration_counts() -> None:
    # (A | B)+ C with C where A is NULL: the last iteration must be B.
    is_null = call("and", call("is_null", last("A", "x")), call("eq", last("C", "x"), 5))
    c = define("C", is_null, point=True)
    asked = search(concat(repeat(either(point("A"), point("B"))), point("C")), is_value("A", 1), is_value("B", 2), c)
    assert spans(asked, series(1, 2, 5)) == [(0, 2), (1, 2)]
    assert spans(asked, series(2, 1, 5)) == []


def opencep_q2(is_repeated: bool) -> SegmentSearch:
    """`((A1 W A2) & FALL)+ & WINDOW`, and the same without the plus."""
    is_ours = [define(name, call("eq", last(name, "ticker"), "GOOG"), point=True) for name in ("A1", "A2")]
    fall = define("FALL", call("lt", last("FALL", "x"), first("FALL", "x")))
    window = define("WINDOW", None, Window("t", 0, 5))
    body: SegmentPattern = both(concat(point("A1"), W, point("A2")), segment("FALL"))
    pattern = both(repeat(body) if is_repeated else body, segment("WINDOW"))
    return search(pattern, *is_ours, fall, window, ANY)


@pytest.mark.parametrize("is_repeated", [True, False])
def test_opencep_q2_needs_no_plus(is_repeated: bool) -> None:
    # A fall after a fall is a fall from GOOG to GOOG: one iteration finds it too.
    rows = [
        {"k": "a", "t": t, "x": x, "ticker": ticker}
        for t, x, ticker in [(0, 9, "GOOG"), (1, 7, "MSFT"), (2, 8, "GOOG"), (4, 6, "GOOG"), (7, 5, "GOOG")]
    ]
    assert spans(opencep_q2(is_repeated), rows) == [(0, 2), (0, 3), (2, 3), (2, 4), (3, 4)]


# Windows, NULLs, results.


def test_windows_on_rows_and_columns() -> None:
    rows = [{"k": "a", "t": t, "x": x} for t, x in [(0, 1), (1, None), (5, 4)]]
    assert spans(search(S, define("S", None, rows_window(0, 2))), rows) == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    assert spans(search(S, define("S", None, Window("t", 1, 4))), rows) == [(0, 1), (1, 2)]
    assert spans(search(S, define("S", None, Window("x", 0, 3))), rows) == [(0, 0), (0, 2), (2, 2)]
    days = [{"k": "a", "t": date(2024, month, day), "x": 0} for month, day in [(2, 28), (2, 29), (3, 2)]]
    assert spans(search(S, define("S", None, Window("t", 2, 2))), days) == [(1, 2)]


def test_a_condition_that_is_null_does_not_hold() -> None:
    ratio = call("gt", call("divide", last("S", "x"), first("S", "x")), 0.5)
    assert spans(search(S, define("S", ratio)), series(0, 1, None)) == [(1, 1)]
    assert spans(search(S, define("S", call("not", ratio))), series(0, 1, None)) == []


def test_variables_that_nobody_asks_for_multiply_nothing() -> None:
    asked = search(concat(W, S, W), ANY, define("S", None, rows_window(1, 1)))
    assert len(find_segments(asked, series(1, 2, 3))) == 6
    asked = search(concat(W, S, W), ANY, define("S", None, rows_window(1, 1)), measured=["S"])
    assert len(find_segments(asked, series(1, 2, 3))) == 3 * 1 + 2 * 2 + 1 * 3


@pytest.mark.parametrize(("to", "expected"), [
    (Skip(SkipTo.PAST_LAST_ROW), [(0, 2, (0, 1)), (3, 4, (3, 4))]),
    (Skip(SkipTo.NEXT_ROW), [(0, 2, (0, 1)), (1, 3, (1, 2)), (3, 4, (3, 4))]),
    (Skip(SkipTo.LAST, frozenset({"S"}), "S"), [(0, 2, (0, 1)), (1, 3, (1, 2)), (3, 4, (3, 4))]),
])
def test_skipping(to: Skip, expected: list[Any]) -> None:
    # S W with S rising, three rows at most: the earliest start, its longest end, of S the smallest.
    rising = define("S", call("gt", last("S", "x"), first("S", "x")))
    short = define("U", None, rows_window(1, 3))
    asked = search(both(concat(S, W), segment("U")), rising, ANY, short, measured=["S"], skip=to)
    assert bound(asked, series(1, 2, 3, 0, 1)) == expected


def test_skipping_to_nowhere() -> None:
    asked = search(concat(S, W), ANY_S, ANY, skip=Skip(SkipTo.FIRST, frozenset({"S"}), "S"))
    with pytest.raises(SkipFails):
        find_segments(asked, series(1))


def test_rows_of_the_result() -> None:
    asked = search(S, RISING, measured=["S"])
    rows = [*series(3, 4, key="b")[::-1], *series(1, key="a")]
    assert evaluate(asked, rows) == [("b", 0, 1, 0, 1)]


def test_a_plain_query_reads_all_rows_mapped_so_far() -> None:
    # A+ B under ALL MATCHES, B above the sum of the A's, in whatever iterations: 1; 2; 1 + 2 are below 4.
    above = Aggregate("sum", (ColumnAt(EACH_ROW, "x"),), frozenset({"A"}), Semantics.RUNNING)
    b_ = define("B", call("gt", last("B", "x"), above), point=True)
    plain = search(concat(repeat(point("A")), point("B")), define("A", point=True), b_, measured=["A"])
    asked = replace(plain, is_plain=True)
    assert bound(asked, series(1, 2, 4)) == [(0, 1, (0,)), (0, 2, (0, 1)), (1, 2, (1,))]
    assert bound(asked, series(2, 2, 4)) == [(1, 2, (1,))]
    assert evaluate(asked, series(1, 2, 4)) == [("a", 0, 1, 0, 0), ("a", 0, 2, 0, 1), ("a", 1, 2, 1, 1)]


# Aggregates.


@pytest.mark.parametrize(("function", "values", "expected"), [
    ("mann_kendall_test", [1, 2, 3, 4], 5 / math.sqrt(4 * 3 * 13 / 18)),
    ("mann_kendall_test", [4, 3, None, 2, 1], -5 / math.sqrt(4 * 3 * 13 / 18)),
    ("mann_kendall_test", [1, 1, 2], 1 / math.sqrt((3 * 2 * 11 - 2 * 1 * 9) / 18)),
    ("mann_kendall_test", [1, 2], 0),
    ("mann_kendall_test", [2, 2, 2], None),
    ("mann_kendall_test", [2], None),
    ("equal_up_down_ticks", [1, 2, 2, 1], True),
    ("equal_up_down_ticks", [1, 2, None, 3], False),
    ("equal_up_down_ticks", [1], True),
    ("sum", [1, None, 2], 3), ("sum", [None], None), ("count", [None, 1], 1), ("count", [None], 0),
    ("avg", [1, 2], 1.5), ("median", [4, 1, 3], 3), ("median", [4, 1, 3, 2], 2.5), ("range", [4, None, 1], 3),
    ("var", [1, 3], 2), ("stddev", [1, 3], math.sqrt(2)), ("var", [1], None), ("var_pop", [1, 3], 1),
    ("first", [None, 1], None), ("last", [None, 1], 1),
])
def test_aggregates_of_one_column(function: str, values: list[Any], expected: Any) -> None:
    found = definitions.aggregate(function, [(value,) for value in values])
    assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(("function", "pairs", "expected"), [
    ("linear_reg_r2_signed", [(0, 5), (10, 2)], -1.0),
    ("linear_reg_r2", [(0, 5), (10, 2)], 1.0),
    ("linear_reg_slope", [(0, 5), (10, 2)], -0.3),
    ("linear_reg_r2_signed", [(0, 0), (1, 1), (2, 0), (3, 1)], 0.2),
    ("linear_reg_r2", [(0, 1), (1, 1)], None),
    ("linear_reg_slope", [(0, 1), (1, 1)], 0.0),
    ("linear_reg_slope", [(1, 1), (1, 2)], None),
    ("linear_reg_r2_signed", [(0, 1), (1, None)], None),
    ("linear_reg_r2_signed", [(date(2024, 1, 1), 1), (date(2024, 1, 3), 2)], 1.0),
    ("linear_reg_slope", [(datetime(2024, 1, 1), 1), (datetime(2024, 1, 1, 0, 0, 1), 2)], 1e-6),
])
def test_regression(function: str, pairs: list[Any], expected: Any) -> None:
    found = definitions.aggregate(function, pairs)
    assert found == (None if expected is None else pytest.approx(expected))


def test_corr_pairs_by_position() -> None:
    assert definitions.corr([1, 2, 3], [2, 4, 6]) == 1.0
    assert definitions.corr([1, 2], [2, 1]) == -1.0
    assert definitions.corr([1, 2, 3], [2, 4]) is None
    assert definitions.corr([1], [2]) is None
    assert definitions.corr([1, 1], [2, 4]) is None
    assert definitions.corr([1, None, 3], [2, 4, 7]) == 1.0


def test_corr_of_two_variables() -> None:
    corr = call("gt", b.corr(("A", "x"), ("B", "x")), 0.9)
    size = rows_window(3, 3)
    asked = search(concat(segment("A"), segment("B")), define("A", None, size), define("B", corr, size))
    assert spans(asked, series(1, 2, 4, 7, 12, 3)) == [(0, 4)]


def test_zscore_outlier() -> None:
    assert definitions.zscore_outlier([1, 1, 4], 3) == pytest.approx(2 / math.sqrt(2))
    assert definitions.zscore_outlier([1, 4], 3) is None
    assert definitions.zscore_outlier([1, 1, 1], 3) is None
    outlier = call("gt", aggregate("zscore_outlier", "P1", "x", constants=(3,)), 1)
    assert spans(search(P1, define("P1", outlier, point=True)), series(1, 1, 4, 4)) == [(2, 2)]


# The generator.


def test_random_searches_find_something() -> None:
    n_found = []

    @settings(max_examples=60, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(examples(depth=2, n_leaves=4, n_rows=5))
    def ask(example: Example) -> None:
        n_found.append(len(find_segments(example.search, example.rows)))

    ask()
    assert sum(n > 0 for n in n_found) > len(n_found) / 3
    assert sum(n == 0 for n in n_found) > len(n_found) / 20
