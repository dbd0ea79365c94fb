"""Aggregates over segments: lookup = scan = definition, on NULLs, ties, large offsets and several partitions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.modes.segments import definitions

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates import registry
from sparkrex.modes.segments.aggregates.contract import CostClass
from sparkrex.modes.segments.aggregates.correlation import Corr
from sparkrex.modes.segments.aggregates.mann_kendall import MannKendall, Table
from sparkrex.modes.segments.aggregates.regression import Regression
from sparkrex.modes.segments.kernels.gathered import R2
from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.operators import calls

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import SegmentAggregate

ONE_SEGMENT = [
    name for name in registry.names()
    if (found := registry.find(name)) is not None and found.n_segments == 1 and not found.needs_index
]
MICROSECONDS = 1_700_000_000_000_000


def whole(offsets: Any) -> Partitions:
    """Partitions of which all rows are there."""
    return Partitions.whole(np.array(offsets, np.int64))


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[list[Any]], list[int]]:
    """Two columns of the same length and where partitions begin: each of whole or real numbers, with or without NULLs,
    small (with ties) or far from 0."""
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    found = []
    for _ in range(2):
        offset = draw(st.sampled_from([0, 0, MICROSECONDS, -(10**9)]))
        numbers: st.SearchStrategy[Any] = st.integers(-4, 4).map(lambda x, offset=offset: x + offset)  # type: ignore[misc]
        if draw(st.booleans()):
            numbers = st.sampled_from([-2.5, -1.0, 0.0, 0.1, 0.1, 1e-3, 3.0, 7.25]).map(
                lambda x, offset=offset: float(x + offset)  # type: ignore[misc]
            )
        if draw(st.booleans()):
            numbers = st.one_of(numbers, numbers, st.none())
        n_rows = sum(lengths)
        values = draw(st.lists(numbers, min_size=n_rows, max_size=n_rows))
        found.append(values)
    return found, [0, *np.cumsum(lengths).tolist()]


def arrays(values: list[Any]) -> tuple[NDArray[Any], NDArray[np.uint8] | None]:
    """A column as kernels take it. What stands where NULL is must not matter."""
    is_real = any(isinstance(value, float) for value in values)
    kind: Any = np.float64 if is_real else np.int64
    nulls = np.array([value is None for value in values], np.uint8)
    filled = np.array([(1e9 if is_real else 10**9) if value is None else value for value in values], kind)
    return filled, nulls if nulls.any() else None


def all_segments(offsets: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every segment of every partition."""
    pairs = [
        (start, end)
        for first, after in pairwise(offsets)
        for start in range(first, after) for end in range(start, after)
    ]
    return np.array([start for start, _ in pairs], np.int64), np.array([end for _, end in pairs], np.int64)


def assert_values(found: tuple[Any, Any], expected: list[Any], what: str) -> None:
    """The values are as expected, up to rounding, and NULL where they should be."""
    values, is_null = found
    got = [None if null else value for value, null in zip(values.tolist(), is_null.tolist(), strict=True)]
    for k, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        same = mine is None and theirs is None
        if mine is not None and theirs is not None:
            same = mine == theirs or math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
        assert same, f"{what}, segment {k}: {mine} instead of {theirs}"


def asked(name: str, data: tuple[list[list[Any]], list[int]]) -> tuple[SegmentAggregate, Any, Any, Any, list[Any]]:
    """The aggregate, its columns and NULLs, offsets, and the values it should have over all segments."""
    found = registry.find(name)
    assert found is not None
    values, offsets = data
    given = values[: found.arity]
    start, end = all_segments(offsets)
    expected = [
        definitions.aggregate(name, list(zip(*(column[i : j + 1] for column in given), strict=True)))
        for i, j in zip(start.tolist(), end.tolist(), strict=True)
    ]
    pairs = [arrays(column) for column in given]
    return (
        found, tuple(column for column, _ in pairs), tuple(nulls for _, nulls in pairs),
        np.array(offsets, np.int64), expected,
    )


