"""Navigation and aggregates over found matches, against plain loops over the labels."""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError
from sparkrex.kernels import accumulate as accumulate_module
from sparkrex.kernels import lazy
from sparkrex.matching import output, reading
from sparkrex.matching.aggregation import aggregate_together
from sparkrex.matching.matches import Matches
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.rows import output as row_output
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ClassifierAt, ColumnAt, End, Semantics, Target
from sparkrex.threads import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

NAMES = ("A", "B", "C")
SETS = (None, frozenset("A"), frozenset("BC"), frozenset("ABC"))
NUMBERS = ("count", "sum", "avg", "min", "max", "var_samp", "var_pop", "stddev_samp", "stddev_pop")


@dataclass(frozen=True)
class Found:
    """Matches over an ordered table: where each begins, and the labels of its rows."""

    matches: list[tuple[int, list[int]]]
    offsets: list[int]
    order: list[int] | None
    values: list[float | int | bool | None]
    type: pa.DataType

    def reader(self, threads: int) -> MatchReader:
        """A reader of these matches; the column `x` holds the values, in input order."""
        start = np.array([start for start, _ in self.matches], np.int64)
        lengths = np.array([len(labels) for _, labels in self.matches], np.int64)
        labels = np.array([label for _, labels in self.matches for label in labels], np.int16)
        matches = Matches(
            start, start + lengths, np.arange(1, len(start) + 1), labels, np.concatenate(([0], np.cumsum(lengths)))
        )
        order = None if self.order is None else np.array(self.order, np.int64)
        table = pa.table({"x": pa.array(self.values, self.type), "row": pa.array(range(len(self.values)), pa.int64())})
        arrangement = Arrangement(order, np.array(self.offsets, np.int64), len(self.values))
        return MatchReader(table, arrangement, matches, NAMES, "spark", None, threads)  # type: ignore[arg-type]

    def input_row(self, position: int) -> int:
        """The input row at a position."""
        return position if self.order is None else self.order[position]


@st.composite
def found_matches(draw: DrawFn, type_: pa.DataType) -> Found:
    """Matches of up to 8 rows in up to 3 partitions, in order of their starts, overlapping or empty at times."""
    lengths = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    offsets = [0, *np.cumsum(lengths).tolist()]
    n_rows = offsets[-1]
    starts = sorted(draw(st.sets(st.integers(0, n_rows - 1), max_size=n_rows)))
    matches = []
    for start in starts:
        behind = min(offset for offset in offsets if offset > start)
        labels = draw(st.lists(st.integers(0, 2 * len(NAMES) - 1), max_size=min(8, behind - start)))
        matches.append((start, labels))
    if pa.types.is_floating(type_):
        value: Any = st.floats(-100, 100) | st.sampled_from([math.nan, math.inf, -math.inf, -0.0])
    elif pa.types.is_boolean(type_):
        value = st.booleans()
    else:
        value = st.integers(-100, 100)
    values = draw(st.lists(value | st.none() if draw(st.booleans()) else value, min_size=n_rows, max_size=n_rows))
    order = draw(st.permutations(range(n_rows)) | st.none())
    return Found(matches, offsets, order, values, type_)


