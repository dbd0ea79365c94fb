"""Which numbers, reals and extremes the aggregates of a query need, and of which types they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import kind_of
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.modes.trends.kernels.places import Shape, Store
from sparkrex.modes.trends.plan import Counts, Function

if TYPE_CHECKING:
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.plan import TrendAggregate, TrendQuery
    from sparkrex.scalar.expression import Expression

MOST_EXTREMES = 60
"""One bit for each tells whether it has been seen."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number, real or extreme: what the events bound to `variables` add to it.

    `argument` None adds one for every event; `is_counted` one for every value. `is_turned` is a maximum.
    """

    variables: frozenset[str]
    argument: Expression | None = None
    is_counted: bool = False
    is_turned: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The cells of a place. Number 0 is how many trends there are, and no cell of `numbers`, which begin with 1.

    So is real 0, if there are reals: sums of doubles, and how many values they have. `types` are those of arguments.
    """

    counts: Counts
    numbers: tuple[Cell, ...]
    reals: tuple[Cell, ...]
    extremes: tuple[Cell, ...]
    types: dict[Expression, pa.DataType]

    @property
    def shape(self) -> Shape:
        """Sizes, as kernels read them."""
        return Shape(1 + len(self.numbers), 1 + len(self.reals) if self.reals else 0, len(self.extremes))

    def store(self, n_places: int) -> Store:
        """Places without trends."""
        shape = self.shape
        is_text = self.counts is Counts.TEXT
        dtype = {Counts.EXACT: np.int64, Counts.LOG: np.float64, Counts.TEXT: object}[self.counts]
        return Store(
            np.zeros((n_places * shape.n_numbers, 3), dtype),
            np.zeros((n_places * shape.n_reals, 3), object if is_text else np.float64),
            np.zeros(n_places * shape.n_extremes, np.int64),
            np.zeros(n_places, np.int64),
        )

    def number_of(self, aggregate: TrendAggregate) -> int:
        """Where COUNT is."""
        cell = Cell(aggregate.variables, aggregate.argument, is_counted=True)
        return 0 if aggregate.function is Function.TRENDS else 1 + self.numbers.index(cell)

    def sum_of(self, aggregate: TrendAggregate) -> tuple[bool, int, int]:
        """Where a sum is: whether among the reals, its place there, and that of how many values it has."""
        cell, counted = Cell(aggregate.variables, aggregate.argument), _counted(aggregate)
        is_real = cell in self.reals
        cells = self.reals if is_real else self.numbers
        return is_real, 1 + cells.index(cell), 1 + cells.index(counted)

    def extreme_of(self, aggregate: TrendAggregate) -> int:
        """Where an extreme is."""
        return self.extremes.index(_extreme(aggregate))


def _counted(aggregate: TrendAggregate) -> Cell:
    return Cell(aggregate.variables, aggregate.argument, is_counted=True)


def _extreme(aggregate: TrendAggregate) -> Cell:
    return Cell(aggregate.variables, aggregate.argument, is_turned=aggregate.function is Function.MAX)


def make_layout(query: TrendQuery, sample: pa.Table, evaluator: Evaluator) -> Layout:
    """The layout for columns of the sample's types; it need not have rows."""
    arguments = list(dict.fromkeys(found.argument for found in query.aggregates() if found.argument is not None))
    values = project_rows(arguments, sample.slice(0, 0), evaluator)
    types = {argument: column.type for argument, column in zip(arguments, values, strict=True)}
    numbers: dict[Cell, None] = {}
    reals: dict[Cell, None] = {}
    extremes: dict[Cell, None] = {}
    for aggregate in query.aggregates():
        match aggregate.function:
            case Function.TRENDS:
                continue
            case Function.COUNT:
                numbers[_counted(aggregate)] = None
            case Function.SUM | Function.AVG:
                cells = reals if _is_real(query, aggregate, types) else numbers
                cells[_counted(aggregate)] = None
                cells[Cell(aggregate.variables, aggregate.argument)] = None
            case Function.MIN | Function.MAX:
                _check_extreme(query, aggregate, types)
                extremes[_extreme(aggregate)] = None
    if len(extremes) > MOST_EXTREMES:
        raise UnsupportedError(
            "REX301", f"more than {MOST_EXTREMES} minima and maxima in one query", query.source, query.span,
            hint="split the query",
        )
    return Layout(query.counts, tuple(numbers), tuple(reals), tuple(extremes), types)


def _type_of(aggregate: TrendAggregate, types: dict[Expression, pa.DataType]) -> pa.DataType:
    assert aggregate.argument is not None  # COUNT alone may have none
    kind = types[aggregate.argument]
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_real(query: TrendQuery, aggregate: TrendAggregate, types: dict[Expression, pa.DataType]) -> bool:
    kind = _type_of(aggregate, types)
    if pa.types.is_floating(kind):
        return True
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        return False
    span = None if aggregate.argument is None else aggregate.argument.span
    raise AnalysisError(
        "REX214", f"{aggregate.function.value} needs numbers, and this is a {kind}", query.source, span or query.span,
        hint="MIN and MAX take times too; COUNT takes anything",
    )


def _check_extreme(query: TrendQuery, aggregate: TrendAggregate, types: dict[Expression, pa.DataType]) -> None:
    kind = _type_of(aggregate, types)
    known = kind_of(kind)
    if pa.types.is_null(kind) or (known is not None and known.name != "string"):
        return
    span = None if aggregate.argument is None else aggregate.argument.span
    raise UnsupportedError(
        "REX301", f"{aggregate.function.value} of values of type {kind} over trends", query.source, span or query.span,
        hint="numbers of at most 18 digits, times and booleans have minima and maxima here",
    )
