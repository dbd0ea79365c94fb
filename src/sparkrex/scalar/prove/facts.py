"""What is known of the columns that conditions read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import ColumnAt, Expression, Target

if TYPE_CHECKING:
    from collections.abc import Mapping


class ValueKind(Enum):
    """Values that are compared, and computed with, in the same way."""

    INTEGER = "integer"
    """Of any width; a sum that does not fit is an error, so one that is compared is exact."""

    DECIMAL = "decimal"
    """Of at most 18 digits, so that hosts compute sums and products with short literals exactly."""

    DOUBLE = "double"
    """May be NaN, which equals itself and is above every number, and infinite; sums and products are rounded."""

    NUMBER = "number"
    """Another number: of single precision, or a wide decimal. Hosts round when they compare it with other types."""

    TEXT = "text"
    """Ordered by its UTF-8 bytes, which is the order of its code points."""

    BOOLEAN = "boolean"

    TIME = "time"
    """A date, a time of day or a timestamp, without a zone, not finer than microseconds."""

    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known, by the name of the column.

    `kinds` has the kinds of values; a column that it lacks is OTHER. A column of `never_null` holds no NULL, and of
    `positive` no value that is not above zero. A reference to another row may be NULL all the same: there may be no
    such row.
    """

    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    never_null: frozenset[str] = frozenset()
    positive: frozenset[str] = frozenset()

    def is_never_null(self, expression: Expression) -> bool:
        """Whether it is a column of the row under test that holds no NULL."""
        return (
            isinstance(expression, ColumnAt) and expression.target == Target() and expression.column in self.never_null
        )

    def is_positive(self, expression: Expression) -> bool:
        """Whether its value, where it is not NULL, is above zero."""
        return isinstance(expression, ColumnAt) and expression.column in self.positive
