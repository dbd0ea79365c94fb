# ruff: noqa: E501, RUF001
"""The values that functions are tried with, by Spark type: edges, and random ones from fixed seeds."""

from __future__ import annotations

import datetime
import math
import random
import sys
import unicodedata
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

N_ROWS = 600
"""Rows of arguments for one function: enough for every edge, and for many pairs of them."""

_UTC = datetime.UTC
_EXACT = Context(prec=76)


def _integers(bits: int) -> list[Any]:
    top = 2 ** (bits - 1)
    small = [0, 1, -1, 2, -2, 3, 5, 7, -7, 10, 12, 31, 60, 100, 127, -128]
    powers = [2**k for k in (7, 8, 15, 16, 31, 32, 53, 62) if k < bits - 1]
    return [*small, top - 1, -top, top - 2, *powers, *(-power for power in powers)]


_REALS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.2, 0.3, 1e-300, 5e-324, 2.2250738585072014e-308, 1e300,
    1.7976931348623157e308, -1.7976931348623157e308, math.nan, math.inf, -math.inf, 2.0**31, 2.0**53, 2.0**53 + 2,
    2.0**63, -(2.0**63), 1e16, 123456.789, 0.001, 0.0001, 1e7, 9999999.5, 12345678.9, 1e-5, 100.0, 3.0, 7.0, 2.675, 1.005,
]
_TEXTS = [
    "", " ", "a", "b", "c", "A", "abc", "ABC", "abcabc", "aXbXc", "a,b,c", ",", ",,", ", ", "-", "  pad  ", "a b", "é",
    "ß", "Straße", "İ", "ı", "ǆ", "Σ", "ΑΣ", "日本", "日", "😀", "a😀b", "e\u0301", "ﬁ", "0", "1", "-1", "12", "007", "1.5",
    "1e3", "NaN", "Infinity", "+5", " 42 ", "2147483648", "9223372036854775808", "2024-02-29", "2024-1-5", "2024",
    "2024-02-30", "2024-01-01 12:34:56", "2024-01-01T12:34:56.789Z", "true", "t", "yes", "false", "0x1F", "%", "_",
    "a_c", "a%", "\\", "a\\b", "\t", "\n", "x\u00a0", "\u2003", "A1-b2", "a\u0000b", "null", ".", "*", "(", "[a", "$1",
    "Robert", "hello world", "HELLO wORLD", "o'neil", "1 day", "+", "\ufffd", "\U0010ffff", "zz", "B", "ab", "ba",
]
_DATES = [
    datetime.date(1, 1, 1), datetime.date(1, 1, 2), datetime.date(9999, 12, 31), datetime.date(1582, 10, 4),
    datetime.date(1582, 10, 15), datetime.date(1900, 2, 28), datetime.date(1900, 3, 1), datetime.date(1969, 12, 31),
    datetime.date(1970, 1, 1), datetime.date(2000, 2, 29), datetime.date(2023, 12, 31), datetime.date(2024, 1, 1),
    datetime.date(2024, 1, 31), datetime.date(2024, 2, 29), datetime.date(2023, 2, 28), datetime.date(2024, 12, 30),
    datetime.date(2024, 3, 31), datetime.date(2024, 10, 27), datetime.date(2024, 7, 7), datetime.date(9999, 1, 1),
]
_TIMES = [
    (1, 1, 2), (1, 6, 1, 3, 4, 5, 6), (9999, 12, 30, 23, 59, 59, 999999), (1582, 10, 4, 12), (1582, 10, 15), (1883, 11, 18, 17),
    (1893, 6, 1), (1900, 1, 1), (1969, 12, 31, 23, 59, 59, 999999), (1970, 1, 1), (1970, 1, 1, 0, 0, 0, 1),
    # Clocks change: Zurich, St. John's.
    (2024, 3, 31, 0, 59, 59, 999999), (2024, 3, 31, 1), (2024, 10, 26, 23, 30), (2024, 10, 27, 0, 30), (2024, 10, 27, 1),
    (2024, 10, 27, 1, 30), (2024, 3, 10, 5, 29, 59), (2024, 3, 10, 5, 30), (2024, 11, 3, 4, 29), (2024, 11, 3, 4, 30),
    (2024, 2, 29, 12, 34, 56, 123456), (2023, 12, 31, 23, 59, 59, 999999), (2024, 1, 1), (2024, 1, 31, 10), (2024, 2, 29, 10),
    (2024, 12, 30, 13), (2000, 1, 1, 0, 0, 0, 500000),
]


def _cased_texts() -> list[str]:
    """Every character that has another case, in texts of fifty."""
    every = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    cased = [letter for letter in every if letter.upper() != letter or letter.lower() != letter]
    return ["".join(cased[start : start + 50]) for start in range(0, len(cased), 50)]


