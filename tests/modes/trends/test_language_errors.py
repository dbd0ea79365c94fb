"""Errors in trend queries: the code, the place and a hint for each."""

from __future__ import annotations

from typing import Any

import pytest
from tests.modes.trends.analysis import analyzed, patterns_of, query

from sparkrex.errors import AnalysisError, ParseError, RexError, UnsupportedError

P, X, U = ParseError, AnalysisError, UnsupportedError


def failure(text: str, **options: Any) -> RexError:
    """The error of a query."""
    with pytest.raises(RexError) as caught:
        analyzed(text, **options)
    return caught.value


def marked(error: RexError) -> str:
    """What the caret stands under."""
    assert error.source is not None and error.span is not None
    return error.source.text[error.span.start : error.span.end]


@pytest.mark.parametrize(
    ("text", "kind", "code", "mark"),
    [
        ("A+ S+", P, "REX108", "+"), ("A++", P, "REX108", "+"), ("(A)+*", P, "REX108", "*"),
        ("A{2}{3}", P, "REX108", "{"),
        ("A{0}", P, "REX105", "{0}"), ("SEQ(A B C)", P, "REX108", "C"), ("SEQ(A | B)", P, "REX108", "|"),
        ("(A, B | C)", P, "REX108", "|"), ("SEQ(A, B & C)", P, "REX108", "&"), ("A & B & C", P, "REX108", "&"),
        ("A OR B", P, "REX108", "OR"), ("A AND B", P, "REX108", "AND"), ("SEQ(A, NOT B)", P, "REX108", "NOT"),
        ("SEQ(A, !B)", P, "REX108", "!"), ("A -> B", P, "REX108", "->"), ("A B", None, "", ""),
        ("A b c", P, "REX108", "c"),
        ("SEQ(A, B))", P, "REX101", ")"), ("SEQ(A, 'B')", P, "REX108", "'"), ("SEQ()", P, "REX108", ")"),
        ("A a[1]", P, "REX108", "1"), ("A a[]", X, "REX224", "a"), ("SEQ(A a, B a)", X, "REX205", "a"),
        ("SEQ(A a, B A)", X, "REX205", "A"), ("SEQ(A, B A)", X, "REX205", "A"), ("A a & B a", X, "REX205", "a"),
        ("SEQ(A a, B) & SEQ(B, ~A a)", X, "REX205", "a"),
        ("A*", X, "REX227", "A*"), ("SEQ(A?, B*)", X, "REX227", "SEQ(A?, B*)"), ("A & B?", X, "REX227", "B?"),
        ("~A", X, "REX225", "~A"), ("SEQ(~A, ~B)", X, "REX225", "SEQ(~A, ~B)"), ("A | ~B", X, "REX225", "~B"),
        ("SEQ(A, (B | ~C))", X, "REX225", "~C"), ("SEQ(A, (~B)+)", X, "REX225", "~B"),
        ("SEQ(A, SEQ(~B)+)", X, "REX225", "SEQ(~B)"), ("SEQ(A, ~(B*), C)", X, "REX225", "~(B*)"),
        ("SEQ(A, ~SEQ(B, ~C), D)", X, "REX225", "~"), ("(" * 120 + "A" + ")" * 120, P, "REX106", "("),
    ],
)
def test_errors_of_patterns(text: str, kind: type[RexError] | None, code: str, mark: str) -> None:
    if kind is None:
        assert patterns_of(text)
        return
    error = failure(query(text))
    assert (type(error), error.code, marked(error)) == (kind, code, mark)
    assert error.hint or code in ("REX106", "REX108")


