"""The language of event queries: from text to `EventQuery`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modes.events.analysis import analyzed, parsed

from sparkrex.errors import RexError
from sparkrex.modes.events.language.references import Variables, rewrite_references
from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, EventPattern, Kleene, Sequence
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.scalar import expression as scalar
from sparkrex.scalar.expression import End, Semantics, Target
from sparkrex.scalar.forms import written
from sparkrex.source import Source, Span
from sparkrex.statement.cut import cut
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import find_dialect, span_of, tokenize
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

QUERY_1 = """PATTERN SEQ(Shelf a, ~(Register b), Exit c)
WHERE skip_till_next_match(a, b, c) {
  a.tag_id = b.tag_id and a.tag_id = c.tag_id /* equivalently, [tag_id] */ }
WITHIN 12 hours"""
QUERY_2 = """PATTERN SEQ(Alert a, Shipment+ b[])
WHERE skip_till_any_match(a, b[]) {
  a.type = 'contaminated' and b[1].from = a.site and b[i].from = b[i-1].to }
WITHIN 3 hours"""
QUERY_3 = """PATTERN SEQ(Stock+ a[], Stock b)
WHERE skip_till_next_match(a[], b) {
  [symbol] and a[1].volume > 1000 and a[i].price > avg(a[..i-1].price) and b.volume < 80%*a[a.LEN].volume }
WITHIN 1 hour"""
ISSUE = """PATTERN SEQ(Alert a, Shipment+ b[], ~(Recall r), Arrival c)
WHERE   skip_till_any_match(a, b[], c) {
  a.type = 'contaminated' AND b[1].from = a.site AND b[i].from = b[i-1].to AND [lot] }
WITHIN  3 hours
RETURN  a.site AS origin, count(b[]) AS hops, b[b.LEN].to AS reached, c.ts AS at"""

DIALECTS = ("spark", "trino", "duckdb", "snowflake", "oracle", "bigquery", "postgres", "mysql")


def conditions(query: EventQuery, *, with_types: bool = False) -> dict[str, str]:
    """All conditions by role and variable, as text: `x` is the event under test, `a.x` an event selected before."""
    found = {}
    for role in ("begin", "take", "leave", "absent"):
        for definition in getattr(query, role):
            parts = [definition.condition]
            if isinstance(parts[0], scalar.Call) and parts[0].function == "and":
                parts = list(parts[0].operands)
            texts = [_text(part) for part in parts]
            kept = [text for text in texts if with_types or not text.startswith("(kind = ")]
            if kept:
                found[f"{role} {definition.variable}"] = " AND ".join(kept)
    return found


def _text(expression: scalar.Expression) -> str:
    match expression:
        case scalar.ColumnAt(target, column):
            return _target(target) + column
        case scalar.Call(operands=operands):
            return written(expression, list(map(_text, operands)))
        case scalar.Aggregate(function, arguments, variables, semantics):
            mark = "final " if semantics is Semantics.FINAL else ""
            return f"{mark}{function}({'|'.join(sorted(variables or ()))}: {', '.join(map(_text, arguments)) or '*'})"
        case scalar.Literal(value):
            return str(value) if not isinstance(value, str) else repr(value)
        case _:
            raise AssertionError(expression)


def _target(target: Target) -> str:
    assert (target.offset, target.shift) == (0, 0)
    if target == Target():
        return ""
    name = "|".join(sorted(target.variables or ())) + (" first" if target.end is End.FIRST else "")
    return f"{'final ' if target.semantics is Semantics.FINAL else ''}{name}."


def pattern_of(text: str) -> EventPattern:
    """The tree of a pattern."""
    return parsed(f"PATTERN {text} WHERE skip_till_any_match()").pattern.pattern


def query(pattern: str, where: str, rest: str = "", strategy: Strategy = Strategy.NEXT) -> str:
    """A query whose strategy lists all variables of the pattern."""
    names = [part.variable.text for part in parsed(f"PATTERN {pattern} WHERE skip_till_any_match()").pattern.components]
    return f"PATTERN {pattern} WHERE {strategy.value}({', '.join(names)}) {{ {where} }} {rest}"


def placed(pattern: str, where: str) -> dict[str, str]:
    """Where a query's conjuncts are tested."""
    return conditions(analyzed(query(pattern, where, "WITHIN 1 hour")))


# The pattern

A, B, C = Event("A", "a"), Event("B", "b"), Event("C", "c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("SEQ(A a, B b)", Sequence((A, B))),
        ("SEQ(A+ a[], B* b[], C? c)", Sequence((Kleene(A, 1, None), Kleene(B, 0, None), Kleene(C, 0, 1)))),
        ("SEQ(A{2,3} a[], B{2} b[], C{,4} c[])", Sequence((Kleene(A, 2, 3), Kleene(B, 2, 2), Kleene(C, 0, 4)))),
        ("SEQ(A{2,} a[], B? b[])", Sequence((Kleene(A, 2, None), Kleene(B, 0, 1)))),
        ("SEQ(A a, ~(B b), C c)", Sequence((A, Absent(B), C))),
        ("SEQ(A a, ~B b, C c)", Sequence((A, Absent(B), C))),
        ("SEQ(A a, SEQ(B b[], C c[])+)", Sequence((A, Kleene(Sequence((B, C)), 1, None)))),
        ("SEQ(A a, (B b | C c))", Sequence((A, AnyOf((B, C))))),
        ("SEQ(A a, (B b[] | C c[]){2,})", Sequence((A, Kleene(AnyOf((B, C)), 2, None)))),
        ("SEQ((A a | SEQ(B b, C c)))", Sequence((AnyOf((A, Sequence((B, C)))),))),
        ("A+ a[]", Sequence((Kleene(A, 1, None),))),
        ("(A a | B b)", Sequence((AnyOf((A, B)),))),
        ("(A+ a[], B b)", Sequence((Kleene(A, 1, None), B))),
        ("SEQ(A a, SEQ(B b, C c))", Sequence((A, B, C))),
        ("AND(A a, B b)", AllOf((A, B))),
        ("and(A a, NOT(B b), KL(C c))", AllOf((A, Absent(B), Kleene(C, 1, None)))),
        ("SEQ(A a, AND(B b, KL(C c[])))", Sequence((A, AllOf((B, Kleene(C, 1, None)))))),
        ("AND(A a, AND(B b, C c))", AllOf((A, B, C))),
        ("AND(A a, SEQ(B b, C c))", AllOf((A, Sequence((B, C))))),
        ("AND(A a, OR(B b, C c))", AllOf((A, AnyOf((B, C))))),
        ("OR(A a, AND(B b, C c))", Sequence((AnyOf((A, AllOf((B, C)))),))),
        ("AND(A a, AND(B b, C c)?)", AllOf((A, Kleene(AllOf((B, C)), 0, 1)))),
        ("SEQ(A a, NOT(B b), C c)", Sequence((A, Absent(B), C))),
        ("KL(A a)", Sequence((Kleene(A, 1, None),))),
        ("SEQ(AND a, NOT b, KL? c)", Sequence((Event("AND", "a"), Event("NOT", "b"), Kleene(Event("KL", "c"), 0, 1)))),
        ("seq ( /* why */ `A` a , B b -- so\n)", Sequence((A, B))),
    ],
)
def test_patterns(text: str, tree: EventPattern) -> None:
    assert pattern_of(text) == tree
    assert pattern_of(str(tree)) == tree


