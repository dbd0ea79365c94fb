"""When a conjunct of a pattern with AND is tested: at the event that settles the last of its identifiers.

`v` and `v[1]` are settled when v's first event is selected, `v[v.LEN]` and `agg(v[])` when one is that the order puts
after v. What can no longer come is settled too, and reads NULL. Whatever is not settled when a match ends is settled
by that. A conjunct is tested only if its last variable, by the pattern's text, is bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.events.nfab.any_order import variables_behind
from sparkrex.modes.events.nfab.settled import variables_that_follow
from sparkrex.scalar.expression import Target
from sparkrex.scalar.targets import with_targets

if TYPE_CHECKING:
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.plan import Conjunct, EventQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span


class OpenConjuncts:
    """What is tested on the edges and at the ends of a query's automaton, whose states are sets of variables."""

    def __init__(self, query: EventQuery, automaton: Automaton) -> None:
        self.begin = {definition.variable: definition.condition for definition in query.begin}
        self.take = {definition.variable: definition.condition for definition in query.take}
        self.conjuncts = query.open_conjuncts()
        self.automaton = automaton
        self.behind = variables_behind(query.pattern)
        self.followers = variables_that_follow(automaton)

    def of_edge(self, state: int, target: int) -> list[Expression | None]:
        """What an edge tests: its variable's own condition, and what it settles."""
        variable = self.automaton.variable(target)
        if variable in self.automaton.surely[state]:
            return [self.take.get(variable)]
        settled = [
            _placed(conjunct, variable) for conjunct in self.conjuncts
            if self._is_bound(conjunct, target) and self._is_settled(conjunct, target)
            and not self._is_settled(conjunct, state)
        ]
        return [self.begin.get(variable), *settled]

    def of_end(self, state: int) -> list[Expression | None]:
        """What is tested where a match ends."""
        return [
            _placed(conjunct, None) for conjunct in self.conjuncts
            if self._is_bound(conjunct, state) and not self._is_settled(conjunct, state)
        ]

    def _is_bound(self, conjunct: Conjunct, state: int) -> bool:
        return conjunct.last in self.automaton.surely[state]

    def _is_settled(self, conjunct: Conjunct, state: int) -> bool:
        """Whether nothing that may come behind a state changes what a conjunct reads."""
        bound = self.automaton.surely[state]
        if not (conjunct.variables - bound).isdisjoint(self.followers[state]):
            return False
        return all(not self.behind[name].isdisjoint(bound) for name in conjunct.of_whole & bound)


def _placed(conjunct: Conjunct, under_test: str | None) -> Expression:
    """The condition that a conjunct is (see `plan`), where the event under test is a variable's first."""

    def placed(target: Target, _: Span | None) -> Target:
        if target.variables is None or (under_test is not None and under_test in target.variables):
            return Target()
        return Target(target.variables, end=target.end)

    return with_targets(conjunct.expression, placed)
