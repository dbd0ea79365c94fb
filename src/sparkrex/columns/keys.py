"""Key columns as int64 arrays: for partition keys equal where the values are, for order keys ascending as they do.

Work over all rows is done range by range on threads: `pieces` are the ranges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import ints_of, numpy_of
from sparkrex.errors import AnalysisError
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.source import Span

Pieces: TypeAlias = "Sequence[tuple[int, int]]"

FEW_ROWS = 20_000
"""So few rows are done before a kernel is loaded: they are left to NumPy and Arrow."""

_LARGEST = np.iinfo(np.int64).max
_SMALLEST = np.iinfo(np.int64).min


def partition_integers(values: pa.ChunkedArray, pieces: Pieces) -> NDArray[np.int64]:
    """Integers that are equal where the values are: NULL is one value, NaN too, -0.0 is 0.0."""
    array = _contiguous(values)
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _dictionary_integers(array, pieces)
    if pa.types.is_floating(kind):
        return _float_integers(array, pieces)
    if _is_integral(kind):
        return _integral_integers(array, pieces)
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        array = pa.array([repr(value) for value in array.to_pylist()], pa.string())
    return encoded(array, pieces)


def order_words(
    values: pa.ChunkedArray, is_descending: bool, nulls_first: bool, pieces: Pieces
) -> list[NDArray[np.int64]]:
    """Words that ascend as the key does, compared one after the other; NULLs, if there are any, have their own."""
    array = _contiguous(values)
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    kind = array.type
    refuse_unordered(kind)
    if pa.types.is_floating(kind):
        word = _map(_ascending_bits, numpy_of(pc.fill_null(array.cast(pa.float64()), 0.0)), pieces)
    elif _is_integral(kind):
        word = _integers(array)
    elif pa.types.is_null(kind):
        word = np.zeros(len(array), np.int64)
    elif pa.types.is_nested(kind):
        word = _nested_ranks(array)
    else:
        word = _ranks(array, pieces)
    if is_descending:
        word = _map(np.invert, word, pieces)  # never overflows, unlike negation
    if not array.null_count:
        return [word]
    is_null = numpy_of(array.is_null())
    # NULL rows hold some value of other rows, so as not to widen the range of the words.
    is_value = ~is_null
    word = np.where(is_null, word[is_value.argmax()], word)
    return [(is_value if nulls_first else is_null).astype(np.int64), word]


def refuse_unordered(kind: pa.DataType, span: Span | None = None) -> None:
    """An error if values of the type have no order: a month may be shorter or longer than 30 days."""
    if kind == pa.month_day_nano_interval():
        raise AnalysisError(
            "REX214", "intervals of months and days cannot be ordered", None, span,
            hint="order by a number, a date or a time",
        )


def encoded(array: pa.Array, pieces: Pieces) -> NDArray[np.int64]:
    """Codes of the values, numbered by first appearance; NULL has one too."""
    codes = np.empty(len(array), np.int64)
    distinct = spread(_string_encoder(array, codes) or _encoder(array, codes), pieces)
    if len(pieces) > 1:
        everything = pa.concat_arrays(distinct).dictionary_encode(null_encoding="encode")
        code_of = numpy_of(everything.indices).astype(np.int64)
        # The first piece's codes are everybody's.
        first_codes = dict(zip(pieces[1:], np.cumsum([len(values) for values in distinct[:-1]]), strict=True))

        def translate(begin: int, end: int) -> None:
            codes[begin:end] = code_of[first_codes[begin, end] :][codes[begin:end]]

        spread(translate, pieces[1:])
    return codes


def _encoder(array: pa.Array, codes: NDArray[np.int64]) -> Callable[[int, int], pa.Array]:
    """A function that fills in the codes of a range, numbered in it, and returns its distinct values in that order."""
    def encode(begin: int, end: int) -> pa.Array:
        part = array.slice(begin, end - begin).dictionary_encode(null_encoding="encode")
        codes[begin:end] = numpy_of(part.indices)
        return part.dictionary

    return encode


def _string_encoder(array: pa.Array, codes: NDArray[np.int64]) -> Callable[[int, int], pa.Array] | None:
    """The same for strings and binaries, twice as fast as Arrow's; None for few rows or other types."""
    kind = array.type
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if len(array) <= FEW_ROWS or not (is_large or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        return None
    from sparkrex.kernels.encode import encode_strings

    offsets, windows = string_buffers(array)
    nulls = read_only(numpy_of(array.is_null()) if array.null_count else np.zeros(0, np.bool_))

    def encode(begin: int, end: int) -> pa.Array:
        return array.take(pa.array(encode_strings(offsets, windows, nulls, begin, end, codes)))

    return encode


def string_buffers(array: pa.Array) -> tuple[NDArray[Any], NDArray[np.uint64]]:
    """Strings or binaries as kernels read them: where in the bytes each begins, and eight bytes from each byte on."""
    is_large = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offset_buffer, data = array.buffers()
    offsets = np.frombuffer(offset_buffer, np.int64 if is_large else np.int32)[array.offset :]
    if data is None or data.size < 8:
        data = (b"" if data is None else data.to_pybytes()) + bytes(8)
    windows = np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))
    for view in (offsets, windows):
        view.flags.writeable = False  # as for `read_only`
    return offsets, windows


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Arrow's arrays cannot be written; a kernel compiled for them, and only for them, serves all."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _integers(array: pa.Array) -> NDArray[np.int64]:
    """The values of an integral type, not copied where they are int64; NULL rows hold anything."""
    kind = array.type
    if pa.types.is_uint64(kind):
        return _integers(array.view(pa.int64())) ^ _SMALLEST
    if array.null_count or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return ints_of(array)
    if not pa.types.is_integer(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return numpy_of(array.cast(pa.int64()))


def _contiguous(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    if pa.types.is_decimal(values.type) and values.type.bit_width < 128:
        values = values.cast(pa.decimal128(values.type.precision, values.type.scale))  # Arrow encodes no smaller ones
    if isinstance(values, pa.Array):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def _is_integral(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)
        or pa.types.is_time(kind) or pa.types.is_duration(kind)
        or (pa.types.is_decimal128(kind) and kind.precision <= 18)
    )


def _map(
    function: Callable[[NDArray[Any]], NDArray[np.int64]], array: NDArray[Any], pieces: Pieces
) -> NDArray[np.int64]:
    result = np.empty(len(array), np.int64)

    def fill(begin: int, end: int) -> None:
        result[begin:end] = function(array[begin:end])

    spread(fill, pieces)
    return result


def _equal_bits(array: NDArray[np.float64]) -> NDArray[np.int64]:
    array = array + 0.0  # -0.0 + 0.0 is 0.0
    array[np.isnan(array)] = np.nan  # every NaN becomes the same one
    return array.view(np.int64)


def _ascending_bits(array: NDArray[np.float64]) -> NDArray[np.int64]:
    bits = _equal_bits(array)
    # Of negative numbers, the greater the magnitude, the smaller the number. NaN is above infinity already.
    return bits ^ ((bits >> 63) & _LARGEST)


def _float_integers(array: pa.Array, pieces: Pieces) -> NDArray[np.int64]:
    bits = _map(_equal_bits, numpy_of(pc.fill_null(array.cast(pa.float64()), 0.0)), pieces)
    if array.null_count:
        bits[numpy_of(array.is_null())] = -1  # the bits of a NaN that no row has any more
    return bits


def _integral_integers(array: pa.Array, pieces: Pieces) -> NDArray[np.int64]:
    integers = _integers(array)
    if not array.null_count:
        return integers
    is_null = numpy_of(array.is_null())
    if is_null.all():
        return np.zeros(len(array), np.int64)
    known = integers[~is_null]
    if known.max() < _LARGEST:
        return np.where(is_null, known.max() + 1, integers)
    if known.min() > _SMALLEST:
        return np.where(is_null, known.min() - 1, integers)
    return encoded(array, pieces)


def _dictionary_integers(array: pa.DictionaryArray, pieces: Pieces) -> NDArray[np.int64]:
    """Those of the dictionary's values, which may be equal to each other, or NULL."""
    n_values = len(array.dictionary)
    values = pa.concat_arrays([array.dictionary, pa.nulls(1, array.dictionary.type)])
    integers = partition_integers(pa.chunked_array([values]), [(0, n_values + 1)])
    indices = numpy_of(pc.fill_null(array.indices.cast(pa.int64()), n_values))
    return _map(lambda part: integers[part], indices, pieces)


def _ranks(array: pa.Array, pieces: Pieces) -> NDArray[np.int64]:
    """Dense ranks: strings and binaries by bytes, decimals by value."""
    codes = encoded(array, pieces)
    n_codes = int(codes.max()) + 1 if len(codes) else 0
    some_row = np.empty(n_codes, np.int64)
    some_row[codes] = np.arange(len(codes))
    # NULL, if it is there, comes last; where NULLs stand is not said by this word.
    order = numpy_of(pc.array_sort_indices(array.take(pa.array(some_row))))
    ranks = np.empty(n_codes, np.int64)
    ranks[order] = np.arange(n_codes)
    return _map(lambda part: ranks[part], codes, pieces)


def _nested_ranks(values: pa.Array) -> NDArray[np.int64]:
    """Dense ranks of lists and structs, element by element."""
    plain = values.to_pylist()
    distinct = sorted({repr(value): value for value in plain}.values(), key=_nested_key)
    rank = {repr(value): number for number, value in enumerate(distinct)}
    return np.array([rank[repr(value)] for value in plain], np.int64)


def _nested_key(value: object) -> tuple[object, ...]:
    """NULLs last inside, as DuckDB compares lists and structs."""
    if value is None:
        return (1,)
    if isinstance(value, dict):
        return (0, tuple(_nested_key(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return (0, tuple(_nested_key(item) for item in value))
    return (0, value)