_TYPES = st.sampled_from(["A", "B", "Stock"])
_BOUNDS = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 3), (0, 2), (2, None)])


def _larger(inner: st.SearchStrategy[EventPattern]) -> st.SearchStrategy[EventPattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    groups = several.map(Sequence) | several.map(AnyOf) | several.map(_all_of)
    repeated = st.builds(lambda body, bounds: Kleene(body, *bounds), groups, _BOUNDS)
    return several.map(AnyOf) | several.map(_all_of) | repeated


def _all_of(items: tuple[EventPattern, ...]) -> AllOf:
    """AND inside AND is one."""
    return AllOf(tuple(part for item in items for part in (item.items if isinstance(item, AllOf) else (item,))))


def _with_own_variables(pattern: EventPattern, numbers: Iterator[int]) -> EventPattern:
    match pattern:
        case Event(type=kind):
            return Event(kind, f"v{next(numbers)}")
        case Sequence(items=items):
            return Sequence(tuple(_with_own_variables(item, numbers) for item in items))
        case AllOf(items=items):
            return AllOf(tuple(_with_own_variables(item, numbers) for item in items))
        case AnyOf(options=options):
            return AnyOf(tuple(_with_own_variables(option, numbers) for option in options))
        case Kleene(body, minimum, maximum):
            return Kleene(_with_own_variables(body, numbers), minimum, maximum)
        case Absent():
            raise AssertionError("none was drawn")


_EVENTS: st.SearchStrategy[EventPattern] = st.builds(Event, _TYPES, st.just("v"))
_COMPONENTS = _EVENTS | st.builds(lambda event, bounds: Kleene(event, *bounds), _EVENTS, _BOUNDS)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.lists(st.recursive(_COMPONENTS, _larger, max_leaves=6), min_size=1, max_size=3))
def test_the_text_of_a_pattern_is_read_back(items: list[EventPattern]) -> None:
    tree = _with_own_variables(Sequence(tuple(items)), itertools.count())
    assert pattern_of(str(tree)) == tree


def test_components_know_whether_they_repeat() -> None:
    text = parsed("PATTERN SEQ(A a, B+ b[], C? c[], SEQ(D d, E? e)+, ~(F f)) WHERE skip_till_any_match()")
    components = text.pattern.components
    assert [part.variable.text for part in components if part.is_repeated] == ["b", "d", "e"]
    assert [part.variable.text for part in components if part.is_array] == ["b", "c", "d", "e"]
    assert [part.variable.text for part in components if part.is_negated] == ["f"]


def test_variables_keep_their_spelling_and_are_found_in_any_case() -> None:
    found = analyzed("PATTERN SEQ(A First, B+ b[]) WHERE skip_till_any_match(FIRST, B[]) { first.level = B[i].level }")
    assert [part.variable for part in found.take] == ["b"]
    assert conditions(found) == {"take b": "(First.level = level)"}


# Where conjuncts are tested


def test_query_1_of_the_paper() -> None:
    found = analyzed(QUERY_1)
    assert conditions(found) == {"begin c": "(a.tag_id = tag_id)", "absent b": "(a.tag_id = tag_id)"}
    assert found.window is not None
    assert (found.window.size, found.window.unit) == (12 * 3_600_000_000, WindowUnit.TIME)
    assert (found.strategy, found.partition_by, found.measures) == (Strategy.NEXT, (), None)


def test_query_2_of_the_paper() -> None:
    assert conditions(analyzed(QUERY_2), with_types=True) == {
        "begin a": "(kind = 'Alert') AND (type = 'contaminated')",
        "begin b": "(kind = 'Shipment') AND (from = a.site)",
        "take b": "(kind = 'Shipment') AND (from = b.to)",
    }


def test_query_3_of_the_paper() -> None:
    found = analyzed(QUERY_3, type=None)
    assert conditions(found) == {
        "begin a": "(volume > 1000)", "take a": "(price > avg(a: price))", "begin b": "(volume < (0.8 * a.volume))",
    }
    assert [key.name for key in found.partition_by] == ["symbol"]
    assert found.relevant is None, "all events are of one type"


def test_the_query_of_the_issue() -> None:
    found = analyzed(ISSUE)
    assert conditions(found) == {
        "begin a": "(type = 'contaminated')", "begin b": "(from = a.site)", "take b": "(from = b.to)",
    }
    assert str(found.pattern) == "SEQ(Alert a, Shipment+ b[], ~(Recall r), Arrival c)"
    assert {measure.name: _text(measure.expression) for measure in found.measures or ()} == {
        "origin": "final a.site", "hops": "final count(b: *)", "reached": "final b.to", "at": "final c.ts",
    }
    assert _text(found.relevant or scalar.Literal(None)) == (
        "((kind = 'Alert') OR (kind = 'Shipment') OR (kind = 'Recall') OR (kind = 'Arrival'))"
    )