@pytest.mark.parametrize("name", ONE_SEGMENT)
@settings(max_examples=40, deadline=None)
@given(data=columns())
def test_lookup_and_scan_are_the_definition(name: str, data: tuple[list[list[Any]], list[int]]) -> None:
    found, given_columns, nulls, offsets, expected = asked(name, data)
    start, end = all_segments(data[1])
    assert_values(found.scan_many(given_columns, nulls, whole(offsets), start, end), expected, "scan")
    index = found.index(given_columns, nulls, whole(offsets), None)
    if found.cost.index is None:
        assert index is None
        return
    assert_values(found.lookup(index, start, end), expected, "lookup")
    # With a window, the index need not know longer segments.
    longest = 3
    is_short = end - start < longest
    index = found.index(given_columns, nulls, whole(offsets), longest)
    short = [value for value, take in zip(expected, is_short, strict=True) if take]
    assert_values(found.lookup(index, start[is_short], end[is_short]), short, "lookup in a window")


def drawn_column(draw: random.Random, n_rows: int) -> tuple[NDArray[Any], NDArray[np.uint8] | None]:
    """Numbers that lose digits when they are added up, far from 0 or not, with NULLs, outliers or infinities or not."""
    generator = np.random.default_rng(draw.randrange(1 << 30))
    values = draw.choice([0.0, 1e6, -1e12]) + generator.normal(size=n_rows).cumsum() * draw.choice([1e-3, 1.0, 1e5])
    if draw.random() < 0.3:
        values[generator.random(n_rows) < 0.02] *= 1e9
    if draw.random() < 0.2:
        values[generator.random(n_rows) < 0.02] = draw.choice([math.inf, math.nan, 1e200])
    if draw.random() < 0.4:
        values = (MICROSECONDS + generator.integers(0, 10**9, n_rows).cumsum()).astype(np.int64)
    nulls = (generator.random(n_rows) < draw.choice([0.1, 0.9])).astype(np.uint8) if draw.random() < 0.5 else None
    return values, nulls


@pytest.mark.parametrize("name", ONE_SEGMENT)
@pytest.mark.parametrize("seed", range(5))
def test_a_value_is_one_double(name: str, seed: int) -> None:
    """By scan, by lookup, in order or not, and in a part of the partition, wherever that begins: to the bit."""
    draw = random.Random(f"{name} {seed}")
    found = registry.find(name)
    assert found is not None
    lengths = [draw.randrange(1, 400), draw.randrange(1, 40), draw.randrange(1, 200)]
    offsets = np.cumsum([0, *lengths])
    pairs = [drawn_column(draw, int(offsets[-1])) for _ in range(found.arity)]
    given_columns, nulls = tuple(column for column, _ in pairs), tuple(marks for _, marks in pairs)
    generator = np.random.default_rng(seed)
    partition = generator.integers(0, 3, 400)
    ends = np.sort(offsets[partition] + (generator.random((2, 400)) * np.diff(offsets)[partition]).astype(np.int64), 0)
    longest = draw.choice([3, 20, 100, 400])
    start, end = ends[0], np.minimum(ends[1], ends[0] + longest - 1)
    order = np.lexsort((end, start))
    # Of every partition some rows are gone, and those segments that begin there.
    gone = np.array([draw.randrange(length) for length in lengths])
    is_there = start >= (offsets[:-1] + gone)[partition]
    kept = np.concatenate([np.arange(offsets[p] + gone[p], offsets[p + 1]) for p in range(3)])
    moved = np.searchsorted(kept, start[is_there]), np.searchsorted(kept, end[is_there])
    part_columns = tuple(column[kept] for column in given_columns)
    part_nulls = tuple(None if marks is None else marks[kept] for marks in nulls)
    part = Partitions(np.cumsum([0, *(np.array(lengths) - gone)]), gone)
    with np.errstate(all="ignore"):
        expected = bits(found.scan_many(given_columns, nulls, whole(offsets), start, end))
        assert bits(found.scan_many(part_columns, part_nulls, part, *moved)) == [
            one for one, take in zip(expected, is_there, strict=True) if take
        ]
        index = found.index(given_columns, nulls, whole(offsets), longest)
        if index is None:
            return
        assert bits(found.lookup(index, start, end)) == expected
        assert bits(found.lookup(index, start[order], end[order])) == [expected[place] for place in order]
        index = found.index(part_columns, part_nulls, part, longest)
        if index is not None:
            assert bits(found.lookup(index, *moved)) == [
                one for one, take in zip(expected, is_there, strict=True) if take
            ]


