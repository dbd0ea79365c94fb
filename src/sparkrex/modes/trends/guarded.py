"""What can fail is computed only of events that somebody asks it of.

`CAST(A.text AS INT)` is asked of events that can be bound to A. Hosts compute a column for all rows; so an expression
that can fail becomes a CASE over the conditions of its variables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.trends.plan import TrendAggregate
from sparkrex.scalar.expression import Call
from sparkrex.scalar.guards import can_fail

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.modes.trends.plan import Adjacent, Returned, TrendQuery
    from sparkrex.scalar.expression import Expression


def guarded(query: TrendQuery) -> TrendQuery:
    """The same query, whose comparisons and aggregates fail for no event that they are not asked of."""
    conditions = {definition.variable: definition.condition for definition in query.definitions}

    def where_bound(expression: Expression, variables: Iterable[str]) -> Expression:
        asked = [conditions.get(name) for name in sorted(variables)]
        known = tuple(dict.fromkeys(condition for condition in asked if condition is not None))
        if None in asked or not can_fail(expression):
            return expression
        test = known[0] if len(known) == 1 else Call("or", known)
        return Call("case", (test, expression), span=expression.span)

    def comparison(one: Adjacent) -> Adjacent:
        return replace(one, left=where_bound(one.left, {one.before}), right=where_bound(one.right, {one.after}))

    def item(one: Returned) -> Returned:
        value = one.value
        if not isinstance(value, TrendAggregate) or value.argument is None:
            return one
        return replace(one, value=replace(value, argument=where_bound(value.argument, value.variables)))

    return replace(query, adjacent=tuple(map(comparison, query.adjacent)), items=tuple(map(item, query.items)))