def _sigma_texts() -> list[str]:
    """A capital sigma between letters, and characters that may or may not count as part of a word."""
    categories = ("Lu", "Ll", "Lt", "Lm", "Mn", "Me", "Cf", "Sk", "Po", "Nl", "So")
    every = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    near = [letter for letter in every if unicodedata.category(letter) in categories]
    words = [f"Α{letter}Σ1{letter}Σ1ΑΣ{letter}1ΑΣ{letter}Α" for letter in near]
    size = -(-len(words) // 300)
    return ["1".join(words[start : start + size]) for start in range(0, len(words), size)]


def _text(rng: random.Random) -> str:
    return "".join(rng.choice("abAB12 ,.-é😀") for _ in range(rng.randint(0, 8)))


def _real(rng: random.Random) -> float:
    match rng.randint(0, 3):
        case 0:
            return rng.uniform(-10, 10)
        case 1:
            return rng.gauss(0, 1e6)
        case 2:
            return round(rng.uniform(-1000, 1000), rng.randint(0, 4))
        case _:
            return rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300)


def _half(rng: random.Random) -> float:
    """Numbers that are written with a 5 at the end, where rounding is decided, and the doubles beside them."""
    digits = rng.randint(0, 6)
    value = float(f"{rng.randint(-(10 ** rng.randint(1, 9)), 10 ** rng.randint(1, 9))}5e-{digits + 1}")
    return math.nextafter(value, rng.choice((-math.inf, value, value, math.inf)))


def _date(rng: random.Random) -> datetime.date:
    if rng.random() < 0.5:
        return datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randint(-500, 500))
    return datetime.date.fromordinal(rng.randint(1, datetime.date.max.toordinal()))


def _time(rng: random.Random) -> datetime.datetime:
    day = _date(rng)
    day = min(max(day, datetime.date(1, 1, 3)), datetime.date(9999, 12, 29))
    midnight = datetime.datetime(day.year, day.month, day.day)
    return midnight + datetime.timedelta(microseconds=rng.choice((0, rng.randrange(86_400_000_000))))


def _list_of(edges: list[Any], draw: Callable[[random.Random], Any]) -> Callable[[random.Random], Any]:
    def made(rng: random.Random) -> Any:
        few = rng.sample(edges, 4)
        return [
            None if rng.random() < 0.15 else (rng.choice(few) if rng.random() < 0.8 else draw(rng))
            for _ in range(rng.choice((0, 1, 2, 3, 3, 5)))
        ]

    return made


def _moment(parts: tuple[int, ...]) -> datetime.datetime:
    """A time from its first parts."""
    year, month, day, hour, minute, second, microsecond = (*parts, 0, 0, 0, 0)[:7]
    return datetime.datetime(year, month, day, hour, minute, second, microsecond)


def _zoned(value: datetime.datetime) -> datetime.datetime:
    return value.replace(tzinfo=_UTC)


def _decimals(precision: int, scale: int) -> list[Any]:
    unit = _EXACT.scaleb(Decimal(1), -scale)
    top = _EXACT.scaleb(Decimal(10**precision - 1), -scale)
    half = Decimal("0.5") if scale else Decimal(1)
    return [Decimal(0), unit, unit.copy_negate(), top, top.copy_negate(), half, -half, Decimal(1), Decimal(-1), Decimal(2), Decimal(7), Decimal(10)]


def _decimal(precision: int, scale: int) -> Callable[[random.Random], Any]:
    def made(rng: random.Random) -> Any:
        digits = rng.randint(1, precision)
        return _EXACT.scaleb(Decimal(rng.randint(-(10**digits) + 1, 10**digits - 1)), -scale)

    return made


def _int_of(bits: int) -> Callable[[random.Random], Any]:
    return lambda rng: rng.randint(-(2 ** (k := rng.randint(1, bits - 1))), 2**k - 1)


_NAIVE = list(map(_moment, _TIMES))
_FLOATS = [value if abs(value) <= 3e38 or math.isinf(value) or math.isnan(value) else 3e38 for value in _REALS]