@pytest.mark.parametrize(
    ("pattern", "where", "kind", "code", "mark"),
    [
        # Names.
        ("A a+", "b.price > 1", X, "REX206", "b"), ("Stock+", "Stok.price > 1", X, "REX206", "Stok"),
        ("A a+", "a.prise > 1", X, "REX201", "prise"), ("A a+", "price > 1", X, "REX224", "price"),
        ("A a+", "stream.price > 1", X, "REX224", "stream.price"), ("A a+", "a.to = passive", X, "REX201", "passive"),
        ("A a+", "a > 1", X, "REX224", "a"), ("A a+", "abs(a) > 1", X, "REX224", "a"),
        ("A a+", "NEXT(b).price > a.price", X, "REX206", "b"),
        ("A a+", "a.price < NEXT(a.price)", P, "REX104", "NEXT"), ("A a+", "a.price < NEXT(a)", P, "REX104", "NEXT(a)"),
        ("A a+", "a.price < NEXT(1)", P, "REX104", "NEXT"), ("A a+", "a[i].price > 1", X, "REX224", "a[i]"),
        ("A a+", "NEXT(a[]).price > a.price", X, "REX224", "a[]"), ("A a+", "PREV(a.price) > 1", X, "REX207", "PREV"),
        # Conditions on one event.
        ("A a+", "a.price + 1", X, "REX214", "a.price + 1"), ("A a+", "a.to > a.price", X, "REX214", "a.to > a.price"),
        ("A a+", "avg(a.price) > 1", X, "REX210", "avg(a.price)"),
        ("A a+", "a.price > (SELECT 1)", U, "REX301", None),
        ("A a+", "a.price > 1, a.price < 2", P, "REX104", ","), ("A a+", "a.price > 1 b", P, "REX104", "a.price > 1 b"),
        ("A a+", "[nothing]", X, "REX201", "nothing"), ("A a+", "[a.price]", X, "REX224", None),
        ("A a+", "a.price > 1 OR [job]", X, "REX224", "[job]"),
        # Two events.
        ("A a+", "NEXT(a).price > 1", X, "REX224", "NEXT(a).price"),
        ("A a+", "NEXT(a).flag", U, "REX301", "NEXT(a).flag"),
        ("A a+", "NEXT(a).price > NEXT(a).volume", X, "REX224", "NEXT(a).price"),
        ("A a+", "NEXT(a).price - a.price > 5", U, "REX301", "a.price"),
        ("A a+", "a.price < NEXT(a).price OR a.flag", U, "REX301", "a.price < NEXT(a).price OR a.flag"),
        ("A a+", "a.price <=> NEXT(a).price", U, "REX301", "a.price <=> NEXT(a).price"),
        ("SEQ(A, B)", "A.price + B.price > 5", U, "REX301", "B.price"),
        ("SEQ(A, B, C)", "A.price < C.price", X, "REX224", "C.price"),
        ("SEQ(A, B, C)", "A.price < NEXT(C).price", X, "REX224", "NEXT(C).price"),
        ("SEQ(A, B)", "B.price < NEXT(A).price", X, "REX224", "NEXT(A).price"),
        ("SEQ(A, B)", "A.price < NEXT(A).price", X, "REX224", "NEXT(A).price"),
        ("SEQ(A, B)+", "A.price < B.price", X, "REX224", "B.price"),
        ("SEQ(A+ x, A y)", "x.price < A.price", X, "REX224", "A.price"),
        # Negation.
        ("SEQ(A, ~B, C)", "A.price < B.price", X, "REX225", "B.price"),
        ("SEQ(A, ~B, C)", "A.price < NEXT(B).price", X, "REX225", "NEXT(B).price"),
        ("SEQ(A, ~B, C, ~D, E)", "B.price < D.price", X, "REX225", "D.price"),
        # Lengths.
        ("A a+", "length < 3", U, "REX301", "length"), ("A a+", "length = 3", U, "REX301", "length"),
        ("A a+", "length >= 2.5", U, "REX301", "length"), ("A a+", "length >= a.price", U, "REX301", "length"),
        ("A a+", "length >= 3 OR a.flag", U, "REX301", "length"),
    ],
)
def test_errors_of_conditions(pattern: str, where: str, kind: type[RexError], code: str, mark: str | None) -> None:
    error = failure(query(pattern, where))
    assert (type(error), error.code) == (kind, code), error
    assert mark is None or marked(error) == mark, error
    assert error.hint or "one expression" in error.message, error


