"""Row conditions over blocks hold where the host says they hold, and fail where it fails."""

from __future__ import annotations

import random
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluate.conditions import COLUMNS, condition_texts, tables

from sparkrex import pipeline
from sparkrex import threads as thread_pool
from sparkrex.columns.ordered import Columns
from sparkrex.errors import RexError
from sparkrex.evaluate import leaves, run_blocks
from sparkrex.evaluate.bitmaps import evaluate_bitmaps, host_reasons, host_truths
from sparkrex.evaluate.leaves import Ordering, StringTest
from sparkrex.evaluate.run_blocks import leaving_rows
from sparkrex.modes.rows.conditions import split_conditions
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.scalar.split import Condition
    from sparkrex.source import Source

DIALECTS = ["spark", "trino", "duckdb"]
EMPTY = pa.table({name: pa.array([], type_) for name, (type_, _) in COLUMNS.items()})


@contextmanager
def analysed(
    texts: list[str], dialect: str, table: pa.Table = EMPTY
) -> Iterator[tuple[tuple[Condition, ...], RelationEvaluator, Source]]:
    """The conditions of a query with one variable a text."""
    names = [f"V{number}" for number in range(len(texts))]
    defined = ", ".join(f"{name} AS {text}" for name, text in zip(names, texts, strict=True))
    text = f"SELECT * FROM t MATCH_RECOGNIZE (MEASURES 1 AS one PATTERN ({' '.join(names)}) DEFINE {defined})"
    query = pipeline.parse_query(text, dialect)
    host = pipeline._open_host(query, {"t": table}, Settings())
    try:
        plan, _, evaluator = pipeline.prepare_relation(query, query.statement.relations[0], query.clauses[0], host)
        assert isinstance(plan, MatchRecognize)
        yield split_conditions(plan), evaluator, plan.source
    finally:
        host.close()


@contextmanager
def small_blocks(rows: int) -> Iterator[None]:
    """Blocks of a few rows, and threads for a few rows."""
    least = mock.patch.object(thread_pool.ranges, "__defaults__", (2,))
    with mock.patch.object(run_blocks, "BLOCK_ROWS", rows), least:
        yield


def outcome(run: Any) -> Any:
    """The rows where the condition holds, or the error."""
    try:
        return run()
    except RexError as error:
        return error.code, error.span


@settings(max_examples=150, deadline=None)
@given(
    texts=st.lists(condition_texts(), min_size=1, max_size=4), data=tables(), dialect=st.sampled_from(DIALECTS),
    threads=st.sampled_from([1, 3]), block=st.sampled_from([1, 3, 1000]),
)
def test_vectorised_equals_host(
    texts: list[str], data: tuple[pa.Table, Any, Any], dialect: str, threads: int, block: int
) -> None:
    table, offsets, order = data
    try:
        context = analysed(texts, dialect)
        conditions, evaluator, source = context.__enter__()
    except RexError:
        return  # refused before any evaluation
    try:
        columns = Columns(table, offsets, order)
        expected = []
        for condition in conditions:
            by_host = outcome(lambda c=condition: host_truths([c], columns, evaluator, source)[0].tolist())
            with small_blocks(block):
                given_ = outcome(
                    lambda c=condition: evaluate_bitmaps([c], columns, evaluator, source, threads)[1][0].tolist()
                )
            assert given_ == by_host, condition.row
            expected.append(by_host)
        if all(isinstance(result, list) for result in expected):
            with small_blocks(block):
                numbers, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, source, threads)
            assert [bitmaps[numbers[condition.variable]].tolist() for condition in conditions] == expected
    finally:
        context.__exit__(None, None, None)


def test_a_bound_of_between_fails_whatever_the_other_bound_says() -> None:
    """BETWEEN guards nothing: the host computes both bounds, and so do blocks."""
    table = pa.table({"i64": pa.array([0], pa.int64())})
    columns = Columns(table, np.array([0, 1]))
    with analysed(["(i64 BETWEEN 1 AND (0 / i64))"], "spark") as (conditions, evaluator, source):
        for evaluated in (host_truths, evaluate_bitmaps):
            with pytest.raises(RexError) as caught:
                evaluated(conditions, columns, evaluator, source)
            assert caught.value.code == "REX404"


