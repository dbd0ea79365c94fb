"""Random event queries with many equalities between their variables, over streams with NULL, NaN and ties.

Chains, stars and closings by transitivity arise by themselves: an equality names any variable that stands earlier.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.modes.events import building as b
from tests.modes.events.conditions import ConditionDraws
from tests.modes.events.draws import COLUMNS, Example, _some, _window, events
from tests.modes.events.patterns import PatternDraws
from tests.modes.segments.building import call

from sparkrex.modes.events.pattern import absences, positive_variables
from sparkrex.modes.events.plan import Strategy
from sparkrex.scalar.expression import Call, Literal
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.rows.property.draws import Draw

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.scalar.expression import ColumnAt, Expression

KEYS = ("x", "x", "x", "y", "s", "x + 1", "coalesce")
NAN = float("nan")
SEQUENCES = (
    ("A a", "B b", "A c"), ("A a", "~C n", "B b"), ("~C n", "A a", "B b"), ("A a", "B b", "~C n"),
    ("A a", "B? b", "A c"), ("A a", "B+ b", "A c"), ("A a", "B b", "A c", "B d"),
)


def generate_equalities(draw: Draw) -> Example:
    """A query and its stream."""
    strategy = draw.weighted([(45, Strategy.NEXT), (45, Strategy.ANY), (5, Strategy.PARTITION), (5, Strategy.STRICT)])
    drawing = PatternDraws(draw, ("Any", "A", "B"))
    pattern = drawing.pattern() if draw.chance(70) else b.seq(*draw.choice(SEQUENCES))
    conditions = _Equalities(draw, pattern)
    has_ties = draw.chance(40)
    within, unit = _window(draw, pattern, "t")
    if unit is WindowUnit.EVENTS and not draw.chance(15):
        within, unit = 4, WindowUnit.NUMBER
    query = b.query(
        pattern, strategy, begin=conditions.begin(), take=conditions.take(), absent=conditions.absent(), within=within,
        unit=unit, time="t", tie_break=("b",) if has_ties else (),
        partition=("k",) if strategy is Strategy.PARTITION or draw.chance(20) else (),
        non_overlapping=draw.chance(6), strict_ties=has_ties and draw.chance(50), columns=COLUMNS,
    )
    rows = events(draw, 8 if strategy is Strategy.ANY else 10, n_keys=2, has_ties=has_ties, parts=False)
    # Few values, so that equalities hold.
    for row in rows:
        row["x"] = draw.choice([1, 2, 1, 2, 1, None])
        row["y"] = draw.choice([1.0, NAN, 2.0, 1.0, -0.0, 0.0, None])
    return Example(query, rows)


class _Equalities:
    """Conditions of one query, which has one key or two."""

    def __init__(self, draw: Draw, pattern: EventPattern) -> None:
        self.draw = draw
        self.pattern = pattern
        self.positive = positive_variables(pattern)
        self.others = ConditionDraws(draw, pattern)
        self.keys = [draw.choice(KEYS) for _ in range(draw.choice([1, 1, 1, 2]))]
        # Most queries have all the equalities, the others most of them.
        self.share = draw.choice([100, 100, 85, 60])
        # In some the last variable alone is compared, with all others: equal by transitivity, but only in the end.
        self.closes_late = draw.chance(25)

    def begin(self) -> dict[str, Expression]:
        """Of the first event of a variable."""
        if self.closes_late:
            *earlier, last = self.positive
            tests = [self._equality(key, name) for key in self.keys for name in earlier]
            return _some({last: b.both(*tests)})
        return _some({
            name: self._test(self.positive[:place], self.others.begin(name))
            for place, name in enumerate(self.positive)
        })

    def take(self) -> dict[str, Expression]:
        """Of the later events."""
        return _some({
            name: self._test((*self.positive[: self.positive.index(name)], name, name), self.others.take(name))
            for name in self.others.arrays
        })

    def absent(self) -> dict[str, Expression]:
        """Of negated events."""
        return _some({
            event.variable: self._test(self.positive, self.others.absent(event.variable))
            for event in absences(self.pattern)
        })

    def _test(self, others: tuple[str, ...], more: Expression | None) -> Expression | None:
        found = [more] if self.draw.chance(20) else []
        for key in self.keys:
            for _ in range(self.draw.choice([1, 1, 1, 2])):
                if others and self.draw.chance(self.share):
                    other = others[-1] if self.draw.chance(40) else self.draw.choice(others)
                    found.append(self._equality(key, other))
        return b.both(*found)

    def _equality(self, key: str, other: str) -> Expression:
        here, there = _key(key, b.here), _key(key, partial(b.first if self.draw.chance(30) else b.last, other))
        return call("eq", *((here, there) if self.draw.chance(50) else (there, here)))


def _key(key: str, read: Callable[[str], ColumnAt]) -> Expression:
    match key:
        case "x + 1":
            return call("add", read("x"), 1)
        case "coalesce":
            return Call("coalesce", (read("x"), Literal(1)))
        case _:
            return read(key)