SIMPLE = "SEQ(A a, B+ b[], C c, D* d[])"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("b[i].price > b[1].price", {"take b": "(price > b first.price)"}),
        ("b[b.LEN].price > b[1].price", {"leave b": "(b.price > b first.price)"}),
        ("b[b.LEN].price > a.price", {"leave b": "(b.price > a.price)"}),
        ("count(b[]) > 2", {"leave b": "(count(b: *) > 2)"}),
        ("b.LEN > 2", {"leave b": "(count(b: *) > 2)"}),
        ("c.price > max(b[].price)", {"begin c": "(price > max(b: price))"}),
        ("c.level = b.LEN", {"begin c": "(level = count(b: *))"}),
        ("b[i].level > count(b[..i-1])", {"take b": "(level > count(b: *))"}),
        ("d[i].price > avg(d[..i-1].price) + b[b.LEN].price", {"take d": "(price > (avg(d: price) + b.price))"}),
        ("d[1].price > a.price", {"begin d": "(price > a.price)"}),
        ("sum(d[].price) > sum(b[].price)", {"leave d": "(sum(d: price) > sum(b: price))"}),
        ("max(b[].price) < c.price AND c.price < 9", {"begin c": "(max(b: price) < price) AND (price < 9)"}),
        ("(a.price > 1 AND (b[i].price > 2))", {"begin a": "(price > 1)", "take b": "(price > 2)"}),
        ("a.price BETWEEN 1 AND 2", {"begin a": "(price BETWEEN 1 AND 2)"}),
        ("a.price > 1 OR c.price > 1", {"begin c": "((a.price > 1) OR (price > 1))"}),
        ("lower(b[i].to) = lower(b[i-1].to)", {"take b": "(LOWER(to) = LOWER(b.to))"}),
        ("b[i].place.zone.id = 3", {"take b": "(place.zone.id = 3)"}),
        ("TRUE", {}),
        ("1 = 2", {"begin a": "(1 = 2)", "begin b": "(1 = 2)", "begin c": "(1 = 2)", "begin d": "(1 = 2)"}),
        ("a.price < 5%", {"begin a": "(price < 0.05)"}),
        ("a.volume = 7 % 3", {"begin a": "(volume = (7 % 3))"}),
    ],
)
def test_a_conjunct_is_tested_at_its_last_identifier(where: str, expected: dict[str, str]) -> None:
    assert placed(SIMPLE, where) == expected


@pytest.mark.parametrize(
    ("pattern", "where", "expected"),
    [
        ("SEQ(A a, SEQ(B b[], C c[])+)", "c[i].price > b[i].price", {"take c": "(price > b.price)"}),
        ("SEQ(A a, SEQ(B b[], C c[])+)", "b[i].price > c[i-1].price", {"take b": "(price > c.price)"}),
        ("SEQ(A a, SEQ(B b[], C c[])+)", "c[1].price > b[1].price", {"begin c": "(price > b first.price)"}),
        ("SEQ(A a, SEQ(B b[], C c[])+)", "b[i].price > c[1].price", {"take b": "(price > c first.price)"}),
        ("SEQ(A a, SEQ(B b[], C c[])+)", "c.LEN > 2 AND b[1].price > 1", {
            "begin b": "(price > 1)", "leave c": "(count(c: *) > 2)"}),
        ("SEQ(A a, SEQ(B b[], C c[])+)", "b[b.LEN].price > c[1].price", {"leave b": "(b.price > c first.price)"}),
        ("SEQ(A a, (B b[] | C c[])+)", "b[i].price > c[i-1].price", {"take b": "(price > c.price)"}),
        ("SEQ(A a, (B b | C c), D d)", "d.price > a.price AND c.price > a.price", {
            "begin c": "(price > a.price)", "begin d": "(price > a.price)"}),
        ("SEQ(A? a[], B b)", "a[1].price > 1 AND b.price > a[a.LEN].price", {
            "begin a": "(price > 1)", "begin b": "(price > a.price)"}),
        ("SEQ(A+ a[], ~(R r), B b, ~(S s))", "r.price > b.price + a[1].price AND s.level < avg(a[].level)", {
            "absent r": "(price > (b.price + a first.price))", "absent s": "(level < avg(a: level))"}),
    ],
)
def test_nested_patterns(pattern: str, where: str, expected: dict[str, str]) -> None:
    assert placed(pattern, where) == expected


def test_under_strict_contiguity_equivalence_tests_are_conditions() -> None:
    text = query("SEQ(A? a, B+ b[], ~(R r), C c)", "[lot]", "", Strategy.STRICT)
    found = analyzed(text)
    assert found.partition_by == ()
    first = "a|b|c first.lot"
    assert conditions(found) == {
        "begin a": "(NOT (lot IS NULL))", "begin b": f"(lot = COALESCE({first}, lot))", "begin c": f"(lot = {first})",
        "take b": f"(lot = {first})", "absent r": f"(lot = {first})",
    }


def test_equivalence_tests_partition_under_the_other_strategies() -> None:
    for strategy in (Strategy.PARTITION, Strategy.NEXT, Strategy.ANY):
        found = analyzed(query("SEQ(A a, B b)", "[lot, Symbol] AND [lot]", "", strategy))
        assert [key.name for key in found.partition_by] == ["lot", "symbol"]
        assert conditions(found) == {}
        assert (found.relevant is None) == (strategy is Strategy.PARTITION), "others break runs under contiguity"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", [QUERY_1, QUERY_2, ISSUE])
def test_a_query_means_the_same_in_every_dialect(text: str, dialect: str) -> None:
    mine, spark = analyzed(text, dialect=dialect), analyzed(text)
    assert mine.pattern == spark.pattern
    assert conditions(mine, with_types=True) == conditions(spark, with_types=True)
    assert mine.measures == spark.measures


# Conjuncts apart from where they are tested


def _neutral(expression: scalar.Expression) -> str:
    match expression:
        case scalar.ColumnAt(target, column):
            (name,) = target.variables or ("",)
            marks = [target.end.value.lower()] * (target.end is End.FIRST) + ["before"] * (target.offset == 1)
            marks += ["final"] * (target.semantics is Semantics.FINAL)
            return " ".join([name, *marks]) + f".{column}"
        case scalar.Call(operands=operands):
            return written(expression, list(map(_neutral, operands)))
        case scalar.Aggregate(function, _, variables, semantics):
            return f"{semantics.value.lower()} {function}({', '.join(variables or ())})"
        case _:
            return str(expression)


