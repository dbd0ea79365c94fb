"""The language of segment queries: from text to `SegmentSearch`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.analysis import analyzed

from sparkrex.errors import RexError
from sparkrex.languages.match_recognize import row_pattern as rp
from sparkrex.languages.match_recognize.parse_pattern import parse_pattern
from sparkrex.languages.match_recognize.traverse import variables
from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.segments.aggregates import registry
from sparkrex.modes.segments.analyze.aggregates import BUILT_IN, SPELLINGS
from sparkrex.modes.segments.pattern import And, Concatenation, Kleene, Not, SegmentPattern, Window
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.scalar.expression import Aggregate, Call, Difference, Semantics, aggregates, references
from sparkrex.source import Source, Span
from sparkrex.syntax.names import name_rules

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.row_pattern import RowPattern

P1, P2, S, T, W = b.point("P1"), b.point("P2"), b.segment("S"), b.segment("T"), b.segment("W")


def form(pattern: str) -> SegmentPattern:
    """The normal form of a pattern of points P1, P2 and segments S, T, W."""
    used = variables(parsed(pattern))
    segments = [f"SEGMENT {name} AS true" for name in ("S", "T", "W") if name in used]
    define = f"DEFINE {', '.join(segments)}" if segments else ""
    return analyzed(f"ORDER BY tstamp ALL MATCHES PATTERN ({pattern}) {define}").pattern


def parsed(text: str) -> RowPattern:
    """The syntax tree of a pattern."""
    return parse_pattern(Source(text), Span(0, len(text)), name_rules("spark"))


# The grammar


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("A B & C D", "A (B & C) D"),
        ("A & B | C & D E", "(A & B) | ((C & D) E)"),
        ("~A+", "~(A+)"),
        ("~A & B", "(~A) & B"),
        ("~A B", "(~A) B"),
        ("~~A{2}", "~(~(A{2}))"),
        ("A & B+ & ~(C D)", "A & (B+) & (~(C D))"),
        ("A&~B|C", "(A & (~B)) | C"),
    ],
)
def test_precedence(text: str, grouped: str) -> None:
    assert parsed(text) == parsed(grouped)


def test_a_quantifier_of_a_negation_needs_parentheses() -> None:
    assert parsed("(~A)+") == rp.plus(rp.Negation(rp.variable("A")))
    assert str(parsed("(~A)+")) == "(~A)+"
    assert str(parsed("(A & B) C | ~(A | B)")) == "(A & B) C | ~(A | B)"


_NAMES = st.sampled_from(["A", "B", "C", "a b"]).map(rp.variable)


def _patterns(inner: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 3), (0, 2), (2, None)])
    return st.one_of(
        several.map(rp.Concatenation), several.map(rp.Alternation), several.map(rp.Conjunction),
        several.map(rp.Permutation), inner.map(rp.Negation), inner.map(rp.Exclusion),
        st.builds(lambda body, b, greedy: rp.Quantified(body, b[0], b[1], greedy), inner, bounds, st.booleans()),
    )


_PATTERNS: st.SearchStrategy[RowPattern] = st.recursive(
    st.one_of(_NAMES, st.just(rp.Empty()), st.sampled_from([rp.Anchor(kind) for kind in rp.AnchorKind])),
    _patterns, max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(_PATTERNS)
def test_a_pattern_is_read_back_from_its_text(pattern: RowPattern) -> None:
    assert parsed(str(pattern)) == pattern


_PLAIN = st.sampled_from(["P1", "P2", "S", "T"]).map(rp.variable)


def _segment_patterns(inner: st.SearchStrategy[RowPattern]) -> st.SearchStrategy[RowPattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 3)])
    return st.one_of(
        several.map(rp.Concatenation), several.map(rp.Alternation), several.map(rp.Conjunction),
        inner.map(rp.Negation), st.builds(lambda body, b: rp.Quantified(body, b[0], b[1]), inner, bounds),
    )


@settings(max_examples=200, deadline=None)
@given(st.recursive(_PLAIN, _segment_patterns, max_leaves=6))
def test_a_normal_form_is_its_own_normal_form(pattern: RowPattern) -> None:
    once = form(str(pattern))
    assert form(str(once)) == once


# Zero repetitions and junctions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P1 P2 S", Concatenation((P1, P2, S), (False, True))),
        ("S P1 P2", Concatenation((S, P1, P2), (True, False))),
        ("(S P1) P2", Concatenation((Concatenation((S, P1), (True,)), P2), (True,))),
        ("S (P1 P2)", Concatenation((S, Concatenation((P1, P2), (False,))), (True,))),
        ("P1 S? P2", b.either(Concatenation((P1, S, P2), (True, True)), Concatenation((P1, P2), (False,)))),
        ("P1 S* P2", b.either(Concatenation((P1, Kleene(S, 1, None, True), P2), (True, True)), b.concat(P1, P2))),
        ("P1 () P2", Concatenation((P1, P2), (False,))),
        ("S* & W", And((Kleene(S, 1, None, True), W))),
        ("P1 (S* & T*) P2", b.concat(P1, b.both(b.repeat(S), b.repeat(T)), P2)),
        ("~(S*)", Not(Kleene(S, 1, None, True))),
        ("~S*", Not(Kleene(S, 1, None, True))),
        ("~P1 P2", Concatenation((Not(P1), P2), (False,))),
        ("~S P1", Concatenation((Not(S), P1), (True,))),
        ("(P1 & P2) P1", Concatenation((And((P1, P2)), P1), (False,))),
        ("(P1 & S) P1", Concatenation((And((P1, S)), P1), (True,))),
        ("P1{0,3}", Kleene(P1, 1, 3, False)),
        ("S{2}", Kleene(S, 2, 2, True)),
        ("S{1}", S),
        ("(S?)+ P1", b.either(b.concat(b.repeat(S), P1), P1)),
        ("(S?){3}", Kleene(S, 1, 3, True)),
        ("(P1? P2?)+", Kleene(b.either(b.concat(P1, P2), P1, P2), 1, None, False)),
        ("((S? P1)? P2)?", b.either(b.concat(b.either(b.concat(S, P1), P1), P2), P2)),
        ("(P1 S?) P2", Concatenation((b.either(b.concat(P1, S), P1), P2), (True,))),
        ("(P1 | S?) P2", b.either(b.concat(b.either(P1, S), P2), P2)),
        ("P1? P1?", b.either(b.concat(P1, P1), P1)),
        ("PERMUTE(P1, S)", b.either(b.concat(P1, S), b.concat(S, P1))),
        ("S+?", Kleene(S, 1, None, True)),
        ("(P1 P2)+", Kleene(Concatenation((P1, P2), (False,)), 1, None, False)),
        ("(P1 S)+", Kleene(Concatenation((P1, S), (True,)), 1, None, True)),
    ],
)
def test_normal_forms(text: str, expected: SegmentPattern) -> None:
    assert form(text) == expected


def test_a_junction_that_no_text_has_is_spelt_out() -> None:
    assert str(Concatenation((P1, P2, S), (True, False))) == "P1 = P2 > S"
    assert str(Kleene(S, 2, None, False)) == "S{2,}>"


# Definitions


def definition(condition: str, *, point: bool = False, dialect: str = "spark") -> SegmentDefinition:
    """What becomes of a condition of S, beside T and the point P."""
    word = "" if point else "SEGMENT "
    body = f"ORDER BY tstamp PATTERN (S T P) DEFINE {word}S AS {condition}, SEGMENT T AS true, P AS n > 0"
    return analyzed(body, dialect=dialect).definition("S")


def test_what_is_a_segment_variable() -> None:
    search = analyzed("PATTERN (A B C D) DEFINE SEGMENT A AS true, seg B AS true, C AS n > 1")
    assert [item.is_segment for item in search.definitions] == [True, True, False, False]
    assert search.definition("D") == SegmentDefinition("D", False, (), None)
    named = analyzed("ALL MATCHES PATTERN (SEGMENT SEG) DEFINE SEGMENT AS n > 1, SEG AS n > 2")
    assert [(item.variable, item.is_segment) for item in named.definitions] == [("SEGMENT", False), ("SEG", False)]
    both = analyzed('PATTERN (SEGMENT "SEG") DEFINE SEGMENT SEGMENT AS n > 1, "SEG" AS n > 2')
    assert [(item.variable, item.is_segment) for item in both.definitions] == [("SEGMENT", True), ("SEG", False)]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("window(5)", Window(None, 5, 5)),
        ("WINDOW(0, 60)", Window(None, 1, 60)),
        ("window(15, null)", Window(None, 15, None)),
        ("window(NULL, 7)", Window(None, None, 7)),
        ("window(tstamp, 1, 5, DAY)", Window("tstamp", 86_400_000_000, 432_000_000_000)),
        ("window(S.tstamp, 2, seconds)", Window("tstamp", 2_000_000, 2_000_000)),
        ("window(tstamp, null, 1.5, Hours)", Window("tstamp", None, 5_400_000_000)),
        ("window(day, 0, 1, WEEK)", Window("day", 0, 7)),
        ("window(day, 0, 36, HOUR)", Window("day", 0, 1.5)),
        ("window(n, 1, 4)", Window("n", 1, 4)),
        ("window(n, 5)", Window("n", 5, 5)),
        ("window(price, 1, 4, DAY)", Window("price", 1, 4)),
    ],
)
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "trino"])
def test_windows(text: str, window: Window, dialect: str) -> None:
    found = definition(text, dialect=dialect)
    assert (found.windows, found.condition) == ((window,), None)


def test_windows_among_conjuncts_are_split_off() -> None:
    found = definition("window(1, 9) AND n > 1 AND (window(tstamp, 1, 2, DAY) AND true)")
    assert found.windows == (Window(None, 1, 9), Window("tstamp", 86_400_000_000, 172_800_000_000))
    assert str(found.condition) == "(n[S final last] > 1)"


def test_a_window_elsewhere_is_a_comparison() -> None:
    rows = definition("window(3, 5) OR n > 1")
    count = Aggregate("count", (), frozenset("S"), Semantics.FINAL)
    bounds = b.call("and", b.call("ge", count, 3), b.call("le", count, 5))
    assert (rows.windows, rows.condition) == ((), b.call("or", bounds, b.call("gt", b.last("S", "n"), 1)))
    other = definition("window(T.n, null, 5)")
    assert (other.windows, other.condition) == (
        (), b.call("le", b.call("subtract", b.last("T", "n"), b.first("T", "n")), 5)
    )
    times = definition("NOT window(tstamp, null, 1, SECOND)").condition
    length = replace(b.call("subtract", b.last("S", "tstamp"), b.first("S", "tstamp")), difference=Difference.NUMBER)
    assert times == b.call("not", b.call("le", length, 1_000_000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n > 1", "(n[S final last] > 1)"),
        ("S.n > first(n, 2)", "(n[S final last] > n[S final first 2])"),
        ("last(S.n + price, 1) > T.n", "((n[S final last 1] + price[S final last 1]) > n[T final last])"),
        ("count(*) > count(T.*)", "(final count(* over S) > final count(* over T))"),
        ("sum(n) > sum(T.n)", "(final sum(n[running last] over S) > final sum(n[running last] over T))"),
        ("n / 0 > 1", "((n[S final last] / NULLIF(0, 0)) > 1)"),
        ("n % n = 1", "((n[S final last] % NULLIF(n[S final last], 0)) = 1)"),
        ("FINAL last(n) > 1", "(n[S final last] > 1)"),
        ("upper(first(ticker)) = 'A'", "(UPPER(ticker[S final first]) = 'A')"),
        ("corr(S.n, T.n) > 0", "(final corr(n[S final last], n[T final last] over S|T) > 0)"),
        ("corr(n, price) > 0", "(final corr(n[running last], price[running last] over S) > 0)"),
    ],
)
def test_conditions(text: str, expected: str) -> None:
    assert str(definition(text).condition) == expected


def test_a_typed_division_stays_one() -> None:
    condition = definition("1 / n > 0", dialect="trino").condition
    assert str(condition) == "((1 / NULLIF(n[S final last], 0)) > 0)"
    assert isinstance(condition, Call)
    assert isinstance(condition.operands[0], Call)
    assert condition.operands[0].function == "integer_divide"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("linear_regression_r2(tstamp, price) > 0", "linear_reg_r2"),
        ("LINEAR_REG_R2(tstamp, price) > 0", "linear_reg_r2"),
        ("linear_reg_r2_signed(day, price) > 0", "linear_reg_r2_signed"),
        ("linear_reg_slope(n, price) > 0", "linear_reg_slope"),
        ("mann_kandall_test(price) > 0", "mann_kendall_test"),
        ("Mann_Kendall_Test(price) > 0", "mann_kendall_test"),
        ("EqualUpDownTicks(price)", "equal_up_down_ticks"),
        ("range(price) > 0", "range"),
        ("median(price) > 0", "median"),
        ("variance(price) > 0", "var"),
        ("var(price) > 0", "var"),
        ("stddev(price) > 0", "stddev"),
        ("stddev_samp(price) > 0", "stddev"),
        ("avg(tstamp) > tstamp", "avg"),
        ("count(ticker) > 0", "count"),
    ],
)
@pytest.mark.parametrize("dialect", ["spark", "duckdb", "trino"])
def test_spellings_of_aggregates(text: str, name: str, dialect: str) -> None:
    condition = definition(text, dialect=dialect).condition
    assert condition is not None
    assert [found.function for found in aggregates(condition)] == [name]


def test_point_variables_look_around() -> None:
    found = definition("price > PREV(price) AND n < NEXT(S.n, 2) AND ZScoreOutlier(price, 15) > 2", point=True)
    assert str(found.condition) == (
        "((price[S final last] > price[S final last -1]) AND (n[S final last] < n[S final last +2])"
        " AND (final zscore_outlier(price[running last], 15 over S) > 2))"
    )


def test_analysis_and_execution_know_the_same_aggregates() -> None:
    for name, signature in BUILT_IN.items():
        found = registry.find(name)
        assert found is not None, name
        assert found.arity + found.n_constants == signature.arity, name
    known = {SPELLINGS.get(name, name) for name in registry.names()}
    assert known - set(BUILT_IN) == {"first", "last"}
    assert registry.ALIASES.items() <= SPELLINGS.items()


def test_user_defined_aggregates() -> None:
    body = "PATTERN (S) DEFINE SEGMENT S AS bumps(price, n) > 2"
    condition = analyzed(body, user_aggregates={"Bumps": 2}).definition("S").condition
    assert str(condition) == "(final bumps(price[running last], n[running last] over S) > 2)"
    with pytest.raises(RexError, match="bumps takes 1 argument, not 2"):
        analyzed(body, user_aggregates={"bumps": 1})


# The rest of the clause


def test_measures() -> None:
    search = analyzed(
        "PARTITION BY ticker ORDER BY tstamp MEASURES START_INDEX() AS s, end_index() + 1 AS e, price AS p,"
        " first(A.n) AS f, avg(price) AS m, linear_reg_slope(A.tstamp, A.price) AS slope, MATCH_NUMBER() AS number"
        " PATTERN (W A) DEFINE SEGMENT W AS true, SEGMENT A AS n > W.n"
    )
    assert search.output_columns() == ("ticker", "s", "e", "p", "f", "m", "slope", "number")
    assert search.measured == ("A",)
    assert [str(measure.expression) for measure in search.measures] == [
        "START_INDEX()", "(END_INDEX() + 1)", "price[final last]", "n[A final first]",
        "final avg(price[running last])", "final linear_reg_slope(tstamp[running last], price[running last] over A)",
        "MATCH_NUMBER()",
    ]
    assert search.measures[0].expression == Call("start_index", ())


def test_measured_variables_are_in_the_order_of_the_pattern() -> None:
    search = analyzed("MEASURES C.n - A.n AS d PATTERN (A B C) DEFINE SEGMENT A AS true")
    assert search.measured == ("A", "C")


def test_skipping() -> None:
    assert analyzed("PATTERN (S) DEFINE SEGMENT S AS true").skip is None
    assert analyzed("ALL MATCHES PATTERN (S) DEFINE SEGMENT S AS true").skip is None
    skip = analyzed("AFTER MATCH SKIP TO LAST P PATTERN (S P) DEFINE SEGMENT S AS true").skip
    assert skip is not None
    assert (skip.to, skip.variables) == (SkipTo.LAST, frozenset("P"))
    past = analyzed("AFTER MATCH SKIP PAST LAST ROW PATTERN (S & T)").skip
    assert past == Skip(SkipTo.PAST_LAST_ROW, span=past.span if past else None)


def test_a_plain_query_under_all_matches_keeps_the_references_of_the_standard() -> None:
    search = analyzed(
        "ORDER BY tstamp MEASURES first(U.tstamp) AS a ALL MATCHES PATTERN (A* D+ B* Z) SUBSET U = (A, D, B)"
        " DEFINE D AS tstamp - first(D.tstamp) <= INTERVAL '5' DAY AND n > PREV(n),"
        " Z AS mann_kendall_test(U.temp) >= 3.0 AND last(D.temp) - first(D.temp) < -20"
    )
    assert search.is_plain
    assert str(search.pattern) == "A+ D+ B+ Z | A+ D+ Z | D+ B+ Z | D+ Z"
    assert search.measured == ("U",)
    assert {subset.name: subset.variables for subset in search.subsets} == {"U": frozenset("ABD")}
    assert str(search.definition("D").condition) == (
        "(((tstamp[D final last] - tstamp[D running first]) <= INTERVAL '5' DAY)"
        " AND (n[D final last] > n[D final last -1]))"
    )
    assert str(search.definition("Z").condition) == (
        "((running mann_kendall_test(temp[running last] over A|B|D) >= 3.0)"
        " AND ((temp[D running last] - temp[D running first]) < -20))"
    )


def test_running_is_final_where_the_row_is_mapped_before() -> None:
    search = analyzed(
        "ORDER BY n ALL MATCHES PATTERN (A X* B C) DEFINE B AS n > A.n AND n > X.n AND n > C.n AND avg(A.n) > 1"
    )
    condition = search.definition("B").condition
    assert condition is not None
    semantics = {
        name: found.target.semantics.value for found in references(condition) for name in found.target.variables or ()
    }
    assert semantics == {"B": "FINAL", "A": "FINAL", "X": "RUNNING", "C": "RUNNING"}
    assert [found.semantics for found in aggregates(condition)] == [Semantics.FINAL]


def test_references_that_are_allowed() -> None:
    inside = analyzed("PATTERN (A & ~(B C)) DEFINE SEGMENT A AS true, C AS n > B.n AND n < A.n")
    assert str(inside.pattern) == "A & ~(B C)"
    branches = analyzed("MEASURES W.n AS n PATTERN (W A | A W) DEFINE SEGMENT W AS true, A AS n > W.n")
    assert branches.measured == ("W",)
    optional = analyzed("MEASURES S.n AS n PATTERN (P S? Q) DEFINE SEGMENT S AS true, Q AS n > S.n")
    assert optional.measured == ("S",)
    repeated = analyzed("MEASURES S.n AS n PATTERN ((P S)+) DEFINE SEGMENT S AS n > P.n")
    assert repeated.measured == ("S",)


def test_a_column_list_names_the_columns() -> None:
    body = "PARTITION BY ticker MEASURES n AS a PATTERN (S) DEFINE SEG S AS true"
    assert analyzed(body, alias="AS m (x, y)").output_columns() == ("x", "y")
    with pytest.raises(RexError, match="the column list has 1 names for 2 columns"):
        analyzed(body, alias="AS m (x)")


# Bad input


@pytest.mark.parametrize(
    ("body", "code", "caret", "words"),
    [
        ("PATTERN (S) DEFINE SEGMENT S AS lin_reg_r2(n, price) > 1", "REX213", "lin_reg_r2", "mean linear_reg_r2?"),
        ("PATTERN (S) DEFINE SEGMENT S AS mode(price) > 1", "REX213", "mode", "not an aggregate"),
        ("PATTERN (S) DEFINE SEGMENT S AS frob(price) > 1", "REX213", "frob", "not an aggregate"),
        ("PATTERN (S) DEFINE SEGMENT S AS n > 1 AND linear_reg_r2(n) > 1", "REX213", "linear_reg_r2", "2 arguments"),
        ("PATTERN (S) DEFINE SEGMENT S AS corr(n) > 1", "REX213", "corr", "lacks an argument"),
        ("PATTERN (S) DEFINE SEGMENT S AS avg(n, n) > 1", "REX213", ") > 1", "arguments (2)"),
        ("PATTERN (S) DEFINE S AS zscore_outlier(15) > 2, SEGMENT S AS true", "REX205", "S", "twice"),
        ("PATTERN (S & P) DEFINE P AS ZScoreOutlier(15) > 2", "REX213", "ZScoreOutlier", "zscore_outlier(x, n)"),
        ("PATTERN (S & P) DEFINE P AS zscore_outlier(n, price) > 2", "REX213", "zscore_outlier", "whole number"),
        ("PATTERN (S) DEFINE SEGMENT S AS zscore_outlier(n, 5) > 2", "REX213", "zscore_outlier", "point variables"),
        ("PATTERN (S) DEFINE SEGMENT S AS count(DISTINCT n) > 2", "REX213", "count", "DISTINCT"),
        ("PATTERN (S) DEFINE SEGMENT S AS sum(n) FILTER (WHERE n > 1) > 2", "REX213", "sum", "FILTER"),
        ("PATTERN (S) DEFINE SEGMENT S AS mann_kendall_test(ticker) > 1", "REX214", "ticker", "numbers"),
        ("PATTERN (S) DEFINE SEGMENT S AS n + 1", "REX214", "n + 1", "boolean"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(ticker, 0, 5, DAY)", "REX214", "ticker", "times or numbers"),
        ("PATTERN (S) DEFINE SEGMENT S AS n > 0 AND window(5, 3)", "REX218", "window", "empty"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(0)", "REX218", "window", "empty"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(-1, 3)", "REX218", "window", "negative"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(tstamp, -1, 3, DAY)", "REX218", "window", "negative"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(tstamp, 5, 3, DAY)", "REX218", "window", "empty"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(1.5)", "REX218", "window", "whole numbers"),
        ("ORDER BY tstamp PATTERN (S) DEFINE SEGMENT S AS window(0, 60, MINUTE)", "REX218", "window",
         "window(tstamp, 0, 60, MINUTE)"),
        ("ORDER BY tstamp PATTERN (S) DEFINE SEGMENT S AS window(5, DAYS)", "REX218", "window",
         "window(tstamp, 5, DAYS)"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(tstamp, 0, 60)", "REX218", "window", "needs a unit"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(tstamp, 0, 60, MONTHS)", "REX218", "window", "no fixed length"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(tstamp, 0, 60, MINUT)", "REX218", "window", "did you mean MINUTE?"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(price + 1, 0, 6)", "REX218", "window", "not an expression"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(last(n, 1), 0, 6)", "REX218", "window", "not an expression"),
        ("PATTERN (S) DEFINE SEGMENT S AS window(n, price)", "REX218", "window", "written out"),
        ("PATTERN (S) DEFINE SEGMENT S AS window()", "REX218", "window", "one to four"),
        ("MEASURES window(1, 2) AS w PATTERN (S) DEFINE SEGMENT S AS true", "REX218", "window", "not a measure"),
        ("PATTERN (A B) DEFINE SEGMENT A AS n > B.n, SEGMENT B AS n > first(A.n)", "REX219", "A.n", "A -> B -> A"),
        ("PATTERN (A & ~(B C)) DEFINE SEGMENT A AS n > B.n", "REX220", "B.n", "under ~"),
        ("PATTERN (~A & ~(B A)) DEFINE SEGMENT A AS n > B.n", "REX220", "B.n", "under ~"),
        ("MEASURES max(B.n) AS m PATTERN (A & ~(B C)) DEFINE SEGMENT A AS true", "REX220", "max", "under ~"),
        ("AFTER MATCH SKIP TO B PATTERN (A & ~B)", "REX220", "AFTER", "under ~"),
        ("MEASURES W.n AS m PATTERN (W A W) DEFINE SEGMENT W AS true", "REX220", "W.n", "several places"),
        ("MEASURES CLASSIFIER() AS c PATTERN (A & B)", "REX221", "CLASSIFIER", "several variables"),
        ("ALL ROWS PER MATCH PATTERN (A & B)", "REX221", "ALL", "one row per match"),
        ("PATTERN (A {- B -} & C)", "REX221", "{- B", "exclusion"),
        ("PATTERN (A & B) SUBSET U = (A, B)", "REX221", "U", "DEFINE SEGMENT U AS true"),
        ("PATTERN (A & B) DEFINE A AS MATCH_NUMBER() > 1", "REX221", "MATCH_NUMBER", "condition"),
        ("PATTERN (A & B) DEFINE A AS START_INDEX() > 1", "REX221", "START_INDEX", "MEASURES"),
        ("MEASURES START_INDEX(A) AS s PATTERN (A & B)", "REX213", "START_INDEX", "no argument"),
        ("PATTERN (S) DEFINE SEGMENT S AS n > PREV(n)", "REX207", "n)", "point variables"),
        ("PATTERN (S) DEFINE SEGMENT S AS RUNNING last(n) > 1", "REX207", "RUNNING", "whole segment"),
        ("PATTERN (S) DEFINE SEGMENT S AS avg(max(n)) > 1", "REX210", "max", "inside another aggregate"),
        ("PATTERN (S T) DEFINE SEGMENT S AS linear_reg_r2(S.n, T.n) > 1", "REX211", "linear_reg_r2", "mixes rows"),
        ("PATTERN (S) DEFINE SEGMENT S AS true, SEGMENT X AS true", "REX204", "X", "not used"),
        ("PATTERN (S) DEFINE SEGMENT S AS X.n > 1", "REX206", "X.n", "neither"),
        ("PATTERN (A? B? C? D? E? F? G? H? I? J?) DEFINE SEGMENT A AS true", "REX106", "A?", "1,024 alternatives"),
        ("PATTERN (~())", "REX103", "()", "matches rows"),
        ("ALL MATCHES PATTERN (())", "REX103", "()", "no rows"),
        ("PATTERN (A & )", "REX103", ")", "ends too early"),
        ("PATTERN (& A)", "REX103", "&", "unexpected"),
        ("ALL MATCHES AFTER MATCH SKIP TO NEXT ROW PATTERN (A)", "REX102", "AFTER", "exclude each other"),
        ("AFTER MATCH SKIP TO NEXT ROW ALL MATCHES PATTERN (A)", "REX102", "ALL", "exclude each other"),
        ("ALL MATCHES please PATTERN (A)", "REX102", "please", "unexpected please"),
        ("PATTERN (A) ALL MATCHES", "REX102", "ALL", "must come before"),
        ("PATTERN (S) DEFINE SEGMENT S", "REX102", "SEGMENT", "variable AS condition"),
        ("PATTERN (^ A & B)", "REX301", "^", "not supported yet"),
        ("ORDER BY n PATTERN (A & B) WITHIN 5", "REX301", "5", "window"),
        ("PATTERN (S) DEFINE SEGMENT S AS n > (SELECT max(m) FROM u)", "REX301", "m", "input of MATCH_RECOGNIZE"),
    ],
)
def test_bad_input(body: str, code: str, caret: str, words: str) -> None:
    with pytest.raises(RexError) as raised:
        analyzed(body)
    error = raised.value
    assert error.code == code, error
    assert error.source is not None and error.span is not None
    assert error.source.text[error.span.start :].startswith(caret), error
    assert words in str(error)
