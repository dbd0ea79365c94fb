"""Results that random queries once found wrong, and numbers at the edges of their types."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex

COUNTS = ("exact", "log", "text")


def trends(text: str, table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rex.trends(text, table, time="t", **options).to_pylist()
    return found


@pytest.mark.parametrize("counts", COUNTS)
def test_the_average_of_a_negative_sum(counts: str) -> None:
    table = pa.table({"t": [1, 2], "x": pa.array([Decimal("-1.75"), Decimal("0.25")], pa.decimal128(10, 2))})
    text = "RETURN AVG(A.x) AS mean PATTERN A+ SEMANTICS contiguous"
    assert trends(text, table, counts=counts)[0]["mean"] == pytest.approx(-0.75, rel=1e-14)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, -math.inf], -math.inf), ([math.inf, -math.inf], math.nan), ([math.nan, 1.0], math.nan)],
)
def test_sums_of_infinities_and_nan(counts: str, values: list[float], expected: float) -> None:
    text = "RETURN SUM(A.x) AS total, AVG(A.x) AS mean PATTERN A+ SEMANTICS skip-till-any-match"
    (found,) = trends(text, pa.table({"t": [1, 2], "x": values}), counts=counts)
    np.testing.assert_equal([found["total"], found["mean"]], [expected, expected])


@pytest.mark.parametrize("counts", COUNTS)
def test_sides_of_a_conjunction_that_share_a_variable(counts: str) -> None:
    """A+ has 7 trends of three events under any, of which 4 have two events or more: 7 * 4 - 4 - 6 pairs."""
    table = pa.table({"t": [1, 2, 3]})
    for semantics, pairs in (("skip-till-any-match", 18), ("skip-till-next-match", 12), ("contiguous", 12)):
        text = f"RETURN COUNT(*) AS n PATTERN A a+ & A a{{2,}} SEMANTICS {semantics}"
        found = trends(text, table, counts=counts)[0]["n"]
        assert float(found) == pytest.approx(math.log10(pairs) if counts == "log" else pairs, rel=1e-12)


def doubling(n_events: int) -> pa.Table:
    return pa.table({"t": np.arange(n_events), "x": np.full(n_events, 3)})


ALL = "RETURN COUNT(*) AS n, SUM(A.x) AS total PATTERN A+ SEMANTICS skip-till-any-match"


@pytest.mark.parametrize("n_events", [63, 64, 65, 100, 117])
def test_counts_beyond_64_bits_are_exact(n_events: int) -> None:
    (found,) = trends(ALL, doubling(n_events))
    assert found["n"] == 2**n_events - 1
    assert found["total"] == 3 * n_events * 2 ** (n_events - 1)


@pytest.mark.parametrize("n_events", [130, 400, 4_000])
def test_counts_beyond_38_digits(n_events: int) -> None:
    with pytest.raises(rex.RexError, match="REX416") as caught:
        trends(ALL, doubling(n_events))
    assert "counts=" in str(caught.value)
    (found,) = trends(ALL, doubling(n_events), counts="text")
    assert int(found["n"]) == 2**n_events - 1
    assert int(found["total"]) == 3 * n_events * 2 ** (n_events - 1)
    text = ALL.replace(", SUM(A.x) AS total", ", AVG(A.x) AS mean")
    (found,) = trends(text, doubling(n_events), counts="log")
    assert found["n"] == pytest.approx(n_events * math.log10(2), rel=1e-12)
    assert found["mean"] == pytest.approx(3.0, rel=1e-14)


def test_a_large_count_that_nothing_ends_is_no_error() -> None:
    table = pa.table({"t": np.arange(301), "kind": ["A"] * 300 + ["C"]})
    text = "RETURN COUNT(*) AS n PATTERN (SEQ(A+, B) | C) SEMANTICS skip-till-any-match"
    with pytest.warns(UserWarning, match="no event has type B"):
        assert trends(text, table, type="kind") == [{"window_start": None, "window_end": None, "n": Decimal(1)}]


def test_the_error_of_a_large_count_names_group_and_window() -> None:
    table = doubling(300).append_column("k", pa.array(["a"] * 10 + ["b"] * 290))
    with pytest.raises(rex.RexError, match=r"REX416.*k = 'b' in the window from 0 to 1000"):
        trends("RETURN k, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match GROUP-BY k WITHIN 1000", table)


def test_sums_beyond_doubles() -> None:
    text = ALL.replace("SUM(A.x)", "SUM(A.x * 1.0e0)")
    with pytest.raises(rex.RexError, match=r"REX416.*SUM\(A.x \* 1.0e0\) is beyond the range of DOUBLE"):
        trends(text, doubling(2_000), counts="log")


def test_groups_of_several_partitions_come_window_by_window() -> None:
    table = pa.table({"t": [25, 5, 15, 6, 26, 16], "g": ["x", "y", "x", "x", "y", "y"], "k": [1, 1, 2, 3, 2, 3]})
    found = trends("RETURN g, COUNT(*) AS n PATTERN A+ SEMANTICS contiguous WHERE [k] GROUP-BY g WITHIN 10", table)
    assert [(row["g"], row["window_start"]) for row in found] == [
        ("x", 0), ("x", 10), ("x", 20), ("y", 0), ("y", 10), ("y", 20),
    ]


def test_columns_that_order_what_is_not_ordered() -> None:
    table = pa.table({"t": [1, 1], "id": [1, 2]})
    text = "RETURN COUNT(*) AS n PATTERN A+ SEMANTICS contiguous"
    with pytest.raises(rex.RexError, match=r"REX217.*tie_break"):
        trends(text, table, tie_break="id")
    assert trends(text, table, tie_break="id", ties="order")[0]["n"] == 3
    with pytest.raises(rex.RexError, match="REX107"):
        rex.sql(f"SELECT * FROM s MATCH_TRENDS (TIME t TIE BREAK id {text})", s=table)


def test_a_sequence_without_a_comma_is_warned_of() -> None:
    table = pa.table({"t": [1, 2, 3], "kind": ["A", "A", "B"]})
    with pytest.warns(UserWarning, match=r"B is a variable of the pattern, and also a type"):
        trends("RETURN COUNT(*) AS n PATTERN A+ B SEMANTICS skip-till-any-match", table, type="kind")


def test_averages_and_sums_of_doubles_have_no_limit_of_digits() -> None:
    table = doubling(300).append_column("y", pa.array(np.arange(300) % 2 + 0.5))
    text = "RETURN AVG(A.y) AS mean, SUM(A.y) AS total PATTERN A+ SEMANTICS skip-till-any-match"
    (found,) = trends(text, table)
    assert found["mean"] == pytest.approx(1.0, rel=1e-14)
    assert found["total"] == pytest.approx(300.0 * 2.0**299, rel=1e-14)
    with pytest.raises(rex.RexError, match=r"the sum behind AVG\(A.x\) has more than 38 digits"):
        trends("RETURN AVG(A.x) PATTERN A+ SEMANTICS skip-till-any-match", table)
