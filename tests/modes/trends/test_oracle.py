"""The definitions of trends on streams whose answers are stated in the paper or derived by hand."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from tests.modes.trends.building import (
    absent,
    asked,
    either,
    local,
    number,
    part,
    plus,
    seq,
    stream,
    trends,
)
from tests.modes.trends.oracle import evaluate
from tests.modes.trends.patterns import numbered
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT, Aggregate, Local, Query, Repeat, Term, Window

if TYPE_CHECKING:
    from tests.modes.trends.query import Pattern

SEMANTICS = (ANY, NEXT, CONTIGUOUS)
RUNNING = plus(seq("A+", "B"))
"""The paper's running example, and its stream."""
FIGURE_2 = stream("a b a a c b a b")


# The numbers of the paper.


@pytest.mark.parametrize(("semantics", "expected"), [(ANY, 43), (NEXT, 8), (CONTIGUOUS, 2)])
def test_running_example(semantics: str, expected: int) -> None:
    assert number(asked(RUNNING, semantics), FIGURE_2) == expected


@pytest.mark.parametrize(("semantics", "after"), [
    # Table 6 (B.count) and Table 8 (final count), after each event.
    (ANY, [0, 1, 1, 1, 1, 11, 11, 43]), (NEXT, [0, 1, 1, 1, 1, 4, 4, 8]),
])
def test_tables_6_and_8(semantics: str, after: list[int]) -> None:
    assert [number(asked(RUNNING, semantics), FIGURE_2[:n]) for n in range(1, 9)] == after


def test_examples_2_5_and_2_7() -> None:
    under_next = trends(asked(RUNNING, NEXT), FIGURE_2)
    assert "A3 A4 B6" in under_next
    assert "A3 B6" not in under_next
    assert trends(asked(RUNNING, CONTIGUOUS), FIGURE_2) == ["A1 B2", "A7 B8"]


def test_table_7() -> None:
    # a7 may follow b2 and not b6; a3 and a4 may follow b2.
    rows = stream("a b a a c b a b", x=[0, 0, 1, 1, 0, 5, 3, 0])
    assert number(asked(RUNNING, ANY, "B.x < NEXT(A).x"), rows) == 33
    assert [number(asked(RUNNING, ANY, "B.x < NEXT(A).x"), rows[:n]) for n in (2, 6, 8)] == [1, 11, 33]


# The streams of the issue.


def test_identity_is_events_under_variables() -> None:
    query = asked(seq("A a+", "A b+"), ANY)
    assert trends(query, stream("aaa")) == ["a1 a2 b3", "a1 b2", "a1 b2 b3", "a1 b3", "a2 b3"]


def test_a_word_with_two_derivations_is_one_trend() -> None:
    assert number(asked(plus(plus("A")), ANY), stream("aaa")) == 7
    assert number(asked(either(seq("A", "B?"), "C"), ANY), stream("ab")) == 2
    assert number(asked(seq(Repeat(part("A"), 0, 2), Repeat(part("B"), 1, 2)), ANY), stream("aabb")) == 4 * 3


def test_optional_adds_edges() -> None:
    # As a disjunction of SEQ(A, B, C) and SEQ(A, C) (appendix C) it would be 2 under next.
    query = seq("A", "B?", "C")
    assert [number(asked(query, semantics), stream("abc")) for semantics in SEMANTICS] == [2, 1, 1]


def test_next_has_several_predecessors() -> None:
    assert trends(asked(seq("A", "B", "C"), NEXT), stream("aabc")) == ["A1 B3 C4", "A2 B3 C4"]
    rising = asked("S+", NEXT, "S.x < NEXT(S).x")
    assert trends(rising, stream("sss", x=[5, 3, 6])) == ["S1", "S1 S3", "S2", "S2 S3", "S3"]
    assert number(asked(seq("P", "T+", "D"), NEXT), stream("pp tt d")) == 2


def test_next_does_not_jump_over_the_end() -> None:
    # SASE's skip-till-next-match gives 4: there a1 may go on to a3.
    assert trends(asked(seq("A+", "B"), NEXT), stream("abaab")) == ["A1 B2", "A3 A4 B5", "A4 B5"]


def test_relevance_depends_on_the_word_so_far() -> None:
    # After two a's a third is not relevant, after one it is.
    two = seq(Repeat(part("A"), 2, 2), "B")
    assert trends(asked(two, NEXT), stream("aaab")) == ["A1 A2 B4", "A2 A3 B4"]
    # b can go on to a word that is longer than the stream: it is relevant.
    long = seq("A", either("C", seq("B", "D", "E", "F", "G")))
    assert number(asked(long, NEXT), stream("abc")) == 0
    assert number(asked(long, ANY), stream("abc")) == 1


