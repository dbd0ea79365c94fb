"""The patterns of a workload in normal form, and those that have none and are matched by the event matcher."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.workload.normal_form import normal_form
from sparkrex.modes.workload.symbols import Symbols

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.normal_form import PatternForm
    from sparkrex.modes.workload.plan import WorkloadPlan


@dataclass(frozen=True, eq=False, slots=True)
class Compiled:
    """Which pattern is answered how, by its number in the plan.

    `shared` are in normal form; `own` are the reasons of the others.
    """

    shared: dict[int, PatternForm] = field(default_factory=dict)
    own: dict[int, str] = field(default_factory=dict)
    symbols: Symbols = field(default_factory=Symbols)

    @property
    def forms(self) -> tuple[PatternForm, ...]:
        """The patterns that share."""
        return tuple(self.shared.values())

    @property
    def numbers(self) -> tuple[int, ...]:
        """Their numbers in the plan."""
        return tuple(self.shared)

    def clauses(self) -> list[Clause]:
        """All clauses of patterns that share, in the order in which plans number them."""
        return [form.clause for pattern in self.forms for form in pattern.clauses]


def compile_plan(plan: WorkloadPlan) -> Compiled:
    """Bring into normal form what has one."""
    compiled = Compiled()
    for number, pattern in enumerate(plan.patterns):
        form = pattern.own or normal_form(pattern.name, pattern.query, compiled.symbols)
        if isinstance(form, str):
            compiled.own[number] = form
        else:
            compiled.shared[number] = form
    return compiled