@pytest.mark.parametrize(
    ("pattern", "where", "expected"),
    [
        (SIMPLE, "a.price > 1", ("(a.price > 1)", "a", "a")),
        (SIMPLE, "1 = 2", ("(1 = 2)", "", None)),
        (SIMPLE, "b[1].price > a.price", ("(b first.price > a.price)", "b[1] a", "b")),
        (SIMPLE, "b[i].price > b[i-1].price", ("(b.price > b before.price)", "b[i] b[i-1]", "b")),
        (SIMPLE, "b[i].price > avg(b[..i-1].price)", ("(b.price > running avg(b))", "b[i] b[..i-1]", "b")),
        (SIMPLE, "c.price > avg(b[].price)", ("(c.price > final avg(b))", "c b[]", "c")),
        (SIMPLE, "b.LEN > 2", ("(final count(b) > 2)", "b[]", "b")),
        (SIMPLE, "a.price > b[b.LEN].price", ("(a.price > b final.price)", "a b[b.LEN]", "b")),
        ("SEQ(A a, B? b[])", "b[b.LEN].price > a.price", ("(b.price > a.price)", "b a", "b")),
        ("SEQ(A a, ~(R r), B b)", "r.price > a.price", ("(r.price > a.price)", "r a", "a")),
        ("SEQ(A a, ~(R r), B b)", "r.price > 1", ("(r.price > 1)", "r", None)),
        ("AND(B b, A a)", "a.price > b.price", ("(a.price > b.price)", "a b", "a")),
        ("AND(KL(B b), A a)", "b[b.LEN].price > a.price", ("(b final.price > a.price)", "b[b.LEN] a", "a")),
    ],
)
def test_conjuncts(pattern: str, where: str, expected: tuple[str, str, str | None]) -> None:
    text = query(pattern, f"[lot] AND {where} AND TRUE")
    (conjunct,) = analyzed(text).conjuncts
    named = " ".join(index.of(name) for name, index in conjunct.references)
    assert (_neutral(conjunct.expression), named, conjunct.last) == expected
    span = conjunct.expression.span
    assert span is not None
    assert where.startswith(text[span.start : span.end])


def test_types_of_variables() -> None:
    found = analyzed(query("SEQ(A a, ~(R r), B+ b[], Any c)", "a.price > 1"), types={"Any": "true"})
    assert {one.variable: _text(one.condition) for one in found.types} == {
        "a": "(kind = 'A')", "r": "(kind = 'R')", "b": "(kind = 'B')",
    }
    assert analyzed(query("SEQ(A a, A b)", ""), type=None).types == ()


@pytest.mark.parametrize(
    ("where", "expected", "waiting"),
    [
        ("a.price > 1 AND b[1].price > 2", {"begin a": "(price > 1)", "begin b": "(price > 2)"}, []),
        ("b[i].price > b[i-1].price", {"take b": "(price > b.price)"}, []),
        ("d.price > a.price", {"absent d": "(price > a.price)"}, []),
        ("c.price > a.price", {}, ["(c.price > a.price)"]),
        ("count(b[]) > 1", {}, ["(final count(b) > 1)"]),
        ("b[b.LEN].price > b[1].price", {}, ["(b final.price > b first.price)"]),
        ("1 = 2", {"begin a": "(1 = 2)", "begin b": "(1 = 2)", "begin c": "(1 = 2)"}, []),
    ],
)
def test_in_any_order_what_several_events_decide_waits(
    where: str, expected: dict[str, str], waiting: list[str]
) -> None:
    found = analyzed(query("AND(A a, KL(B b), C c, NOT(D d))", where))
    assert conditions(found) == expected
    assert [_neutral(conjunct.expression) for conjunct in found.open_conjuncts()] == waiting


def test_in_any_order_strict_contiguity_compares_every_event_with_the_first() -> None:
    found = analyzed(query("AND(A a, B b)", "[lot]", "", Strategy.STRICT))
    either = "(lot = COALESCE(a|b first.lot, lot))"
    assert conditions(found) == {"begin a": either, "begin b": either}


# Without a strategy


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("", {}),
        ("WHERE a.price = c.price WITHIN 10 minutes", {"begin c": "(a.price = price)"}),
        ("WHERE { a.price = c.price } WITHIN 10 minutes", {"begin c": "(a.price = price)"}),
        ("WHERE {}", {}),
        ("WHERE lower(a.site) = 'x' AND [lot] RETURN a.ts", {"begin a": "(LOWER(site) = 'x')"}),
        ("WHERE (a.price > 1 OR c.price > 1)", {"begin c": "((a.price > 1) OR (price > 1))"}),
        ("WHERE NOT a.price > 1 OUTPUT ALL", {"begin a": "(NOT (price > 1))"}),
    ],
)
def test_without_a_strategy_every_match_is_meant(rest: str, expected: dict[str, str]) -> None:
    found = analyzed(f"PATTERN SEQ(A a, ~(R r), KL(B b), C c) {rest}")
    assert (found.strategy, conditions(found)) == (Strategy.ANY, expected)
    assert [key.name for key in found.partition_by] == (["lot"] if "[lot]" in rest else [])


# Types


def test_named_types_come_first() -> None:
    types = {"Alert": "kind = 'alert' AND level > 3", "B": "lower(site) = 'b'"}
    found = analyzed(query("SEQ(alert a, B+ b[], C c)", ""), types=types)
    assert conditions(found, with_types=True) == {
        "begin a": "(kind = 'alert') AND (level > 3)", "begin b": "(LOWER(site) = 'b')",
        "take b": "(LOWER(site) = 'b')", "begin c": "(kind = 'C')",
    }
    assert all(
        node.span is None for node in scalar.walk(found.begin[0].condition)
    ), "their places are not in the query"


def test_events_are_dropped_only_by_type() -> None:
    assert analyzed(query("SEQ(A a, B b)", "", "WITHIN 3 EVENTS")).relevant is None
    assert analyzed(query("SEQ(A a, A b)", ""), type=None).relevant is None
    assert analyzed(query("SEQ(A a, B b)", ""), types={"A": "true"}).relevant is None
    assert _text(analyzed(query("SEQ(A a, A b)", "")).relevant or scalar.Literal(0)) == "(kind = 'A')"


