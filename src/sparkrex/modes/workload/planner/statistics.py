"""What a planner knows of the input: how often events come, and how often conditions hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import STRUCTURAL

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping


@dataclass(frozen=True, slots=True)
class Statistics:
    """Rates are events per unit of the clock, by label; selectivities are shares of pairs (or tuples), by key.

    `span` stands for the window of a clause without one: how long the input is.
    """

    rates: Mapping[Hashable, float]
    selectivities: Mapping[Hashable, float] = field(default_factory=dict)
    span: float = 1.0

    def rate(self, label: Hashable) -> float:
        """How many events have the label, per unit of the clock; a label that was never counted has none."""
        return self.rates.get(label, 0.0)

    def selectivity(self, key: Hashable) -> float:
        """The share of tuples on which a condition holds, 1 if nobody measured it.

        Order and difference count 1 as well: the paper's cost function has the selectivities of conditions only.
        """
        return 1.0 if key in STRUCTURAL else self.selectivities.get(key, 1.0)