@pytest.mark.parametrize(
    ("returned", "kind", "code", "mark"),
    [
        ("AVG(T.price)", X, "REX206", "T"), ("COUNT(T)", X, "REX206", "T"), ("COUNT(B)", X, "REX225", "B"),
        ("AVG(B.price)", X, "REX225", "B.price"), ("AVG(price)", X, "REX224", "price"),
        ("AVG(a.prise)", X, "REX201", "prise"),
        ("SUM(a.to)", X, "REX214", "a.to"), ("AVG(a.ts)", X, "REX214", "a.ts"), ("MIN(a.to)", U, "REX301", "a.to"),
        ("MAX(a.flag)", U, "REX301", "a.flag"), ("COUNT(DISTINCT a.price)", X, "REX210", "COUNT(DISTINCT a.price)"),
        ("COUNT(*) FILTER (WHERE TRUE)", X, "REX210", "COUNT(*) FILTER (WHERE TRUE)"),
        ("MEDIAN(a.price)", X, "REX210", "MEDIAN(a.price)"), ("mode(a.price)", X, "REX210", "mode(a.price)"),
        ("SUM(a.price) / COUNT(*)", U, "REX301", "SUM(a.price) / COUNT(*)"), ("SUM(COUNT(a))", X, "REX210", "COUNT(a)"),
        ("SUM(a.price + c.price)", X, "REX211", "c.price"), ("SUM(NEXT(a).price)", X, "REX224", "NEXT(a).price"),
        ("SUM(a)", X, "REX224", "a"), ("COUNT(1)", X, "REX224", "COUNT(1)"), ("SUM(a.price, 1)", None, "", ""),
        ("price", X, "REX210", "price"), ("nothing", X, "REX201", "nothing"), ("a", X, "REX210", "a"),
        ("a.price", X, "REX210", "a.price"), ("1", X, "REX210", "1"), ("*", P, "REX104", "*"),
        ("[job]", X, "REX210", "[job]"), ("COUNT(*), COUNT(*)", X, "REX205", "COUNT(*)"),
        ("COUNT(*) AS window_end", X, "REX205", "COUNT(*)"), ("COUNT(*) AS n COUNT(a)", P, "REX107", "COUNT"),
        ("COUNT(*),", P, "REX107", "RETURN"), ("", P, "REX107", "RETURN"), ("COUNT(a[])", X, "REX224", "a[]"),
    ],
)
def test_errors_of_return(returned: str, kind: type[RexError] | None, code: str, mark: str) -> None:
    error = failure(query("SEQ(A a+, ~B, C c)", returned=returned))
    if kind is not None:
        assert (type(error), error.code, marked(error)) == (kind, code, mark), error
        assert error.hint or code == "REX107", error


def test_a_conjunction_only_counts() -> None:
    error = failure(query("A a & B b", returned="COUNT(a)"))
    assert (type(error), error.code, marked(error)) == (U, "REX301", "COUNT(a)")
    assert analyzed(query("A a & B b", returned="sector, COUNT(*)", rest="GROUP-BY sector")).items


@pytest.mark.parametrize(
    ("text", "code", "mark"),
    [
        ("RETURN COUNT(*) PATTERN A", "REX223", "PATTERN"),
        ("RETURN COUNT(*) PATTERN A SEMANTICS", "REX223", "SEMANTICS"),
        ("RETURN COUNT(*) PATTERN A SEMANTICS skip-till-nxt-match", "REX223", "skip-till-nxt-match"),
        ("RETURN COUNT(*) PATTERN A SEMANTICS strict", "REX223", "strict"),
        ("PATTERN A SEMANTICS contiguous", "REX107", "PATTERN"),
        ("RETURN COUNT(*) SEMANTICS contiguous", "REX107", "RETURN"),
        ("RETURN COUNT(*) PATTERN SEMANTICS contiguous", "REX108", "PATTERN"),
        ("PATTERN A RETURN COUNT(*) SEMANTICS contiguous", "REX107", "RETURN"),
        ("RETURN COUNT(*) PATTERN A PATTERN B SEMANTICS contiguous", "REX107", "PATTERN"),
        ("SELECT COUNT(*) PATTERN A SEMANTICS contiguous", "REX107", "SELECT"), ("A+", "REX107", "A"),
        ("RETURN COUNT(* PATTERN A SEMANTICS contiguous", "REX101", "("),
        ("RETURN COUNT(*) PATTERN SEQ(A, B SEMANTICS contiguous", "REX101", "("),
        ("RETURN COUNT(*) PATTERN SEQ(A, B SEMANTICS contiguous WHERE abs(A.price) > 1", "REX101", "("),
        (query(rest="ORDER BY ts"), "REX107", "ORDER BY"), (query(rest="PARTITION BY job"), "REX107", "PARTITION BY"),
        (query(rest="SLIDE 5 seconds"), "REX107", "SLIDE"), (query(rest="GROUP-BY nothing"), "REX201", "nothing"),
        (query(rest="GROUP-BY job, job"), "REX205", "job"), (query(rest="GROUP-BY a.job"), "REX107", "a.job"),
        (query(rest="WITHIN 0 seconds"), "REX226", "0 seconds"),
        (query(rest="WITHIN -5 seconds"), "REX226", "-5 seconds"),
        (query(rest="WITHIN 5 seconds SLIDE 0 seconds"), "REX226", "0 seconds"),
        (query(rest="WITHIN 5"), "REX226", "5"),
        (query(rest="WITHIN 1 month"), "REX226", "1 month"), (query(rest="WITHIN 5 seconds SLIDE 1"), "REX226", "1"),
        (query(rest="WITHIN 5 seconds SLIDE 5 EVENTS"), "REX226", "5 EVENTS"),
        (query(rest="WITHIN 5 EVENTS"), "REX226", "5 EVENTS"), (query(rest="WITHIN"), "REX226", "WITHIN"),
        ("COUNTS LOG " + query(), "REX107", "COUNTS"), ("ORIGIN 5 " + query(), "REX107", "ORIGIN"),
        ("TIME ts " + query(), "REX107", "ts"),
    ],
)
def test_errors_of_clauses(text: str, code: str, mark: str) -> None:
    error = failure(text)
    assert (error.code, marked(error)) == (code, mark), error
    assert error.hint or any(plain in error.message for plain in ("given twice", "negative", "never closed"))