# WITHIN, OUTPUT, RETURN, options


@pytest.mark.parametrize(
    ("within", "time", "size", "unit"),
    [
        ("3 hours", "ts", 10_800_000_000, WindowUnit.TIME),
        ("1 hour 30 minutes", "ts", 5_400_000_000, WindowUnit.TIME),
        ("INTERVAL '3' HOUR", "ts", 10_800_000_000, WindowUnit.TIME),
        ("INTERVAL '90 seconds'", "ts", 90_000_000, WindowUnit.TIME),
        ("1.5 milliseconds", "ts", 1500, WindowUnit.TIME),
        ("2 days", "day", 172_800_000_000, WindowUnit.TIME),
        ("500", "n", 500, WindowUnit.NUMBER),
        ("0", "n", 0, WindowUnit.NUMBER),
        ("2.5", "price", 2.5, WindowUnit.NUMBER),
        ("500 EVENTS", "ts", 500, WindowUnit.EVENTS),
        ("1 event", "n", 1, WindowUnit.EVENTS),
    ],
)
def test_windows(within: str, time: str, size: float, unit: WindowUnit) -> None:
    window = analyzed(query("SEQ(A a, B b)", "", f"WITHIN {within}"), time=time).window
    assert window is not None
    assert (window.size, type(window.size), window.unit) == (size, type(size), unit)


def test_output() -> None:
    for clause, expected in (("", False), ("OUTPUT ALL", False), ("OUTPUT NON-OVERLAPPING", True), (
        "NON-OVERLAPPING", True)):
        text = query("SEQ(A a, B b)", "", f"WITHIN 1 hour {clause} RETURN a.ts")
        assert analyzed(text).is_non_overlapping is expected


def test_what_is_returned() -> None:
    text = query(SIMPLE, "[lot]", "RETURN a.site, b[1].from, b[b.LEN].to last_to, lot, count(*) AS n, b.LEN, "
                 "sum(price) AS whole, count(b[]) FILTER (WHERE b[].level > 3) AS high, c.ts - a.ts AS type")
    measures = {measure.name: _text(measure.expression) for measure in analyzed(text).measures or ()}
    assert measures == {
        "site": "final a.site", "from": "final b first.from", "last_to": "final b.to", "lot": "final  first.lot",
        "n": "final count(: *)", "b.LEN": "final count(b: *)", "whole": "final sum(: price)",
        "high": "final count(b: *)", "type": "(final c.ts - final a.ts)",
    }


@pytest.mark.parametrize("rest", ["", "RETURN", "RETURN EVENTS", "OUTPUT ALL RETURN events;"])
def test_the_events_themselves(rest: str) -> None:
    found = analyzed(query("SEQ(A a, B b)", "", rest))
    assert found.measures is None
    assert found.output_columns()[:3] == ("match_id", "variable", "ts")


def test_the_order_of_events() -> None:
    found = analyzed(query("SEQ(A a, B b)", ""), time="N", tie_break=("seq", "Site"), ties="strict")
    assert [key.column for key in found.order_by] == ["n", "seq", "site"]
    assert found.has_strict_ties


def test_a_relation_says_what_a_call_says() -> None:
    body = query("SEQ(A a, B+ b[])", "b[i].price > b[i-1].price")
    types = "TYPES (A AS kind = 'a' AND level > 3, `B` AS price > 1)"
    relation = analyzed(f"TIME n TIE BREAK seq, type TYPE kind {types} TIES STRICT {body}", time=None)
    call = analyzed(
        body, time="n", tie_break=("seq", "type"), types={"A": "kind = 'a' AND level > 3", "B": "price > 1"},
        ties="strict",
    )
    assert (relation.begin, relation.take, relation.order_by) == (call.begin, call.take, call.order_by)
    assert relation.has_strict_ties
    columns = {"type": "BIGINT", "kind": "VARCHAR", "price": "DOUBLE"}
    assert not analyzed(f"TIME type TYPE kind TIES ORDER {body}", time=None, columns=columns).has_strict_ties


# Statements


def test_relations_are_cut_out_of_statements() -> None:
    inner = "MATCH_EVENTS (TIME ts PATTERN A+ a[] WHERE skip_till_any_match(a[]) { [lot] } RETURN a[1].lot)"
    text = f"""WITH big AS (SELECT * FROM stream {inner} AS e)
SELECT * FROM big JOIN (SELECT * FROM stream s) {inner} f ON big.lot = f.lot
WHERE EXISTS (SELECT 1 FROM big MATCH_RECOGNIZE (PATTERN (X)) {inner} AS g (q))"""
    statement = cut(Source(text), find_dialect("spark"), "0")
    kinds = [(relation.placeholder, relation.keyword, relation.input_table) for relation in statement.relations]
    assert kinds == [
        ("rex_0_0", "MATCH_EVENTS", "stream"), ("rex_0_1", "MATCH_EVENTS", None),
        ("rex_0_2", "MATCH_RECOGNIZE", None), ("rex_0_3", "MATCH_EVENTS", None),
    ]
    assert "MATCH" not in statement.host_sql
    assert statement.relations[3].input_sql == "rex_0_2"
    assert statement.relations[3].column_aliases == ("q",)
    assert statement.host_sql.startswith("WITH big AS (SELECT * FROM rex_0_0 AS e)\nSELECT * FROM big JOIN rex_0_1 f")


# Positions


def test_rewritten_references_keep_their_places() -> None:
    text = "b[i-1].from > 80% * avg(b[..i-1].to)"
    source, dialect = Source(text), find_dialect("spark")
    components = parsed("PATTERN B+ b[] WHERE skip_till_any_match()").pattern.components
    variables = Variables({part.key: part for part in components}, name_rules("spark"))
    rewritten = rewrite_references(tokenize(source, dialect), source, variables)
    written = {token.text: text[span_of(token).start : span_of(token).end] for token in rewritten}
    assert written["__REX_EVENT_PREVIOUS"] == "b[i-1]"
    assert written["__REX_EVENT_BEFORE"] == "b[..i-1]"
    assert written["0.8"] == "80%"
    assert written["from"] == "from"