def bits(found: tuple[Any, Any]) -> list[Any]:
    """Values as they are in memory, None for NULL."""
    values, is_null = found
    shown = [value.hex() if isinstance(value, float) else value for value in values.tolist()]
    return [None if null else value for value, null in zip(shown, is_null.tolist(), strict=True)]


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("name", ["linear_reg_r2", "linear_reg_r2_signed"])
def test_regression_on_values_of_any_size(name: str, size: float) -> None:
    data: tuple[list[list[Any]], list[int]] = ([[0, 1, 2, 3, 4], [size * x for x in (1, 4, 2, 8, 8)]], [0, 5])
    found, given_columns, nulls, offsets, expected = asked(name, data)
    start, end = all_segments(data[1])
    assert_values(found.scan_many(given_columns, nulls, whole(offsets), start, end), expected, "scan")
    assert_values(found.lookup(found.index(given_columns, nulls, whole(offsets), None), start, end), expected, "lookup")


@pytest.mark.parametrize("name", ["linear_reg_r2", "linear_reg_r2_signed", "linear_reg_slope", "var", "stddev_pop"])
def test_infinities_are_the_same_by_scan_and_by_index(name: str) -> None:
    found = registry.find(name)
    assert found is not None
    infinite = np.array([np.inf, np.inf, 1.0, np.inf, -np.inf, 1e200, 1e200, 2.0, 2.0, np.nan, np.nan])
    number = np.arange(len(infinite))
    start, end = all_segments([0, len(infinite)])
    for given_columns in ((number, infinite), (infinite, number)):
        used = given_columns[: found.arity]
        nulls = (None,) * found.arity
        scanned, scanned_null = found.scan_many(used, nulls, whole([0, len(infinite)]), start, end)
        index = found.index(used, nulls, whole([0, len(infinite)]), None)
        looked_up, looked_up_null = found.lookup(index, start, end)
        assert scanned_null.tolist() == looked_up_null.tolist()
        np.testing.assert_array_equal(np.where(scanned_null, 0, scanned), np.where(scanned_null, 0, looked_up))


@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e160, 1e300])
def test_outliers_and_corr_on_values_of_any_size(size: float) -> None:
    values = [size * x for x in (1, 4, 2, 8, 8)]
    outlier = registry.find("zscore_outlier")
    assert outlier is not None
    bound = outlier.bound((3,))
    index = bound.index((np.array(values),), (None,), whole([0, 5]), None)
    expected = [definitions.zscore_outlier(values[max(0, row - 2) : row + 1], 3) for row in range(5)]
    assert_values(bound.lookup(index, np.arange(5), np.arange(5)), expected, "zscore")
    start, end = np.zeros(1, np.int64), np.full(1, 4, np.int64)
    found = Corr().scan_many((np.arange(5), np.array(values)), (None, None), whole([0, 5]), start, end)
    assert_values(found, [definitions.corr(range(5), values)], "corr")


@pytest.mark.parametrize("name", ONE_SEGMENT)
@pytest.mark.parametrize("offsets", [[0], [0, 0]])
def test_no_rows_at_all(name: str, offsets: list[int]) -> None:
    found = registry.find(name)
    assert found is not None
    nothing = np.empty(0, np.int64)
    given_columns, nulls = (np.empty(0),) * found.arity, (None,) * found.arity
    assert_values(found.scan_many(given_columns, nulls, whole(offsets), nothing, nothing), [], "scan")
    index = found.index(given_columns, nulls, whole(offsets), None)
    if found.cost.index is not None:
        assert_values(found.lookup(index, nothing, nothing), [], "lookup")


def test_a_scan_in_parts_is_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    found, given_columns, nulls, _, expected = asked("median", ([[3, 1, None, 2, 5, 4]], [0, 6]))
    start, end = all_segments([0, 6])
    monkeypatch.setattr(calls, "_ROWS_AT_ONCE", 7)
    parts: list[int] = []

    def scan(start: Any, end: Any) -> Any:
        parts.append(len(start))
        return found.scan_many(given_columns, nulls, whole([0, 6]), start, end)

    assert_values(calls.in_parts(scan, start, end), expected, "scan")
    assert len(parts) > 1 and sum(parts) == len(start)


