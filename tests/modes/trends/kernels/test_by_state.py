"""Trends by state: compiled as interpreted, as by event, and as many as formulas say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.forms import in_form
from tests.modes.trends.kernels.answers import count, is_count, table
from tests.modes.trends.kernels.long_streams import check_compiled, check_equals_by_event
from tests.modes.trends.kernels.machines import Counted, machine_of, symbols_of
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT

import sparkrex as rex
from sparkrex.modes.trends.kernels.by_state import advance_by_state
from sparkrex.modes.trends.kernels.counting import count_log
from sparkrex.modes.trends.plan import Counts

SEED = 14
LOG10_OF_2 = Fraction("0.301029995663981195213738894724493026768189881462108541310427461127108189274424509486927")


@pytest.mark.parametrize(("counts", "n_small", "n_long"), [
    ("exact", 12, 5),
    ("log", 8, 3),
    pytest.param("exact", 150, 50, marks=pytest.mark.slow), pytest.param("log", 150, 50, marks=pytest.mark.slow),
])
def test_compiled_equals_interpreted(counts: str, n_small: int, n_long: int) -> None:
    check_compiled("by_state", counts, SEED, n_small, n_long)


@pytest.mark.parametrize("n_examples", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_by_state_equals_by_event(n_examples: int) -> None:
    check_equals_by_event("by_state", SEED + 1, n_examples)


@pytest.mark.parametrize("counts", ["exact", "log", "text"])
@pytest.mark.parametrize("n_rows", [1, 61, 62, 63, 64, 65, 100, 126])
def test_all_subsets_of_events(n_rows: int, counts: str) -> None:
    stream = table("A" * n_rows)
    assert is_count(count(stream, "A+ a", ANY, "by_state", counts=counts), 2**n_rows - 1, counts)
    # So many cuts between the first and the last event of each subset.
    expected = sum(math.comb(n_rows, size) * (size - 1) for size in range(2, n_rows + 1))
    if counts != "exact" or expected < 10**38:
        assert is_count(count(stream, "SEQ(A+ a, A+ b)", ANY, "by_state", counts=counts), expected, counts)


@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_all_stretches_of_events(semantics: str) -> None:
    stream = table("A" * 700)
    assert count(stream, "A+ a", semantics, "by_state") == 700 * 701 // 2
    assert count(stream, "A{3,5} a", semantics, "by_state") == 698 + 697 + 696
    # Each event under one of two variables.
    doubled = sum(2**length * (101 - length) for length in range(1, 101))
    assert count(table("A" * 100), "(A a | A b)+", semantics, "by_state") == doubled


# Counts beyond their types.


def test_beyond_38_digits() -> None:
    """The largest number of 38 digits is not reached by a power of two: 2^126 has 38, 2^127 has 39."""
    text = "RETURN k, COUNT(*) AS n PATTERN A+ a SEMANTICS skip-till-any-match GROUP-BY k WITHIN 1000"
    kinds = {"small": 126, "large": 127}
    stream = pa.table({
        "ts": [row for n_rows in kinds.values() for row in range(n_rows)], "kind": ["A"] * sum(kinds.values()),
        "k": [name for name, n_rows in kinds.items() for _ in range(n_rows)],
    })
    with pytest.raises(rex.ExecutionError) as raised:
        rex.trends(text, stream, time="ts", type="kind")
    assert raised.value.code == "REX416"
    assert "more than 38 digits for k = 'large' in the window from 0 to 1000" in raised.value.message
    assert 'counts="log"' in str(raised.value)
    assert 'counts="text"' in str(raised.value)
    small = stream.filter(pa.compute.equal(stream["k"], "small"))
    assert rex.trends(text, small, time="ts", type="kind")["n"].to_pylist() == [2**126 - 1]
    found = rex.trends(text, stream, time="ts", type="kind", counts="log").to_pylist()
    logarithms = {row["k"]: row["n"] for row in found}
    assert logarithms == pytest.approx({name: n_rows * math.log10(2) for name, n_rows in kinds.items()}, rel=1e-12)
    found = rex.trends(text, stream, time="ts", type="kind", counts="text").to_pylist()
    assert {row["k"]: row["n"] for row in found} == {name: str(2**n_rows - 1) for name, n_rows in kinds.items()}


def test_beyond_ten_to_the_thousand() -> None:
    n_rows = 3400
    stream = table("A" * n_rows, range(n_rows))
    aggregates = "COUNT(*) AS n, AVG(a.x) AS m, SUM(a.x) AS s, MAX(a.x) AS h"
    text = f"RETURN {aggregates} PATTERN A+ a SEMANTICS skip-till-any-match"
    (row,) = rex.trends(text, stream, time="ts", type="kind", counts="text").to_pylist()
    assert row == {
        "window_start": None, "window_end": None, "n": str(2**n_rows - 1), "m": (n_rows - 1) / 2,
        "s": str(2 ** (n_rows - 1) * sum(range(n_rows))), "h": n_rows - 1,
    }
    assert len(row["n"]) > 1000
    with pytest.raises(rex.ExecutionError, match="REX416"):
        rex.trends(text, stream, time="ts", type="kind")
    with pytest.raises(rex.ExecutionError, match=r"REX416.*SUM.* beyond the range of DOUBLE"):
        rex.trends(text, stream, time="ts", type="kind", counts="log")
    (row,) = rex.trends(text.replace("SUM(a.x) AS s, ", ""), stream, time="ts", type="kind", counts="log").to_pylist()
    assert abs(Fraction(row["n"]) - n_rows * LOG10_OF_2) <= Fraction(1, 10**12) * 1024
    assert row["m"] == pytest.approx((n_rows - 1) / 2, rel=1e-14)
    assert row["h"] == n_rows - 1


@pytest.mark.parametrize("n_b", [10**6, pytest.param(10**8, marks=pytest.mark.slow)])
def test_28_a_and_then_many_b_that_double(n_b: int) -> None:
    """The a's stay where they are, so that the b's soon are far away, and go by state."""
    machine = machine_of("SEQ(A+ a, B+ b)", ANY)
    counted = Counted.fresh(machine, Counts.LOG, 1)
    symbols = np.concatenate([symbols_of("A" * 28), symbols_of("B").repeat(n_b)])
    counted.count(in_form(count_log, "compiled"), symbols, [0, len(symbols)])
    assert counted.reached[0] < 2000
    counted.advance(in_form(advance_by_state, "compiled"), symbols, [0, len(symbols)], closes=True)
    (found,) = counted.logarithms()
    expected = Fraction(math.log10(2**28 - 1)) + n_b * LOG10_OF_2
    assert abs(Fraction(found) - expected) <= expected / 10**12