def test_conditions_know_where_they_stand() -> None:
    found = analyzed(QUERY_2)
    spans = [node.span for node in scalar.references(found.take[0].condition)]
    written = [QUERY_2[span.start : span.end] for span in spans if span is not None]
    assert written == ["Shipment", "b[i].from", "b[i-1].to"]


# Errors

ABC = "SEQ(A a, B+ b[], C c)"
ROUNDS = "SEQ(A a, SEQ(B b[], C c[])+)"
EITHER = "SEQ(A a, (B b[] | C c[])+)"


def failure(text: str, **options: object) -> tuple[str, str, str]:
    """Code, text under the caret and hint of the error that a query gives."""
    with pytest.raises(RexError) as caught:
        analyzed(text, **options)  # type: ignore[arg-type]
    error = caught.value
    span = error.span or Span(0, 0)
    source = error.source or Source("")
    return error.code, source.text[span.start : span.end], error.hint or ""


@pytest.mark.parametrize(
    ("pattern", "where", "code", "caret", "hint"),
    [
        (ABC, "b[i].prise > 3", "REX201", "prise", "did you mean price?"),
        (ABC, "[lots]", "REX201", "lots", "did you mean lot?"),
        (ABC, "d.price > 3", "REX206", "d.price", "variables: a, b, c"),
        (ABC, "d[i].price > 3", "REX206", "d", "variables: a, b, c"),
        (ABC, "c.price > b[i-1].price", "REX224", "b[i-1].price", "b[b.LEN]"),
        (ABC, "b[i-1].price > 3", "REX224", "b[i-1].price", "b[i]"),
        (ABC, "c.price > avg(b[..i-1].price)", "REX224", "b[..i-1].price", "b[]"),
        (ABC, "b.price > 3", "REX224", "b.price", "b[1], b[i] or b[b.LEN]"),
        (ABC, "a[1].price > 3", "REX224", "a[1].price", "a.attribute"),
        (ABC, "max(a[].price) > 3", "REX224", "a[].price", "a.attribute"),
        (ABC, "b[].price > 3", "REX224", "b[].price", "max(b[].x)"),
        (ABC, "b[i].price > b[i-2].price", "REX224", "b[i-2]", "b[i-1] the one before it"),
        (ABC, "b[0].price > 1", "REX224", "b[0]", "b[1] the first"),
        (ABC, "b[a.LEN].price > 1", "REX224", "b[a.LEN]", "b[b.LEN] the last"),
        (ABC, "b[i+1].price > 1", "REX224", "b[i+1]", "b[i] each later one"),
        (ABC, "avg(b[..i].price) > 3", "REX224", "b[..i]", "b[..i-1]"),
        (ABC, "b[i].price > avg(b[].price)", "REX224", "b[].price", "b[..i-1]"),
        (ABC, "b[i].price > b[b.LEN].price", "REX224", "b[b.LEN].price", "b[i-1]"),
        (ABC, "b[i].price > c.price", "REX224", "b[i].price", "b[b.LEN]"),
        (ABC, "c.price > b[i].price", "REX224", "b[i].price", "b[b.LEN]"),
        (ABC, "c.price > 3 OR [lot]", "REX224", "[lot]", "or there is no match"),
        (ABC, "price > 3", "REX224", "price", "a.price"),
        (ABC, "a > 3", "REX224", "a", "a.attribute"),
        (ABC, "avg(b[i].price) > 3", "REX210", "b[i].price", "b[..i-1]"),
        (ABC, "sum(max(b[].price)) > 3", "REX210", "max(b[].price)", ""),
        (ABC, "sum(a.price) > 3", "REX210", "a.price", "a.attribute"),
        (ABC, "count(*) > 3", "REX210", "count(*)", "count(v[])"),
        (ABC, "b[i] > 3", "REX104", "b[i]", "b[i].attribute"),
        (ABC, "b[] > 3", "REX104", "b[]", "count(b[])"),
        (ABC, "c.price", "REX214", "c.price", ""),
        (ABC, "prev(a.price) > 3", "REX207", "prev(a.price)", "v[i-1].x"),
        (ABC, "a.price > (SELECT 3)", "REX301", "3", "in the input"),
        (ABC, "a.price > 3 AND", "REX104", "AND", ""),
        ("SEQ(A a, (B b | C c))", "b.price > c.price", "REX224", "c.price", "one alternative"),
        (EITHER, "b[1].price > c[1].price", "REX224", "c[1].price", "c[i] is compared with the b[i-1]"),
        (EITHER, "b[i].price > c[i].price", "REX224", "c[i].price", "one alternative"),
        (ROUNDS, "c[i].price > b[i-1].price", "REX224", "b[i-1].price", "b[i] is the b of the same round"),
        (ROUNDS, "b[i].price > c[c.LEN].price", "REX224", "c[c.LEN].price", "c[i-1]"),
        ("SEQ(A+ a[], B+ b[])", "a[i].price > b[i].price", "REX224", "a[i].price", "a[a.LEN]"),
        ("SEQ(A+ a[], ~(R r), B b)", "r.price > a[i].price", "REX224", "a[i].price", "a[a.LEN]"),
        ("SEQ(A? a[], B b)", "a[i].price > 3", "REX224", "a[i].price", "a.attribute"),
        ("SEQ(A a, ~(R r), ~(S s), B b)", "s.price > r.price", "REX225", "r.price", "not there together"),
    ],
)
def test_errors_of_predicates(pattern: str, where: str, code: str, caret: str, hint: str) -> None:
    found = failure(query(pattern, where))
    assert found[:2] == (code, caret)
    assert hint in found[2]