@contextmanager
def run_as(form: str) -> Iterator[None]:
    """Kernels compiled or interpreted, and threads for any number of matches."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(lazy, "FEW_ROWS", -1 if form == "compiled" else 10**9))
        stack.enter_context(mock.patch.object(reading, "ranges", lambda n, threads: ranges(n, threads, 1)))
        yield


def at_each_row(found: Found, function: str, variables: frozenset[str] | None) -> list[list[Any]]:
    """Per match the aggregate seen from each of its rows, after the one seen from before the first."""
    results = []
    for start, labels in found.matches:
        values: list[Any] = []
        seen = [expected_value(function, values)]
        for place, label in enumerate(labels):
            value = found.values[found.input_row(start + place)]
            if (variables is None or NAMES[label // 2] in variables) and value is not None:
                values.append(value)
            seen.append(expected_value(function, values))
        results.append(seen)
    return results


def expected_value(function: str, values: list[Any]) -> Any:
    """An aggregate of values, as its definition says."""
    if function == "count":
        return len(values)
    if function == "count_if":
        return sum(values)
    if not values or (len(values) == 1 and function.endswith("_samp")):
        return None
    by_size = sorted(values, key=lambda value: (math.isnan(value), value))
    if function in ("min", "bool_and"):
        return by_size[0]
    if function in ("max", "bool_or"):
        return by_size[-1]
    total = values[0] * 0 if not math.isinf(values[0]) else 0.0
    for value in values:
        total += value
    if function == "sum":
        return total
    mean = total / len(values)
    if function == "avg":
        return mean
    square = sum((value - mean) * (value - mean) for value in values)
    variance = square / (len(values) - 1 if function.endswith("_samp") else len(values))
    return math.sqrt(variance) if function.startswith("stddev") else variance


def same(value: Any, expected: Any, *, is_exact: bool) -> bool:
    """Whether two values are the same; a variance may be rounded in another way."""
    if value is None or expected is None:
        return value is expected
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(value)
    return bool(value == expected) or (not is_exact and math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-6))


def check_aggregates(found: Found, functions: tuple[str, ...], threads: int, form: str) -> None:
    """All functions over all sets of variables, running and final, together."""
    for is_final in (True, False):
        nodes = [
            Aggregate(
                function, (ColumnAt(EACH_ROW, "x"),), variables, Semantics.FINAL if is_final else Semantics.RUNNING
            )
            for function in functions
            for variables in SETS
        ]
        with run_as(form):
            results = aggregate_together(found.reader(threads), nodes, is_final=is_final)
        for node in nodes:
            per_match = at_each_row(found, node.function, node.variables)
            expected = [value for seen in per_match for value in (seen[-1:] if is_final else seen[1:])]
            values = results[node].to_pylist()
            is_exact = not node.function.startswith(("var", "stddev"))
            assert len(values) == len(expected), node
            assert all(same(*pair, is_exact=is_exact) for pair in zip(values, expected, strict=True)), (
                str(node), values, expected
            )


FORMS = pytest.mark.parametrize(("threads", "form"), [(1, "interpreted"), (1, "compiled"), (3, "compiled")])


@FORMS
@given(found=found_matches(pa.float64()))
@settings(max_examples=60, deadline=None)
def test_doubles(found: Found, threads: int, form: str) -> None:
    check_aggregates(found, NUMBERS, threads, form)


@FORMS
@pytest.mark.parametrize("type_", [pa.int64(), pa.int16()])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_integers(data: st.DataObject, type_: pa.DataType, threads: int, form: str) -> None:
    check_aggregates(data.draw(found_matches(type_)), NUMBERS, threads, form)


@FORMS
@given(found=found_matches(pa.bool_()))
@settings(max_examples=40, deadline=None)
def test_booleans(found: Found, threads: int, form: str) -> None:
    check_aggregates(found, ("count", "count_if", "min", "max", "bool_and", "bool_or"), threads, form)


@given(found=found_matches(pa.float64()))
@settings(max_examples=30, deadline=None)
def test_matches_longer_than_what_is_fetched_together(found: Found) -> None:
    # Interpreted: compiled code keeps the constant.
    with mock.patch.object(accumulate_module, "_NEAR", 3):
        check_aggregates(found, NUMBERS, 1, "interpreted")


def test_compiled_code_computes_what_the_interpreted_does_over_long_matches() -> None:
    random = np.random.default_rng(7)
    n_rows = 9_000
    labels = random.integers(0, 2 * len(NAMES), n_rows).tolist()
    matches: list[tuple[int, list[int]]] = [(0, labels[:5_000])]
    matches += [(start, labels[start : start + start % 7]) for start in range(5_000, 8_990, 5)]
    values = [None if x < -2 else x for x in random.normal(size=n_rows).tolist()]
    found = Found(matches, [0, n_rows], random.permutation(n_rows).tolist(), values, pa.float64())
    for is_final in (True, False):
        nodes = [
            Aggregate(function, (ColumnAt(EACH_ROW, "x"),), variables, Semantics.FINAL)
            for function in NUMBERS for variables in SETS
        ]
        results = []
        for threads, form in ((1, "interpreted"), (3, "compiled")):
            with run_as(form):
                results.append(aggregate_together(found.reader(threads), nodes, is_final=is_final))
        for node in nodes:
            pairs = zip(results[0][node].to_pylist(), results[1][node].to_pylist(), strict=True)
            is_exact = node.function in ("count", "sum", "min", "max")
            assert all(same(one, other, is_exact=is_exact) for one, other in pairs), str(node)


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
@pytest.mark.parametrize("function", ["sum", "avg"])
@pytest.mark.parametrize(("sign", "n_fitting"), [(1, 2), (-1, 3)])
def test_integer_sums_never_wrap(function: str, sign: int, n_fitting: int, form: str) -> None:
    values: list[Any] = [sign * 2**62, sign * (2**62 - 1), sign, sign]
    node = Aggregate(function, (ColumnAt(EACH_ROW, "x"),), None, Semantics.FINAL)
    with run_as(form):
        fits = Found([(0, [0] * n_fitting)], [0, 4], None, values, pa.int64())
        total = sum(values[:n_fitting])
        expected = total if function == "sum" else total / n_fitting
        assert aggregate_together(fits.reader(1), [node], is_final=True)[node].to_pylist() == [expected]
        too_much = Found([(0, [0] * (n_fitting + 1))], [0, 4], None, values, pa.int64())
        with pytest.raises(ExecutionError, match="BIGINT") as caught:
            aggregate_together(too_much.reader(1), [node], is_final=True)
    assert caught.value.code == "REX405"


def target_position(found: Found, target: Target, start: int, labels: list[int], upto: int) -> int | None:
    """The position of the target row seen from the row at place `upto` of a match, by the words of the standard."""
    n_seen = len(labels) if target.semantics is Semantics.FINAL else upto + 1
    places = [
        place for place in range(n_seen)
        if target.variables is None or NAMES[labels[place] // 2] in target.variables
    ]
    if target.end is End.LAST:
        places.reverse()
    if target.offset >= len(places):
        return None
    position = start + places[target.offset] + target.shift
    first = max(offset for offset in found.offsets if offset <= start)
    behind = min(offset for offset in found.offsets if offset > start)
    return position if first <= position < behind else None


def check_targets(found: Found, targets: list[Target], reader: MatchReader, views: Viewpoints, n_skipped: int) -> None:
    """Columns and classifiers at targets, for output rows that are every mapped row but the first `n_skipped`."""
    seen_from = [(match, place) for match in found.matches for place in range(len(match[1]))][n_skipped:]
    if views.at_end:
        seen_from = [(match, len(match[1]) - 1) for match in found.matches]
    columns = reader.evaluate([ColumnAt(target, "row") for target in targets], views, [None] * len(targets))
    classifiers = reader.evaluate([ClassifierAt(target) for target in targets], views, [None] * len(targets))
    for target, column, classifier in zip(targets, columns, classifiers, strict=True):
        positions = [target_position(found, target, *match, place) for match, place in seen_from]
        assert column.to_pylist() == [None if p is None else found.input_row(p) for p in positions], str(target)
        expected = [
            None if p is None or not 0 <= p - start < len(labels) else NAMES[labels[p - start] // 2]
            for p, ((start, labels), _) in zip(positions, seen_from, strict=True)
        ]
        assert classifier.to_pylist() == expected, str(target)


@FORMS
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_navigation(data: st.DataObject, threads: int, form: str) -> None:
    found = data.draw(found_matches(pa.int64()))
    targets = data.draw(
        st.lists(
            st.builds(
                Target, st.sampled_from(SETS), st.sampled_from(Semantics), st.sampled_from(End), st.integers(0, 3),
                st.integers(-2, 2),
            ),
            min_size=1, max_size=6,
        )
    )
    with run_as(form):
        reader = found.reader(threads)
        check_targets(found, targets, reader, output.one_row(reader), 0)
        check_targets(found, targets, reader, reader.each_mapped_row, 0)
        rows = np.arange(reader.matches.n_mapped)[2:]
        check_targets(found, targets, reader, Viewpoints(reader.row_match[rows], rows, at_end=False), 2)


@given(found=found_matches(pa.int64()))
@settings(max_examples=60, deadline=None)
def test_unmatched_rows(found: Found) -> None:
    covered = {start + place for start, labels in found.matches for place in range(max(len(labels), 1))}
    expected = [p for p in range(found.offsets[-1]) if p not in covered]
    assert row_output.unmatched_positions(found.reader(1)).tolist() == expected