def test_relevance_ignores_the_length() -> None:
    query = seq("A", either("B", seq("C", "D")))
    assert trends(asked(query, NEXT, least_length=3), stream("abcd")) == []
    assert trends(asked(query, ANY, least_length=3), stream("abcd")) == ["A1 C3 D4"]


def test_contiguous_with_ties() -> None:
    rows = stream("ssss", times=[1, 2, 2, 3])
    assert number(asked("S+", CONTIGUOUS), rows) == 8
    assert number(asked("S+", ANY), rows) == 2 * 3 * 2 - 1
    in_order = {"tie_break": ("b",), "has_strict_ties": False}
    assert number(asked("S+", CONTIGUOUS, **in_order), rows) == 10
    assert number(asked("S+", ANY, **in_order), rows) == 15
    assert number(asked("S+", NEXT, **in_order), rows) == 10


def test_next_with_ties() -> None:
    # 2 and 2' are both next to 1, and neither is before the other: 4 of one event, 1-2, 1-2', 2-3, 2'-3, 1-2-3, 1-2'-3.
    assert number(asked("S+", NEXT), stream("ssss", times=[1, 2, 2, 3])) == 10


# Negation.


@pytest.mark.parametrize(("kinds", "expected"), [("cadb", 1), ("acdb", 0), ("adcb", 1), ("acbd", 1), ("cdab", 1)])
def test_negated_sequence(kinds: str, expected: int) -> None:
    assert number(asked(seq("A", absent(seq("C", "D")), "B"), ANY), stream(kinds)) == expected


def test_negation_does_not_change_what_is_next() -> None:
    query = asked(plus(seq("A+", "~C", "B")), NEXT)
    assert trends(query, stream("acbab")) == ["A4 B5"]
    assert trends(asked(plus(seq("A+", "B")), NEXT), stream("acbab")) == ["A1 B3", "A1 B3 A4 B5", "A4 B5"]


def test_negation_is_on_one_edge() -> None:
    # c is between a1 and a3, which may be adjacent; not between a1 and b.
    query = asked(seq("A+", "~C", "B"), ANY)
    assert trends(query, stream("acab")) == ["A1 A3 B4", "A3 B4"]
    assert trends(query, stream("aacb")) == []


def test_leading_and_trailing_negation() -> None:
    leading, trailing = asked(seq("~C", "A", "B"), ANY), asked(seq("A", "B", "~C"), ANY)
    assert trends(leading, stream("abcab")) == ["A1 B2", "A1 B5"]
    assert trends(trailing, stream("abcab")) == ["A1 B5", "A4 B5"]
    both = asked(seq("~C", "A", "~D"), ANY)
    assert [number(both, stream(kinds)) for kinds in ("a", "ca", "ac", "ad", "da")] == [1, 0, 1, 0, 1]


def test_leading_negation_inside_a_window() -> None:
    # The window [4, 8) does not hold c3, the window [0, 4) does not hold c5.
    window = Window(4)
    rows = stream("a c a", times=[1, 3, 5])
    assert evaluate(asked(seq("~C", "A"), ANY, window=window), rows) == [(0, 4, 1), (4, 8, 1)]
    assert evaluate(asked(seq("A", "~C"), ANY, window=window), rows) == [(4, 8, 1)]


def test_negation_at_the_ends_of_a_repeated_body() -> None:
    # Between two iterations, and once more before the first.
    query = asked(plus(seq("~C", "A")), ANY)
    assert trends(query, stream("aca")) == ["A1"]
    assert trends(query, stream("aaca")) == ["A1", "A1 A2", "A2"]
    assert trends(asked(plus(seq("A", "~C")), ANY), stream("aca")) == ["A3"]


def test_negation_in_an_optional_part() -> None:
    # Without b there is nothing that c must not be before.
    query = asked(seq("A", Repeat(seq("~C", "B"), 0, 1), "D"), ANY)
    assert trends(query, stream("acbd")) == ["A1 D4"]
    # The negated part stands there also without b.
    assert trends(asked(seq("A", "~C", "B?", "D"), ANY), stream("acbd")) == []
    assert trends(asked(seq("A", "~C", "B?", "D"), ANY), stream("abcd")) == ["A1 B2 D4"]