@pytest.mark.parametrize(
    ("text", "code", "caret", "hint"),
    [
        ("SEQ(A a, B a)", "REX205", "a", "a variable of its own"),
        ("SEQ(A a, B A)", "REX205", "A", "a variable of its own"),
        ("SEQ(A+ a, B b)", "REX224", "a", "A+ a[]"),
        ("SEQ(A a[], B b)", "REX224", "a", "A+ a[]"),
        ("SEQ(~(R r), C c)", "REX225", "~(R r)", "WITHIN"),
        ("SEQ(C c, ~(R r))", "REX225", "~(R r)", "WITHIN"),
        ("SEQ(A? a, ~(R r), C c)", "REX225", "~(R r)", "WITHIN"),
        ("SEQ(A a, SEQ(B b[], ~(R r))+)", "REX225", "~(R r)", "PATTERN SEQ("),
        ("SEQ(A a, SEQ(B b, ~(R r)))", "REX225", "~(R r)", "PATTERN SEQ("),
        ("SEQ(A a, (B b | ~(R r)))", "REX225", "~(R r)", "PATTERN SEQ("),
        ("SEQ(A a, AND(B b, NOT(R r)))", "REX225", "NOT(R r)", "PATTERN SEQ("),
        ("AND(A a, SEQ(B b, NOT(R r)))", "REX225", "NOT(R r)", "PATTERN SEQ("),
        ("AND(A a, B b, NOT(R r))?", "REX225", "NOT(R r)", "PATTERN SEQ("),
        ("AND(A a, OR(B b, NOT(R r)))", "REX225", "NOT(R r)", "PATTERN SEQ("),
        ("AND(NOT(R r))", "REX225", "AND(NOT(R r))", "~(Register b)"),
        ("AND(A a, NOT(KL(B b)))", "REX225", "KL", "~(Type variable)"),
        ("AND(A a, NOT R r)", "REX108", "NOT", "NOT(R r), or ~(R r)"),
        ("AND(A a, KL(AND(B b, C c)))", "REX108", "AND", "KL(Type variable)"),
        ("AND(A a, KL(B+ b))", "REX224", "b", "B+ b[]"),
        ("AND(A a, KL(B+ b[]))", "REX108", "B+ b[]", "KL(B b) is B+ b[]"),
        ("AND(A a, KL(B b, C c))", "REX108", ",", "KL(Type variable)"),
        ("AND(A a | B b)", "REX108", "|", "AND( ... ) has components"),
        ("AND(A a, OR(B b))", "REX108", "OR(B b)", "OR(B b, Type variable)"),
        ("AND(A a, B{2,3} b[])", "REX301", "B{2,3} b[]", "B+ b[]"),
        ("AND(A a, B{2,} b[])", "REX301", "B{2,} b[]", "B+ b[]"),
        ("AND(A a, B{,4} b[])", "REX301", "B{,4} b[]", "B* b[]"),
        ("AND(A a, SEQ(B b[], C c[])+)", "REX301", "SEQ(B b[], C c[])+", "KL(Type variable)"),
        ("SEQ(A a, AND(B b[], C c[])*)", "REX301", "AND(B b[], C c[])*", "KL(Type variable)"),
        ("AND(A* a[], B? b)", "REX227", "AND(A* a[], B? b)", "+"),
        ("SEQ(~(R r))", "REX225", "SEQ(~(R r))", "~(Register b)"),
        ("SEQ(A a, ~(B+ b[]), C c)", "REX225", "B+ b[]", "~(B b)"),
        ("SEQ(A a, ~SEQ(B b, C c))", "REX225", "SEQ", "~(Type variable)"),
        ("SEQ(A* a[], B? b)", "REX227", "SEQ(A* a[], B? b)", "+"),
        ("SEQ(A{3,2} a[])", "REX105", "{3,2}", "{2,3}"),
        ("SEQ(A)", "REX108", ")", "A+ a[]"),
        ("SEQ()", "REX108", ")", "Alert a"),
        ("SEQ(A a B b)", "REX108", "B", "commas"),
        ("SEQ(A a | B b)", "REX108", "|", "commas"),
        ("(A a, B b | C c)", "REX108", "|", "alternatives"),
        ("SEQ(A a, B b), C c", "REX108", ",", "one SEQ("),
        ("SEQ(A a, B+ b[2])", "REX108", "2", "B+ b[]"),
        ("", "REX108", "PATTERN", "SEQ("),
    ],
)
def test_errors_of_patterns(text: str, code: str, caret: str, hint: str) -> None:
    listed = ", ".join(name for name in "abc" if f" {name}" in text)
    found = failure(f"PATTERN {text} WHERE skip_till_any_match({listed})")
    assert found[:2] == (code, caret)
    assert hint in found[2]


MINGLED = "AND(A a, KL(B b), C c)"


@pytest.mark.parametrize(
    ("pattern", "where", "caret", "hint"),
    [
        (MINGLED, "b[i].price > a.price", "b[i].price", "b[b.LEN]"),
        (MINGLED, "a.price < b[i].price", "b[i].price", "b[b.LEN]"),
        (MINGLED, "b[i].price > c.price", "b[i].price", "b[b.LEN]"),
        ("AND(KL(A a), KL(B b))", "b[i].price > a[i].price", "a[i].price", "a[a.LEN]"),
        ("SEQ(A a, AND(KL(B b), C c))", "b[i].price > a.price AND b[i].price > c.price", "b[i].price", "b[b.LEN]"),
        ("AND(A a, (B b | C c))", "b.price > c.price", "c.price", "one alternative"),
        ("AND(A a, KL(B b))", "b.price > a.price", "b.price", "b[1], b[i] or b[b.LEN]"),
    ],
)
def test_errors_of_predicates_in_any_order(pattern: str, where: str, caret: str, hint: str) -> None:
    found = failure(query(pattern, where))
    assert found[:2] == ("REX224", caret)
    assert hint in found[2]


HEAD = f"PATTERN {ABC} "
GOOD = f"{HEAD}WHERE skip_till_next_match(a, b[], c) "


