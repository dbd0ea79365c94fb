"""Operators that count what they are asked and what they find, for EXPLAIN with `analyze=True`."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from sparkrex.modes.segments.operators.build import Builder

if TYPE_CHECKING:
    from sparkrex.modes.segments.operators.contract import Operator, Segments, Spaces
    from sparkrex.modes.segments.planner.physical_plan import Physical


@dataclass(eq=False)
class Measured:
    """An operator with counters: calls, search spaces asked for, segments found, seconds with its children's."""

    operator: Operator
    name: str = field(init=False)
    n_calls: int = field(default=0, init=False)
    n_spaces: int = field(default=0, init=False)
    n_found: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.name = self.operator.name

    @property
    def children(self) -> tuple[Operator, ...]:
        """The operator's."""
        return self.operator.children

    @property
    def n_tested(self) -> int:
        """How many segments its own condition was evaluated on."""
        has_condition = getattr(self.operator, "condition", None) is not None
        return int(getattr(self.operator, "n_tested", 0)) if has_condition else 0

    @property
    def own_seconds(self) -> float:
        """Without the children's."""
        inside = {id(child): child for child in self.children}  # Kleene and others may hold the same one twice
        return self.seconds - sum(child.seconds for child in inside.values() if isinstance(child, Measured))

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        begun = perf_counter()
        found = self.operator.find(spaces)
        self.seconds += perf_counter() - begun
        self.n_calls += 1
        self.n_spaces += len(spaces)
        self.n_found += len(found)
        return found

    def describe(self) -> list[str]:
        """The operator's."""
        return self.operator.describe()


class MeasuringBuilder(Builder):
    """Builds operators with counters; `measured` has them by identity of the plan node."""

    def build(self, plan: Physical) -> Operator:
        """The operator of a plan."""
        operator = super().build(plan)
        if not isinstance(operator, Measured):
            operator = Measured(operator)
        self.operators[id(plan)] = operator
        return operator

    @property
    def measured(self) -> dict[int, Measured]:
        """By identity of the plan node."""
        return {key: found for key, found in self.operators.items() if isinstance(found, Measured)}
