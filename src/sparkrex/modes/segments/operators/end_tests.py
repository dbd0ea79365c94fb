"""Conditions that compare values in a segment's first and last row, recognised, for kernels of their own.

`last(S.x) / first(S.x) > 1.2` and the like: by far the most conditions without an aggregate. Only doubles and whole
numbers that doubles hold exactly, none of them NULL or NaN; everything else is left to the compiled conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import read_only
from sparkrex.columns.values import plain
from sparkrex.modes.segments.kernels import ends as kernel
from sparkrex.modes.segments.kernels.segments import Triples
from sparkrex.modes.segments.operators.arrays import TooManySegmentsError, check_number, roomier
from sparkrex.modes.segments.operators.contract import Segments
from sparkrex.scalar.expression import Call, ColumnAt, End, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.contract import Rows, Spaces
    from sparkrex.modes.segments.operators.series import Frame
    from sparkrex.scalar.expression import Expression

_COMPARISONS = {"lt": kernel.LESS, "le": kernel.AT_MOST, "gt": kernel.GREATER, "ge": kernel.AT_LEAST}
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_EXACT = float(1 << 53)
_NO_OVERFLOW = float(1 << 30)
"""Differences of whole numbers up to here are no error, whatever width of at least 32 bits they have."""
_ROOM = 1 << 14
"""Segments that there is room for at first."""
_SHORT, _LONG = 24, 200
"""Longest segments for which blocks of ends have 8 rows, and 16; beyond, 32."""


@dataclass(frozen=True, slots=True)
class Form:
    """What is compared, how, with what; columns at the first and at the last row, None where it reads none there."""

    form: int
    comparison: int
    threshold: float
    first: str | None
    last: str | None


class NumberColumns:
    """Columns of a table as doubles, each made once; None where they are no such numbers, or not all of them."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self._known: dict[str, tuple[NDArray[np.float64], float, float] | None] = {}
        self._blocks: dict[tuple[str, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def of(self, name: str) -> tuple[NDArray[np.float64], float, float] | None:
        """The values, the least and the greatest."""
        if name not in self._known:
            self._known[name] = self._new(name)
        return self._known[name]

    def _new(self, name: str) -> tuple[NDArray[np.float64], float, float] | None:
        values = self.table.column(name)
        is_whole = pa.types.is_signed_integer(values.type) and values.type.bit_width >= 32
        if values.null_count or not len(values) or not (is_whole or pa.types.is_float64(values.type)):
            return None
        array = plain(values)
        numbers = array.to_numpy(zero_copy_only=True).astype(np.float64, copy=False)
        low, high = float(numbers.min()), float(numbers.max())
        limit = _EXACT if is_whole else np.inf
        # False for NaN, too.
        return (read_only(numbers), low, high) if -limit < low <= high < limit else None

    def is_whole(self, name: str) -> bool:
        """Whether these are whole numbers."""
        return bool(pa.types.is_integer(self.table.schema.field(name).type))

    def blocks(self, name: str, shift: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and greatest value of every block of 2^shift rows."""
        if (name, shift) not in self._blocks:
            found = self.of(name)
            assert found is not None  # the test was made
            n_blocks = (len(found[0]) + (1 << shift) - 1) >> shift
            extremes = np.empty(n_blocks), np.empty(n_blocks)
            kernel.block_extremes(found[0], shift, *extremes)
            self._blocks[name, shift] = (read_only(extremes[0]), read_only(extremes[1]))
        return self._blocks[name, shift]


@dataclass(frozen=True, eq=False, slots=True)
class EndTest:
    """A condition on both ends over the columns of a table."""

    form: Form
    columns: NumberColumns
    firsts: NDArray[np.float64]
    lasts: NDArray[np.float64]
    is_positive: bool

    def find(
        self, spaces: Spaces, frame: Frame, longest: int, limit: int, budget: Rows
    ) -> tuple[Segments, int]:
        """Segments of the spaces and windows for which it holds, and how many values were compared."""
        shift = 3 if longest <= _SHORT else 4 if longest <= _LONG else 5
        name = self.form.last or self.form.first
        assert name is not None  # it reads something
        is_fixed = frame.low == frame.high and not len(frame.first_end)
        blocks = (self.lasts[:0], self.lasts[:0]) if is_fixed else self.columns.blocks(name, shift)
        values = kernel.EndValues(self.firsts, self.lasts, shift, *blocks)
        room = [np.empty(max(_ROOM, 2 * longest), np.int64) for _ in range(3)]
        n, space, start, tested = 0, 0, -1, 0
        while True:
            n, space, start, more = kernel.end_segments(
                spaces.ranges, tuple(frame), self._compared, values, space, start, n, Triples(*room), budget
            )
            check_number(n)
            tested += more
            if n > limit:
                raise TooManySegmentsError
            if space >= len(spaces):
                break
            room = roomier(room, n)
        return Segments(room[0][:n], room[1][:n], room[2][:n]), tested

    def holds(self, start: Rows, end: Rows) -> NDArray[np.bool_]:
        """Where it holds."""
        result = np.empty(len(start), np.bool_)
        kernel.end_tests(self._compared, self.firsts, self.lasts, start, end, result)
        return result

    @property
    def _compared(self) -> kernel.Compared:
        return kernel.Compared(self.form.form, self.form.comparison, self.form.threshold, self.is_positive)


def end_test_of(condition: Expression, own: frozenset[str], columns: NumberColumns) -> EndTest | None:
    """The condition as a test of both ends of its own segment; None if it is not one, or not over such columns."""
    form = _form_of(condition, own)
    if form is None:
        return None
    found = {name: columns.of(name) for name in (form.first, form.last) if name is not None}
    if any(one is None for one in found.values()):
        return None
    known = {name: one for name, one in found.items() if one is not None}
    is_difference = form.form in (kernel.LAST_MINUS_FIRST, kernel.FIRST_MINUS_LAST)
    whole = [one for name, one in known.items() if columns.is_whole(name)]
    largest = max((max(-low, high) for _, low, high in whole), default=0.0)
    if is_difference and (0 < len(whole) < len(known) or largest > _NO_OVERFLOW):
        return None
    some = next(iter(known.values()))
    first = some if form.first is None else known[form.first]
    last = some if form.last is None else known[form.last]
    return EndTest(form, columns, first[0], last[0], last[1] > 0)


def _form_of(condition: Expression, own: frozenset[str]) -> Form | None:
    if not isinstance(condition, Call) or condition.function not in _COMPARISONS or len(condition.operands) != 2:
        return None
    function, (left, right) = condition.function, condition.operands
    if isinstance(left, Literal):
        function, left, right = _TURNED[function], right, left
    sides = _end(left, own), _end(right, own)
    if sides[0] is not None and sides[1] is not None:
        return _difference(left, right, own, function, 0.0)
    threshold = _number(right)
    if threshold is None:
        return None
    if sides[0] is not None:
        column, is_last = sides[0]
        if is_last:
            return Form(kernel.LAST_ALONE, _COMPARISONS[function], threshold, None, column)
        return Form(kernel.FIRST_ALONE, _COMPARISONS[function], threshold, column, None)
    if not isinstance(left, Call) or len(left.operands) != 2:
        return None
    if left.function == "subtract":
        return _difference(*left.operands, own, function, threshold)
    if left.function == "divide" and left.on_zero is None:
        return _quotient(*left.operands, own, function, threshold)
    return None


def _difference(
    left: Expression, right: Expression, own: frozenset[str], function: str, threshold: float
) -> Form | None:
    one, other = _end(left, own), _end(right, own)
    if one is None or other is None or one[1] == other[1]:
        return None
    if one[1]:
        return Form(kernel.LAST_MINUS_FIRST, _COMPARISONS[function], threshold, other[0], one[0])
    return Form(kernel.FIRST_MINUS_LAST, _COMPARISONS[function], threshold, one[0], other[0])


def _quotient(
    left: Expression, right: Expression, own: frozenset[str], function: str, threshold: float
) -> Form | None:
    """x / NULLIF(y, 0), as analysis writes the quotient."""
    if not isinstance(right, Call) or right.function != "nullif" or _number(right.operands[1]) != 0:
        return None
    one, other = _end(left, own), _end(right.operands[0], own)
    if one is None or other is None or one[1] == other[1]:
        return None
    if one[1]:
        return Form(kernel.LAST_OVER_FIRST, _COMPARISONS[function], threshold, other[0], one[0])
    return Form(kernel.FIRST_OVER_LAST, _COMPARISONS[function], threshold, one[0], other[0])


def _end(expression: Expression, own: frozenset[str]) -> tuple[str, bool] | None:
    """The column that is read at an end of the segment under test, and whether at the last."""
    if not isinstance(expression, ColumnAt):
        return None
    target = expression.target
    if target.variables is None or not target.variables <= own or target.offset or target.shift:
        return None
    return expression.column, target.end is End.LAST


def _number(expression: Expression) -> float | None:
    if isinstance(expression, Literal) and isinstance(expression.value, int | float | Decimal):
        return None if isinstance(expression.value, bool) else float(expression.value)
    return None
