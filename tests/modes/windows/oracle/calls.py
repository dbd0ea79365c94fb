"""What is called over a window with a row pattern: `name OVER w`, `f(...) OVER w`, and the value that each row gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle import aggregates
from tests.modes.rows.oracle.comparing import are_same, sort
from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.rows.oracle.expressions import value_of_row
from tests.modes.windows.oracle.scalars import is_empty_array, parse
from tests.modes.windows.oracle.search import Matched, measure, search

from sparkrex.scalar.expression import Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.modes.windows.oracle.scalars import Scope
    from tests.modes.windows.oracle.search import Found, Row
    from tests.modes.windows.oracle.spec import Window
    from tests.modes.windows.oracle.tokens import Tokens

    from sparkrex.scalar.expression import Aggregate, Expression


@dataclass(frozen=True, slots=True)
class Measure:
    """`name OVER w`."""

    name: str

    def value(self, window: Window, found: Found) -> Any:
        """The value for a row."""
        return measure(window, self.name, found)


@dataclass(frozen=True, slots=True)
class Function:
    """`f(...) OVER w`: an aggregate, or one of the functions that read a row of the frame."""

    name: str
    arguments: tuple[Expression, ...]
    ignores_nulls: bool
    aggregate: Aggregate | None

    def value(self, window: Window, found: Found) -> Any:
        """The value for a row: over the match's rows, without them over no rows."""
        rows = found.rows if isinstance(found, Matched) else ()
        if self.aggregate is not None:
            return _aggregate(self.aggregate, rows, window.dialect)
        values = [value_of_row(self.arguments[0], row, window.dialect) for row in rows]
        if self.ignores_nulls:
            values = [value for value in values if value is not None]
        if self.name == "NTH_VALUE":
            place = value_of_row(self.arguments[1], rows[0] if rows else {}, window.dialect) - 1
        else:
            place = 0 if self.name == "FIRST_VALUE" else len(values) - 1
        return values[place] if 0 <= place < len(values) else None


_OF_A_ROW = ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")


def read_call(parts: Tokens, scope: Scope) -> Measure | Function:
    """The call before OVER."""
    if len(parts) == 1:
        return Measure(parts[0].name)
    name = parts[0].upper
    if name not in _OF_A_ROW:
        return Function(name, (), False, scope.aggregate(parse(parts)))
    words = [part.upper for part in parts]
    ignores_nulls = any(words[place : place + 2] == ["IGNORE", "NULLS"] for place in range(len(words)))
    kept = [part for part in parts if part.upper not in ("IGNORE", "RESPECT", "NULLS")]
    inner = parse(kept)
    trees = [inner.this, *(inner.args[key] for key in ("offset", "expression") if inner.args.get(key) is not None)]
    return Function(name, tuple(scope.expression(tree, Target()) for tree in trees), ignores_nulls, None)


def _aggregate(aggregate: Aggregate, rows: Sequence[Row], dialect: str) -> Any:
    inputs = []
    for row in rows:
        if aggregate.filter is not None and value_of_row(aggregate.filter, row, dialect) is not True:
            continue
        arguments = tuple(value_of_row(argument, row, dialect) for argument in aggregate.arguments)
        inputs.append((arguments, [value_of_row(item.expression, row, dialect) for item in aggregate.order_by]))
    found = aggregates.aggregate(aggregate, inputs, dialect)
    return [] if found is None and is_empty_array(aggregate, dialect) else found


def values_of(window: Window, calls: Sequence[Measure | Function], rows: Sequence[Row]) -> list[list[Any]]:
    """For each call the values of all rows, in the rows' own order."""
    values: list[list[Any]] = [[None] * len(rows) for _ in calls]
    for members in _partitions(window, rows):
        ordered = [rows[place] for place in members]
        for place, found in zip(members, search(window, ordered), strict=True):
            for column, call in zip(values, calls, strict=True):
                column[place] = call.value(window, found)
    return values


def _partitions(window: Window, rows: Sequence[Row]) -> list[list[int]]:
    """Row numbers of each partition in its order; NULL keys are one partition, ties keep the order of the input."""
    keys: list[list[Any]] = []
    partitions: list[list[int]] = []
    for number, row in enumerate(rows):
        key = [value_of_row(expression, row, window.dialect) for expression in window.partition_by]
        known = next((place for place, other in enumerate(keys) if are_same(other, key)), None)
        if known is None:
            keys.append(key)
            partitions.append([number])
        else:
            partitions[known].append(number)
    directions = [(item.is_descending, item.nulls_first) for item in window.order_by]

    def keys_of(row: Row) -> list[Any]:
        return [value_of_row(item.expression, row, window.dialect) for item in window.order_by]

    return [sort(members, [keys_of(rows[place]) for place in members], directions) for members in partitions]


def check_measure(window: Window, call: Measure | Function) -> None:
    """Refuse a measure that the window does not have."""
    if isinstance(call, Measure) and call.name not in window.measures:
        raise CannotEvaluate(f"unknown measure {call.name}")