@pytest.mark.parametrize(
    ("text", "code", "caret", "hint"),
    [
        (f"{HEAD} WHERE", "REX107", "WHERE", "skip_till_next_match(a, b[], c) { ... }"),
        (f"{HEAD} WHERE {{ a.price > 3 }} AND", "REX107", "AND", ""),
        (f"{HEAD} WHERE a.price > 3, c.price > 3", "REX104", ",", "AND"),
        (f"{HEAD} WHERE any_how(a, b[], c) {{ a.price > 3 }}", "REX223", "any_how", "one of strict_contiguity"),
        (f"{HEAD} WHERE skip_till_next_match {{ a.price > 3 }}", "REX223", "skip_till_next_match", "(a, b[], c)"),
        (f"{HEAD} WHERE skip_til_any_match(a, b[], c)", "REX223", "skip_til_any_match", "did you mean skip_till_any"),
        (f"{HEAD} WHERE strict_contiguity(a, c)", "REX223", "strict_contiguity(a, c)", "(a, b[], c)"),
        (f"{HEAD} WHERE strict_contiguity(a, b, c, d)", "REX223", "d", "variables: a, b, c"),
        (f"{HEAD} WHERE strict_contiguity(a, b, c, a)", "REX205", "a", ""),
        (f"{HEAD} WHERE strict_contiguity(a[], b[], c)", "REX224", "a[]", "write a"),
        (f"{HEAD} WHERE partition_contiguity(a, b, c) {{}}", "REX223", "partition_contiguity", "[attribute]"),
        (f"{GOOD} AND a.price > 3", "REX107", "AND", "{ a.price > 3 }"),
        (f"{GOOD} {{ a.price > 3", "REX107", "{", ""),
        (f"{GOOD} {{ a.price > 3 }} and", "REX107", "and", ""),
        ("WHERE skip_till_next_match(a)", "REX107", "WHERE", "PATTERN SEQ("),
        ("SELECT 1", "REX107", "SELECT", "PATTERN"),
        (f"{GOOD} RETURN a.ts OUTPUT ALL", "REX107", "OUTPUT", "OUTPUT, RETURN"),
        (f"{GOOD} WITHIN 3 hours WITHIN 4 hours", "REX107", "WITHIN", ""),
        (f"{GOOD} OUTPUT NON", "REX107", "NON", "NON-OVERLAPPING"),
        (f"TIME ts {GOOD}", "REX107", "ts", "rex.events"),
        (f"{GOOD} WITHIN", "REX226", "WITHIN", "500 EVENTS"),
        (f"{GOOD} WITHIN soon", "REX226", "soon", "500 EVENTS"),
        (f"{GOOD} WITHIN -3 hours", "REX226", "-3 hours", ""),
        (f"{GOOD} WITHIN 500", "REX226", "500", "500 seconds"),
        (f"{GOOD} WITHIN 3 months", "REX226", "3 months", "days"),
        (f"{GOOD} WITHIN 3 huors", "REX226", "3 huors", "did you mean HOUR?"),
        (f"{GOOD} WITHIN 1.5 EVENTS", "REX226", "1.5 EVENTS", "500 EVENTS"),
        (f"{GOOD} RETURN b[i].price", "REX224", "b[i].price", "count(b[])"),
        (f"{GOOD} RETURN price", "REX224", "price", "a.price"),
        (f"{GOOD} RETURN a.price, c.Price", "REX205", "a.price", "another name"),
        (f"{GOOD} RETURN [lot]", "REX224", "[lot]", ""),
        (f"{GOOD} RETURN a.pricee", "REX201", "pricee", "did you mean price?"),
        ("PATTERN SEQ(A a, ~(R r), C c) WHERE skip_till_any_match(a, c) RETURN a.ts, r.ts", "REX225", "r.ts", "a, c"),
    ],
)
def test_errors_of_clauses(text: str, code: str, caret: str, hint: str) -> None:
    found = failure(text)
    assert found[:2] == (code, caret)
    assert hint in found[2]


@pytest.mark.parametrize(
    ("options", "code", "caret", "hint"),
    [
        ({"types": {"A": "level > 3", "Bee": "level > 3"}, "type": None}, "REX222", "B", "types: A, Bee"),
        ({"types": {"A": "true", "B": "true", "Ci": "true"}, "type": None}, "REX222", "C", "did you mean Ci?"),
        ({"type": None}, "REX222", "B", "type='column'"),
        ({"type": "price"}, "REX214", "", "types="),
        ({"type": "knid"}, "REX201", "", "did you mean kind?"),
        ({"time": "day2"}, "REX201", "", "did you mean day?"),
        ({"tie_break": ("sec",)}, "REX201", "", "did you mean seq?"),
        ({"types": {"A": "prise > 3"}}, "REX201", "prise", "did you mean price?"),
        ({"types": {"A": "price + 1"}}, "REX214", "price + 1", ""),
        ({"types": {"A": "avg(price) > 1"}}, "REX210", "avg(price)", ""),
        ({"types": {"A": "price >"}}, "REX104", ">", ""),
        ({"columns": {"ts": "BIGINT", "kind": "VARCHAR", "match_id": "INT"}}, "REX205", GOOD, "column list"),
    ],
)
def test_errors_of_options(options: Mapping[str, object], code: str, caret: str, hint: str) -> None:
    found = failure(GOOD, **options)
    assert found[:2] == (code, caret)
    assert hint in found[2]


@pytest.mark.parametrize(
    ("options", "code", "caret", "hint"),
    [
        ("", "REX107", "", "MATCH_EVENTS (TIME column"),
        ("TYPE kind", "REX107", "TYPE", "TIME column comes first"),
        ("TIME ts, n", "REX107", "n", "TIE BREAK"),
        ("TIME tz TYPE kind", "REX201", "tz", "the input has"),
        ("TIME ts TYPE level", "REX214", "level", "TYPES ("),
        ("TIME ts TYPES A AS true", "REX107", "TYPES", "TYPES ("),
        ("TIME ts TYPES (A AS true, A AS false)", "REX205", "A", ""),
        ("TIME ts TYPES (A AS true)", "REX222", "B", "types: A"),
        ("TIME ts TYPE kind TIES LOOSE", "REX107", "TIES", "TIES STRICT"),
        ("TIME ts", "REX222", "B", "TYPE column"),
    ],
)
def test_errors_of_a_relation(options: str, code: str, caret: str, hint: str) -> None:
    found = failure(f"{options} {GOOD}", time=None)
    assert found[:2] == (code, caret)
    assert hint in found[2]


def test_a_window_fits_the_time_column() -> None:
    assert failure(f"{GOOD} WITHIN 3 hours", time="n")[:2] == ("REX226", "3 hours")
    assert failure(f"{GOOD} WITHIN 3", time="lot")[:2] == ("REX214", "")  # text is no time, with a window or without


def test_dialects_that_quote_names_with_brackets_are_refused() -> None:
    with pytest.raises(RexError, match="brackets"):
        parsed(GOOD, dialect="tsql")
