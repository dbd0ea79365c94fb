"""Partitions and order, on every path, against Python's stable sort."""

from __future__ import annotations

import datetime
import functools
import math
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrex.columns import arrange as arranging
from sparkrex.columns import counting, keys
from sparkrex.columns.arrange import SortKey, arrange, first_of_partitions
from sparkrex.columns.cuts import cut_partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_EDGES = (-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 2, 2**63 - 1)
_FLOATS = (0.0, -0.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1.5, -1.5, 1e300)
_BYTES = "aéb\U0001f600\uff21"


@dataclass(frozen=True)
class Kind:
    """A type, values of it, and how Python compares them."""

    type_: pa.DataType
    values: st.SearchStrategy[Any]
    key: Callable[[Any], Any] = lambda value: value


def _float_key(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value + 0.0)


def _dates(value: int) -> datetime.date:
    return datetime.date(2000, 1, 1) + datetime.timedelta(days=value)


def _times(value: int) -> datetime.datetime:
    return datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=value)


KINDS = {
    "int": Kind(pa.int64(), st.integers(-5, 5)),
    "int of any size": Kind(pa.int64(), st.sampled_from(_EDGES) | st.integers(-(2**63), 2**63 - 1)),
    "wide int": Kind(pa.int64(), st.sampled_from([-(10**15), 0, 3, 10**12, 10**15])),
    "int32": Kind(pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "uint64": Kind(pa.uint64(), st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])),
    "bool": Kind(pa.bool_(), st.booleans()),
    "double": Kind(pa.float64(), st.sampled_from(_FLOATS) | st.floats(), _float_key),
    "float": Kind(pa.float32(), st.sampled_from((0.0, -0.0, math.nan, math.inf, 0.5, -0.5)), _float_key),
    "string": Kind(pa.string(), st.text(_BYTES, max_size=3), lambda text: text.encode()),
    "large string": Kind(pa.large_string(), st.text("ab\0", max_size=20), lambda text: text.encode()),
    "binary": Kind(pa.binary(), st.binary(max_size=10)),
    "categories": Kind(pa.dictionary(pa.int32(), pa.string()), st.text("ab", max_size=2), lambda text: text.encode()),
    "date": Kind(pa.date32(), st.integers(-3, 3).map(_dates)),
    "timestamp": Kind(pa.timestamp("us"), st.integers(-(10**6), 10**6).map(_times)),
    "decimal": Kind(pa.decimal128(9, 2), st.integers(-500, 500).map(lambda value: Decimal(value) / 4)),
    "small decimal": Kind(pa.decimal64(9, 2), st.integers(-500, 500).map(lambda value: Decimal(value) / 4)),
    "wide decimal": Kind(pa.decimal128(38, 2), st.integers(-(10**30), 10**30).map(Decimal)),
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def _paths() -> Iterator[int]:
    """Thread counts on NumPy's path, and on the kernels' with one and three threads."""
    for few_rows, threads in ((1 << 40, 1), (0, 1), (0, 3)):
        with mock.patch.object(keys, "FEW_ROWS", few_rows), mock.patch.object(arranging, "_PIECE_ROWS", 1):
            yield threads


