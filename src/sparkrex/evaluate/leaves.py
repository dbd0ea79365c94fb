"""What row conditions read, as arrays in order: columns, tests of strings, and what the host computed of single rows.

Strings never leave the input: a test against literals is made in input order and its truth is put in order, one byte a
row; strings of different rows are compared by their codes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.counting import SCATTERED
from sparkrex.columns.gather import put_in_order
from sparkrex.columns.keys import FEW_ROWS, string_buffers
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap_strings
from sparkrex.threads import ranges, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.counting import Scatter

_MANY_LITERALS = 5
"""If the tests of one column compare it with so many literals, its strings are coded once and the codes are tested."""
_SHORT_BYTES = 8
"""Strings of so many bytes are compared as one number."""
_COMPARISONS = {
    "eq": pc.equal, "ne": pc.not_equal, "lt": pc.less, "le": pc.less_equal, "gt": pc.greater, "ge": pc.greater_equal,
}
_FEW_OPTIONS = 4


@dataclass(eq=False, slots=True)
class Leaf:
    """One array in order. `outside` is what a reference reads that leaves its partition, None for NULL.

    `matching`, for codes: the one code, or the truth by code, that makes the leaf true.
    """

    data: NDArray[Any]
    nulls: NDArray[np.bool_] | None
    outside: Any = None
    matching: int | NDArray[np.bool_] | None = None

    def slice(self, begin: int, end: int) -> NDArray[Any]:
        """The values of some rows."""
        return self._test_once(self.data[begin:end])

    def at(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        """The values of rows anywhere."""
        return self._test_once(self.data[positions])

    def _test_once(self, data: NDArray[Any]) -> NDArray[Any]:
        if isinstance(self.matching, int):
            data = data == self.matching
        elif self.matching is not None:
            data = self.matching[data]
        return data


@dataclass(frozen=True, slots=True)
class StringTest:
    """A comparison of strings with literals; `function` is a comparison's name or `in`."""

    function: str
    literals: tuple[str, ...]

    def of(self, strings: pa.Array) -> pa.Array:
        """The truth of every string."""
        options = pa.array(self.literals, strings.type)
        if self.function != "in":
            return _COMPARISONS[self.function](strings, options[0])
        if len(options) <= _FEW_OPTIONS:
            return reduce(pc.or_, [pc.equal(strings, option) for option in options])
        found = pc.is_in(strings, value_set=options)
        return found if strings.null_count == 0 else pc.if_else(strings.is_valid(), found, pa.scalar(None, pa.bool_()))


@dataclass(eq=False)
class CodeSpace:
    """Codes of strings that are compared with strings of other rows, and of the literals among them."""

    literals: set[str] = field(default_factory=set)
    is_ordered: bool = False
    codes: dict[str, np.int32] = field(default_factory=dict)

    def code(self, literal: str) -> np.int32:
        """The code of a literal, 0 before anything is encoded."""
        return self.codes.get(literal, np.int32(0))

    def encode(
        self, columns: Sequence[pa.ChunkedArray], threads: int
    ) -> list[tuple[NDArray[Any], NDArray[np.bool_] | None]]:
        """Codes and NULLs of the columns: equal for equal strings, in the order of the strings if that is asked."""
        encoded = [encoded_strings(column, threads) for column in columns]
        literals = sorted(self.literals)
        dictionaries = [chunk.dictionary.cast(pa.large_string()) for chunks in encoded for chunk in chunks]
        distinct = pa.concat_arrays([*dictionaries, wrap_strings(literals)]).unique()
        if self.is_ordered:
            distinct = distinct.take(pc.array_sort_indices(distinct))
        self.codes = {literal: _code(literal, distinct) for literal in literals}
        return [_recode(chunks, distinct) for chunks in encoded]


