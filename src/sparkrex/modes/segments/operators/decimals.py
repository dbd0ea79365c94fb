"""Decimal columns as the whole numbers that aggregates over segments count with, so that none of their digits is lost.

A decimal of at most 18 digits is a scaled int64. One of more has ranks, which compare as the values do, and limbs of 32
bits, whose sums no series is long enough to overflow. What is defined on doubles reads the nearest ones.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import ints_of, numpy_of
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.sums import Avg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import SegmentAggregate

    Whole = NDArray[np.int64]

EXACT = ("min", "max", "sum", "range", "first", "last")
"""Aggregates of decimals that are decimals."""
_BY_ORDER = ("mann_kendall_test", "equal_up_down_ticks")
"""Aggregates that only compare: any numbers in the same order will do."""
_MASK = np.int64(0xFFFFFFFF)
_MOST_DIGITS = 38

DOUBLES, SCALED, RANKS = "doubles", "scaled", "ranks"
LIMBS = ("limb 0", "limb 1", "limb 2", "limb 3")


def is_decimal(type_: pa.DataType) -> bool:
    """Whether a column holds decimals that the host holds too."""
    return bool(pa.types.is_decimal128(type_) and type_.scale >= 0)


def is_narrow(type_: pa.DataType) -> bool:
    """Whether every value is an int64 when scaled."""
    return is_decimal(type_) and type_.precision <= 18


def form_for(aggregate: str, type_: pa.DataType) -> str:
    """As what an aggregate other than the exact ones of a wide column reads a decimal column."""
    if is_narrow(type_) and (aggregate in EXACT or aggregate in _BY_ORDER or aggregate == "avg"):
        return SCALED
    return RANKS if aggregate in _BY_ORDER else DOUBLES


class Decimals:
    """One column, in the order of the series; each form is made when it is first asked for."""

    def __init__(self, values: pa.Array) -> None:
        self.values = values
        self._limbs: dict[int, Whole] = {}

    def form(self, name: str) -> Whole:
        """The column as whole numbers; anything where it is NULL."""
        if name == SCALED:
            return self.scaled
        if name == RANKS:
            return self._ranks[0]
        number = LIMBS.index(name)
        if number not in self._limbs:
            self._limbs[number] = self._limb(number)
        return self._limbs[number]

    @cached_property
    def scaled(self) -> Whole:
        """The values times ten to the scale, of a narrow column."""
        return ints_of(self.values)

    @property
    def limbs(self) -> tuple[str, ...]:
        """How many limbs it takes, from the least."""
        return LIMBS[:2] if is_narrow(self.values.type) else LIMBS

    def _limb(self, number: int) -> Whole:
        if is_narrow(self.values.type):
            return self.scaled >> 32 if number else self.scaled & _MASK
        filled = pc.fill_null(self.values, pa.scalar(0, self.values.type))
        words = np.frombuffer(filled.buffers()[1], np.int64)[2 * filled.offset : 2 * (filled.offset + len(filled))]
        word = words[number // 2 :: 2]
        is_top = number == len(LIMBS) - 1
        return np.ascontiguousarray(word >> 32 if is_top else (word >> (32 * (number % 2))) & _MASK)

    @cached_property
    def _ranks(self) -> tuple[Whole, pa.Array]:
        """By row its place among the distinct values, and these in order."""
        encoded = self.values.dictionary_encode()
        order = pc.sort_indices(encoded.dictionary)
        rank_of = np.zeros(max(len(order), 1), np.int64)
        rank_of[numpy_of(order)] = np.arange(len(order))
        return rank_of[numpy_of(pc.fill_null(encoded.indices, 0))], encoded.dictionary.take(order)

    def ranked(self, ranks: Whole, is_null: NDArray[np.bool_]) -> pa.Array:
        """The values that ranks stand for."""
        return self._ranks[1].take(wrap(np.where(is_null, 0, ranks), is_null))

    def total(self, sums: Sequence[Whole], is_null: NDArray[np.bool_]) -> pa.Array:
        """Decimals of 38 digits from the sums of the limbs."""
        carry = np.zeros_like(sums[0])
        limbs = []
        for number, part in enumerate(sums):
            found = part + carry
            is_top = number == len(sums) - 1
            limbs.append(found if is_top else found & _MASK)
            carry = found >> 32
        words = np.zeros((len(is_null), 2), np.int64)
        words[:, 0] = limbs[0] | (limbs[1] << 32)
        words[:, 1] = carry if len(limbs) == 2 else limbs[2] | (limbs[3] << 32)
        words[is_null] = 0
        is_beyond = len(limbs) == len(LIMBS) and bool(((carry != 0) & (carry != -1) & ~is_null).any())
        array = pa.Array.from_buffers(
            pa.decimal128(_MOST_DIGITS, self.values.type.scale), len(is_null), [None, pa.py_buffer(words)]
        )
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            is_beyond = True
        if is_beyond:
            raise ExecutionError("REX405", "sum of decimals is beyond 38 digits", None, None)
        return array if not is_null.any() else pc.if_else(wrap(is_null), pa.scalar(None, array.type), array)


def difference(high: pa.Array, low: pa.Array) -> pa.Array:
    """High less low, in one digit more."""
    wide = pa.decimal256(_MOST_DIGITS + 1, high.type.scale)
    digits = min(high.type.precision + 1, _MOST_DIGITS)
    try:
        return pc.subtract(high.cast(wide), low.cast(wide)).cast(pa.decimal128(digits, high.type.scale))
    except pa.ArrowInvalid:
        raise ExecutionError("REX405", "range of decimals is beyond 38 digits", None, None) from None


def exact_type(aggregate: str, type_: pa.DataType) -> pa.DataType:
    """The type of an exact aggregate of a decimal column."""
    if aggregate == "sum":
        return pa.decimal128(_MOST_DIGITS, type_.scale)
    if aggregate == "range":
        return pa.decimal128(min(type_.precision + 1, _MOST_DIGITS), type_.scale)
    return type_


class _ScaledAvg(Avg):
    """The mean of decimals: the exact sum, divided once."""

    def __init__(self, scale: int) -> None:
        self.unit = 10.0**scale

    def of(self, sums: NDArray[Any], counts: Whole) -> NDArray[Any]:
        """See `Sum`."""
        return sums / (np.maximum(counts, 1) * self.unit)


@lru_cache
def avg_of_scaled(scale: int) -> SegmentAggregate:
    """The mean over scaled whole numbers as a double."""
    return _ScaledAvg(scale)