def test_one_derivation_is_enough() -> None:
    # a1 a3 is one iteration, or two with ~C between.
    body = plus(seq(Repeat(part("A"), 1, 2), "~C"))
    assert trends(asked(seq(body, "B"), ANY), stream("acab")) == ["A1 A3 B4", "A3 B4"]


def test_negation_inside_an_alternative() -> None:
    query = asked(either(seq("A", "~C", "B"), "D"), ANY)
    assert trends(query, stream("acbd")) == ["D4"]
    assert trends(query, stream("abd")) == ["A1 B2", "D3"]


def test_several_negations_in_one_gap() -> None:
    query = asked(seq("A", "~C", "~D", "B"), ANY)
    assert [number(query, stream(kinds)) for kinds in ("ab", "acb", "adb", "adcb", "cdab")] == [1, 0, 0, 0, 1]


def test_negated_parts_have_the_semantics_of_the_query() -> None:
    # Under contiguous semantics c e d is not a trend of SEQ(C, D); before a it does no harm.
    leading = seq(absent(seq("C", "D")), "A")
    assert [number(asked(leading, semantics), stream("ceda")) for semantics in SEMANTICS] == [0, 0, 1]
    assert [number(asked(leading, semantics), stream("cda")) for semantics in SEMANTICS] == [0, 0, 0]


def test_conditions_inside_negated_parts() -> None:
    query = asked(seq("A", absent(seq("C", "D")), "B"), ANY, "C.x < NEXT(D).x", "C.x > 0")
    assert number(query, stream("acdb", x=[0, 1, 2, 0])) == 0
    assert number(query, stream("acdb", x=[0, 2, 1, 0])) == 1
    assert number(query, stream("acdb", x=[0, 0, 1, 0])) == 1


def test_negation_with_ties() -> None:
    # Strictly between: an event at the time of one of the two is not.
    query = asked(seq("A", "~C", "B"), ANY)
    assert number(query, stream("acb", times=[1, 1, 2])) == 1
    assert number(query, stream("acb", times=[1, 2, 2])) == 1
    assert number(query, stream("acb", times=[1, 2, 3])) == 0


# Predicates on single events.


def test_query_4_keeps_what_fits_some_variable() -> None:
    pattern = seq("Any s", "Any a+", "Any f")
    conditions = ("s.x < 60", "f.x > 100", "a.y = 1")
    query = asked(pattern, CONTIGUOUS, *conditions)
    # An event that fits none is removed; one that fits the start only stays, and stands between.
    assert number(query, stream("aaaa", x=[50, 70, 80, 110], y=[0, 1, 0, 0])) == 1
    assert number(query, stream("aaaa", x=[50, 70, 55, 110], y=[0, 1, 0, 0])) == 0


@pytest.mark.parametrize(("semantics", "expected"), [(ANY, 1), (NEXT, 1), (CONTIGUOUS, 0)])
def test_an_unnamed_type_breaks_contiguity(semantics: str, expected: int) -> None:
    assert number(asked(seq("A", "B"), semantics), stream("acb")) == expected


def test_an_event_that_fits_a_negated_part_breaks_contiguity() -> None:
    query = asked(seq("A", "B", "~C"), CONTIGUOUS, "C.x > 0")
    assert number(query, stream("acb", x=[1, 1, 1])) == 0
    assert number(query, stream("acb", x=[1, 0, 1])) == 1


def test_conditions_of_a_type_hold_for_all_its_variables() -> None:
    rows = stream("aba", x=[1, 1, 0])
    query = Query((seq("A u", "B v", "A w"),), ANY, local=(local("A.x > 0"),))
    assert number(query, rows) == 0
    assert number(Query(query.patterns, ANY, local=(local("u.x > 0"),)), rows) == 1


def test_null_in_conditions() -> None:
    rows = stream("aab", x=[None, 1, 2])
    assert trends(asked(seq("A", "B"), ANY, "A.x < NEXT(B).x"), rows) == ["A2 B3"]
    assert trends(asked(seq("A", "B"), ANY, "A.x <> NEXT(B).x"), rows) == ["A2 B3"]
    is_null = Query((seq("A", "B"),), ANY, local=(Local("A", Term("x"), "IS NULL"),))
    assert trends(is_null, rows) == ["A1 B3"]