@settings(max_examples=60, deadline=None)
@given(data=columns())
def test_corr(data: tuple[list[list[Any]], list[int]]) -> None:
    (x, y), offsets = data
    start, end = all_segments(offsets)
    order = np.random.default_rng(1).permutation(len(start))
    others = (np.append(start[order][:-1], -1), np.append(end[order][:-1], -1))
    expected = [
        None if k < 0 else definitions.corr(x[i : j + 1], y[k : m + 1])
        for i, j, k, m in zip(start.tolist(), end.tolist(), others[0].tolist(), others[1].tolist(), strict=True)
    ]
    (x_array, x_nulls), (y_array, y_nulls) = arrays(x), arrays(y)
    found = Corr().scan_pairs((x_array, y_array), (x_nulls, y_nulls), start, end, *others)
    assert_values(found, expected, "corr")
    same = [definitions.corr(x[i : j + 1], y[i : j + 1]) for i, j in zip(start.tolist(), end.tolist(), strict=True)]
    found = Corr().scan_many((x_array, y_array), (x_nulls, y_nulls), whole(offsets), start, end)
    assert_values(found, same, "corr of one segment")


@settings(max_examples=40, deadline=None)
@given(data=columns(), size=st.integers(1, 4))
def test_zscore_outlier(data: tuple[list[list[Any]], list[int]], size: int) -> None:
    (x, _), offsets = data
    values, nulls = arrays(x)
    found = registry.find("ZScoreOutlier")
    assert found is not None
    bound = found.bound((size,))
    index = bound.index((values,), (nulls,), whole(offsets), None)
    rows = np.arange(len(x))
    expected = [
        definitions.zscore_outlier(x[max(first, row - size + 1) : row + 1], size)
        for first, after in pairwise(offsets) for row in range(first, after)
    ]
    assert_values(bound.lookup(index, rows, rows), expected, "zscore")


def test_two_points_and_clamping() -> None:
    x = np.array([MICROSECONDS, MICROSECONDS + 1, MICROSECONDS + 2], np.int64)
    y = np.array([0.1, 0.2, 0.3])
    start, end = np.array([0, 1, 0]), np.array([1, 2, 2])
    offsets = np.array([0, 3])
    found = registry.find("linear_reg_r2_signed")
    assert found is not None
    for values, is_null in (
        found.scan_many((x, -y), (None, None), whole(offsets), start, end),
        found.lookup(found.index((x, -y), (None, None), whole(offsets), None), start, end),
    ):
        assert not is_null.any()
        assert values[:2].tolist() == [-1.0, -1.0]
        assert -1.0 <= values[2] < -1 + 1e-12


