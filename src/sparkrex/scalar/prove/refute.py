"""Whether a formula can never hold: a contradiction is looked for in every branch of its disjunctions.

A branch is a conjunction. Before it is split further, what it already says is tested, so that most branches end early.
The number of branches is bounded; beyond it nothing is concluded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.scalar.prove.formulas import (
    All,
    Disequality,
    Formula,
    Inequality,
    Nullness,
    Some,
    compare_points,
    some_of,
)
from sparkrex.scalar.prove.inequalities import Inequalities, is_whole
from sparkrex.scalar.prove.monotone import add_laws

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.prove.facts import Facts

MOST_BRANCHES = 400


@dataclass(eq=False, slots=True)
class _Branch:
    """What one branch says, and the disjunctions that are still to be split."""

    system: Inequalities = field(default_factory=Inequalities)
    nullness: dict[Expression, bool] = field(default_factory=dict)
    disequalities: list[Disequality] = field(default_factory=list)
    choices: list[Some] = field(default_factory=list)

    def copy(self) -> _Branch:
        return _Branch(self.system.copy(), dict(self.nullness), list(self.disequalities), list(self.choices))

    def add(self, formula: Formula) -> bool:
        """Let the formula hold; whether nothing contradicts it at once."""
        pending = [formula]
        while pending:
            match pending.pop():
                case All(parts):
                    pending.extend(parts)
                case Some(()):
                    return False
                case Some() as choice:
                    self.choices.append(choice)
                case Nullness(expression, is_null):
                    if self.nullness.setdefault(expression, is_null) != is_null:
                        return False
                case Inequality() as inequality:
                    self.system.add(inequality)
                case Disequality() as disequality:
                    self.disequalities.append(disequality)
                    self.system.number(disequality.left)
                    self.system.number(disequality.right)
        return not self.system.is_contradictory

    def contradicts_itself(self, facts: Facts) -> bool:
        add_laws(self.system, facts)
        return self.system.is_contradictory or any(map(self.system.denies, self.disequalities))

    def next_choice(self) -> Some | None:
        """A disjunction to split, taken from those that are left. `x <> c` says something of integers only so."""
        if self.choices:
            self.choices.sort(key=lambda choice: -len(choice.parts))
            return self.choices.pop()
        for number, disequality in enumerate(self.disequalities):
            left, right, limit = disequality.left, disequality.right, disequality.limit
            if is_whole(left) and is_whole(right):
                del self.disequalities[number]
                split = some_of(*(compare_points(operator, left, right, limit) for operator in ("lt", "gt")))
                assert isinstance(split, Some)
                return split
        return None


def is_refuted(formula: Formula, facts: Facts) -> bool:
    """Whether the formula is shown to hold nowhere."""
    first = _Branch()
    pending = [first] if first.add(formula) else []
    n_branches = 0
    while pending:
        branch = pending.pop()
        n_branches += 1
        if n_branches > MOST_BRANCHES:
            return False
        if branch.contradicts_itself(facts):
            continue
        choice = branch.next_choice()
        if choice is None:
            return False
        for part in reversed(choice.parts):
            option = branch.copy()
            if option.add(part):
                pending.append(option)
    return True
