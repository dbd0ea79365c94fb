"""The oracle's aggregates and scalar functions against answers worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlglot import exp, parse_one
from sqlglot.dialects.dialect import Dialect
from tests.modes.rows.oracle import CannotEvaluate, OracleError, evaluate
from tests.modes.rows.oracle.building import aggregate, call, column, make_plan
from tests.modes.rows.oracle.expressions import value_of_row

from sparkrex.languages.match_recognize.row_pattern import plus, variable
from sparkrex.scalar.expression import Call, Expression, Literal, SortItem
from sparkrex.scalar.host_syntax import HostSyntax, stand_in

A = variable("A")
N = column("n")


# Aggregates.


def over_numbers(measure: Expression, *numbers: Any, dialect: str = "spark") -> Any:
    """The measure over one match of all rows, with the numbers in column n."""
    rows = [{"n": number, "letter": "A", "i": place} for place, number in enumerate(numbers)]
    plan = make_plan(plus(A), measures={"m": measure}, columns=("n", "letter", "i"))
    (row,) = evaluate(plan, rows, dialect=dialect)[1]
    return row[0]



def test_aggregates_leave_nulls_out() -> None:
    assert over_numbers(aggregate("count", N), 1, None, 3) == 2
    assert over_numbers(aggregate("count"), 1, None, 3) == 3
    assert over_numbers(aggregate("sum", N), 1, None, 3) == 4
    assert over_numbers(aggregate("avg", N), 1, None, 4) == 2.5
    assert over_numbers(aggregate("min", N), 3, None, 1) == 1
    assert over_numbers(aggregate("sum", N), None, None) is None
    assert over_numbers(aggregate("max", N), 1.0, math.inf, 2.0) == math.inf
    assert math.isnan(over_numbers(aggregate("max", N), math.nan, math.inf))


def test_sums_are_exact_or_in_row_order() -> None:
    assert over_numbers(aggregate("sum", N), 2**62, -1) == 2**62 - 1
    assert over_numbers(aggregate("sum", N), Decimal("0.1"), Decimal("0.2")) == Decimal("0.3")
    # 0.1 is lost in 1e16, in this order.
    assert over_numbers(aggregate("sum", N), 0.1, 1e16, -1e16) == 0.0
    assert over_numbers(aggregate("sum", N), 1e16, -1e16, 0.1) == 0.1
    with pytest.raises(OracleError, match="REX405"):
        over_numbers(aggregate("sum", N), 2**63 - 1, 1)


def test_spread() -> None:
    # Deviations from 5 are -3, -1, 1, 3: squares sum to 20.
    assert over_numbers(aggregate("var_pop", N), 2, 4, 6, 8) == 5.0
    assert over_numbers(aggregate("stddev_pop", N), 2, 4, 6, 8) == pytest.approx(math.sqrt(5))
    assert over_numbers(aggregate("var_samp", N), 2, 4, 6, 8) == pytest.approx(20 / 3)
    assert over_numbers(aggregate("stddev_samp", N), 7) is None
    assert over_numbers(aggregate("stddev_pop", N), 7) == 0.0
    assert over_numbers(aggregate("median", N), 1, 9, 2, 4) == 3.0


def test_distinct_filter_and_order() -> None:
    assert over_numbers(aggregate("count", N, distinct=True), 1, 1, None, 2) == 2
    assert over_numbers(aggregate("sum", N, distinct=True), 0.0, -0.0, 2.0, 2.0) == 2.0
    assert over_numbers(aggregate("sum", N, where=call("gt", N, 1)), 1, 2, None, 3) == 5
    down = [SortItem(N, is_descending=True, nulls_first=True)]
    assert over_numbers(aggregate("array_agg", N, order_by=down), 1, None, 3, dialect="trino") == [None, 3, 1]
    assert over_numbers(aggregate("array_agg", N, order_by=down), 1, None, 3) == [3, 1]
    assert over_numbers(aggregate("array_agg", N, distinct=True), 2, 1, 2, dialect="trino") == [2, 1]


def test_collecting_aggregates() -> None:
    assert over_numbers(aggregate("string_agg", N, "-"), 1, None, 3) == "1-3"
    assert over_numbers(aggregate("map_agg", N, column("i")), 7, None, 7, 8) == {7: 0, 8: 3}
    assert over_numbers(aggregate("min_by", column("i"), N), 3, None, 1, 1) == 2
    assert over_numbers(aggregate("max_by", column("i"), N), 3, None, 1, 3) == 0
    assert over_numbers(aggregate("max_by", column("i"), N, 2), 3, None, 1, 3) == [0, 3]
    assert over_numbers(aggregate("count_if", call("gt", N, 1)), 1, None, 2, 3) == 2
    assert over_numbers(aggregate("bool_and", call("gt", N, 0)), 1, None, 2) is True
    assert over_numbers(aggregate("bool_or", call("gt", N, 9)), 1, None, 2) is False


# Scalars.


def scalar(function: str, *operands: Any, dialect: str = "spark") -> Any:
    """The function over constants."""
    return value_of_row(call(function, *operands), {}, dialect)


def test_three_valued_logic() -> None:
    assert scalar("and", None, False) is False
    assert scalar("and", True, None) is None
    assert scalar("or", None, True) is True
    assert scalar("or", False, None) is None
    assert scalar("not", None) is None
    assert scalar("in", 1, 2, None) is None
    assert scalar("in", 1, 1, None) is True
    assert scalar("between", 5, None, 4) is False
    assert scalar("between", 3, None, 4) is None
    assert scalar("is_distinct_from", None, 1) is True
    assert scalar("is_not_distinct_from", None, None) is True
    assert scalar("eq", None, None) is None
    assert scalar("case", None, 1, True, 2) == 2
    assert scalar("case", False, 1) is None


def test_guards_guard() -> None:
    broken = call("divide", 1, 0)
    assert scalar("and", False, call("gt", broken, 0)) is False
    assert scalar("case", False, broken, 7) == 7
    assert scalar("coalesce", 1, broken) == 1
    with pytest.raises(OracleError, match="REX405"):
        scalar("coalesce", None, broken)


def test_comparison_of_odd_numbers() -> None:
    assert scalar("eq", math.nan, math.nan) is True
    assert scalar("gt", math.nan, math.inf) is True
    assert scalar("eq", 0.0, -0.0) is True
    assert scalar("eq", 1, Decimal("1.0")) is True
    assert scalar("lt", "Z", "a") is True
    assert scalar("ge", date(2024, 1, 2), "2024-01-01") is True


def test_arithmetic() -> None:
    assert scalar("divide", 7, 2) == 3.5
    assert scalar("divide", -7, 2, dialect="trino") == -3
    assert scalar("divide", 1, 0, dialect="duckdb") == math.inf
    assert scalar("modulo", -7, 3) == -1
    assert scalar("integer_divide", -7, 2) == -3
    assert scalar("add", 1, Decimal("0.5")) == Decimal("1.5")
    assert scalar("multiply", 0.5, Decimal("0.5")) == 0.25
    with pytest.raises(OracleError, match="REX405"):
        scalar("multiply", 2**62, 2)


def test_dates_and_intervals() -> None:
    hour = call("interval", "1", "HOUR")
    noon = datetime(2024, 1, 31, 12)
    assert scalar("subtract", date(2024, 3, 1), date(2024, 2, 1)) == timedelta(days=29)
    assert scalar("subtract", noon, datetime(2024, 1, 31, 11)) == timedelta(hours=1)
    assert scalar("add", noon, hour) == datetime(2024, 1, 31, 13)
    assert scalar("subtract", noon, hour) == datetime(2024, 1, 31, 11)
    assert scalar("add", noon, call("interval", 1, "MONTH")) == datetime(2024, 2, 29, 12)
    assert scalar("add", date(2024, 1, 1), 1) == date(2024, 1, 2)
    assert scalar("extract", "dow", date(2024, 1, 7)) == 0
    assert scalar("extract", "minute", datetime(2024, 1, 1, 1, 2, 3)) == 2
    assert scalar("date_trunc", "month", date(2024, 5, 6)) == date(2024, 5, 1)


def test_casts() -> None:
    assert scalar("cast", "12", "BIGINT") == 12
    assert scalar("cast", 2.5, "INTEGER") == 2
    assert scalar("cast", Decimal("2.5"), "INTEGER", dialect="trino") == 3
    assert [scalar("cast", number, "INTEGER") for number in (Decimal("2.5"), 2.9, -2.9)] == [2, 2, -2]
    assert scalar("cast", 1.255, "DECIMAL(10, 1)") == Decimal("1.3")
    assert scalar("cast", 1, "VARCHAR") == "1"
    assert scalar("cast", "2024-01-31", "DATE") == date(2024, 1, 31)
    assert scalar("cast", date(2024, 1, 31), "TIMESTAMP") == datetime(2024, 1, 31)
    assert scalar("cast", "true", "BOOLEAN") is True
    assert scalar("try_cast", "x", "DOUBLE") is None
    assert scalar("cast", None, "DOUBLE") is None
    with pytest.raises(OracleError, match="REX405"):
        scalar("cast", 300, "TINYINT")


def test_strings_and_numbers() -> None:
    assert scalar("like", "a_b", "a\\_%", "\\") is True
    assert scalar("like", "axb", "a\\_b", "\\") is False
    assert scalar("ilike", "ABC", "a%c") is True
    assert scalar("dpipe", "a", None) is None
    assert scalar("concat", "a", None, dialect="duckdb") == "a"
    assert scalar("substring", "hello", 2, 3) == "ell"
    assert scalar("substring", "hello", -3) == "llo"
    assert scalar("round", 2.5) == 3.0
    assert scalar("round", Decimal("-1.25"), 1) == Decimal("-1.3")
    assert scalar("greatest", 1, None, 3) == 3
    assert scalar("greatest_strict", 1, None) is None
    assert scalar("floor", -1.5) == -2.0
    assert scalar("length", "é") == 1
    assert scalar("log", 2, 8) == 3.0


def test_what_only_the_syntax_says() -> None:
    moment = Literal(datetime(2024, 5, 6, 7))
    assert value_of_row(Call("trim", (Literal(" x "),), syntax("LTRIM({0})")), {}, "spark") == "x "
    padded = Call("pad", (Literal("x "), Literal(3), Literal("-")), syntax("RPAD({0}, 3, '-')"))
    assert value_of_row(padded, {}, "spark") == "x -"
    assert value_of_row(Call("extract", (moment,), syntax("EXTRACT(MONTH FROM {0})")), {}, "spark") == 5
    truncated = Call("timestamptrunc", (moment,), syntax("DATE_TRUNC('YEAR', {0})"))
    assert value_of_row(truncated, {}, "spark") == datetime(2024, 1, 1)
    assert scalar("datediff", date(2024, 3, 1), date(2024, 2, 1)) == 29
    with pytest.raises(CannotEvaluate):
        over_numbers(replace(aggregate("median", N), syntax=syntax("MEDIAN({0} + 1)")), 1)


def syntax(text: str) -> HostSyntax:
    """Spark's SQL with one operand."""
    tree = parse_one(text.format("rex_operand"), dialect="spark")
    operand = next(column for column in tree.find_all(exp.Column) if column.name == "rex_operand")
    operand.replace(stand_in(0, None))
    return HostSyntax.of(tree, Dialect.get_or_raise("spark"), "spark", 1)


def test_what_the_oracle_does_not_know_it_says() -> None:
    with pytest.raises(CannotEvaluate):
        scalar("regexp_extract", "a", "b")
    with pytest.raises(CannotEvaluate):
        over_numbers(aggregate("approx_quantile", N, 0.5), 1)
    with pytest.raises(CannotEvaluate):
        scalar("lower", 5)