def test_nan_equals_itself_and_is_above_all() -> None:
    rows = stream("sss", x=[math.nan, math.inf, math.nan])
    assert trends(asked("S+", ANY, "S.x = NEXT(S).x"), rows) == ["S1", "S1 S3", "S2", "S3"]
    assert trends(asked("S+", ANY, "S.x < NEXT(S).x"), rows) == ["S1", "S2", "S2 S3", "S3"]


@pytest.mark.parametrize(("operator", "expected"), [("<", 4), ("<=", 5), (">", 4), (">=", 5), ("=", 4), ("<>", 6)])
def test_every_comparison(operator: str, expected: int) -> None:
    # Three of one event; of the pairs 1-2, 1-1 and 2-1 one is <, one =, one >; and for <> there is 1-2-1.
    assert number(asked("S+", ANY, f"S.x {operator} NEXT(S).x"), stream("sss", x=[1, 2, 1])) == expected


def test_several_conditions_on_one_pair_and_between_types() -> None:
    rows = stream("aab", x=[1, 2, 3], y=[5, 1, 3])
    query = asked(seq("A+", "B"), ANY, "A.x < NEXT(B).x", "A.y > NEXT(B).y", "A.x < NEXT(A).x")
    assert trends(query, rows) == ["A1 B3"]


# Windows, groups, partitions.


def test_windows_are_half_open_and_begin_at_the_origin() -> None:
    rows = stream("aa", times=[3, 4])
    assert evaluate(asked("A+", ANY, window=Window(4)), rows) == [(0, 4, 1), (4, 8, 1)]
    assert evaluate(asked("A+", ANY, window=Window(4, origin=1)), rows) == [(1, 5, 3)]
    sliding = evaluate(asked("A+", ANY, window=Window(4, 2)), rows)
    assert sorted(sliding) == [(0, 4, 1), (2, 6, 3), (4, 8, 1)]
    assert evaluate(asked("A+", ANY, window=Window(1, 3)), rows) == [(3, 4, 1)]


def test_windows_before_the_origin() -> None:
    assert evaluate(asked("A", ANY, window=Window(3)), stream("a", times=[-1])) == [(-3, 0, 1)]


@pytest.mark.parametrize(("time", "size", "begin", "end"), [
    (0.75, 0.5, 0.5, 1.0),
    (Decimal("0.75"), Decimal("0.5"), Decimal("0.5"), Decimal(1)),
    (datetime(2024, 1, 1, 0, 0, 7), 5_000_000, datetime(2024, 1, 1, 0, 0, 5), datetime(2024, 1, 1, 0, 0, 10)),
    (
        datetime(2024, 1, 1, 0, 0, 7, tzinfo=UTC), 5_000_000,
        datetime(2024, 1, 1, 0, 0, 5, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 10, tzinfo=UTC),
    ),
    (date(1970, 1, 2), 16 * 3_600_000_000, datetime(1970, 1, 1, 16), datetime(1970, 1, 2, 8)),
])
def test_types_of_time(time: Any, size: Any, begin: Any, end: Any) -> None:
    assert evaluate(asked("A", ANY, window=Window(size)), stream("a", times=[time])) == [(begin, end, 1)]


def test_origin_of_times() -> None:
    start = datetime(2024, 1, 1, 0, 0, 7)
    window = Window(5_000_000, origin=start)
    answer = evaluate(asked("A", ANY, window=window), stream("a", times=[start + timedelta(seconds=1)]))
    assert answer == [(start, start + timedelta(seconds=5), 1)]


def test_times_that_are_not_numbers_are_in_no_window() -> None:
    rows = stream("aaa", times=[-math.inf, math.nan, 1.0])
    assert evaluate(asked("A+", ANY, window=Window(2)), rows) == [(0.0, 2.0, 1)]
    assert evaluate(asked("A+", ANY), rows) == [(None, None, 7)]


def test_count_windows_number_all_events_of_the_partition() -> None:
    # Numbers 0 to 4, with the x and with the a that is removed: a0 a1 in [0, 3), a4 in [3, 6).
    query = asked("A+", ANY, "A.x > 0", window=Window(3, counts_events=True), tie_break=("b",), has_strict_ties=False)
    assert evaluate(query, stream("aaxaa", x=[1, 1, 1, 0, 1])) == [(0, 3, 3), (3, 6, 1)]
    sliding = asked("A+", ANY, window=Window(4, 2, counts_events=True), has_strict_ties=False)
    assert evaluate(sliding, stream("aaa")) == [(-2, 2, 3), (0, 4, 7), (2, 6, 1)]