class NoHost:
    """An evaluator that must not be asked."""

    def evaluate(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the host was asked")

    query = evaluate


@pytest.mark.parametrize(
    "text",
    [
        "f64 < PREV(f64)", "f64 > PREV(f64) AND small BETWEEN 1 AND 2", "s = 'a'", "coded IN ('a', 'b')",
        "s = PREV(s2)", "ts - PREV(ts) > INTERVAL '30' MINUTE", "d - PREV(d) > 2", "money > 1.1 * PREV(money)",
        "i32 + 1 > NEXT(i32)", "CASE WHEN flag THEN small ELSE 0 END = 1", "COALESCE(PREV(f64), 0) < 1", "s IS NULL",
        "PREV(f64) <> 0 AND f64 / PREV(f64) > 1.1", "ts > TIMESTAMP '2024-01-01 00:00:00'", "small = -1", "NOT flag",
        "ABS(small - PREV(small)) >= 2", "GREATEST(small, PREV(small), 1) = 1", "NULLIF(small, 0) IS NULL",
    ],
)
def test_the_host_is_not_asked(text: str) -> None:
    with analysed([text], "duckdb") as (conditions, _, source):
        n_rows = 40
        table = pa.table(
            {name: pa.nulls(n_rows, type_) for name, (type_, _) in COLUMNS.items() if name not in ("f64", "small")}
        )
        table = table.append_column("f64", pa.array(np.linspace(1, 2, n_rows)))
        table = table.append_column("small", pa.array(np.arange(n_rows) % 5))
        columns = Columns(table, np.array([0, 20, n_rows]))
        assert host_reasons(conditions, table.slice(0, 0)) == {}
        evaluate_bitmaps(conditions, columns, NoHost(), source)


def test_a_failing_part_behind_its_guard_is_not_reached() -> None:
    table = pa.table({"small": pa.array([0, 4, 2, 0, None, 2])})
    columns = Columns(table, np.array([0, 3, 6]))
    with analysed(["PREV(small) <> 0 AND small / PREV(small) < 1"], "spark") as (conditions, _, source):
        _, bitmaps = evaluate_bitmaps(conditions, columns, NoHost(), source)
        assert bitmaps.tolist() == [[0, 0, 1, 0, 0, 0]]
    with analysed(["small / PREV(small) < 1"], "spark") as (conditions, evaluator, source):
        with pytest.raises(RexError) as caught:
            evaluate_bitmaps(conditions, columns, evaluator, source)
        assert caught.value.code == "REX404"


@pytest.mark.parametrize(
    "text",
    [
        "divide(small, 2) = 1", "add(small, 1) = 2", "subtract(small, 1) = 2", "d > '2024-01-01'", "s LIKE 'a%'",
        "PREV(s) LIKE 'a%'", "zoned > TIMESTAMPTZ '2024-01-01 00:00:00+00'", "f32 > 0.1", "f32 = f64", "f32 > 1.5",
        "small IN (1, NULL)", "s IN ('a', NULL)", "s IN ('a', PREV(s))", "small > NULL",
        "CASE WHEN small > 1 THEN NULL END", "NULL", "TRUE", "small BETWEEN NULL AND 3", "i8 > 1000", "u16 > i32",
        "money = 1", "wide > f64",
        "d - PREV(d) > 1", "ts - INTERVAL '1' DAY < PREV(ts)", "seconds - PREV(seconds) >= INTERVAL '1' DAY",
        "zoned - PREV(zoned) >= INTERVAL '1' DAY", "d < ts", "s < PREV(s)", "GREATEST(s, PREV(s)) = s",
        "s || 'x' = 'ax'", "NOT (s = 'a')", "coded <> 'a'", "NEXT(coded) IN ('a', 'b', 'B', 'ab', 'é')",
        "s = 'a' OR s = 'b' OR s >= 'c'", "random() < 0", "PREV(flag) IS NOT TRUE",
        "CAST(small AS VARCHAR) = '1'", "CAST(s AS INTEGER) = 1",
        "s = '10' AND CAST(s AS INTEGER) = 10", "small <> 0 AND 1 / small > 0", "i64 * 2 > 0", "i64 % 3 = 1",
        "i64 / 0 > 1",
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_condition_holds_where_the_host_says(text: str, dialect: str) -> None:
    generator = random.Random(text)
    values: dict[str, list[Any]] = {
        "i64": [0, 1, -7, 2**53 + 1, None], "small": [0, 1, 2, 3, None], "i32": [0, 5, -7, 2**31 - 1],
        "i8": [0, 1, 127, -128], "u16": [0, 3, 65535, None], "f64": [0.0, -0.0, 1.5, 0.1, np.nan, np.inf, None],
        "f32": [0.1, 1.5, 0.0, None], "money": [Decimal("1.00"), Decimal("-2.50"), None],
        "wide": [Decimal("1.5"), None],
        "flag": [True, False, None], "s": ["a", "b", "ab", "é", "10", "", None], "s2": ["a", None],
        "coded": ["a", "b", None],
        "d": [date(2024, 1, 1), date(2024, 1, 3), None], "ts": [datetime(2024, 1, 1), datetime(2024, 1, 2, 3), None],
        "seconds": [datetime(2024, 1, 1), datetime(2024, 1, 2)], "nanos": [None], "clock": [time(1), time(2)],
        "zoned": [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC), None],
    }
    n_rows = 60
    table = pa.table(
        {
            name: pa.array(generator.choices(values[name], k=n_rows), type_)
            for name, (type_, _) in COLUMNS.items()
        }
    )
    columns = Columns(table, np.array([0, 1, 30, n_rows]), np.array(generator.sample(range(n_rows), n_rows)))
    try:
        context = analysed([text], dialect)
        conditions, evaluator, source = context.__enter__()
    except RexError:
        return  # not in this dialect
    with small_blocks(7):
        given_ = outcome(lambda: evaluate_bitmaps(conditions, columns, evaluator, source, 2)[1].tolist())
    assert given_ == outcome(lambda: [host_truths(conditions, columns, evaluator, source)[0].tolist()])
    context.__exit__(None, None, None)


def test_literals_that_python_takes_for_one_are_kept_apart() -> None:
    table = pa.table({"i8": pa.array([127, 1], pa.int8()), "flag": [True, False], "f64": [1.0, 1.5]})
    columns = Columns(table, np.array([0, 2]))
    texts = ["flag = TRUE", "f64 = 1", "i8 + 1.0 > 5", "i8 + 1 > 5"]
    with analysed(texts, "duckdb") as (conditions, _, source):
        _, bitmaps = evaluate_bitmaps(conditions[:3], columns, NoHost(), source)
        assert bitmaps.tolist() == [[1, 0], [1, 0], [1, 0]]
        # 127 + 1 leaves the type of i8: whether that is an error is the host's to say.
        with pytest.raises(AssertionError, match="the host was asked"):
            evaluate_bitmaps(conditions, columns, NoHost(), source)


def test_reasons_name_what_the_host_must_do() -> None:
    with analysed(["levenshtein(s, PREV(s)) < 2", "f64 > 1"], "duckdb") as (conditions, _, _source):
        assert list(host_reasons(conditions, EMPTY)) == ["V0"]


def test_a_part_of_one_row_is_projected_in_input_order() -> None:
    table = pa.table({"s": ["Ab", "x", None, "aB"], "s2": ["ab", "q", "ab", "y"]})
    columns = Columns(table, np.array([0, 2, 4]), np.array([3, 0, 2, 1]))
    texts = ["LOWER(COALESCE(PREV(s), 'Q')) = s2", "PREV(LOWER(COALESCE(s, 'Q'))) = 'q'"]
    with analysed(texts, "duckdb") as (conditions, evaluator, source):
        assert host_reasons(conditions, table.slice(0, 0)) == {}
        _, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, source)
    # In order: s2 is y, ab | ab, q; s is aB, Ab | NULL, x. Before a partition's first row s is NULL, so it reads q.
    assert bitmaps.tolist() == [[0, 1, 0, 1], [1, 0, 1, 1]]


@pytest.mark.parametrize("n_strings", [3, 300, 70_000])
def test_many_tests_of_one_column(n_strings: int) -> None:
    generator = np.random.default_rng(n_strings)
    rows = generator.integers(0, n_strings, 100_000)
    rows[:20_000] %= 200  # strings repeat at first, so that they are coded
    strings = [None if row == 1 else f"s{row}" for row in rows]
    table = pa.table({"s": strings})
    columns = Columns(table, np.array([0, 10, len(rows)]), generator.permutation(len(rows)))
    texts = ["s = 's0'", "s IN ('s2', 's299', 's6999')", "s < 's2'", "s <> 's2'", "PREV(s) = 's0'", "s = PREV(s)"]
    with analysed(texts, "duckdb") as (conditions, evaluator, source):
        _, bitmaps = evaluate_bitmaps(conditions, columns, NoHost(), source, 2)
        expected = host_truths(conditions, columns, evaluator, source)
    assert (bitmaps == np.array(expected)).all()


@given(lengths=st.lists(st.integers(1, 5), max_size=6), shift=st.integers(-7, 7).filter(bool))
def test_leaving_rows(lengths: list[int], shift: int) -> None:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    expected = [
        row
        for begin, end in pairwise(offsets)
        for row in range(begin, end)
        if not begin <= row + shift < end
    ]
    assert leaving_rows(offsets, shift).tolist() == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_short_literals_are_compared_as_numbers(kind: pa.DataType) -> None:
    """As Arrow compares them: NULLs, strings longer than a number, slices of several chunks, an order."""
    generator = np.random.default_rng(5)
    words = ["", "a", "a\0", "view", "12345678", "123456789", "ä", None]
    chunks = [pa.array([words[i] for i in generator.integers(0, 8, n)], kind) for n in (40, 0, 1, 60)]
    values = pa.chunked_array(chunks, kind).slice(3)
    tests = [
        StringTest("eq", ("view",)), StringTest("ne", ("",)), StringTest("in", ("a", "12345678", "ä")),
        StringTest("eq", ("a\0",)),
    ]
    order = generator.permutation(len(values))
    for ordering in (Ordering(None, 2), Ordering(order, 1)):
        with mock.patch.object(leaves, "FEW_ROWS", 0):
            found = ordering.tests(values, tests)
        assert found[0].data is found[1].data  # one array for all
        for one, other in zip(found, ordering.tests(values, tests), strict=True):
            holds = np.ones(len(values), np.bool_) if one.nulls is None else ~one.nulls
            assert (one.slice(0, len(values)) == other.slice(0, len(values)))[holds].all()
            assert one.nulls is not None
            assert other.nulls is not None
            assert (one.nulls == other.nulls).all()
    with mock.patch.object(leaves, "FEW_ROWS", 0):
        for test in (StringTest("eq", ("123456789",)), StringTest("lt", ("b",))):
            assert Ordering(None, 1).tests(values, [test])[0].matching is None