# By name of a sample: Spark's type, Arrow's, the edges, and how to draw one.
SAMPLES: dict[str, tuple[str, pa.DataType, list[Any], Callable[[random.Random], Any]]] = {
    "boolean": ("boolean", pa.bool_(), [True, False], lambda rng: rng.random() < 0.5),
    "tinyint": ("tinyint", pa.int8(), [v for v in _integers(64) if -128 <= v < 128], _int_of(8)),
    "smallint": ("smallint", pa.int16(), [*(v for v in _integers(16) if -(2**15) <= v < 2**15)], _int_of(16)),
    "int": ("int", pa.int32(), [*(v for v in _integers(32) if -(2**31) <= v < 2**31)], _int_of(32)),
    "bigint": ("bigint", pa.int64(), _integers(64), _int_of(64)),
    "few": ("int", pa.int32(), [0, 1, -1, 2, 3, -3, 5], lambda rng: rng.randint(-4, 12)),
    "float": ("float", pa.float32(), _FLOATS, lambda rng: max(min(_real(rng), 3e38), -3e38)),
    "double": ("double", pa.float64(), _REALS, _real),
    "decimal(9,2)": ("decimal(9,2)", pa.decimal128(9, 2), _decimals(9, 2), _decimal(9, 2)),
    "decimal(20,0)": ("decimal(20,0)", pa.decimal128(20, 0), _decimals(20, 0), _decimal(20, 0)),
    "decimal(38,10)": ("decimal(38,10)", pa.decimal128(38, 10), _decimals(38, 10), _decimal(38, 10)),
    "half": ("double", pa.float64(), [-0.0, 0.5, -0.5, 2.675, 1.005, 0.285, 1e15 + 0.5, 2.0**52 - 0.5, 1e22, math.nan], _half),
    "string": ("string", pa.string(), _TEXTS, _text),
    "cased": ("string", pa.string(), [*_TEXTS, *_cased_texts(), *_sigma_texts()], _text),
    "binary": ("binary", pa.binary(), [text.encode() for text in _TEXTS] + [b"\xff\x00\x80"], lambda rng: rng.randbytes(rng.randint(0, 6))),
    "date": ("date", pa.date32(), _DATES, _date),
    "timestamp": ("timestamp", pa.timestamp("us", "UTC"), [_zoned(v) for v in _NAIVE], lambda rng: _zoned(_time(rng))),
    "timestamp_ntz": ("timestamp_ntz", pa.timestamp("us"), _NAIVE, _time),
    "array<int>": ("array<int>", pa.list_(pa.int32()), [[], [None], [1, 2, 3]], _list_of(_integers(16), _int_of(32))),
    "array<bigint>": ("array<bigint>", pa.list_(pa.int64()), [[], [None], [1, 2, 3]], _list_of(_integers(64), _int_of(64))),
    "array<double>": (
        "array<double>", pa.list_(pa.float64()), [[], [None], [math.nan, 0.0, -0.0], [-0.0, 0.0, math.nan, math.nan]], _list_of(_REALS, _real),
    ),
    "array<string>": ("array<string>", pa.list_(pa.string()), [[], [None], ["a", "", None]], _list_of(_TEXTS[:40], _text)),
    "array<boolean>": ("array<boolean>", pa.list_(pa.bool_()), [[], [None]], _list_of([True, False, True, False], lambda rng: True)),
    "array<date>": ("array<date>", pa.list_(pa.date32()), [[], [None]], _list_of(_DATES, _date)),
    "array<timestamp>": (
        "array<timestamp>", pa.list_(pa.timestamp("us", "UTC")), [[], [None]],
        _list_of([_zoned(v) for v in _NAIVE], lambda rng: _zoned(_time(rng))),
    ),
}

CLASSES: dict[str, list[str]] = {
    "b": ["boolean"], "i": ["tinyint", "smallint", "int", "bigint"], "I": ["int"], "L": ["bigint"], "k": ["few"],
    "f": ["float", "double"], "d": ["double"], "m": ["decimal(9,2)", "decimal(20,0)", "decimal(38,10)"], "s": ["string"],
    "u": ["cased"], "h": ["half"], "x": ["binary"], "D": ["date"], "T": ["timestamp"], "N": ["timestamp_ntz"],
    "A": [name for name in SAMPLES if name.startswith("array")], "S": ["array<string>"],
    "B": ["array<boolean>"], "G": ["array<int>"], "H": ["array<bigint>"], "E": ["array<double>"], "Y": ["array<date>"], "Z": ["array<timestamp>"],
}
"""What one letter of a signature stands for."""
CLASSES["t"] = ["date", "timestamp", "timestamp_ntz"]
CLASSES["n"] = [*CLASSES["i"], *CLASSES["f"], *CLASSES["m"]]
CLASSES["e"] = ["boolean", "int", "bigint", "double", "string", "date", "timestamp"]
CLASSES["*"] = [name for name in SAMPLES if name not in ("few", "cased", "half")]
CLASSES["p"] = [name for name in CLASSES["*"] if not name.startswith("array")]


def column(name: str, place: int) -> pa.Array:
    """The values of a sample in one place of a function's arguments: edges first where it is the first."""
    _, kind, edges, draw = SAMPLES[name]
    rng = random.Random(f"{name} {place}")
    values: list[Any] = [None, *edges] if place == 0 else []
    while len(values) < N_ROWS:
        chance = rng.random()
        values.append(None if chance < 0.03 else rng.choice(edges) if chance < 0.65 else draw(rng))
    return pa.array(values[:N_ROWS], kind)