def test_r2_of_whole_numbers_is_the_same_by_scan_and_by_index() -> None:
    """Where R^2 is exactly a decimal, as 0.2 or 0.7, no rounding on the way may move it across a threshold."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 4_000)
    x = np.arange(len(y)) * 86_400_000_000 + MICROSECONDS
    length = rng.integers(3, 61, 20_000)
    start = rng.integers(0, len(y) - 61, len(length))
    found = Regression("linear_reg_r2", R2)
    index = found.index((x, y), (None, None), whole([0, len(y)]), None)
    assert index is not None
    scanned, is_null = found.scan_many((x, y), (None, None), whole([0, len(y)]), start, start + length)
    looked_up, _ = found.lookup(index, start, start + length)
    assert (scanned == looked_up)[~is_null].all()
    rows = list(zip([0, 1, 2, 3], [0, 1, 0, 1], strict=True))
    values, _ = found.scan_many(
        (np.arange(4) + MICROSECONDS, np.array([0, 1, 0, 1])), (None, None), whole([0, 4]), np.array([0]), np.array([3])
    )
    assert values.tolist() == [definitions.aggregate("linear_reg_r2", rows)] == [0.2]


def test_sums_of_whole_numbers_are_exact_and_never_wrap() -> None:
    large = np.array([2**62, -(2**62), 2**62 + 1, 2**62], np.int64)
    found = registry.find("sum")
    assert found is not None
    assert found.index((large,), (None,), whole([0, 4]), None) is None
    values, _ = found.scan_many((large,), (None,), whole([0, 4]), np.array([0, 0]), np.array([1, 2]))
    assert values.tolist() == [0, 2**62 + 1]
    with pytest.raises(ExecutionError) as caught:
        found.scan_many((large,), (None,), whole([0, 4]), np.array([2]), np.array([3]))
    assert caught.value.code == "REX405"
    exact = np.array([2**60 + 1, 2**60 + 3, -5], np.int64)
    index = found.index((exact,), (None,), whole([0, 3]), None)
    assert found.lookup(index, np.array([0, 1]), np.array([1, 2]))[0].tolist() == [2**61 + 4, 2**60 - 2]


def test_the_mean_of_large_whole_numbers() -> None:
    """As of timestamps: some thousand microseconds since 1970 add up to more than 64 bits hold."""
    large = np.array([2**62, 2**62 + 2048, 2**62 + 4096, -5], np.int64)
    found = registry.find("avg")
    assert found is not None
    start, end = np.array([0, 1, 3]), np.array([2, 2, 3])
    expected = [2.0**62 + 2048, 2.0**62 + 3072, -5.0]
    assert_values(found.scan_many((large,), (None,), whole([0, 4]), start, end), expected, "scan")
    assert_values(found.lookup(found.index((large,), (None,), whole([0, 4]), None), start, end), expected, "lookup")


@pytest.mark.parametrize("name", ["sum", "avg", "var", "stddev", "linear_reg_r2", "linear_reg_slope"])
def test_an_outlier_or_an_infinity_elsewhere_spoils_nothing(name: str) -> None:
    """Prefix sums run through them; lookups behind them must not notice."""
    found = registry.find(name)
    assert found is not None
    x = np.arange(12, dtype=np.float64)
    y = np.array([1.5, 1e25, -3e24, 2.0, 2.5, 2.25, np.inf, 3.0, np.nan, 4.0, 4.5, 4.25])
    given_columns = (x, y)[-found.arity :]
    nulls = (None,) * found.arity
    start, end = np.array([3, 9, 3, 9]), np.array([5, 11, 4, 10])
    index = found.index(given_columns, nulls, whole([0, 12]), None)
    expected = [
        definitions.aggregate(name, list(zip(*(c[i : j + 1].tolist() for c in given_columns), strict=True)))
        for i, j in zip(start, end, strict=True)
    ]
    assert_values(found.lookup(index, start, end), expected, "lookup")
    # What holds an infinity or NaN is scanned, and is itself not a number. (Interpreted, NumPy would warn.)
    with np.errstate(all="ignore"):
        odd, _ = found.lookup(index, np.array([5, 7]), np.array([7, 9]))
    assert not math.isfinite(odd[0])
    assert math.isnan(odd[1])


def test_mann_kendall_scans_long_segments_by_sorting() -> None:
    generator = np.random.default_rng(3)
    values = generator.integers(0, 30, 200)
    start, end = np.array([0, 10, 50]), np.array([199, 120, 95])
    expected = [definitions.aggregate("mann_kendall_test", [(v,) for v in values[i : j + 1].tolist()])
                for i, j in zip(start, end, strict=True)]
    assert_values(MannKendall().scan_many((values,), (None,), whole([0, 200]), start, end), expected, "scan")
    index = MannKendall().index((values,), (None,), whole([0, 200]), None)
    assert index is not None
    assert_values(MannKendall().lookup(index, start, end), expected, "lookup")


def test_a_quadratic_index_is_refused_when_it_would_not_fit() -> None:
    n_rows = 100_000
    values = np.zeros(n_rows)
    offsets = np.array([0, n_rows])
    assert MannKendall().index((values,), (None,), whole(offsets), None) is None
    small = MannKendall().index((values,), (None,), whole(offsets), 4)
    assert isinstance(small, Table)
    assert small.statistics.shape == (n_rows, 4)


def check_accuracy(n_rows: int) -> float:
    """The largest error of R^2 over epoch microseconds, relative to 1, against exact fractions."""
    generator = np.random.default_rng(5)
    x = MICROSECONDS + np.cumsum(generator.integers(900_000, 1_100_000, n_rows))
    y = 1e6 + generator.normal(size=n_rows).cumsum()
    found = registry.find("linear_reg_r2")
    assert found is not None
    index = found.index((x, y), (None, None), whole([0, n_rows]), None)
    lengths = np.array([3, 4, 5, 10, 30, 100, 300])
    start = np.concatenate([generator.integers(0, n_rows - length, 20) for length in lengths] + [[n_rows - 3]])
    end = start + np.append(np.repeat(lengths, 20), 3) - 1
    values, is_null = found.lookup(index, start, end)
    scanned, _ = found.scan_many((x, y), (None, None), whole([0, n_rows]), start, end)
    assert not is_null.any()
    worst = float(np.abs(values - scanned).max())
    for k in range(0, len(start), 7):
        part = slice(start[k], end[k] + 1)
        rows = [(a, Fraction(b)) for a, b in zip(x[part].tolist(), y[part].tolist(), strict=True)]
        worst = max(worst, abs(values[k] - definitions.aggregate("linear_reg_r2", rows)))
    # Whole stretches, where a direct computation in exact numbers would take too long.
    halves = np.array([0, n_rows // 3, 0]), np.array([n_rows - 1, n_rows - 1, n_rows // 2])
    values, _ = found.lookup(index, *halves)
    for value, first, last in zip(values, *halves, strict=True):
        a, b = (x[first : last + 1] - x[first]).astype(np.longdouble), y[first : last + 1].astype(np.longdouble)
        a, b = a - a.mean(), b - b.mean()
        worst = max(worst, abs(float(value - (a * b).sum() ** 2 / ((a * a).sum() * (b * b).sum()))))
    return worst


def test_r2_on_microseconds_is_accurate() -> None:
    assert check_accuracy(100_000) < 1e-9


@pytest.mark.slow
def test_r2_on_microseconds_is_accurate_over_a_million_rows() -> None:
    assert check_accuracy(1_000_000) < 1e-9


# Names and users' own.


def test_names() -> None:
    for name in ("Linear_Regression_R2", "ZScoreOutlier", "EqualUpDownTicks", "SUM", "stddev_samp"):
        assert registry.find(name) is not None
    assert registry.find("no_such_aggregate") is None


def test_a_user_defined_aggregate_in_twelve_lines() -> None:
    @registry.aggregate
    class Roughness:
        """How far the values wander, over how far they get."""

        def scan(self, x: NDArray[Any]) -> Any:
            return np.abs(np.diff(x)).sum() / abs(x[-1] - x[0]) if len(x) > 1 else None

        def index(self, x: NDArray[Any]) -> Any:
            return x, np.concatenate([[0.0], np.abs(np.diff(x)).cumsum()])

        def lookup(self, index: Any, start: Any, end: Any) -> Any:
            x, way = index
            return (way[end] - way[start]) / np.abs(x[end] - x[start])

    try:
        found = registry.find("roughness")
        assert found is not None
        assert (found.arity, found.cost.scan, found.cost.index) == (1, CostClass.LINEAR, CostClass.LINEAR)
        assert registry.user_defined() == {"roughness": 1}
        weights = registry.weights("Roughness")
        assert weights is not None
        assert weights.scan > 0
        assert weights.index is not None
        assert weights.lookup is not None
        x = np.array([1.0, 3.0, 2.0, 2.0, 5.0])
        start, end = np.array([0, 0, 1, 2]), np.array([2, 4, 1, 3])
        expected = [3.0, 1.5, None, None]
        assert_values(found.scan_many((x,), (None,), whole([0, 5]), start, end), expected, "scan")
        assert_values(found.lookup(found.index((x,), (None,), whole([0, 5]), None), start, end), expected, "lookup")
        nulls = np.array([0, 1, 0, 0, 0], np.uint8)
        assert found.index((x,), (nulls,), whole([0, 5]), None) is None
        with_nulls = found.scan_many((x,), (nulls,), whole([0, 5]), start, end)
        assert_values(with_nulls, [1.0, 1.0, None, None], "scan with NULLs")
    finally:
        registry.forget("roughness")
    assert registry.find("roughness") is None


def test_a_user_cannot_take_a_built_in_name_or_leave_out_scan() -> None:
    with pytest.raises(ValueError, match="built in"):
        registry.aggregate(name="sum")(type("Mine", (), {"scan": lambda self, x: 0.0}))
    with pytest.raises(TypeError, match="no method scan"):
        registry.aggregate(type("Nothing", (), {}))
    with pytest.raises(TypeError, match="only one of"):
        registry.aggregate(type("Half", (), {"scan": lambda self, x: 0.0, "index": lambda self, x: x}))