def _recode(
    chunks: Sequence[pa.DictionaryArray], distinct: pa.Array
) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Codes in a common dictionary, in the narrowest type, and NULLs."""
    codes = np.zeros(sum(map(len, chunks)), _code_type(len(distinct)))
    at = 0
    for chunk in chunks:
        if len(chunk.dictionary):
            found = pc.index_in(chunk.dictionary.cast(distinct.type), value_set=distinct)
            places = numpy_of(pc.fill_null(found, 0)).astype(codes.dtype)
            np.take(places, _indices(chunk), out=codes[at : at + len(chunk)], mode="clip")
        at += len(chunk)
    has_nulls = any(chunk.null_count for chunk in chunks)
    return codes, np.concatenate([numpy_of(chunk.is_null()) for chunk in chunks]) if has_nulls else None


def _indices(chunk: pa.DictionaryArray) -> NDArray[Any]:
    """Where each value stands in the dictionary; anywhere for NULLs."""
    return numpy_of(pc.fill_null(chunk.indices, 0) if chunk.indices.null_count else chunk.indices)


def _code_type(n_strings: int) -> Any:
    return np.uint8 if n_strings <= 1 << 8 else np.uint16 if n_strings <= 1 << 16 else np.int32


def encoded_strings(column: pa.ChunkedArray, threads: int) -> list[pa.DictionaryArray]:
    """A column of strings as dictionary arrays; no dictionary holds NULL."""
    if pa.types.is_dictionary(column.type):
        if not any(chunk.dictionary.null_count for chunk in column.chunks):
            return list(column.chunks)
        column = column.cast(column.type.value_type)

    def encode(begin: int, end: int) -> list[pa.DictionaryArray]:
        return [chunk.dictionary_encode() for chunk in column.slice(begin, end - begin).chunks]

    return [chunk for chunks in spread(encode, ranges(len(column), threads)) for chunk in chunks]


def _code(literal: str, distinct: pa.Array) -> np.int32:
    return np.int32(pc.index(distinct, pa.scalar(literal, distinct.type)).as_py())


def _nulls(values: pa.Array) -> NDArray[np.bool_] | None:
    return None if values.null_count == 0 else numpy_of(values.is_null())


def array_of(values: pa.ChunkedArray | pa.Array) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Values of any kind but strings as they lie in memory; NULL rows hold anything."""
    values = plain(values)
    nulls = _nulls(values)
    kind = values.type
    if pa.types.is_boolean(kind):
        return numpy_of(pc.fill_null(values, False) if nulls is not None else values), nulls
    begin, end = values.offset, values.offset + len(values)
    if len(values) == 0:
        return np.empty(0, np.int64 if pa.types.is_decimal(kind) else _numpy_type(kind)), None
    if pa.types.is_decimal(kind):
        # At most 18 digits: the low half of each 128-bit integer.
        return np.frombuffer(values.buffers()[1], np.int64)[2 * begin : 2 * end : 2].copy(), nulls
    return np.frombuffer(values.buffers()[1], _numpy_type(kind))[begin:end], nulls


def _numpy_type(type_: pa.DataType) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(np.int32 if type_.bit_width == 32 else np.int64)
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        found = np.dtype(type_.to_pandas_dtype())
    return found