@pytest.mark.parametrize(
    ("text", "code", "mark"),
    [
        (query(), "REX107", ""), ("TIME nothing " + query(), "REX201", "nothing"),
        ("TIME to " + query(), "REX214", "to"),
        ("TIME ts TYPE price " + query(), "REX214", "price"), ("TIME ts COUNTS MANY " + query(), "REX107", "COUNTS"),
        ("TIME ts TIES LOOSE " + query(), "REX107", "TIES"),
        ("TIME ts ORIGIN '2024-01-01' " + query(), "REX226", "'2024-01-01'"),
        ("TIME ts ORIGIN 5 " + query(rest="WITHIN 1 day"), "REX226", "5"),
        ("TIME ts ORIGIN 'soon' " + query(rest="WITHIN 1 day"), "REX226", "'soon'"),
        ("TIME ts ORIGIN a + 1 " + query(rest="WITHIN 1 day"), "REX226", "a + 1"),
        ("TIME n ORIGIN '2024-01-01' " + query(rest="WITHIN 1"), "REX226", "'2024-01-01'"),
        ("TIME n ORIGIN 0.5 " + query(rest="WITHIN 1"), "REX226", "0.5"),
        ("TIME n " + query(rest="WITHIN 1.5"), "REX226", "1.5"),
        ("TIME n TIES ORDER ORIGIN 1 " + query(rest="WITHIN 5 EVENTS"), "REX226", "1"),
        ("TIME ts " + query("SEQ(A, B)"), "REX222", "B"),
        ("TIME ts TYPES (Alert AS flag) " + query("Alrt"), "REX222", "Alrt"),
    ],
)
def test_errors_of_options(text: str, code: str, mark: str) -> None:
    error = failure(text, time=None)
    assert (error.code, marked(error)) == (code, mark), error
    assert error.hint


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"time": "nothing"}, "REX201"), ({"time": "to"}, "REX214"), ({"type": "nothing"}, "REX201"),
        ({"tie_break": ("nothing",)}, "REX201"), ({"origin": 5}, "REX226"), ({"origin": "soon"}, "REX226"),
    ],
)
def test_errors_of_a_call(options: dict[str, Any], code: str) -> None:
    error = failure(query(rest="WITHIN 1 day"), **options)
    assert (error.code, error.span) == (code, None)
    assert error.hint


def test_hints_name_what_was_probably_meant() -> None:
    assert failure(query("Stock+", returned="COUNT(Stok)")).hint == "did you mean Stock?"
    misspelt = failure("RETURN COUNT(*) PATTERN A SEMANTICS skip-till-nxt-match")
    assert misspelt.hint == "did you mean skip-till-next-match?"
    assert "skip-till-any-match" in str(failure("RETURN COUNT(*) PATTERN A").hint)
    assert failure(query("A a+", "a.price < NEXT(a.volume)")).hint == "NEXT(a).volume"
    assert "NEXT(B)" in str(failure(query("SEQ(A, B)+", "A.price < B.price")).hint)
    assert failure(query("SEQ(A, B, C)", "A.price < C.price")).hint == "after A comes B"
    assert "GROUP-BY price" in str(failure(query(returned="price")).hint)
