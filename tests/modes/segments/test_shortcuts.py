"""Every shortcut of the operators finds what the plain way finds.

Tests of both ends, rows tested once, Kleene closures from given starts, tables in blocks, shared probes.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.segments.building import call, first, last, ratio, rows_window

from sparkrex.columns.ordered import Columns
from sparkrex.modes.segments.aggregates import mann_kendall
from sparkrex.modes.segments.aggregates.mann_kendall import Blocks, MannKendall, Table
from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.operators.conditions import Condition, SegmentConditions
from sparkrex.modes.segments.operators.contract import Segments, Spaces
from sparkrex.modes.segments.operators.leaves import Generator
from sparkrex.modes.segments.operators.probes import shared
from sparkrex.modes.segments.operators.series import Column, Series
from sparkrex.modes.segments.operators.unary import MaterializeKleene
from sparkrex.modes.segments.pattern import Window
from sparkrex.source import Source

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression

LIMIT = 10_000_000
N_ROWS = 90
OFFSETS = np.array([0, 31, 31, 32, N_ROWS])
WINDOWS: tuple[tuple[Window, ...], ...] = (
    (), (rows_window(2, 2),), (rows_window(3, 20),), (Window("t", 2.0, 9.0),),
    (rows_window(2, 6), Window("t", None, 7.0)),
)


def made(expression: Expression, seed: int, kind: str) -> tuple[Series, Condition]:
    generator = np.random.default_rng(seed)
    steps = np.concatenate([np.cumsum(generator.integers(1, 3, n)) for n in np.diff(OFFSETS)])
    values: dict[str, Any] = {
        "doubles": generator.normal(size=N_ROWS).round(1), "positive": generator.integers(1, 9, N_ROWS) / 2,
        "whole": generator.integers(-3, 4, N_ROWS), "constant": np.zeros(N_ROWS),
    }
    table = pa.table({"t": steps, "x": values[kind]})
    series = Series({"t": Column(steps, None)}, OFFSETS)
    host: Any = None  # nothing here is asked of a host
    conditions = SegmentConditions([expression], series, Columns(table, OFFSETS), host, Source(""))
    return series, Condition(conditions, 0, frozenset({"S"}), (), False)


def spaces_at_random(seed: int, n: int = 25) -> Spaces:
    """Spaces in one partition each; some are empty."""
    generator = np.random.default_rng(seed)
    partition = generator.choice([0, 2, 3], n)
    low, high = OFFSETS[partition], OFFSETS[partition + 1] - 1
    a, b, c, d = (generator.integers(low, high + 1) for _ in range(4))
    return Spaces(np.minimum(a, b), np.maximum(a, b), np.minimum(c, d), np.maximum(c, d))


def without_shortcut(condition: Condition) -> Condition:
    condition.conditions.leave_to_compiled(condition.number, condition.own)
    return condition


def as_tuples(found: Segments) -> list[tuple[int, int, int]]:
    return list(zip(found.space.tolist(), found.start.tolist(), found.end.tolist(), strict=True))


FIRST, LAST = first("S", "x"), last("S", "x")
VALUES: dict[str, Expression] = {
    "last - first": call("subtract", LAST, FIRST), "first - last": call("subtract", FIRST, LAST),
    "last / first": ratio(LAST, FIRST), "first / last": ratio(FIRST, LAST), "last": LAST, "first": FIRST,
}


@pytest.mark.parametrize("kind", ["doubles", "positive", "whole", "constant"])
@pytest.mark.parametrize("value", VALUES)
def test_both_ends_are_tested_as_the_compiled_condition_does(value: str, kind: str) -> None:
    for comparison, threshold, is_turned in product(("lt", "le", "gt", "ge"), (-0.5, 0, 1), (False, True)):
        sides = (threshold, VALUES[value]) if is_turned else (VALUES[value], threshold)
        expression = call(comparison, *sides)
        series, quick = made(expression, 3, kind)
        _, plain = made(expression, 3, kind)
        assert quick.end_test is not None
        without_shortcut(plain)
        start = np.repeat(np.arange(N_ROWS), 4)
        end = np.minimum(start + np.tile(np.arange(4), N_ROWS), N_ROWS - 1)
        np.testing.assert_array_equal(quick.holds(start, end, {}), plain.holds(start, end, {}))
        for number, windows in enumerate(WINDOWS):
            spaces = spaces_at_random(number)
            found = Generator("", series, windows, quick, (), LIMIT)
            expected = Generator("", series, windows, plain, (), LIMIT)
            assert as_tuples(found.find(spaces)) == as_tuples(expected.find(spaces))


def test_ends_are_compared_with_each_other() -> None:
    for comparison in ("lt", "le", "gt", "ge"):
        for sides in ((LAST, FIRST), (FIRST, LAST)):
            series, quick = made(call(comparison, *sides), 4, "whole")
            _, plain = made(call(comparison, *sides), 4, "whole")
            assert quick.end_test is not None
            without_shortcut(plain)
            spaces = spaces_at_random(5)
            found, expected = (Generator("", series, (), one, (), LIMIT).find(spaces) for one in (quick, plain))
            assert as_tuples(found) == as_tuples(expected)


@pytest.mark.parametrize("n_rows", [2, 7])
def test_segments_of_one_length_over_many_rows(n_rows: int) -> None:
    x = np.random.default_rng(8).integers(-2, 3, 60_000).astype(np.float64)
    series = Series({}, np.array([0, 1000, 2025, 60_000]))
    host: Any = None
    expression = call("ge", VALUES["last / first"], 0)
    columns = Columns(pa.table({"x": x}), series.offsets)
    conditions = SegmentConditions([expression], series, columns, host, Source(""))
    condition = Condition(conditions, 0, frozenset("S"), (), False)
    generator = Generator("", series, (rows_window(n_rows, n_rows),), condition, (), LIMIT)
    first_rows, last_rows = series.offsets[:-1], series.offsets[1:] - 1
    found = generator.find(Spaces(first_rows, last_rows, first_rows, last_rows))
    start = np.concatenate([np.arange(a, b - n_rows + 1) for a, b in pairwise(series.offsets.tolist())])
    with np.errstate(all="ignore"):
        holds = (x[start] != 0) & (x[start + n_rows - 1] / x[start] >= 0)
    np.testing.assert_array_equal(found.start, start[holds])
    np.testing.assert_array_equal(found.end, found.start + n_rows - 1)
    assert generator.n_tested == len(start)


def test_blocks_of_ends_save_comparisons() -> None:
    _, condition = made(call("gt", VALUES["last - first"], 1000), 5, "doubles")
    series = condition.conditions.series
    generator = Generator("", series, (rows_window(1, 50),), condition, (), LIMIT)
    whole = Spaces(OFFSETS[:-1], OFFSETS[1:] - 1, OFFSETS[:-1], OFFSETS[1:] - 1)
    assert not len(generator.find(whole))
    lengths = np.diff(OFFSETS)
    assert 0 < generator.n_tested < int((lengths * (lengths + 1) // 2).sum()) // 4


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_columns_that_doubles_do_not_order_are_left_to_the_compiled_condition(value: float | None) -> None:
    table = pa.table({"x": pa.array([1.0, value, 2.0])})
    series = Series({}, np.array([0, 3]))
    host: Any = None
    expression = call("gt", LAST, FIRST)
    conditions = SegmentConditions([expression], series, Columns(table, series.offsets), host, Source(""))
    assert Condition(conditions, 0, frozenset({"S"}), (), False).end_test is None


def test_rows_are_tested_once() -> None:
    expression = call("gt", last("S", "x"), last("S", "x", shift=-1))
    series, once = made(expression, 6, "doubles")
    point = (rows_window(None, 1),)
    whole = Spaces(OFFSETS[:-1], OFFSETS[1:] - 1, OFFSETS[:-1], OFFSETS[1:] - 1)
    generator = Generator("", series, point, once, (), LIMIT)
    generator.find(whole)
    assert generator.n_tested == N_ROWS
    spaces = spaces_at_random(7)
    found = generator.find(spaces)
    assert generator.n_tested == N_ROWS
    _, again = made(expression, 6, "doubles")
    few = Generator("", series, point, again, (), LIMIT)
    few._n_points = -1_000_000  # never enough of them
    assert as_tuples(found) == as_tuples(few.find(spaces))
    assert not again.has_rows


@pytest.mark.parametrize(("minimum", "maximum"), [(1, None), (2, None), (3, 5), (1, 2)])
@pytest.mark.parametrize("child_window", [(2, 2), (1, 4), (2, 5)])
@pytest.mark.parametrize("gap", [0, 1])
def test_a_closure_from_given_starts_is_part_of_the_whole_closure(
    minimum: int, maximum: int | None, child_window: tuple[int, int], gap: int
) -> None:
    for seed in range(4):
        series, condition = made(call("ge", LAST, FIRST), seed, "whole")
        child = Generator("", series, (rows_window(*child_window),), condition, (), LIMIT)
        windows = WINDOWS[2 + seed % 2]
        kleene = MaterializeKleene(
            "", series, windows, (child,), frozenset(), LIMIT, minimum, maximum, gap,
        )
        spaces = spaces_at_random(seed)
        expected = [
            (space, start, end) for space, start, end in as_tuples(kleene.find(spaces))
            if start == spaces.start_low[space]
        ]
        from_starts = Spaces(spaces.start_low, spaces.start_low, spaces.end_low, spaces.end_high)
        assert as_tuples(kleene.find(from_starts)) == expected


def test_tables_in_blocks_say_what_one_table_does(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(8)
    values = generator.integers(0, 5, 400).astype(np.float64)
    nulls = (generator.random(400) < 0.1).astype(np.uint8)
    offsets = np.array([0, 150, 150, 400])
    start = np.concatenate([generator.integers(0, 139, 100), generator.integers(150, 389, 300)])
    end = start + generator.integers(0, 12, 400)
    end = np.where(start < 150, np.minimum(end, 149), end)
    for marks in (None, nulls):
        whole = MannKendall().index((values,), (marks,), Partitions.whole(offsets), 12)
        assert isinstance(whole, Table)
        monkeypatch.setattr(mann_kendall, "LARGEST_TABLE", 700)
        parts = MannKendall().index((values,), (marks,), Partitions.whole(offsets), 12)
        monkeypatch.undo()
        assert isinstance(parts, Blocks)
        monkeypatch.setattr(mann_kendall, "LARGEST_TABLE", 700)
        found = MannKendall().lookup(parts, start, end)
        monkeypatch.undo()
        for one, other in zip(found, MannKendall().lookup(whole, start, end), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("has_bindings", [False, True])
def test_probes_of_one_row_are_one_probe(has_bindings: bool) -> None:
    generator = np.random.default_rng(9)
    rows = generator.integers(0, 12, 60)
    low = rows + generator.integers(0, 4, 60)
    high = low + generator.integers(-2, 5, 60)
    names = {"A": (rows % 2, rows % 3)} if has_bindings else {}
    probes = shared(rows, low, high, names)
    bound = [one.tolist() for pair in probes.bindings.values() for one in pair]
    keys = list(zip(probes.rows.tolist(), *bound, strict=True))
    assert len(set(keys)) == len(keys)
    for number, place in enumerate(probes.place.tolist()):
        if place < 0:
            assert low[number] > high[number]
        else:
            assert probes.rows[place] == rows[number]
            assert probes.low[place] <= low[number] <= high[number] <= probes.high[place]