class Ordering:
    """Puts arrays in the order of the rows: by a scatter if there is one, else by `order`."""

    def __init__(self, order: NDArray[Any] | None, threads: int, scatter: Scatter | None = None) -> None:
        self.order = order
        self.threads = threads
        self.scatter = scatter

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array in order."""
        if self.scatter is None:
            return put_in_order(array, self.order, self.threads)
        if array.dtype.itemsize in SCATTERED:
            return self.scatter.put(array)
        return put_in_order(array, self.scatter.order, self.threads)

    def leaf(self, data: NDArray[Any], nulls: NDArray[np.bool_] | None) -> Leaf:
        """A leaf of arrays in input order."""
        return Leaf(self.put(data), None if nulls is None else self.put(nulls))

    def column(self, values: pa.ChunkedArray) -> Leaf:
        """A column of any kind but strings."""
        return self.leaf(*array_of(values))

    def validity(self, values: pa.ChunkedArray) -> Leaf:
        """Where the values are NULL; the leaf has no data to speak of."""
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        nulls = numpy_of(plain(values.is_null())) if values.null_count else None
        return self.leaf(np.zeros(1, np.bool_).repeat(len(values)), nulls)

    def tests(self, values: pa.ChunkedArray, tests: Sequence[StringTest]) -> list[Leaf]:
        """One leaf a test of a column of strings."""
        is_coded = pa.types.is_dictionary(values.type)
        n_literals = sum(len(test.literals) for test in tests)
        if is_coded or (n_literals >= _MANY_LITERALS and _has_few_strings(values)):
            return self._tests_of_codes(encoded_strings(values, self.threads), tests)
        nulls = numpy_of(plain(values.is_null())) if values.null_count else None
        ordered_nulls = None if nulls is None else self.put(nulls)
        if len(values) > FEW_ROWS and (literals := _short_literals(tests)) is not None:
            return self._tests_of_literals(values, tests, literals, ordered_nulls)

        def truth_of(test: StringTest) -> Callable[[pa.Array], NDArray[Any]]:
            def found(chunk: pa.Array) -> NDArray[Any]:
                truth = test.of(chunk)
                return numpy_of(pc.fill_null(truth, False) if truth.null_count else truth)

            return found

        truths = (self._over_chunks(values, truth_of(test), np.bool_) for test in tests)
        return [Leaf(self.put(truth), ordered_nulls) for truth in truths]

    def _tests_of_literals(
        self, values: pa.ChunkedArray, tests: Sequence[StringTest], literals: Sequence[str],
        nulls: NDArray[np.bool_] | None,
    ) -> list[Leaf]:
        """Leaves that all read one array: which of the literals each string is."""
        from sparkrex.kernels.encode import find_literals

        encoded = [literal.encode() for literal in literals]
        words = np.array([int.from_bytes(literal, "little") for literal in encoded], np.uint64)
        lengths = np.array([len(literal) for literal in encoded], np.int64)

        def found(chunk: pa.Array) -> NDArray[Any]:
            codes = np.empty(len(chunk), np.uint8)
            find_literals(*string_buffers(chunk), words, lengths, 0, len(chunk), codes)
            return codes

        codes = self.put(self._over_chunks(values, found, np.uint8))
        leaves = []
        for test in tests:
            places = [1 + literals.index(literal) for literal in test.literals]
            truth = np.zeros(1 + len(literals), np.bool_)
            truth[places] = True
            truth ^= test.function == "ne"
            matching: int | NDArray[np.bool_] = int(truth.argmax()) if truth.sum() == 1 else truth
            leaves.append(Leaf(codes, nulls, matching=matching))
        return leaves

    def _over_chunks(
        self, values: pa.ChunkedArray, compute: Callable[[pa.Array], NDArray[Any]], type_: Any
    ) -> NDArray[Any]:
        """An array of what is computed of each chunk, on threads."""
        result = np.empty(values.length(), type_)

        def fill(begin: int, end: int) -> None:
            at = begin
            for chunk in values.slice(begin, end - begin).chunks:
                result[at : at + len(chunk)] = compute(chunk)
                at += len(chunk)

        spread(fill, ranges(values.length(), self.threads))
        return result

    def _tests_of_codes(self, chunks: Sequence[pa.DictionaryArray], tests: Sequence[StringTest]) -> list[Leaf]:
        dictionaries = [chunk.dictionary.cast(pa.large_string()) for chunk in chunks]
        distinct = pa.concat_arrays([*dictionaries, wrap_strings(())]).unique()
        coded = self.leaf(*_recode(chunks, distinct))
        leaves = []
        for test in tests:
            # A column of NULLs has codes that stand for nothing.
            truth = numpy_of(test.of(distinct)).astype(np.bool_) if len(distinct) else np.zeros(1, np.bool_)
            holding = np.flatnonzero(truth)
            matching: int | NDArray[np.bool_] = int(holding[0]) if len(holding) == 1 else truth
            leaves.append(Leaf(coded.data, coded.nulls, matching=matching))
        return leaves


def _short_literals(tests: Sequence[StringTest]) -> list[str] | None:
    """All literals of some tests, if they are tested for equality only and are of at most eight bytes."""
    if not all(test.function in ("eq", "ne", "in") for test in tests):
        return None
    literals = list(dict.fromkeys(literal for test in tests for literal in test.literals))
    is_short = all(len(literal.encode()) <= _SHORT_BYTES for literal in literals)
    return literals if is_short and len(literals) <= _MANY_LITERALS else None


def _has_few_strings(values: pa.ChunkedArray) -> bool:
    """Whether the first rows repeat their strings."""
    first = values.slice(0, 1 << 14)
    return bool(len(first.unique()) * 4 <= first.length())
