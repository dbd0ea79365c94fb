"""The language of trend queries: from text to `TrendQuery`."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modes.trends.analysis import analyzed, patterns_of, query

from sparkrex.modes.trends.pattern import Absent, AnyOf, Event, Kleene, Sequence, events
from sparkrex.modes.trends.plan import Counts, Function, Semantics, TrendAggregate, TrendWindow
from sparkrex.scalar import expression as scalar
from sparkrex.scalar.expression import Target
from sparkrex.scalar.forms import written
from sparkrex.scalar.split import conjuncts
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.modes.trends.plan import TrendQuery

Q1 = """RETURN mapper, SUM(L.cpu) PATTERN SEQ(Start S, Load L+, End E) SEMANTICS contiguous
WHERE [job, mapper] AND L.cpu < NEXT(L).cpu GROUP-BY job, mapper WITHIN 1 minute SLIDE 30 seconds"""
Q2 = """RETURN district, COUNT(*), AVG(T.speed) PATTERN SEQ(Pickup P, Trip T+, Dropoff D)
SEMANTICS skip-till-next-match WHERE [driver, rider, district] GROUP-BY district WITHIN 30 minutes SLIDE 1 minute"""
Q3 = """RETURN sector, COUNT(*) PATTERN Stock S+ SEMANTICS skip-till-any-match
WHERE [company, sector] AND S.price > NEXT(S).price GROUP-BY sector WITHIN 10 minutes SLIDE 10 seconds"""
Q4 = """RETURN patient, COUNT(*) PATTERN SEQ(Activity S, Activity A+, Activity F) SEMANTICS contiguous
WHERE [patient] AND S.rate < 60 AND F.rate > 100 AND A.type = 'passive' GROUP-BY patient
WITHIN 10 minutes SLIDE 30 seconds"""

DIALECTS = ("spark", "trino", "duckdb", "snowflake", "oracle", "bigquery", "postgres", "mysql", "flink")
SECOND = 1_000_000
MINUTE = 60 * SECOND


def _text(expression: scalar.Expression) -> str:
    match expression:
        case scalar.ColumnAt(target, column):
            assert target == Target()
            return column
        case scalar.Call(operands=operands):
            return written(expression, list(map(_text, operands)))
        case scalar.Literal(value):
            return str(value) if not isinstance(value, str) else repr(value)
        case _:
            raise AssertionError(expression)


def local(found: TrendQuery) -> dict[str, str]:
    """The conditions on single events, without those of types."""
    texts = {}
    for definition in found.definitions:
        kept = [
            text for text in map(_text, conjuncts(definition.condition)) if not text.startswith("(kind = ")
        ]
        if kept:
            texts[definition.variable] = " AND ".join(kept)
    return texts


def adjacent(found: TrendQuery) -> list[str]:
    """The comparisons of adjacent events."""
    return [
        f"{pair.before}.{_text(pair.left)} {pair.operator} {pair.after}.{_text(pair.right)}" for pair in found.adjacent
    ]


# The paper's queries


def test_query_1() -> None:
    found = analyzed(Q1)
    assert str(found.patterns[0]) == "SEQ(Start S, Load L+, End E)"
    assert found.semantics is Semantics.CONTIGUOUS
    assert [key.name for key in found.partition_by] == ["job", "mapper"]
    assert (found.group_by, found.equivalent) == (("job", "mapper"), ("job", "mapper"))
    assert adjacent(found) == ["L.cpu < L.cpu"]
    assert found.window is not None
    assert replace(found.window, span=None) == TrendWindow(MINUTE, 30 * SECOND, 0, WindowUnit.TIME)
    assert found.output_columns() == ("window_start", "window_end", "mapper", "SUM(L.cpu)")
    assert not found.needs_merge()


def test_query_2() -> None:
    found = analyzed(Q2)
    assert found.semantics is Semantics.NEXT
    assert [key.name for key in found.partition_by] == ["district", "driver", "rider"]
    assert (found.group_by, found.equivalent) == (("district",), ("driver", "rider", "district"))
    assert found.needs_merge()
    assert [item.name for item in found.items] == ["district", "COUNT(*)", "AVG(T.speed)"]
    assert [aggregate.function for aggregate in found.aggregates()] == [Function.TRENDS, Function.AVG]
    assert found.aggregates()[1].variables == {"T"}
    assert found.adjacent == ()
    assert found.type_names == ("Pickup", "Trip", "Dropoff")


def test_query_3() -> None:
    found = analyzed(Q3)
    assert found.semantics is Semantics.ANY
    assert found.patterns == (Kleene(Event("Stock", "S"), 1, None),)
    assert adjacent(found) == ["S.price > S.price"]
    assert found.has_strict_ties
    assert (found.counts, found.minimum_length) == (Counts.EXACT, 1)


def test_query_4() -> None:
    found = analyzed(Q4)
    assert local(found) == {"S": "(rate < 60)", "A": "(type = 'passive')", "F": "(rate > 100)"}
    assert found.named is not None and _text(found.named) == "(kind = 'Activity')"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", [Q1, Q2, Q3, Q4])
def test_the_papers_queries_in_every_dialect(text: str, dialect: str) -> None:
    assert str(analyzed(text, dialect=dialect).patterns) == str(analyzed(text).patterns)


# The pattern

A, B, C = Event("A", "A"), Event("B", "B"), Event("C", "C")
S = Event("Stock", "S")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A", A), ("A+", Kleene(A, 1, None)), ("Stock S", S), ("Stock S+", Kleene(S, 1, None)),
        ("Stock+ S", Kleene(S, 1, None)), ("Stock+ S[]", Kleene(S, 1, None)), ("Stock S[]+", Kleene(S, 1, None)),
        ("Stock{2} S | A", AnyOf((Kleene(S, 2, 2), A))),
        ("SEQ(A+, B)", Sequence((Kleene(A, 1, None), B))),
        ("(SEQ(A+,B))+", Kleene(Sequence((Kleene(A, 1, None), B)), 1, None)),
        ("(A+)+", Kleene(Kleene(A, 1, None), 1, None)),
        ("(A, B)", Sequence((A, B))), ("(A)", A), ("((A | B))", AnyOf((A, B))), ("A | B | C", AnyOf((A, B, C))),
        ("SEQ(A)", Sequence((A,))), ("SEQ(A, SEQ(B, C))", Sequence((A, B, C))), ("SEQ(A, (B, C))", Sequence((A, B, C))),
        ("SEQ(A{2}, B{2,}, C{,3})", Sequence((Kleene(A, 2, 2), Kleene(B, 2, None), Kleene(C, 0, 3)))),
        ("SEQ(A*, B?, C{1,2})", Sequence((Kleene(A, 0, None), Kleene(B, 0, 1), Kleene(C, 1, 2)))),
        ("SEQ(A, ~B, C)", Sequence((A, Absent(B), C))), ("SEQ(A, ~(B), C)", Sequence((A, Absent(B), C))),
        ("SEQ(A, ~Stock S, C)", Sequence((A, Absent(S), C))),
        ("SEQ(A, ~Stock S+, C)", Sequence((A, Absent(Kleene(S, 1, None)), C))),
        ("SEQ(A, ~B+, C)", Sequence((A, Absent(Kleene(B, 1, None)), C))),
        ("SEQ(A, ~(B+), C)", Sequence((A, Absent(Kleene(B, 1, None)), C))),
        ("SEQ(A, ~SEQ(B, C), Stock S)", Sequence((A, Absent(Sequence((B, C))), S))),
        ("SEQ(A, ~(B | C), Stock S)", Sequence((A, Absent(AnyOf((B, C))), S))),
        ("SEQ(A+, ~C, B)+", Kleene(Sequence((Kleene(A, 1, None), Absent(C), B)), 1, None)),
        ("SEQ(A, (~B))", Sequence((A, Absent(B)))), ("SEQ(A, SEQ(~B))", Sequence((A, Absent(B)))),
        ("(A | SEQ(~B, C))", AnyOf((A, Sequence((Absent(B), C))))),
        ("seq ( /* why */ `A` , B -- so\n)", Sequence((A, B))),
    ],
)
def test_patterns(text: str, tree: TrendPattern) -> None:
    assert patterns_of(text) == (tree,)
    assert patterns_of(str(tree)) == (tree,)


def test_conjunction_has_two_sides() -> None:
    assert patterns_of("SEQ(A, B) & A+") == (Sequence((A, B)), Kleene(A, 1, None))
    assert patterns_of("A | B & C") == (AnyOf((A, B)), C)
    assert patterns_of("Stock S+ & SEQ(Stock s, A)")[1] == Sequence((S, A))  # one variable, however it is spelt


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("SEQ(A+, B, A)", [["A", "B", "A#2"]]), ("SEQ(A, A, A)", [["A", "A#2", "A#3"]]),
        ("SEQ(B A, A)", [["A", "A#2"]]), ("SEQ(A, A) & A", [["A", "A#2"], ["A"]]),
        ("SEQ(A, ~B, C) & SEQ(A, B)", [["A", "B", "C"], ["A", "B#2"]]),
        ("SEQ(A x, A y)", [["x", "y"]]), ("SEQ(C `A#2`, A, A)", [["A#2", "A", "A#3"]]),
    ],
)
def test_components_without_a_variable(text: str, variables: list[list[str]]) -> None:
    assert [[event.variable for event in events(side)] for side in patterns_of(text)] == variables


_BOUNDS = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 3), (0, 2), (2, None)])


def _larger(inner: st.SearchStrategy[TrendPattern]) -> st.SearchStrategy[TrendPattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    groups = several.map(_sequence) | several.map(AnyOf)
    return groups | st.builds(lambda body, bounds: Kleene(body, *bounds), groups | inner, _BOUNDS)


def _sequence(items: tuple[TrendPattern, ...]) -> TrendPattern:
    """One sequence of them; sequences inside are spread, as the parser does it."""
    return Sequence(tuple(part for item in items for part in (item.items if isinstance(item, Sequence) else (item,))))


def _with_own_variables(pattern: TrendPattern, numbers: Iterator[int]) -> TrendPattern:
    match pattern:
        case Event(type=kind):
            return Event(kind, f"v{next(numbers)}")
        case Sequence(items=items):
            return Sequence(tuple(_with_own_variables(item, numbers) for item in items))
        case AnyOf(options=options):
            return AnyOf(tuple(_with_own_variables(option, numbers) for option in options))
        case Kleene(body=body, minimum=minimum, maximum=maximum):
            return Kleene(_with_own_variables(body, numbers), minimum, maximum)
        case Absent(body=body):
            return Absent(_with_own_variables(body, numbers))


@settings(max_examples=100, deadline=None)
@given(st.recursive(st.sampled_from(["A", "B", "Stock"]).map(lambda kind: Event(kind, "v")), _larger, max_leaves=8))
def test_text_of_a_pattern_means_the_pattern(drawn: TrendPattern) -> None:
    numbers = itertools.count()
    tree = _sequence((Event("First", "first"), _with_own_variables(drawn, numbers), Absent(Event("No", "no"))))
    assert patterns_of(str(tree)) == (tree,)


# Names and conditions


@pytest.mark.parametrize(
    ("pattern", "where", "found"),
    [
        ("A a+", "a.price > 10", {"a": "(price > 10)"}),
        ("A a+", "A.price > 10", {"a": "(price > 10)"}),
        ("SEQ(A, B, A)", "A.price > 10", {"A": "(price > 10)", "A#2": "(price > 10)"}),
        ("SEQ(A x, B, A y)", "A.price > 10", {"x": "(price > 10)", "y": "(price > 10)"}),
        ("SEQ(A x, B, A y)", "y.price > 10 AND Y.volume = 1", {"y": "(price > 10) AND (volume = 1)"}),
        ("SEQ(A, ~B, C)", "B.price > 10", {"B": "(price > 10)"}),
        ("SEQ(A x, ~A y, C)", "A.price > 10", {"x": "(price > 10)", "y": "(price > 10)"}),
        ("SEQ(B A, A)", "A.price > 10", {"A": "(price > 10)"}),  # a variable comes before a type
        ("SEQ(A, B)", "1 = 0", {"A": "(1 = 0)", "B": "(1 = 0)"}),
        ("SEQ(A, B)", "TRUE", {}),
        ("A a+", "a.price BETWEEN 1 AND 2", {"a": "(price BETWEEN 1 AND 2)"}),
        ("A a+", "(a.price > 1 OR a.to IS NULL)", {"a": "((price > 1) OR (to IS NULL))"}),
        ("A a+", "a.volume > 80% * a.price", {"a": "(volume > (0.8 * price))"}),
        ("SEQ(End e, A)", "End.price > 1", {"e": "(price > 1)"}),  # words of SQL
        ("A a+ & B b+", "a.price > 1", {"a": "(price > 1)"}),
    ],
)
def test_conditions_on_single_events(pattern: str, where: str, found: dict[str, str]) -> None:
    assert local(analyzed(query(pattern, where))) == found


@pytest.mark.parametrize(
    ("pattern", "where", "found"),
    [
        ("A a+", "a.price < NEXT(a).price", ["a.price < a.price"]),
        ("A a+", "NEXT(a).price < a.price", ["a.price > a.price"]),
        ("A a+", "NEXT(a).price >= a.price + 1", ["a.(price + 1) <= a.price"]),
        ("A a+", "a.kind == NEXT(a).kind AND a.to <> NEXT(a).to", ["a.kind = a.kind", "a.to <> a.to"]),
        ("A a+", "a.kind != NEXT(a).kind", ["a.kind <> a.kind"]),
        ("A a+", "next(A).price > A.price", ["a.price < a.price"]),
        ("SEQ(A, B)+", "A.price < NEXT(B).price AND B.price > NEXT(A).x", ["A.price < B.price", "B.price > A.x"]),
        ("SEQ(A, B)", "A.price < B.price", ["A.price < B.price"]),
        ("SEQ(A, B)", "B.price < A.price", ["A.price > B.price"]),
        ("SEQ(A, B?, C)", "A.price < C.price", ["A.price < C.price"]),
        ("SEQ(A+, B, A)", "A.price < NEXT(A).price", ["A.price < A.price"]),
        ("SEQ(A+, A)", "A.price < NEXT(A).price", ["A.price < A.price", "A.price < A#2.price"]),
        ("SEQ(A x, A y)", "x.price < y.price", ["x.price < y.price"]),
        ("SEQ(A, ~SEQ(B, C), D)", "B.price < C.price", ["B.price < C.price"]),
        ("SEQ(A, B) & SEQ(A, B, B)", "A.price < B.price", ["A.price < B.price"]),
        ("A a+", "NEXT(a).price BETWEEN a.price AND 2 * a.price", ["a.price <= a.price", "a.(2 * price) >= a.price"]),
        ("SEQ(A, B)", "A.place.zone.id < B.place.zone.id", ["A.place.zone.id < B.place.zone.id"]),
        ("SEQ(A, B)", "(A.price) < (B.price)", ["A.price < B.price"]),
    ],
)
def test_conditions_on_adjacent_events(pattern: str, where: str, found: list[str]) -> None:
    assert adjacent(analyzed(query(pattern, where))) == found


def test_between_of_which_one_half_reads_one_event() -> None:
    found = analyzed(query("A a+", "a.price BETWEEN 10 AND NEXT(a).price"))
    assert local(found) == {"a": "(price >= 10)"}
    assert adjacent(found) == ["a.price <= a.price"]


@pytest.mark.parametrize(
    ("where", "least"),
    [("length >= 3", 3), ("length > 3", 4), ("3 <= length", 3), ("3 < length", 4), ("length >= 0", 1),
     ("length >= 2 AND length > 4", 5), ("LENGTH >= 7", 7)],
)
def test_least_length(where: str, least: int) -> None:
    assert analyzed(query("A a+", where)).minimum_length == least


def test_equivalence_tests_are_partitions() -> None:
    found = analyzed(query("A a+", "[company] AND [sector, job] AND [company]", rest="GROUP BY sector"))
    assert [key.name for key in found.partition_by] == ["sector", "company", "job"]
    assert (found.group_by, found.equivalent) == (("sector",), ("company", "sector", "job"))


def test_named_types() -> None:
    found = analyzed(query("SEQ(A, ~Big b, C)"), types={"Big": "volume > 10"})
    assert found.named is not None
    assert _text(found.named) == "((kind = 'A') OR (volume > 10) OR (kind = 'C'))"
    assert found.type_names == ("A", "C")
    assert analyzed(query("A a+"), type=None).named is None
    assert analyzed(query("A a+"), type=None).definitions == ()
    assert analyzed(query("SEQ(A, B)"), types={"A": "TRUE"}).named is None


# RETURN


@pytest.mark.parametrize(
    ("returned", "name", "function", "variables", "argument"),
    [
        ("COUNT(*)", "COUNT(*)", Function.TRENDS, set(), None),
        ("count( * ) AS n", "n", Function.TRENDS, set(), None),
        ("COUNT(A)", "COUNT(A)", Function.COUNT, {"A", "A#2"}, None),
        ("COUNT(A.*)", "COUNT(A.*)", Function.COUNT, {"A", "A#2"}, None),
        ("COUNT(b.to) AS end", "end", Function.COUNT, {"b"}, "to"),
        ("SUM(b.price * b.volume) total", "total", Function.SUM, {"b"}, "(price * volume)"),
        ("AVG(A.price)", "AVG(A.price)", Function.AVG, {"A", "A#2"}, "price"),
        ("MIN(b.day)", "MIN(b.day)", Function.MIN, {"b"}, "day"),
        ("MAX(b.ts)", "MAX(b.ts)", Function.MAX, {"b"}, "ts"),
    ],
)
def test_aggregates(returned: str, name: str, function: Function, variables: set[str], argument: str | None) -> None:
    (item,) = analyzed(query("SEQ(A, B b, A)", returned=returned)).items
    assert isinstance(item.value, TrendAggregate)
    assert (item.name, item.value.function, set(item.value.variables)) == (name, function, variables)
    assert argument == (None if item.value.argument is None else _text(item.value.argument))


def test_a_type_does_not_mean_its_negated_components_in_aggregates() -> None:
    (item,) = analyzed(query("SEQ(A x, ~A y, A z)", returned="COUNT(A)")).items
    assert isinstance(item.value, TrendAggregate) and item.value.variables == {"x", "z"}


def test_group_columns() -> None:
    found = analyzed(query(returned="to, Sector AS s, COUNT(*)", rest="GROUP-BY sector, to"))
    assert [(item.name, item.value) for item in found.items][:2] == [("to", "to"), ("s", "sector")]


# Clauses and options


@pytest.mark.parametrize(
    ("written", "semantics"),
    [("skip-till-any-match", Semantics.ANY), ("SKIP_TILL_NEXT_MATCH", Semantics.NEXT),
     ("Contiguous", Semantics.CONTIGUOUS), ("skip - till - next - match", Semantics.NEXT)],
)
def test_semantics(written: str, semantics: Semantics) -> None:
    assert analyzed(f"RETURN COUNT(*) PATTERN A SEMANTICS {written}").semantics is semantics


def test_options_in_the_text() -> None:
    text = """TIME n TIE BREAK id, volume TYPE type TYPES (A AS price > 1) TIES ORDER ORIGIN -5 COUNTS LOG
              RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS contiguous WITHIN 10"""
    found = analyzed(text, time=None)
    assert [key.column for key in found.order_by] == ["n", "id", "volume"]
    assert (found.type_column, found.type_names) == ("type", ("B",))
    assert (found.has_strict_ties, found.counts) == (False, Counts.LOG)
    assert found.window is not None and (found.window.size, found.window.slide, found.window.origin) == (10, 10, -5)


def test_ties_are_strict_unless_the_text_says_otherwise() -> None:
    assert analyzed("TIME ts TYPE kind " + query(), time=None).has_strict_ties
    assert not analyzed("TIME ts TYPE kind TIES ORDER " + query(), time=None).has_strict_ties


def test_words_of_clauses_can_be_names() -> None:
    columns = {"time": "TIMESTAMP", "type": "VARCHAR", "origin": "BIGINT", "counts": "BIGINT", "within": "BIGINT"}
    text = """TIME time TYPE type RETURN origin, within, SUM(A.counts) AS counts PATTERN A+ SEMANTICS contiguous
              WHERE A.within > NEXT(A).origin GROUP-BY origin, within WITHIN 5 seconds"""
    found = analyzed(text, time=None, columns=columns)
    assert found.group_by == ("origin", "within")
    assert [item.name for item in found.items] == ["origin", "within", "counts"]


@pytest.mark.parametrize(
    ("rest", "time", "window"),
    [
        ("WITHIN 10 minutes SLIDE 10 seconds", "ts", (10 * MINUTE, 10 * SECOND, WindowUnit.TIME)),
        ("WITHIN INTERVAL '1' DAY", "day", (1440 * MINUTE, 1440 * MINUTE, WindowUnit.TIME)),
        ("WITHIN 1 hour 30 minutes", "ts", (90 * MINUTE, 90 * MINUTE, WindowUnit.TIME)),
        ("WITHIN 500 SLIDE 7", "n", (500, 7, WindowUnit.NUMBER)),
        ("WITHIN 0.5 SLIDE 0.25", "x", (0.5, 0.25, WindowUnit.NUMBER)),
        ("WITHIN 2.50", "exact", (Decimal("2.50"), Decimal("2.50"), WindowUnit.NUMBER)),
        ("WITHIN 100 EVENTS SLIDE 10 EVENTS", "ts", (100, 10, WindowUnit.EVENTS)),
    ],
)
def test_windows(rest: str, time: str, window: tuple[Any, Any, WindowUnit]) -> None:
    found = analyzed(query(rest=rest), time=time, ties="order").window
    assert found is not None and (found.size, found.slide, found.unit) == window
    assert (type(found.size), found.origin) == (type(window[0]), 0)


_ORIGIN = int(datetime(2024, 1, 2, 3, tzinfo=UTC).timestamp()) * SECOND


@pytest.mark.parametrize(
    ("origin", "time", "number"),
    [
        (datetime(2024, 1, 2, 3), "ts", _ORIGIN), ("2024-01-02 03:00:00", "ts", _ORIGIN),
        (datetime(2024, 1, 2, 5, tzinfo=timezone(timedelta(hours=2))), "ts", _ORIGIN),
        ("2024-01-02T03:00:00.000001Z", "ts", _ORIGIN + 1), (date(1970, 1, 2), "day", 1440 * MINUTE),
        ("1969-12-31", "day", -1440 * MINUTE), (7, "n", 7), (0.5, "x", 0.5), (Decimal("0.5"), "exact", Decimal("0.5")),
        (Decimal(3), "n", 3),
    ],
)
def test_origin_of_a_call(origin: Any, time: str, number: Any) -> None:
    size = "1 day" if time in ("ts", "day") else "10"
    window = analyzed(query(rest=f"WITHIN {size}"), time=time, origin=origin).window
    assert window is not None and (window.origin, type(window.origin)) == (number, type(number))


@pytest.mark.parametrize(
    ("written", "time", "number"),
    [("TIMESTAMP '2024-01-02 03:00:00'", "ts", _ORIGIN), ("'2024-01-02 03:00'", "ts", _ORIGIN),
     ("DATE '1970-01-02'", "day", 1440 * MINUTE), ("5", "n", 5), ("-5", "n", -5), ("0.5", "x", 0.5)],
)
def test_origin_in_the_text(written: str, time: str, number: Any) -> None:
    size = "1 day" if time in ("ts", "day") else "10"
    window = analyzed(f"TIME {time} TYPE kind ORIGIN {written} " + query(rest=f"WITHIN {size}"), time=None).window
    assert window is not None and window.origin == number


def test_a_slide_larger_than_the_window_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="SLIDE 2 minutes is larger than WITHIN 1 minute"):
        analyzed(query(rest="WITHIN 1 minute SLIDE 2 minutes"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        analyzed(query(rest="WITHIN 1 minute SLIDE 60 seconds"))
