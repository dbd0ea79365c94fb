"""What the labels and keys of clauses stand for: events that an item may have, and conditions between items.

Planners see numbers only. Equal leaves and equal conditions have equal numbers, whatever the patterns call their
variables: that is what makes two parts of different patterns the same sub-pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Source, Span

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Leaf:
    """Which events an item has. Conditions read the event itself.

    `type` is the test of its type, None if there is none. Of a Kleene `own` is for the first event of an array and
    `later` for the others. `counts_events` tells windows of events from windows of time, which are not shared.
    """

    type: Expression | None
    own: tuple[Expression, ...]
    is_kleene: bool = False
    later: tuple[Expression, ...] = ()
    counts_events: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value of one item compared with a value of another. Sides read the event itself.

    `leaves` are the labels of the two items: how often a comparison holds depends on them. `left_reads` and
    `right_reads` say which event of an item is meant (`kernels.links`). `left_span` is where it was first written.
    """

    operator: str
    left: Expression
    right: Expression
    left_reads: int
    right_reads: int
    leaves: tuple[int, int]
    source: Source | None = field(default=None, compare=False)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Formula:
    """Any other condition on several items, for the host: item number n is the variable `n` in it.

    `reads` says which event of each item is meant.
    """

    expression: Expression
    reads: tuple[int, ...]
    leaves: tuple[int, ...]


@dataclass(slots=True)
class Symbols:
    """The leaves and conditions of a workload by number."""

    leaves: list[Leaf] = field(default_factory=list)
    conditions: list[Comparison | Formula] = field(default_factory=list)
    _numbers: dict[object, int] = field(default_factory=dict)

    def leaf(self, leaf: Leaf) -> int:
        """The label of a leaf."""
        return self._number(leaf, self.leaves)

    def condition(self, condition: Comparison | Formula) -> int:
        """The key of a condition."""
        return self._number(condition, self.conditions)

    def _number(self, value: T, known: list[T]) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(known)
            known.append(value)
        return number