def test_relevance_and_contiguity_are_inside_a_partition() -> None:
    rows = stream("abcb", k=["p", "q", "q", "p"])
    for semantics in SEMANTICS:
        query = asked(seq("A", "B"), semantics, equivalent=("k",))
        assert number(query, rows) == 1


def test_groups_merge_partitions_and_null_is_a_group() -> None:
    rows = stream("aaaaaa", k=["p", "q", "p", None, "p", "p"], g=[1, 1, 1, 1, None, None])
    query = asked("A+", ANY, equivalent=("k",), group_by=("g",), returned=("g", Aggregate("COUNT")))
    assert sorted(evaluate(query, rows), key=str) == [(None, None, 1, 4), (None, None, None, 3)]
    # An attribute in both: its NULLs belong to no partition.
    query = asked("A+", ANY, equivalent=("g",), group_by=("g",), returned=("g", Aggregate("COUNT")))
    assert evaluate(query, rows) == [(None, None, 1, 15)]


# Aggregates, length, conjunction.


def test_aggregates() -> None:
    rows = stream("aab", x=[1, None, 7], y=[0.5, 0.25, 1.0])
    of_x = [Aggregate(function, "A", Term("x")) for function in ("COUNT", "MIN", "MAX", "SUM", "AVG")]
    counts = (Aggregate("COUNT"), Aggregate("COUNT", "A"), Aggregate("COUNT", "B"))
    query = asked(seq("A+", "B"), ANY, returned=(*counts, *of_x, Aggregate("SUM", "A", Term("y", 1))))
    # a1 b, a2 b, a1 a2 b
    expected = (3, 4, 3, 2, 1, 1, 2, Fraction(1), Fraction(3, 2) * 2 + Fraction(5, 4) * 2)
    assert evaluate(query, rows) == [(None, None, *expected)]


def test_aggregates_without_a_value_are_null() -> None:
    returned = tuple(Aggregate(function, "B", Term("x")) for function in ("COUNT", "MIN", "MAX", "SUM", "AVG"))
    query = asked(seq("A", "B?"), ANY, returned=(*returned, Aggregate("COUNT", "B")))
    assert evaluate(query, stream("a", x=[1])) == [(None, None, 0, None, None, None, None, 0)]
    assert evaluate(query, stream("ab", x=[1, None])) == [(None, None, 0, None, None, None, None, 1)]


def test_aggregates_of_a_type_are_over_all_its_variables() -> None:
    query = asked(seq("A u+", "A v"), ANY, returned=(Aggregate("COUNT", "A"), Aggregate("SUM", "v", Term("x"))))
    # u1 v2, u1 v3, u2 v3, u1 u2 v3
    assert evaluate(query, stream("aaa", x=[1, 10, 100])) == [(None, None, 9, 310)]


def test_a_type_stands_for_its_components_without_a_variable() -> None:
    query = Query((numbered(seq("A", "B", "A")),), ANY, (Aggregate("COUNT", "A"), Aggregate("SUM", "A", Term("x"))))
    assert evaluate(query, stream("aba", x=[1, 10, 100])) == [(None, None, 2, 101)]


def test_sums_that_are_not_finite() -> None:
    query = asked("A+", CONTIGUOUS, least_length=2, returned=(Aggregate("SUM", "A", Term("x")),))
    assert evaluate(query, stream("aa", x=[math.inf, 1.0])) == [(None, None, math.inf)]
    assert math.isnan(evaluate(query, stream("aa", x=[math.inf, -math.inf]))[0][2])


@pytest.mark.parametrize(("least", "expected"), [(1, 15), (2, 11), (3, 5), (4, 1), (5, 0)])
def test_minimal_length(least: int, expected: int) -> None:
    assert number(asked("A+", ANY, least_length=least), stream("aaaa")) == expected


@pytest.mark.parametrize(("one", "other", "kinds", "expected"), [
    # Of the 3 trends of A+ every pair, and none with itself.
    (plus("A"), plus("A"), "aa", 3),
    (plus("A"), plus("B"), "aab", 3),
    (part("A a"), plus("A a"), "a", 0),
    # The pair of A1 and A2 is one, whichever side has which.
    (part("A"), plus("A"), "aa", 3),
    # Under other variables they are other trends.
    (part("A a"), part("A b"), "a", 1),
])
def test_conjunction(one: Pattern, other: Pattern, kinds: str, expected: int) -> None:
    assert number(Query((one, other), ANY), stream(kinds)) == expected
