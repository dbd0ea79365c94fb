"""Random conditions of event queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.modes.events import building as b
from tests.modes.segments.building import call

from sparkrex.modes.events.pattern import AnyOf, EventPattern, Kleene, Sequence, events, positive_variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.rows.property.draws import Draw

    from sparkrex.scalar.expression import Expression

COMPARISONS = ("gt", "ge", "lt", "le", "ne", "gt", "ge", "eq")
AGGREGATES = ("avg", "avg", "min", "max", "sum", "count")


@dataclass(slots=True)
class ConditionDraws:
    """Conditions for the variables of one pattern."""

    draw: Draw
    pattern: EventPattern
    arrays: tuple[str, ...] = field(init=False)
    positive: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.arrays = self.arrays_of(self.pattern)
        self.positive = positive_variables(self.pattern)

    @staticmethod
    def arrays_of(pattern: EventPattern) -> tuple[str, ...]:
        """The variables under a Kleene."""
        match pattern:
            case Kleene(body=body):
                return tuple(event.variable for event in events(body))
            case Sequence(items=parts) | AnyOf(options=parts):
                return tuple(name for part in parts for name in ConditionDraws.arrays_of(part))
            case _:
                return ()

    def begin(self, variable: str) -> Expression | None:
        """On the variable's first event: on itself, or on what stands before it in the pattern."""
        earlier = self.positive[: self.positive.index(variable)]
        kinds = ["none"] * 5 + ["constant", "string"]
        if earlier:
            kinds += ["other"] * 3
        return self._one_or_two(kinds, lambda kind: self._test(kind, earlier))

    def take(self, variable: str) -> Expression | None:
        """On the variable's later events: p1 (nothing), p2 (the one before), p3 (an aggregate), and others."""
        earlier = self.positive[: self.positive.index(variable)]
        kinds = ["none"] * 3 + ["previous"] * 3 + ["aggregate"] * 2 + ["first", "constant"]
        if earlier:
            kinds += ["other"]

        def test(kind: str) -> Expression:
            column = self.draw.choice(["x", "x", "y"])
            match kind:
                case "previous":
                    return call(self._comparison(), b.here(column), b.last(variable, column))
                case "first":
                    return call(self._comparison(), b.here(column), b.first(variable, column))
                case "aggregate":
                    return call(self._comparison(), b.here(column), self._aggregate(variable, column))
                case _:
                    return self._test(kind, earlier)

        return self._one_or_two(kinds, test)

    def leave(self, variable: str) -> Expression | None:
        """On the whole array; most have none."""
        kinds = ["none"] * 15 + ["count", "aggregate", "last"]
        column = self.draw.choice(["x", "x", "y"])
        match self.draw.choice(kinds):
            case "none":
                return None
            case "count":
                return call(self.draw.choice(["ge", "ne"]), b.aggregate("count", variable), 2)
            case "aggregate":
                return call(self._comparison(), self._aggregate(variable, column), self._constant())
            case _:
                return call(self._comparison(), b.last(variable, column), b.first(variable, column))

    def absent(self, variable: str) -> Expression | None:
        """On the negated event, often against the match."""
        kinds = ["none", "constant", "string", "other", "other", "other"]
        return self._one_or_two(kinds, lambda kind: self._test(kind, self.positive))

    def _one_or_two(self, kinds: list[str], test: Callable[[str], Expression]) -> Expression | None:
        kind = self.draw.choice(kinds)
        if kind == "none":
            return None
        one = test(kind)
        more = self.draw.choice(["one", "one", "one", "one", "or", "and", "not"])
        if more == "one":
            return one
        if more == "not":
            return call("not", one)
        other = self.draw.choice([kind for kind in kinds if kind != "none"])
        return call(more, one, test(other))

    def _test(self, kind: str, others: tuple[str, ...]) -> Expression:
        column = self.draw.choice(["x", "x", "y"])
        match kind:
            case "constant":
                return call(self._comparison(), b.here(column), self._constant())
            case "string":
                return call(self.draw.choice(["eq", "ne"]), b.here("s"), "u")
        other = self.draw.choice(others)
        match self.draw.choice(["last", "last", "string", "share", "sum", "aggregate", "first", "null"]):
            case "string":
                return call("eq", b.here("s"), b.last(other, "s"))
            case "first":
                return call(self._comparison(), b.here(column), b.first(other, column))
            case "share":
                return call("lt", call("multiply", 0.8, b.here(column)), b.last(other, column))
            case "sum":
                return call(self._comparison(), call("add", b.here(column), b.last(other, column)), 3)
            case "aggregate":
                return call(self._comparison(), b.here(column), self._aggregate(other, column))
            case "null":
                return call("is_null", b.last(other, column))
            case _:
                return call(self._comparison(), b.here(column), b.last(other, column))

    def _aggregate(self, variable: str, column: str) -> Expression:
        function = self.draw.choice(AGGREGATES)
        return b.aggregate(function, variable, column)

    def _comparison(self) -> str:
        return self.draw.choice(COMPARISONS)

    def _constant(self) -> float:
        return self.draw.choice([1, 2, 2, 3])
