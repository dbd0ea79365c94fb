"""Random event queries and small streams.

Queries are built as analysis would build them, not from text. Values come from small sets, so that conditions hold and
fail about as often, events tie, and runs meet the same aggregate on different ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from tests.modes.events import building as b
from tests.modes.events.conditions import ConditionDraws
from tests.modes.events.patterns import PatternDraws
from tests.modes.events.positions import allows_empty, firsts
from tests.modes.segments.building import call

from sparkrex.modes.events.pattern import Absent, EventPattern, Sequence, absences, positive_variables
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.rows.property.draws import Draw

    from sparkrex.scalar.expression import Expression

T = TypeVar("T")

COLUMNS = ("k", "t", "d", "ts", "b", "kind", "x", "y", "s")
START = datetime(2024, 2, 28, 23, 59, 57)


@dataclass(frozen=True, slots=True)
class Example:
    """A query and the rows of its stream, in any order."""

    query: EventQuery
    rows: list[dict[str, Any]]

    def __str__(self) -> str:
        query = self.query
        lines = [f"{query.pattern} {query.strategy.value}"]
        lines += [f"  {conjunct.expression}" for conjunct in query.open_conjuncts()]
        for title in ("begin", "take", "leave", "absent"):
            lines += [f"  {title} {one.variable}: {one.condition}" for one in getattr(query, title)]
        keys = ", ".join(key.name for key in query.partition_by)
        order = ", ".join(str(key.column) for key in query.order_by)
        lines.append(f"  [{keys}] ordered by {order}, {query.window}")
        lines.append(f"  non-overlapping: {query.is_non_overlapping}, strict ties: {query.has_strict_ties}")
        return "\n".join([*lines, *(f"  {number}: {row}" for number, row in enumerate(self.rows))])


def generate(draw: Draw, *, simple: bool = False) -> Example:
    """A random query over a random stream; `simple` has singles and `+` only, no window, no ties."""
    strategy = draw.weighted([(35, Strategy.NEXT), (30, Strategy.ANY), (19, Strategy.PARTITION), (16, Strategy.STRICT)])
    # Neighbours are seldom both of a type that is not every event's.
    types = ("Any", "A", "B") if strategy in (Strategy.NEXT, Strategy.ANY) else ("Any", "Any", "Any", "A", "B")
    drawing = PatternDraws(draw, types)
    pattern = drawing.simple() if simple else drawing.pattern()
    conditions = ConditionDraws(draw, pattern)
    positive = positive_variables(pattern)
    negated = tuple(event.variable for event in absences(pattern))
    begin = _some({name: conditions.begin(name) for name in positive})
    take = _some({name: conditions.take(name) for name in conditions.arrays})
    leave = {} if simple else _some({name: conditions.leave(name) for name in conditions.arrays})
    absent = _some({name: conditions.absent(name) for name in negated})
    is_partitioned = strategy is Strategy.PARTITION or draw.chance(60)
    partition = ("k",) if is_partitioned and strategy is not Strategy.STRICT else ()
    if is_partitioned and strategy is Strategy.STRICT:
        begin, take = _same_key(pattern, begin, take)
    time = draw.choice(["t", "t", "d", "ts"])
    has_ties = not simple and draw.chance(40)
    within, unit = (None, WindowUnit.NUMBER) if simple else _window(draw, pattern, time)
    query = b.query(
        pattern, strategy, begin=begin, take=take, leave=leave, absent=absent, within=within, unit=unit, time=time,
        tie_break=("b",) if has_ties else (), partition=partition,
        non_overlapping=not simple and draw.chance(35),
        strict_ties=has_ties and draw.chance(60), columns=COLUMNS,
    )
    most = 6 if simple else 8 if strategy is Strategy.ANY else 10
    return Example(query, events(draw, most, n_keys=1 if simple else 3, has_ties=has_ties, parts=bool(partition)))


def _some(conditions: dict[str, Expression | None]) -> dict[str, Expression]:
    return {name: condition for name, condition in conditions.items() if condition is not None}


def _same_key(
    pattern: EventPattern, begin: dict[str, Expression], take: dict[str, Expression]
) -> tuple[dict[str, Expression], dict[str, Expression]]:
    """The equivalence test as a condition on every event but the first, as strict contiguity has it."""
    test = call("eq", b.here("k"), b.first_of_all(pattern, "k"))
    starting = {place.variable for place in firsts(pattern)}
    arrays = ConditionDraws.arrays_of(pattern)
    later = [name for name in positive_variables(pattern) if name not in starting]
    return (
        begin | _some({name: b.both(begin.get(name), test) for name in later}),
        take | _some({name: b.both(take.get(name), test) for name in arrays}),
    )


def _window(draw: Draw, pattern: EventPattern, time: str) -> tuple[Any, WindowUnit]:
    kinds = ["time", "time", "events"] if looks_outside(pattern) else ["time", "time", "time", "events", "none"]
    kind = draw.choice(kinds)
    size = draw.choice([4, 3, 5, 6, 7, 8, 2, 1])
    if kind == "none":
        return None, WindowUnit.NUMBER
    if kind == "events":
        return size, WindowUnit.EVENTS
    match time:
        case "ts":
            return size * 1_000_000 + draw.choice([0, 0, 500_000]), WindowUnit.TIME
        case "d":
            return size + draw.choice([0.0, 0.5]), WindowUnit.NUMBER
        case _:
            return draw.choice([size, size, size, Decimal(size) + Decimal("0.5")]), WindowUnit.NUMBER


def looks_outside(pattern: EventPattern) -> bool:
    """Whether a negated component may have no event of the match on one of its sides."""
    items = pattern.items if isinstance(pattern, Sequence) else ()
    return any(
        all(map(allows_empty, side))
        for number, item in enumerate(items) if isinstance(item, Absent)
        for side in (items[:number], items[number + 1 :])
    )


def events(draw: Draw, most: int, *, n_keys: int, has_ties: bool, parts: bool) -> list[dict[str, Any]]:
    """A stream of up to three interleaved partitions of about `most` rows at most (without `parts`, `most` rows)."""
    keys = ["p", "q", "r"][: draw.integer(1, n_keys)]
    n_rows = min(most, draw.integer(0, 3) + most - 2)
    if parts:
        n_rows += draw.integer(0, 4) * (len(keys) - 1)
    choices = [*keys * 2, None] if draw.chance(30) and n_keys > 1 else keys
    places = _shuffled(draw, range(n_rows)) if has_ties else range(n_rows)
    rows = []
    moment = draw.integer(-2, 2)
    for place in places:
        x = draw.choice([1, 2, 3, 0, 4, 2, 1, 3, 2, 1, None])
        y = draw.choice([1.0, 0.5, 1.5, 2.0, 2.5, 0.1, 0.7, 3.0, None])
        rows.append({
            "k": draw.choice(choices),
            "t": moment,
            "d": moment / 2,
            "ts": START + timedelta(milliseconds=500 * moment),
            "b": place,
            "kind": draw.choice(["A", "A", "A", "B", "B", "C"]),
            "x": x,
            "y": y,
            "s": draw.choice(["u", "u", "w", None]),
        })
        moment += draw.choice([1, 1, 2, 3, 0, 0] if has_ties else [1, 1, 1, 2, 3])
    if rows and draw.chance(15):
        _put_at_the_ends_of_time(draw, rows)
    return _shuffled(draw, rows) if draw.chance(50) else rows


def _put_at_the_ends_of_time(draw: Draw, rows: list[dict[str, Any]]) -> None:
    """Where differences wrap or are not numbers: the earliest and the latest moment of the stream, or one of them."""
    earliest, latest = rows[0]["t"], rows[-1]["t"]
    which = draw.choice(["both", "latest", "earliest"])
    late = draw.choice([math.nan, math.nan, math.inf])
    for row in rows:
        if row["t"] == latest and which != "earliest":
            row |= {"t": 2**63 - 1, "d": late}
        elif row["t"] == earliest and which != "latest":
            row |= {"t": -(2**63), "d": -math.inf}


def _shuffled(draw: Draw, items: Iterable[T]) -> list[T]:
    rest = list(items)
    return [rest.pop(draw.integer(0, len(rest) - 1)) for _ in range(len(rest))]