@pytest.fixture(params=[False, True], ids=["as shipped", "small sizes"], autouse=True)
def _sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Few rows, too, need hashed keys, more than one bucket, and words joined with their groups."""
    small = mock.patch.multiple(counting, _TABLE_ENTRIES=2, _BUCKET_ROWS=2, _SCATTER_GROUPS=2)
    with small if request.param else nullcontext():
        yield


@dataclass(frozen=True)
class Key:
    """A column of Python values and how it is ordered."""

    kind: Kind
    values: list[Any]
    is_descending: bool = False
    nulls_first: bool = False
    n_chunks: int = 1

    def column(self) -> pa.ChunkedArray:
        """In chunks, the first of them a slice."""
        step = max(1, -(-len(self.values) // self.n_chunks))
        parts = [self.values[first : first + step] for first in range(0, len(self.values), step)]
        chunks = [pa.array([None, *part], self.kind.type_).slice(1) for part in parts]
        return pa.chunked_array(chunks, self.kind.type_)


def _compare(keys: Sequence[Key], left: int, right: int) -> int:
    for key in keys:
        a, b = key.values[left], key.values[right]
        if (a is None) != (b is None):
            return -1 if (a is None) == key.nulls_first else 1
        if a is None or key.kind.key(a) == key.kind.key(b):
            continue
        return -1 if (key.kind.key(a) < key.kind.key(b)) != key.is_descending else 1
    return 0


def _reference(partition_by: Sequence[Key], order_by: Sequence[Key], n_rows: int) -> tuple[list[int], list[int]]:
    """Rows in order, and partition offsets: groups in a dictionary, each sorted by pairwise comparison."""
    groups: dict[Any, list[int]] = {}
    for row in range(n_rows):
        values = [(key, key.values[row]) for key in partition_by]
        groups.setdefault(
            tuple(None if value is None else (key.kind.key(value),) for key, value in values), []
        ).append(row)
    order: list[int] = []
    offsets = [0]
    for rows in groups.values():
        rows.sort(key=functools.cmp_to_key(functools.partial(_compare, order_by)))
        order += rows
        offsets.append(len(order))
    return order, offsets


def _check(partition_by: Sequence[Key], order_by: Sequence[Key], n_rows: int) -> None:
    order, offsets = _reference(partition_by, order_by, n_rows)
    for threads in _paths():
        found = arrange(
            [key.column() for key in partition_by],
            [SortKey(key.column(), key.is_descending, key.nulls_first, "o") for key in order_by], n_rows, threads,
        )
        assert found.offsets.tolist() == offsets
        assert found.offsets.dtype == np.int64
        if found.order is not None:
            assert found.order.dtype == np.int64
        assert found.input_rows(np.arange(n_rows)).tolist() == order
        assert (found.order is None) == (order == list(range(n_rows)))
        if found.scatter is not None:
            for type_ in (np.int64, np.uint8):
                values = (np.arange(n_rows) * 7).astype(type_)
                assert found.scatter.put(values).tolist() == values[order].tolist()
        for column in found.kept.values():
            held = order_by[0].column().combine_chunks()
            assert column.tolist() == held.view(pa.int64()).take(pa.array(order)).to_pylist()
        partition_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        if n_rows:
            places = np.empty(n_rows, np.int64)
            places[order] = np.arange(n_rows)
            assert partition_of[places[found.partition_rows()]].tolist() == list(range(len(offsets) - 1))


@st.composite
def _keys(draw: st.DrawFn, kind: Kind, n_rows: int) -> Key:
    some = draw(st.lists(kind.values, min_size=1, max_size=12))
    if draw(st.booleans()):
        some.append(None)
    values = draw(st.lists(st.sampled_from(some), min_size=n_rows, max_size=n_rows))
    if draw(st.booleans()):  # rows in order, or nearly
        values.sort(key=lambda value: (value is None, None if value is None else kind.key(value)))
    return Key(kind, values, draw(st.booleans()), draw(st.booleans()), draw(st.integers(1, 3)))


any_kind = st.sampled_from(list(KINDS.values()))


@every_kind
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_order_by_each_kind(kind: Kind, data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 90))
    partition_by = data.draw(st.lists(_keys(KINDS["int"], n_rows), max_size=1))
    _check(partition_by, [data.draw(_keys(kind, n_rows))], n_rows)


@every_kind
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_partition_by_each_kind(kind: Kind, data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 60))
    order_by = data.draw(st.lists(_keys(KINDS["timestamp"], n_rows), max_size=1))
    _check([data.draw(_keys(kind, n_rows))], order_by, n_rows)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_several_keys(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 60))
    keys = [data.draw(_keys(data.draw(any_kind), n_rows)) for _ in range(data.draw(st.integers(0, 5)))]
    n_partition = data.draw(st.integers(0, len(keys)))
    _check(keys[:n_partition], keys[n_partition:], n_rows)


def _spreads(rng: np.random.Generator, n_rows: int) -> dict[str, np.ndarray[Any, Any]]:
    """Times whose bits are spread in the ways that the sort treats differently."""
    start = 1_800_000_000_000_000
    return {
        "even": start + rng.permutation(n_rows) * 1_000,
        "year": start + rng.integers(0, 365 * 86_400_000_000, n_rows),
        "few": start + rng.integers(0, 7, n_rows) * 1_000_000,
        "two far clusters": rng.integers(0, 50, n_rows) + rng.integers(0, 2, n_rows) * (1 << 61),
        "one far away": np.where(np.arange(n_rows) == 17, 0, start + rng.integers(0, 10_000, n_rows)),
        "any bits": rng.integers(-(1 << 63), (1 << 63) - 1, n_rows),
        "exponential": (np.exp(rng.random(n_rows) * 40)).astype(np.int64),
        "ascending": np.sort(rng.integers(0, n_rows, n_rows)),
        "descending": np.sort(rng.integers(0, n_rows, n_rows))[::-1],
        "saw": np.arange(n_rows) % 97,
    }


_SPREADS = list(_spreads(np.random.default_rng(0), 20))


@pytest.mark.parametrize("spread", _SPREADS)
@pytest.mark.parametrize("n_keys", [1, 5, 40, 3_000])
@pytest.mark.parametrize("layout", ["mixed", "by key", "wide keys"])
def test_many_rows(spread: str, n_keys: int, layout: str) -> None:
    """Sizes at which buckets are sorted by digits, against NumPy's stable sort."""
    n_rows = 6_000
    rng = np.random.default_rng(n_keys)
    ts = _spreads(rng, n_rows)[spread]
    key = rng.integers(0, n_keys, n_rows)
    if layout == "by key":
        key = np.sort(key)
    elif layout == "wide keys":
        key = key * 0x1234567890123
    _, first_rows, inverse = np.unique(key, return_index=True, return_inverse=True)
    expected = np.lexsort((ts, first_rows[inverse]))
    columns = [pa.chunked_array([pa.array(values)]) for values in (key, ts)]
    for threads in _paths():
        found = arrange(columns[:1], [SortKey(columns[1], False, True)], n_rows, threads)
        np.testing.assert_array_equal(found.input_rows(np.arange(n_rows)), expected)
        cuts = np.flatnonzero(np.diff(key[expected])) + 1
        np.testing.assert_array_equal(found.offsets, [0, *cuts, n_rows])


