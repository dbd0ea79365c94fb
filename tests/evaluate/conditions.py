"""Random row conditions as SQL text, and random columns of every type for them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy

_EPOCH = datetime.datetime(2024, 1, 1)
_MINUTES = st.sampled_from([0, 0, 1, 30, 30, 31, 60, 1439, 1440, 1441, 43200, 525600, -1, -1440])
_FLOATS = st.sampled_from([0.0, -0.0, 1.0, 1.5, -2.5, 0.1, float("nan"), float("inf"), float("-inf"), 1e308, 3.0])
_LONGS = st.sampled_from([0, 1, 2, 3, -1, -7, 100, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 10**17])
_STRINGS = st.sampled_from(["", "a", "b", "B", "ab", "é", "zz", "10", "a'b"])


def _moment(minutes: int) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(minutes=minutes)


def _zoned(minutes: int) -> datetime.datetime:
    return _moment(minutes).replace(tzinfo=datetime.UTC)


COLUMNS: dict[str, tuple[pa.DataType, SearchStrategy[Any]]] = {
    "i64": (pa.int64(), _LONGS),
    "small": (pa.int64(), st.integers(-3, 3)),
    "i32": (pa.int32(), st.sampled_from([0, 1, 2, 5, -7, 2**31 - 1, -(2**31), 50_000])),
    "i8": (pa.int8(), st.sampled_from([0, 1, 3, -3, 11, 12, 127, -128])),
    "u16": (pa.uint16(), st.sampled_from([0, 1, 3, 65535])),
    "f64": (pa.float64(), _FLOATS),
    "f32": (pa.float32(), _FLOATS.filter(lambda number: number != 1e308)),
    "money": (pa.decimal128(9, 2), st.integers(-500, 500).map(lambda cents: Decimal(cents).scaleb(-2))),
    "wide": (pa.decimal128(18, 4), st.sampled_from(["0", "1.5", "3", "-0.0001", "99999999999999.9999"]).map(Decimal)),
    "flag": (pa.bool_(), st.booleans()),
    "s": (pa.string(), _STRINGS),
    "s2": (pa.large_string(), _STRINGS),
    "coded": (pa.dictionary(pa.int32(), pa.string()), _STRINGS),
    "d": (pa.date32(), _MINUTES.map(lambda minutes: _moment(minutes).date())),
    "ts": (pa.timestamp("us"), _MINUTES.map(_moment)),
    "seconds": (pa.timestamp("s"), _MINUTES.map(_moment)),
    "nanos": (pa.timestamp("ns"), _MINUTES.map(_moment)),
    "zoned": (pa.timestamp("us", "UTC"), _MINUTES.map(_zoned)),
    "clock": (pa.time64("us"), st.integers(0, 3).map(lambda hour: datetime.time(hour))),
}
_NUMBERS = ["i64", "small", "small", "i32", "i8", "u16", "f64", "f64", "f32", "money", "money", "wide"]
_COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]


@st.composite
def tables(draw: DrawFn) -> tuple[pa.Table, np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    """Columns of every type, the offsets of partitions, and an order or None."""
    n_rows = draw(st.integers(0, 12))
    columns: dict[str, Any] = {}
    for name, (type_, values) in COLUMNS.items():
        has_nulls = draw(st.booleans())
        listed = draw(
            st.lists(st.one_of(st.none(), values) if has_nulls else values, min_size=n_rows, max_size=n_rows)
        )
        array = pa.array(listed, type_.value_type if pa.types.is_dictionary(type_) else type_)
        if pa.types.is_dictionary(type_):
            array = array.dictionary_encode()
        cut = draw(st.integers(0, n_rows))
        columns[name] = pa.chunked_array([array.slice(0, cut), array.slice(cut)], array.type)
    cuts = sorted(draw(st.sets(st.integers(1, n_rows - 1)))) if n_rows > 1 else []
    offsets = np.array([0, *cuts, n_rows] if n_rows else [0], np.int64)
    order = np.array(draw(st.permutations(range(n_rows))), np.int64) if draw(st.booleans()) else None
    return pa.table(columns), offsets, order


def _reference(draw: DrawFn, names: list[str]) -> str:
    name = draw(st.sampled_from(names))
    shift = draw(st.sampled_from([0, 0, -1, -1, -2, -3, 1, 2, 3]))
    if shift == 0:
        return name
    return f"{'PREV' if shift < 0 else 'NEXT'}({name}, {abs(shift)})"


def _choice(draw: DrawFn, inner: Callable[[], str], depth: int) -> str:
    """An operator that chooses among values of one type."""
    match draw(st.integers(0, 5)):
        case 0:
            return f"COALESCE({inner()}, {inner()})"
        case 1:
            return f"NULLIF({inner()}, {inner()})"
        case 2:
            return f"CASE WHEN {_boolean(draw, depth - 1)} THEN {inner()} ELSE {inner()} END"
        case 3:
            return f"CASE WHEN {_boolean(draw, depth - 1)} THEN {inner()} END"
        case 4:
            return f"GREATEST({inner()}, {inner()})"
        case _:
            return f"LEAST({inner()}, {inner()}, {inner()})"


def _number(draw: DrawFn, depth: int) -> str:
    kind = draw(st.integers(0, 9)) if depth else draw(st.integers(0, 3))
    if kind <= 2:
        return _reference(draw, _NUMBERS)
    if kind == 3:
        return draw(st.sampled_from(["0", "1", "2", "-3", "1000", "1.5", "0.25", "-2.50", "1e0", f"{2**63 - 1}"]))
    if kind <= 6:
        sign = draw(st.sampled_from(["+", "-", "*", "/", "%", "+", "-"]))
        return f"({_number(draw, depth - 1)} {sign} {_number(draw, depth - 1)})"
    if kind == 7:
        return f"ABS({_number(draw, depth - 1)})"
    if kind == 8:
        return f"(- {_number(draw, depth - 1)})"
    return _choice(draw, lambda: _number(draw, depth - 1), depth)


def _string(draw: DrawFn, depth: int) -> str:
    kind = draw(st.integers(0, 6)) if depth else draw(st.integers(0, 4))
    if kind <= 2:
        return _reference(draw, ["s", "s2", "coded"])
    if kind <= 4:
        return draw(st.sampled_from(["'a'", "'B'", "''", "'é'", "'not there'"]))
    if kind == 5:
        return f"LOWER(COALESCE({_reference(draw, ['s', 'coded'])}, 'Q'))"
    return _choice(draw, lambda: _string(draw, depth - 1), depth)


def _time(draw: DrawFn, depth: int) -> str:
    kind = draw(st.integers(0, 5)) if depth else 0
    if kind <= 2:
        return _reference(draw, ["ts", "ts", "seconds"])
    if kind == 3:
        return draw(st.sampled_from(["TIMESTAMP '2024-01-01 00:30:00'", "TIMESTAMP '2024-01-02'", "DATE '2024-01-01'"]))
    if kind == 4:
        sign = draw(st.sampled_from("+-"))
        return f"({_reference(draw, ['ts', 'ts', 'seconds', 'zoned', 'd'])} {sign} {_interval(draw)})"
    return _choice(draw, lambda: _time(draw, depth - 1), depth)


def _interval(draw: DrawFn) -> str:
    return draw(
        st.sampled_from(["INTERVAL '30' MINUTE", "INTERVAL '1' DAY", "INTERVAL '1' MONTH", "INTERVAL '90' SECOND"])
    )


def _span(draw: DrawFn) -> str:
    names = draw(st.sampled_from([["ts"], ["ts"], ["seconds"], ["zoned"], ["d"], ["nanos"], ["ts", "d"]]))
    return f"({_reference(draw, names)} - {_reference(draw, names)})"


def _pair(draw: DrawFn, depth: int) -> Callable[[], str]:
    """Something that gives comparable values."""
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2 | 3:
            return lambda: _number(draw, depth)
        case 4 | 5:
            return lambda: _string(draw, depth)
        case 6:
            return lambda: _time(draw, depth)
        case 7:
            return lambda: _span(draw) if draw(st.booleans()) else _interval(draw)
        case 8:
            names = draw(st.sampled_from([["flag"], ["d"], ["zoned"], ["nanos"], ["clock"], ["d", "ts"], ["i8"]]))
            return lambda: _reference(draw, names)
        case _:
            # Types that do not fit: the host decides what they mean, or that they mean nothing.
            return lambda: _reference(draw, list(COLUMNS))


def _boolean(draw: DrawFn, depth: int) -> str:
    kind = draw(st.integers(0, 9))
    if depth > 0 and kind <= 2:
        word = draw(st.sampled_from([" AND ", " OR "]))
        return "(" + word.join(_boolean(draw, depth - 1) for _ in range(draw(st.integers(2, 3)))) + ")"
    if depth > 0 and kind == 3:
        return f"(NOT {_boolean(draw, depth - 1)})"
    value = _pair(draw, max(0, depth - 1))
    match draw(st.integers(0, 9)):
        case 0:
            return f"({value()} IS {draw(st.sampled_from(['', 'NOT ']))}NULL)"
        case 1:
            return f"({value()} IS {draw(st.sampled_from(['', 'NOT ']))}DISTINCT FROM {value()})"
        case 2:
            return f"({value()} BETWEEN {value()} AND {value()})"
        case 3:
            return f"({value()} IN ({', '.join(value() for _ in range(draw(st.integers(1, 6))))}))"
        case 4 if depth > 0:
            return f"({_reference(draw, ['flag'])} = {_boolean(draw, depth - 1)})"
        case 5:
            return _reference(draw, ["flag"])
        case _:
            return f"({value()} {draw(st.sampled_from(_COMPARISONS))} {value()})"


@st.composite
def condition_texts(draw: DrawFn) -> str:
    """A condition, most of the time one whose types fit."""
    return _boolean(draw, 2)
