"""Appendix B: plain queries under ALL MATCHES become segment queries that give the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.mapped_rows import answers
from tests.modes.segments.oracle import find_segments

from sparkrex.errors import ParseError
from sparkrex.languages.match_recognize import row_pattern as rp
from sparkrex.modes.plan import Measure, Subset
from sparkrex.modes.segments.analyze.forms import segment_form
from sparkrex.modes.segments.analyze.references import is_mapped_before
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.modes.segments.planner.make_logical import make_logical, order_column
from sparkrex.modes.segments.rewrite.decompose_conditions import decompose_conditions
from sparkrex.modes.segments.rewrite.driver import rewrite_logical, rewrite_plain
from sparkrex.modes.segments.rewrite.drop_irrelevant import drop_irrelevant
from sparkrex.modes.segments.rewrite.factor_alternatives import factored
from sparkrex.modes.segments.rewrite.points_to_segments import convert_pluses, convert_stars
from sparkrex.modes.segments.rewrite.reassign_conditions import reassign_conditions
from sparkrex.modes.segments.rewrite.rules import RULES, SearchRule
from sparkrex.modes.segments.rewrite.text import logical_text
from sparkrex.modes.segments.rewrite.unions_to_segments import convert_repeated, convert_unions
from sparkrex.scalar.expression import Aggregate, ColumnAt, End, Semantics, Target
from sparkrex.source import Source

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.scalar.expression import Expression

MICROSECONDS = {"tstamp": 1}
COLD_WAVE = """PARTITION BY city ORDER BY tstamp
  MEASURES first(U.tstamp) AS a, last(U.tstamp) AS b, last(tstamp) AS c
  ALL MATCHES PATTERN (A* D+ B* Z) SUBSET U = (A, D, B)
  DEFINE D AS tstamp - first(D.tstamp) <= INTERVAL '5' DAY,
    Z AS last(U.tstamp) - first(U.tstamp) BETWEEN INTERVAL '25' DAY AND INTERVAL '30' DAY
      AND mann_kendall_test(U.temp) >= 3.0 AND linear_regression_r2(D.tstamp, D.temp) >= 0.95
      AND last(D.temp) - first(D.temp) < -20"""
DAY = 86_400_000_000


def plain(pattern: str, define: str = "", *, measures: str = "", subset: str = "") -> SegmentSearch:
    return analyzed(
        f"ORDER BY n {measures and 'MEASURES ' + measures} ALL MATCHES PATTERN ({pattern})"
        f" {subset and 'SUBSET ' + subset} {define and 'DEFINE ' + define}"
    )


def pattern_after(search: SegmentSearch | None) -> str | None:
    return None if search is None else str(search.pattern)


# Show 2.


def test_the_cold_wave_becomes_figure_3() -> None:
    search, steps = rewrite_plain(analyzed(COLD_WAVE), MICROSECONDS)
    assert not search.is_plain
    assert list(dict.fromkeys(step.rule for step in steps)) == [
        "factor alternatives", "convert unions", "convert stars", "convert pluses", "reassign conditions",
        "decompose conditions", "drop irrelevant",
    ]
    assert str(search.pattern) == "(AA ((DD_1 & DD_2 & DD_3) BB)) & UU_1 & UU_2"
    assert search.rows_after == 1
    assert search.measured == ("UU_1",)
    windows = {one.variable: (one.windows[0].low, one.windows[0].high) for one in search.definitions if one.windows}
    assert windows == {"DD_3": (None, 5 * DAY), "UU_2": (25 * DAY, 30 * DAY)}
    tree, _ = rewrite_logical(make_logical(search, order_column(search)))
    week, month = f"[tstamp ..{5 * DAY}]", f"[tstamp {25 * DAY}..{30 * DAY}]"
    short = f"[tstamp ..{30 * DAY}]"
    assert logical_text(tree) == (
        f"((*{short} = (DD_1{week} & DD_2{week}){week} = *{short}){month} & UU_1{month}){month}"
    )


def test_the_cold_wave_on_dates_counts_days() -> None:
    search, _ = rewrite_plain(analyzed(COLD_WAVE), {"tstamp": DAY})
    assert [one.windows[0].high for one in search.definitions if one.windows] == [30, 5]


# Rule 1.


def test_a_star_that_nobody_refers_to_becomes_a_segment() -> None:
    search = plain("A* B", "B AS price > 1")
    assert str(search.pattern) == "A+ B | B"
    assert pattern_after(convert_stars(search, {})) == "AA B"


@pytest.mark.parametrize(
    ("define", "measures"),
    [("A AS price > 0, B AS price > 1", ""), ("B AS price > last(A.price)", ""), ("", "count(A.price) AS c")],
)
def test_a_star_with_a_condition_or_a_reference_stays(define: str, measures: str) -> None:
    assert convert_stars(plain("A* B", define, measures=measures), {}) is None


def test_a_star_on_time_stays() -> None:
    search = plain("A* B", "A AS n - first(A.n) <= 5")
    assert convert_stars(search, {}) is None
    assert convert_pluses(search, {}) is None


def test_a_plus_at_the_ends_of_the_pattern_becomes_a_window() -> None:
    search = convert_pluses(plain("D+", "D AS n - first(D.n) <= 5"), {})
    assert pattern_after(search) == "DD"
    assert search is not None
    assert search.definition("DD").windows[0].high == 5


@pytest.mark.parametrize(
    ("pattern", "define", "measures"),
    [
        # A neighbour that is no star; two stretches; a repetition around.
        ("D+ B", "", ""), ("A D+ B", "D AS n - first(D.n) <= 5", ""), ("D+ A* D+", "D AS n - first(D.n) <= 5", ""),
        ("(D+ A*)+", "D AS n - first(D.n) <= 5", ""),
        # Other conditions, or one on another column.
        ("D+", "D AS n > PREV(n)", ""), ("D+", "D AS n - first(D.n) < 5", ""),
        ("D+", "D AS price - first(D.price) <= 5", ""), ("D+", "D AS n - first(D.n) <= -5", ""),
        # A reference from a variable that is mapped in the middle of D's rows.
        ("D+ A*", "A AS n > last(D.n), D AS n > last(A.n)", ""),
        # A union of which D is only a part.
        ("D+ A*", "D AS n - first(D.n) <= 5", "last(U.n) AS c"),
    ],
)
def test_a_plus_that_stays(pattern: str, define: str, measures: str) -> None:
    search = plain(pattern, define, measures=measures, subset="U = (A, D)" if "U." in measures else "")
    assert convert_pluses(convert_stars(search, {}) or search, {}) is None


# Rule 2.


def test_a_union_that_is_one_stretch_becomes_a_segment() -> None:
    search = convert_unions(plain("A B C", "C AS count(U.n) > 1", subset="U = (A, B)"), {})
    assert pattern_after(search) == "((A B) & UU) > C"
    assert search is not None
    assert "over UU" in str(search.definition("C").condition)


@pytest.mark.parametrize(
    ("pattern", "subset", "define"),
    [
        ("A C B D", "U = (A, B)", "D AS count(U.n) > 1"),
        ("(A C)+ D", "U = (A, D)", "C AS count(U.n) > 1"),
        # Seen from inside, the rows mapped so far are not all.
        ("A B", "U = (A, B)", "B AS count(U.n) > 1"),
        ("C A B", "U = (A, B)", "C AS count(U.n) > 1"),
    ],
)
def test_a_union_that_stays(pattern: str, subset: str, define: str) -> None:
    assert convert_unions(plain(pattern, define, subset=subset), {}) is None


def test_a_repeated_variable_is_a_union_of_itself() -> None:
    search = convert_repeated(plain("A B+ C", "B AS n > PREV(n), C AS n > first(B.n)"), {})
    assert pattern_after(search) == "A > (B+ & BB) > C"
    assert convert_repeated(plain("A B C", "C AS n > first(B.n)"), {}) is None


# Rule 3.


def segment_search(pattern: SegmentPattern, *definitions: SegmentDefinition) -> SegmentSearch:
    return replace(b.search(pattern, *definitions), is_plain=True)


RISES = b.call("gt", b.last("S", "x"), b.first("S", "x"))


def test_a_conjunct_goes_to_the_segment_it_speaks_of() -> None:
    pattern = b.concat(b.segment("S"), b.point("Z"))
    own = b.call("gt", b.last("Z", "x"), 0)
    search = segment_search(pattern, b.define("S"), b.define("Z", b.call("and", RISES, own), point=True))
    changed = reassign_conditions(search, {})
    assert changed is not None
    assert changed.definition("S").condition == RISES
    assert changed.definition("Z").condition == own


@pytest.mark.parametrize(
    "pattern",
    [
        b.either(b.segment("S"), b.point("Z")),
        b.concat(b.segment("S"), b.either(b.point("Z"), b.point("Y"))),
        b.concat(b.either(b.segment("S"), b.point("Y")), b.point("Z")),
        b.concat(b.segment("S"), b.repeat(b.point("Z"))),
        b.concat(b.repeat(b.segment("S")), b.point("Z")),
        b.both(b.point("Z"), b.absent(b.segment("S"))),
    ],
)
def test_a_conjunct_that_stays(pattern: SegmentPattern) -> None:
    search = segment_search(pattern, b.define("S"), b.define("Z", RISES, point=True), b.define("Y", point=True))
    assert reassign_conditions(search, {}) is None


def test_a_conjunct_about_two_variables_stays() -> None:
    both = b.call("gt", b.last("Z", "x"), b.first("S", "x"))
    pattern = b.concat(b.segment("S"), b.point("Z"))
    assert reassign_conditions(segment_search(pattern, b.define("S"), b.define("Z", both, point=True)), {}) is None


# Rule 4.


def test_a_conjunction_is_taken_apart() -> None:
    falls = b.call("lt", b.last("S", "x"), 9)
    search = segment_search(b.segment("S"), b.define("S", b.call("and", RISES, falls), b.rows_window(2, 3)))
    changed = decompose_conditions(search, {})
    assert pattern_after(changed) == "S_1 & S_2 & S_3"
    assert changed is not None
    assert decompose_conditions(changed, {}) is None


def test_a_disjunction_and_a_point_stay() -> None:
    either = b.call("or", RISES, RISES)
    assert decompose_conditions(segment_search(b.segment("S"), b.define("S", either)), {}) is None
    both = b.call("and", b.call("gt", b.last("P", "x"), 1), b.call("lt", b.last("P", "x"), 3))
    assert decompose_conditions(segment_search(b.point("P"), b.define("P", both, point=True)), {}) is None


# Rule 5.


def test_a_segment_variable_that_says_nothing_is_dropped() -> None:
    pattern = b.both(b.segment("S"), b.segment("W"))
    assert pattern_after(drop_irrelevant(segment_search(pattern, b.define("S", RISES), b.define("W")), {})) == "S"


def test_a_point_variable_in_an_and_says_that_there_is_one_row() -> None:
    pattern = b.both(b.segment("S"), b.point("Z"))
    assert drop_irrelevant(segment_search(pattern, b.define("S", RISES), b.define("Z", point=True)), {}) is None


def test_a_last_row_that_says_nothing_must_exist_all_the_same() -> None:
    search = plain("A+ Z", "A AS price > 0")
    changed = drop_irrelevant(search, {})
    assert changed is not None
    assert (str(changed.pattern), changed.rows_after) == ("A+", 1)
    rows = [{"n": n, "price": price} for n, price in enumerate([1, 1, 0, 1])]
    # [0, 0], [0, 1], [1, 1] and the row after; row 3 has none after it.
    assert {found[:2] for found in answers(changed, rows)} == {(0, 1), (0, 2), (1, 2)}
    assert answers(changed, rows) == answers(search, rows)


@pytest.mark.parametrize(
    ("pattern", "define", "measures"),
    [("A Z", "Z AS price > 0", ""), ("A Z", "A AS price > 0", "last(Z.n) AS c"), ("A | B Z", "A AS price > 0", "")],
)
def test_a_last_row_that_stays(pattern: str, define: str, measures: str) -> None:
    assert drop_irrelevant(plain(pattern, define, measures=measures), {}) is None


def test_factoring_asks_for_the_same_junction() -> None:
    search = plain("A C | B C")
    assert str(factored(search.pattern)) == "(A | B) C"
    assert factored(plain("A C | B D").pattern) == plain("A C | B D").pattern


def test_what_cannot_be_translated_stays_plain() -> None:
    search, _ = rewrite_plain(plain("A B+", "B AS price > avg(B.price)"), {})
    assert search.is_plain


# Random plain queries: every step keeps the rows.

NAMES = ("A", "B", "C", "D")
UNIONS = {"U": frozenset("AB"), "V": frozenset("ABC"), "Y": frozenset("BD")}


@st.composite
def plain_searches(draw: st.DrawFn) -> SegmentSearch:
    items: list[Any] = []
    for name in draw(st.permutations(NAMES))[: draw(st.integers(1, 4))] if draw(st.booleans()) else NAMES[:4]:
        item: Any = rp.Variable(name)
        low, high = draw(st.sampled_from([(1, 1), (1, 1), (1, None), (1, None), (0, None), (0, None), (0, 1)]))
        items.append(item if (low, high) == (1, 1) else rp.Quantified(item, low, high))
    if draw(st.booleans()):
        items[-1] = rp.Variable(_names(items[-1])[0])
    elif draw(st.booleans()):
        items.append(draw(st.sampled_from(items)))  # a variable at two places
    whole: Any = items[0] if len(items) == 1 else rp.Concatenation(tuple(items))
    if len(items) > 2 and draw(st.integers(0, 3)) == 0:
        inner = rp.Concatenation(tuple(items[:2]))
        group: Any = draw(st.sampled_from([rp.Quantified(inner, 1, None), rp.Alternation(tuple(items[:2]))]))
        whole = rp.Concatenation((group, *items[2:]))
    used = tuple(name for name in NAMES if any(name == found for found in _names(whole)))
    try:
        pattern = segment_form(whole, lambda _: False, Source(""))
    except ParseError:  # it matches no rows
        pattern = b.point(used[0])
    sets = [frozenset((name,)) for name in used]
    sets += [names & frozenset(used) for names in UNIONS.values() if len(names & frozenset(used)) > 1]
    definitions = []
    final = _names(whole)[-1] if draw(st.booleans()) else None
    for name in used:
        kinds = ["none", "none", "own", "time", *["references"] * (2 if final is None else 0)]
        kind = "references" if name == final else draw(st.sampled_from(kinds))
        condition: Expression | None = None
        if kind == "own":
            condition = b.call("gt", b.last(name, "x"), 0)
        elif kind == "time":
            first = ColumnAt(Target(frozenset((name,)), Semantics.RUNNING, End.FIRST), "t")
            condition = b.call("le", b.call("subtract", b.last(name, "t"), first), draw(st.sampled_from([0, 2, 3])))
        elif kind == "references":
            others = [names for names in sets if name not in names] or sets
            among = st.sampled_from(sets if final is None else others)
            parts = [draw(conjuncts(pattern, name, draw(among))) for _ in range(draw(st.integers(1, 3)))]
            condition = parts[0] if len(parts) == 1 else b.call("and", *parts)
        definitions.append(SegmentDefinition(name, False, (), condition))
    measured = draw(st.lists(st.sampled_from(sets), unique=True, max_size=2))
    subsets = tuple(Subset(name, names & frozenset(used)) for name, names in UNIONS.items())
    called = [
        min(names) if len(names) == 1 else next(one.name for one in subsets if one.variables == names)
        for names in measured
    ]
    measures = tuple(
        Measure(f"m{k}{end.value}", ColumnAt(Target(names, Semantics.FINAL, end), "t"))
        for k, names in enumerate(measured) for end in End
    )
    return replace(
        b.search(pattern, *definitions), measures=measures, measured=tuple(called), subsets=subsets, is_plain=True
    )


def _names(pattern: Any) -> list[str]:
    if isinstance(pattern, rp.Variable):
        return [pattern.name]
    if isinstance(pattern, rp.Quantified):
        return _names(pattern.body)
    inside = pattern.items if isinstance(pattern, rp.Concatenation) else pattern.options
    return [name for item in inside for name in _names(item)]


@st.composite
def conjuncts(draw: st.DrawFn, pattern: SegmentPattern, by: str, names: frozenset[str]) -> Expression:
    """A condition of `by` on rows of `names`, as analysis makes it: RUNNING unless one earlier row is meant."""
    is_earlier = len(names) == 1 and by not in names and is_mapped_before(pattern, min(names), by)
    semantics = Semantics.FINAL if is_earlier else Semantics.RUNNING
    first, last = (ColumnAt(Target(names, semantics, end), "x") for end in (End.FIRST, End.LAST))
    operator = draw(st.sampled_from(["ge", "le"]))
    match draw(st.sampled_from(["change", "own", "sum", "count", "growth", "growth", "null"])):
        case "change":
            return b.call(operator, b.call("subtract", last, first), draw(st.sampled_from([-1, 0, 1])))
        case "own":
            return b.call(operator, b.last(by, "x"), draw(st.sampled_from([first, last])))
        case "sum":
            total = Aggregate("sum", (ColumnAt(Target(), "x"),), names, semantics)
            return b.call(operator, total, draw(st.sampled_from([0, 1, 2])))
        case "count":
            n_rows = Aggregate("count", (), names, semantics)
            return b.call(operator, n_rows, draw(st.sampled_from([0, 1, 2])))
        case "null":
            return b.call("is_null", last)
        case _:
            ends = (ColumnAt(Target(names, semantics, end), "t") for end in (End.LAST, End.FIRST))
            growth = b.call("subtract", *ends)
            if draw(st.booleans()):
                return b.call("between", growth, 1, draw(st.sampled_from([1, 3])))
            return b.call(operator, growth, draw(st.sampled_from([0, 2])))


@st.composite
def series(draw: st.DrawFn) -> list[dict[str, Any]]:
    t, rows = 0, []
    for _ in range(draw(st.integers(1, 6))):
        rows.append({"k": "a", "t": t, "x": draw(st.sampled_from([-1, 0, 1, 2, None]))})
        t += draw(st.sampled_from([1, 1, 2]))
    return rows


STEPS = {rule.name: rule for rule in RULES if isinstance(rule, SearchRule)}


@given(plain_searches(), series(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_step_keeps_the_rows(search: SegmentSearch, rows: list[dict[str, Any]], order: Any) -> None:
    expected = answers(search, rows)
    done = []
    for _ in range(25):
        names = list(STEPS)
        order.shuffle(names)
        for name in names:
            changed = STEPS[name].apply(search, {})
            if changed is not None and changed != search:
                done.append(f"{name}: {search.pattern} -> {changed.pattern}")
                search = changed
                assert answers(search, rows) == expected, "\n".join(done)
                break
        else:
            return


@given(plain_searches(), series())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_translated_query_gives_the_same_rows(search: SegmentSearch, rows: list[dict[str, Any]]) -> None:
    translated, steps = rewrite_plain(search, {})
    assert answers(translated, rows) == answers(search, rows), "\n".join(map(str, steps))
    if translated.is_plain:
        return
    # What the oracle of segment queries finds, with the rows after it.
    found = {
        (one.start, one.end + translated.rows_after) for one in find_segments(translated, rows)
        if one.end + translated.rows_after < len(rows)
    }
    assert found == {answer[:2] for answer in answers(search, rows)}
