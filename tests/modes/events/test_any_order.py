"""AND: cases derived by hand. The oracle, every matcher and the stream in chunks must agree with them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.modes.events.analysis import analyzed, parsed
from tests.modes.events.any_order_draws import COLUMNS, generate_any_order
from tests.modes.events.building import query, seq
from tests.modes.events.draws import Example, events
from tests.modes.events.engine_runs import compressed_matches, engine_matches, evaluator_of, returned_matches
from tests.modes.events.oracle import find_matches
from tests.modes.events.patterns import PatternDraws
from tests.modes.rows.property.draws import RandomDraw

import sparkrex as rex
from sparkrex.errors import RexError
from sparkrex.modes.events.analyze.equalities import EqualityPartition, find_partition
from sparkrex.modes.events.mode import EventsMode
from sparkrex.modes.events.nfab.any_order import Ways, compile_any_order
from sparkrex.modes.events.pattern import AllOf, absences, positive_variables
from sparkrex.modes.events.plan import Strategy
from sparkrex.settings import Settings
from sparkrex.source import Source

if TYPE_CHECKING:
    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.modes.events.plan import EventQuery

NEXT, ANY = "skip_till_next_match", "skip_till_any_match"
STRICT, PARTITION = "strict_contiguity", "partition_contiguity"


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


def asked(pattern: str, strategy: str = ANY, where: str = "", rest: str = "", *, ties: str = "order") -> EventQuery:
    """A query whose types are told by `kind`; tied events are ordered by `b`."""
    names = ", ".join(positive_variables(parsed(f"PATTERN {pattern}").pattern.pattern))
    return analyzed(
        f"PATTERN {pattern} WHERE {strategy}({names}) {{ {where} }} {rest}", time="t", tie_break=("b",), ties=ties,
        dialect="duckdb", columns=COLUMNS,
    )


def rows_of(text: str) -> list[dict[str, Any]]:
    """`A` or `A5`, an event with x = 5; `A@3` at time 3, else at its place. Of partition p, or `q:A`."""
    rows = []
    for place, word in enumerate(text.split(), 1):
        key, _, rest = word.rpartition(":")
        kind, _, time = rest.partition("@")
        rows.append({
            "k": {"": "p", "-": None}.get(key, key), "t": int(time or place), "d": 0.0, "ts": None, "b": place,
            "kind": kind[0], "x": int(kind[1:] or 0), "y": 0.0, "s": "u",
        })
    return rows


def check(found: EventQuery, stream: str, expected: list[str], evaluator: RelationEvaluator) -> None:
    """The matches, each as `a1 b3`: variables and numbers of its events, which count from 1."""
    rows = rows_of(stream)

    def said(matches: list[tuple[tuple[int, ...], tuple[str, ...]]]) -> list[str]:
        return sorted(
            " ".join(f"{name}{row + 1}" for row, name in zip(*match, strict=True)) for match in matches
        )

    assert said(find_matches(found, rows)) == sorted(expected)
    for algorithm in EventsMode.matchers:
        settings = Settings(threads=1, matcher=algorithm)
        assert said(engine_matches(found, rows, evaluator=evaluator, settings=settings)) == sorted(expected)
    for chunk in (1, 2):
        assert said(engine_matches(found, rows, chunk=chunk, evaluator=evaluator)) == sorted(expected)
    if not absences(found.pattern) and not found.is_non_overlapping:
        again = compressed_matches(found, rows, evaluator=evaluator, settings=Settings(threads=1))
        assert said(again) == sorted(expected)


@pytest.mark.filterwarnings("ignore:no event has type ")
@pytest.mark.parametrize(
    ("pattern", "where", "stream", "expected"),
    [
        # Each event in either place.
        ("AND(A a, A b)", "", "A A", ["a1 b2", "b1 a2"]),
        ("AND(A a, B b)", "", "B A B", ["b1 a2", "a2 b3"]),
        ("AND(A a, B b)", "", "A A", []),
        ("AND(A a)", "", "A A", ["a1", "a2"]),
        ("AND(A a, B b, C c)", "", "C A B", ["c1 a2 b3"]),
        # Between the events of an array anything may come.
        ("AND(A a, KL(B b))", "", "B A B", ["b1 a2", "a2 b3", "b1 a2 b3"]),
        ("AND(KL(A a), KL(B b))", "", "A B A", ["a1 b2", "b2 a3", "a1 b2 a3"]),
        ("AND(KL(A a), KL(A b))", "", "A A", ["a1 b2", "b1 a2"]),
        ("AND(A a, B* b[])", "", "B A", ["a2", "b1 a2"]),
        # SEQ inside AND, AND inside SEQ.
        ("SEQ(AND(A a, B b), C c)", "", "B A C", ["b1 a2 c3"]),
        ("SEQ(AND(A a, B b), C c)", "", "A C B", []),
        ("SEQ(C c, AND(A a, B b))", "", "C B A", ["c1 b2 a3"]),
        ("SEQ(C c, AND(A a, B b))", "", "A C B", []),
        ("AND(A a, SEQ(B b, C c))", "", "B A C", ["b1 a2 c3"]),
        ("AND(A a, SEQ(B b, C c))", "", "C B A", []),
        ("AND(SEQ(A a, B b), SEQ(A c, B d))", "", "A A B B", [
            "a1 c2 b3 d4", "a1 c2 d3 b4", "c1 a2 b3 d4", "c1 a2 d3 b4"]),
        ("SEQ(AND(KL(A a), B b), KL(A c))", "", "A B A", ["a1 b2 c3"]),
        ("SEQ(KL(A a), AND(B b, C c))", "", "A B A C", ["a1 b2 c4"]),
        # Alternatives, optional events and groups.
        ("AND(A a, OR(B b, C c))", "", "C A B", ["c1 a2", "a2 b3"]),
        ("AND(A a, (SEQ(B b, C c) | D d))", "", "B A C D", ["b1 a2 c3", "a2 d4"]),
        ("OR(A a, AND(B b, C c))", "", "C A B", ["a2", "c1 b3"]),
        ("AND(A a, B? b)", "", "B A", ["a2", "b1 a2"]),
        ("AND(A a, AND(B b, C c)?)", "", "B A C", ["a2", "b1 a2 c3"]),
        ("SEQ(AND(A a, B? b), C c)", "", "A C B", ["a1 c2"]),
        # Conditions wait for their events, in whatever order those come.
        ("AND(A a, B b)", "a.x < b.x", "B2 A1 B3 A9", ["b1 a2", "a2 b3"]),
        ("AND(A a, B b, C c)", "b.x > a.x AND a.x > c.x", "B3 C1 A2 A5", ["b1 c2 a3"]),
        ("AND(A a, B b, C c)", "a.x + b.x = c.x", "C3 B1 A2 A5", ["c1 b2 a3"]),
        ("AND(A a, KL(B b))", "b[1].x > a.x", "B5 A3 B1 B4", [
            "b1 a2", "b1 a2 b3", "b1 a2 b4", "b1 a2 b3 b4", "a2 b4"]),
        ("AND(A a, KL(B b))", "b[b.LEN].x > a.x", "B5 A3 B1 B4", [
            "b1 a2", "b1 a2 b4", "b1 a2 b3 b4", "a2 b4", "a2 b3 b4"]),
        ("AND(A a, KL(B b))", "b[i].x > b[i-1].x", "B5 A B1 B7", ["b1 a2", "b1 a2 b4", "a2 b3", "a2 b4", "a2 b3 b4"]),
        ("AND(A a, KL(B b))", "count(b[]) = 2", "B A B", ["b1 a2 b3"]),
        ("AND(A a, KL(B b))", "sum(b[].x) = a.x", "B1 A3 B2 B3", ["b1 a2 b3", "a2 b4"]),
        ("SEQ(A a, AND(KL(B b), C c))", "b[i].x > a.x", "A2 B1 C B3", ["a1 b2 c3", "a1 c3 b4", "a1 b2 c3 b4"]),
        # Without an event of its last variable, by the text, a condition is not tested; without others it reads NULL.
        ("AND(A a, B? b)", "a.x > b.x", "A1 B2", ["a1"]),
        ("AND(B? b, A a)", "a.x > b.x", "B1 A2", ["b1 a2"]),
        ("AND(B? b, A a)", "a.x > coalesce(b.x, 1)", "B5 A2", ["a2"]),
        ("AND((A a | B b), C c)", "a.x < c.x", "A5 B C2", []),
        ("AND((A a | B b), C c)", "a.x IS NULL", "A5 B C2", ["b2 c3"]),
        ("AND(C c, (A a | B b))", "a.x < c.x", "A5 B C2", ["b2 c3"]),
        ("AND(B* b[], A a)", "count(b[]) = a.x", "B A0 A1", ["a2", "b1 a3"]),
        # Not between the first and the last event of the match, whichever they are.
        ("AND(A a, NOT(D d), C c)", "", "A D C", []),
        ("AND(A a, NOT(D d), C c)", "", "D C A D", ["c2 a3"]),
        ("AND(A a, C c, NOT(D d))", "", "A C D A", ["a1 c2"]),
        ("AND(NOT(D d), A a, C c)", "d.x > a.x", "A2 D1 D2 C A1", ["a1 c4", "c4 a5"]),
        ("AND(A a, NOT(D d), C c)", "d.x > a.x + c.x", "C1 D3 A1 C1 D4 A3", ["a3 c4", "c1 a6", "c4 a6"]),
        ("AND(A a, NOT(D d))", "", "D A D", ["a2"]),
        ("AND(KL(A a), NOT(D d))", "", "A D A", ["a1", "a3"]),
        # Its own events are between, too.
        ("AND(A a, B b, C c, NOT(B d))", "", "A B C", []),
        ("AND(A a, B b, C c, NOT(B d))", "", "B A C", ["b1 a2 c3"]),
        # Of SEQ, behind all of what stands before it, and before all of what stands behind it.
        ("SEQ(AND(A a, B b), NOT(D d), C c)", "", "A D B C", ["a1 b3 c4"]),
        ("SEQ(AND(A a, B b), NOT(D d), C c)", "", "A B D C", []),
        ("SEQ(C c, NOT(D d), AND(A a, B b))", "", "C A D B", ["c1 a2 b4"]),
        ("SEQ(C c, NOT(D d), AND(A a, B b))", "d.x = b.x", "C D7 A D8 B7 B8", ["c1 a3 b6"]),
    ],
)
def test_any_match(pattern: str, where: str, stream: str, expected: list[str], evaluator: RelationEvaluator) -> None:
    check(asked(pattern, ANY, where), stream, expected, evaluator)


@pytest.mark.filterwarnings("ignore:no event has type ")
@pytest.mark.parametrize(
    ("pattern", "where", "stream", "expected"),
    [
        # The second A fits nothing that is missing.
        ("AND(A a, B b)", "", "A A B", ["a1 b3", "a2 b3"]),
        ("AND(A a, A b)", "", "A A A", ["a1 b2", "b1 a2", "a2 b3", "b2 a3"]),
        # The first A behind B does not satisfy what it settles: passed over. The next one does.
        ("AND(A a, B b, C c)", "b.x > a.x", "C B5 A9 A1", ["c1 b2 a4"]),
        # C compares nothing that is there yet: it is taken, and then no A fits it.
        ("AND(A a, B b, C c)", "c.x > a.x", "B C1 C9 A5", []),
        ("AND(A a, B b, C c)", "c.x > a.x", "B A5 C1 C9", ["b1 a2 c4"]),
        # An array goes on as long as nothing is there that comes behind it.
        ("AND(KL(A a), B b)", "", "A A B A", ["a1 a2 b3", "a2 b3", "a1 a2 b3 a4", "a2 b3 a4", "b3 a4"]),
        ("AND(KL(A a), B b)", "count(a[]) = 2", "A B A", ["a1 b2 a3"]),
        ("SEQ(AND(KL(A a), B b), C c)", "count(a[]) = 2", "A B C A C", ["a1 b2 a4 c5"]),
        # While an array may go on, what does not go on with it may be passed over, as in SEQ(B+ b[], C c).
        ("AND(KL(B b), C c)", "", "B C C", ["b1 c2", "b1 c3"]),
        ("AND(A a, B? b)", "", "A B", ["a1", "a1 b2"]),
    ],
)
def test_next_match(pattern: str, where: str, stream: str, expected: list[str], evaluator: RelationEvaluator) -> None:
    check(asked(pattern, NEXT, where), stream, expected, evaluator)


@pytest.mark.filterwarnings("ignore:no event has type ")
@pytest.mark.parametrize(
    ("strategy", "pattern", "where", "stream", "expected"),
    [
        (STRICT, "AND(A a, B b, C c)", "", "B C A X C B A", ["b1 c2 a3", "c5 b6 a7"]),
        (STRICT, "AND(A a, KL(B b))", "", "B A B X B", ["b1 a2", "a2 b3", "b1 a2 b3"]),
        (STRICT, "AND(A a, B b)", "a.x < b.x", "A1 B2 A3 B1", ["a1 b2"]),
        (PARTITION, "AND(A a, B b)", "[k]", "p:A q:X p:B q:B p:X p:A q:A", ["a1 b3", "b4 a7"]),
        (PARTITION, "AND(A a, NOT(B d), KL(C c))", "[k]", "q:C p:C p:C q:B p:A q:A", ["c2 c3 a5", "c3 a5"]),
    ],
)
def test_contiguity(
    strategy: str, pattern: str, where: str, stream: str, expected: list[str], evaluator: RelationEvaluator
) -> None:
    check(asked(pattern, strategy, where), stream, expected, evaluator)


@pytest.mark.parametrize("chunk", [None, 1])
def test_strict_contiguity_with_an_equivalence_test(chunk: int | None, evaluator: RelationEvaluator) -> None:
    # Neighbours of one partition are 2 and 3, 4 and 5, 6 and 7; an event without a key is in none.
    found = asked("AND(A a, B b)", STRICT, "[k]")
    rows = rows_of("p:A q:B q:A -:B -:A p:B p:A")
    for algorithm in EventsMode.matchers:
        settings = Settings(threads=1, matcher=algorithm)
        matches = engine_matches(found, rows, chunk=chunk, evaluator=evaluator, settings=settings)
        assert matches == [((1, 2), ("b", "a")), ((5, 6), ("b", "a"))]


@pytest.mark.filterwarnings("ignore:no event has type ")
@pytest.mark.parametrize(
    ("pattern", "rest", "ties", "stream", "expected"),
    [
        ("AND(A a, B b)", "WITHIN 2", "order", "A@1 B@3 A@6", ["a1 b2"]),
        ("AND(A a, B b)", "WITHIN 2 EVENTS", "order", "A X B X X A", ["a1 b3"]),
        ("AND(A a, KL(B b))", "WITHIN 2 EVENTS", "order", "B B A B", [
            "b1 a3", "b2 a3", "b1 b2 a3", "a3 b4", "b2 a3 b4"]),
        ("AND(A a, B b)", "OUTPUT NON-OVERLAPPING", "order", "A B A B", ["a1 b2", "a3 b4"]),
        ("AND(A a, NOT(D d), B b)", "OUTPUT NON-OVERLAPPING", "order", "A D B A B", ["b3 a4"]),
        ("AND(KL(A a), B b)", "OUTPUT NON-OVERLAPPING", "order", "A A B A", ["a1 b3"]),
        # Events of one time are in order, or do not follow each other.
        ("AND(A a, B b)", "", "order", "A@1 B@1 A@2", ["a1 b2", "b2 a3"]),
        ("AND(A a, B b)", "", "strict", "A@1 B@1 A@2", ["b2 a3"]),
        ("AND(A a, B b, C c)", "", "strict", "A@1 B@2 C@2 C@3", ["a1 b2 c4"]),
        # Strictly between: behind the first event and before the last, with strict ties in time.
        ("AND(A a, NOT(D d), C c)", "", "order", "A@1 D@1 C@2", []),
        ("AND(A a, NOT(D d), C c)", "", "strict", "A@1 D@1 C@2", ["a1 c3"]),
        ("AND(A a, NOT(D d), C c)", "", "strict", "C@1 D@2 A@2", ["c1 a3"]),
        ("AND(A a, NOT(D d), C c)", "", "strict", "A@1 D@2 C@3", []),
        # Tied with an event in the middle of the match is still between.
        ("AND(A a, NOT(D d), B b, C c)", "", "strict", "A@1 B@2 D@2 C@3", []),
        # Before and behind AND in SEQ, as far as the window reaches.
        ("SEQ(NOT(D d), AND(A a, B b))", "WITHIN 3", "order", "D@1 A@3 B@4 A@5", ["b3 a4"]),
        ("SEQ(AND(A a, B b), NOT(D d))", "WITHIN 3", "order", "B@1 A@2 B@4 D@5", ["b1 a2"]),
    ],
)
def test_windows_ties_and_overlaps(
    pattern: str, rest: str, ties: str, stream: str, expected: list[str], evaluator: RelationEvaluator
) -> None:
    check(asked(pattern, ANY, "", rest, ties=ties), stream, expected, evaluator)


def test_what_a_run_may_bind_next() -> None:
    ways = Ways(analyzed("PATTERN SEQ(AND(A a, KL(B b)), C? c, OR(D d, AND(E e, F f)))").pattern)
    expected = {
        "": ["a", "b"], "a": ["b"], "b": ["a", "+b"], "ab": ["+b", "c", "d", "e", "f"], "abc": ["d", "e", "f"],
        "abd": [], "abe": ["f"], "abef": [],
    }
    for bound, following in expected.items():
        found = [("+" if is_more else "") + name for name, is_more in ways.next(frozenset(bound))]
        assert found == following, bound
    assert [bound for bound in expected if ways.is_whole(frozenset(bound))] == ["abd", "abef"]


def test_states_are_the_sets_that_can_be_reached() -> None:
    automaton = compile_any_order(analyzed("PATTERN AND(A a, SEQ(B b, C c))").pattern, Source(""))
    _, *bound = automaton.surely
    states = {("".join(sorted(names)), automaton.variable(state)) for state, names in enumerate(bound, 1)}
    assert states == {("a", "a"), ("b", "b"), ("ab", "a"), ("ab", "b"), ("bc", "c"), ("abc", "a"), ("abc", "c")}
    assert automaton.is_unambiguous


def test_eight_events_are_the_most_in_one_and(evaluator: RelationEvaluator) -> None:
    eight = ", ".join(f"{kind} v{number}" for number, kind in enumerate("ABCDEFGH"))
    check(asked(f"AND({eight})"), "H G F E D C B A", ["v71 v62 v53 v44 v35 v26 v17 v08"], evaluator)
    text = f"PATTERN AND({eight}, I i)"
    with pytest.raises(RexError, match="more than 2,000 states") as caught:
        rex.events(text, pa.table({"t": range(9), "kind": list("ABCDEFGHI")}), time="t", type="kind")
    assert (caught.value.code, caught.value.hint or "") == (
        "REX106", "each set of variables that may have come is one, so eight in one AND are the most; SEQ orders some"
    )
    assert caught.value.span is not None
    assert text[caught.value.span.start : caught.value.span.end] == f"AND({eight}, I i)"


@pytest.mark.parametrize(
    ("pattern", "where", "expected"),
    [
        ("AND(A a, B b)", "a.x = b.x", None),
        ("AND(A a, B b, C c)", "a.x = b.x AND c.x = b.x", None),
        ("AND(A a, NOT(D d), C c)", "a.x = c.x AND d.x = c.x", None),
        ("AND(A a, KL(B b))", "a.x = b[1].x AND b[i].x = b[i-1].x", None),
        ("AND(B? b, A a)", "a.x = b.x", None),
        ("AND(A a, B b, C c)", "a.x = b.x", "x: (a) c and a are not connected by variables that every match has"),
        ("AND(A a, NOT(D d), C c)", "a.x = c.x", "x: (c) the negated d is not equal to a positive variable"),
        ("AND(A a, KL(B b))", "a.x = b[1].x", "x: (b) b[i] is not equal to b[i-1], b[1] or a connected variable"),
    ],
)
def test_equalities_partition_the_stream(pattern: str, where: str, expected: str | None) -> None:
    found = find_partition(asked(pattern, ANY, where))
    assert (found.refusals[:1], bool(found.keys)) == (((), True) if expected is None else ((expected,), False))
    refused = find_partition(asked(pattern, NEXT, where))
    assert refused.refusals == (
        "with AND, skip_till_next_match may select an event before all that it is compared with",
    )


@pytest.mark.filterwarnings("ignore:no event has type ")
@pytest.mark.parametrize("share", range(2))
def test_equalities_change_neither_matches_nor_their_order(
    share: int, evaluator: RelationEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns = [
        ("AND(A a, B b)", "a.x = b.x"), ("AND(A a, B b, A c)", "a.x = b.x AND c.x = a.x"),
        ("AND(A a, KL(B b))", "a.x = b[1].x AND b[i].x = b[1].x"), ("AND(A a, A b, B? c)", "a.x = b.x AND b.x = c.x"),
        ("SEQ(AND(A a, B b), KL(A c))", "a.x = b.x AND b.x = c[1].x AND c[i].x = a.x"),
        ("AND(A a, B b, NOT(C n))", "a.x = b.x AND n.x = b.x"),
    ]
    n_matched = 0
    for number in range(share, 60, 2):
        draw = RandomDraw(random.Random(number))
        rows = events(draw, 8, n_keys=1, has_ties=False, parts=False)
        for row in rows:
            row["x"] = draw.choice([1, 2, 1, None])
        found = asked(*patterns[number % len(patterns)][:1], ANY, patterns[number % len(patterns)][1], "WITHIN 9")
        assert find_partition(found).keys
        settings = Settings(threads=1)
        apart = returned_matches(found, rows, evaluator=evaluator, settings=settings)
        assert sorted(apart) == sorted(find_matches(found, rows))
        with monkeypatch.context() as patch:
            patch.setattr("sparkrex.modes.events.engine.find_partition", lambda _: EqualityPartition())
            assert returned_matches(found, rows, evaluator=evaluator, settings=settings) == apart
        n_matched += bool(apart)
    assert n_matched > 10


@pytest.mark.parametrize("strategy", list(Strategy))
def test_a_sequence_alone_in_and_is_the_sequence(strategy: Strategy, evaluator: RelationEvaluator) -> None:
    n_matched = n_asked = 0
    for number in range(40):
        draw = RandomDraw(random.Random(f"{strategy.value} {number}"))
        pattern = PatternDraws(draw).simple()
        arrays = [str(item.body).split()[1] for item in pattern.items if "+" in str(item)]  # type: ignore[union-attr]
        names = positive_variables(pattern)
        where = ["[k]"] if strategy is Strategy.PARTITION else []
        for name in names[1:]:
            here = f"{name}[1]" if name in arrays else name
            before = names[names.index(name) - 1]
            there = f"{before}[{before}.LEN]" if before in arrays else before
            where += draw.subset([f"{here}.x >= {there}.x"], 60)
        for name in arrays:
            where += draw.subset([f"{name}[i].x > {name}[i-1].x", f"count({name}[]) <> 2"], 30)
        conditions = " AND ".join(where)
        types = {"types": {"Any": "true"}, "type": "kind", "dialect": "duckdb", "columns": COLUMNS, "time": "t"}
        one, other = (
            analyzed(f"PATTERN {tree} WHERE {strategy.value}({', '.join(names)}) {{ {conditions} }}", **types)  # type: ignore[arg-type]
            for tree in (pattern, AllOf((pattern,)))
        )
        rows = events(draw, 8, n_keys=2, has_ties=False, parts=False)
        matches = find_matches(one, rows)
        assert find_matches(other, rows) == matches, Example(one, rows)
        assert sorted(engine_matches(other, rows, evaluator=evaluator)) == sorted(matches), Example(other, rows)
        n_matched, n_asked = n_matched + bool(matches), n_asked + 1
    assert n_matched > n_asked / 3


def test_explain_says_what_is_tested_where() -> None:
    stream = pa.table({"t": [1], "kind": ["A"], "x": [1]})
    text = "PATTERN AND(A a, NOT(D d), KL(C c)) WHERE a.x < c[1].x AND count(c[]) > 1"
    found = rex.events(text, time="t", type="kind")
    lines = str(rex.explain(found, stream)).splitlines()
    shown = [line.lstrip("│├─└ ") for line in lines if "state" in line or "match if" in line]
    assert shown == [
        "state 0: start", "begin a (state 1) if (kind = 'A')", "begin c[1] (state 2) if (kind = 'C')",
        "state 1: a selected", "begin c[1] (state 3) if ((kind = 'C') AND (a.x < x))",
        "state 2: c selected", "begin a (state 4) if ((kind = 'A') AND (x < c[1].x))",
        "take c[i] (state 2) if (kind = 'C')",
        "state 3: a, c selected, c[] last", "take c[i] (state 3) if (kind = 'C')", "match if (count(c[]) > 1)",
        "state 4: a, c selected, a last", "take c[i] (state 3) if (kind = 'C')", "match if (count(c[]) > 1)",
    ]
    single = rex.events("PATTERN AND(A a, B b, C c) WHERE skip_till_next_match(a, b, c)", time="t", type="kind")
    assert "of degree 4 (Corollary 4.3)" in str(rex.explain(single, stream))


def test_random_queries_with_and_are_of_all_kinds() -> None:
    examples = [generate_any_order(RandomDraw(random.Random(number))) for number in range(60)]
    assert sum(bool(example.query.open_conjuncts()) for example in examples) > 15
    assert sum(bool(absences(example.query.pattern)) for example in examples) > 10
    assert {example.query.strategy for example in examples} == set(Strategy)
