"""Expressions over mapped rows, as aggregates read them: one projection per distinct expression.

Several aggregates may read the same expression over different rows: those of a variable, those that pass a filter. It
is evaluated once, for the rows that at least one of them reads, so nothing is evaluated where nobody reads it. A
volatile expression is evaluated for each place it stands at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import plain
from sparkrex.errors import RexError
from sparkrex.matching.labels import selecting
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Literal, is_volatile

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

    from sparkrex.matching.reading import MatchReader


class RowSet(NamedTuple):
    """Mapped rows: those of some variables (None: of all) that pass a filter, and that have a value of `present`."""

    variables: frozenset[str] | None
    filter: Expression | None = None
    present: Expression | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Projected:
    """Values of an expression over the mapped rows in `mask`; `place` finds the value of a row."""

    mask: NDArray[np.bool_]
    values: pa.ChunkedArray
    place: NDArray[np.int64]


class RowProjection:
    """Finds the rows of aggregates, and the values that they read there."""

    def __init__(self, reader: MatchReader) -> None:
        self.reader = reader
        self._masks: dict[Hashable, NDArray[np.bool_]] = {}
        self._projected: dict[Hashable, Projected] = {}

    def row_set(self, node: Aggregate) -> RowSet:
        """The rows that an aggregate reads."""
        condition, present = _split_presence(node)
        if isinstance(present, ColumnAt):
            column = self.reader.table.column(present.column)
            if not column.null_count and not pa.types.is_dictionary(column.type):
                present = None
        return RowSet(selecting(node.variables, self.reader.variables), condition, present)

    def prepare(self, nodes: Iterable[Aggregate]) -> None:
        """Evaluate what these aggregates read, so that those that read the same share it."""
        sets = {node: self.row_set(node) for node in nodes}
        self._project((rows.filter, RowSet(rows.variables)) for rows in sets.values() if rows.filter is not None)
        wanted: list[tuple[Expression, RowSet]] = []
        late: list[tuple[Expression, RowSet]] = []
        for node, rows in sets.items():
            if rows.present is not None:
                wanted.append((rows.present, rows._replace(present=None)))
            (wanted if rows.present is None else late).extend((expression, rows) for expression in _read_by(node))
        self._project(wanted)
        # What is read only where another expression has a value waits until that is known.
        self._project(late)

    def mask(self, rows: RowSet) -> NDArray[np.bool_]:
        """Per mapped row, whether it is one of the set. Not to be changed."""
        key = (rows.variables, _key(rows.filter), _key(rows.present))
        if key not in self._masks:
            self._masks[key] = self._find_mask(rows)
        return self._masks[key]

    def _find_mask(self, rows: RowSet) -> NDArray[np.bool_]:
        tested = rows.filter if rows.present is None else rows.present
        if tested is None:
            if rows.variables is None:
                return np.ones(self.reader.matches.n_mapped, np.bool_)
            return self.reader.is_member(rows.variables)[self.reader.matches.labels]
        around = RowSet(rows.variables) if rows.present is None else rows._replace(present=None)
        values = plain(self.values(tested, around))
        holds = values.is_valid() if rows.present is not None else plain(values.cast(pa.bool_())).fill_null(False)
        mask = self.mask(around).copy()
        mask[mask] = holds.to_numpy(zero_copy_only=False)
        return mask

    def projected(self, expression: Expression, rows: RowSet) -> Projected:
        """The values of an expression over at least these rows."""
        mask = self.mask(rows)
        known = self._projected.get(_key(expression))
        if known is None or (known.mask is not mask and bool((mask & ~known.mask).any())):
            self._project([(expression, rows)], again=True)
            known = self._projected[_key(expression)]
        return known

    def values(self, expression: Expression, rows: RowSet) -> pa.ChunkedArray:
        """The values of an expression over exactly these rows, in their order."""
        known = self.projected(expression, rows)
        mask = self.mask(rows)
        if known.mask is mask or len(known.values) == np.count_nonzero(mask):
            return known.values
        return take_or_null(known.values, known.place[mask])

    def _project(self, wanted: Iterable[tuple[Expression | None, RowSet]], *, again: bool = False) -> None:
        """Evaluate each expression over the rows of all its sets; expressions over the same rows together."""
        sets: dict[Hashable, tuple[Expression, dict[RowSet, None]]] = {}
        for expression, rows in wanted:
            if expression is not None and (again or _key(expression) not in self._projected):
                sets.setdefault(_key(expression), (expression, {}))[1][rows] = None
        together: dict[frozenset[RowSet], list[Expression]] = {}
        for expression, found in sets.values():
            together.setdefault(frozenset(found), []).append(expression)
        for row_sets, expressions in together.items():
            masks = [self.mask(rows) for rows in row_sets]
            mask = masks[0] if len(masks) == 1 else np.logical_or.reduce(masks)
            place = np.cumsum(mask) - 1
            columns = self._evaluate(expressions, np.flatnonzero(mask))
            for expression, column in zip(expressions, columns, strict=True):
                self._projected[_key(expression)] = Projected(mask, column, place)

    def _evaluate(self, expressions: list[Expression], rows: NDArray[np.int64]) -> list[pa.ChunkedArray]:
        try:
            return self.reader.each_row(expressions, rows)
        except RexError:
            if len(expressions) == 1:
                raise
        # One by one, so that the error names its own place.
        return [self.reader.each_row([expression], rows)[0] for expression in expressions]


def _key(expression: Expression | None) -> Hashable:
    """Equal expressions share their values, unless they are volatile."""
    return id(expression) if expression is not None and is_volatile(expression) else expression


def _read_by(node: Aggregate) -> list[Expression]:
    read = (*node.arguments, *(item.expression for item in node.order_by))
    return [expression for expression in read if not isinstance(expression, Literal)]


def _split_presence(node: Aggregate) -> tuple[Expression | None, Expression | None]:
    """The filter, and the argument if the filter also asks whether that has a value: it is evaluated for both."""
    match node.filter:
        case Call("not", (Call("is_null", (tested,)),)) if node.arguments[:1] == (tested,):
            return None, node.arguments[0]
        case Call("and", (condition, Call("not", (Call("is_null", (tested,)),)))) if node.arguments[:1] == (tested,):
            return condition, node.arguments[0]
        case _:
            return node.filter, None