@every_kind
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_cuts(kind: Kind, data: st.DataObject) -> None:
    key = data.draw(_keys(kind, data.draw(st.integers(0, 30))))
    numbers: dict[Any, int] = {}
    expected = [
        numbers.setdefault(None if value is None else (kind.key(value),), len(numbers)) for value in key.values
    ]
    column = key.column()
    cuts = [row for row in range(1, len(expected)) if expected[row] != expected[row - 1]]
    assert cut_partitions(pa.table({"k": column}), ["k"]).tolist() == [0, *cuts, len(expected)]


def test_few_rows_load_no_kernel() -> None:
    import subprocess
    import sys

    program = """
import sys, pyarrow as pa
from sparkrex.columns.arrange import SortKey, arrange, first_of_partitions
column = pa.chunked_array([pa.array([3, 1, 2] * 300)])
assert arrange([column], [SortKey(column, True, True)], 900, 2).offsets.tolist() == [0, 300, 600, 900]
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()], ids=str)
def test_many_strings(kind: pa.DataType) -> None:
    """So many that the hash table grows, some of them equal in their first or last eight bytes."""
    rng = np.random.default_rng(7)
    some = [f"{'same start' * (number % 3)}{number}{'same end' * (number % 2)}" for number in range(9_000)]
    values = [None if number % 900 == 5 else some[number] for number in rng.integers(0, len(some), 25_000).tolist()]
    numbers: dict[str | None, int] = {}
    expected = [numbers.setdefault(value, len(numbers)) for value in values]
    column = pa.array([None, *values], pa.string()).cast(kind).slice(1)
    for _ in _paths():
        for pieces in ([(0, 25_000)], [(0, 10), (10, 12_000), (12_000, 25_000)]):
            assert keys.encoded(column, pieces).tolist() == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_first_rows_of_partitions(threads: int) -> None:
    generator = np.random.default_rng(threads)
    for n_rows, spread_of_keys in ((1, 1), (7, 3), (200, 20), (200, 1 << 60)):
        one, other = generator.integers(0, spread_of_keys, (2, n_rows))
        columns = [pa.chunked_array([pa.array(one)]), pa.chunked_array([pa.array(other % 3)])]
        with mock.patch.object(arranging, "_PIECE_ROWS", 5):
            found = first_of_partitions(columns, n_rows, threads)
            assert first_of_partitions([], n_rows, threads).tolist() == [0]
        first: dict[tuple[int, int], int] = {}
        for row, key in enumerate(zip(one.tolist(), (other % 3).tolist(), strict=True)):
            first.setdefault(key, row)
        assert sorted(found.tolist()) == sorted(first.values())
