"""Random queries and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.languages.sqlts.model import (
    Agg,
    Between,
    Comparison,
    Condition,
    Constant,
    Either,
    Not,
    Pattern,
    Ref,
    Sum,
    Term,
)

if TYPE_CHECKING:
    import random

_NAMES = "XYZTU"


def draw_rows(draw: random.Random) -> list[dict[str, Any]]:
    """Rows of a few clusters in random order, prices small and sometimes missing."""
    n_clusters = draw.choice([1, 1, 2, 3])
    prices = [None, *range(6)] if draw.random() < 0.5 else [*range(6)]
    rows = [
        {"name": f"c{cluster}", "date": date, "price": draw.choice(prices)}
        for cluster in range(n_clusters) for date in range(draw.randrange(12))
    ]
    draw.shuffle(rows)
    return rows


def as_table(rows: list[dict[str, Any]]) -> pa.Table:
    schema = pa.schema([("name", pa.string()), ("date", pa.int64()), ("price", pa.int64())])
    return pa.Table.from_pylist(rows, schema)


def draw_pattern(draw: random.Random) -> Pattern:
    names = _NAMES[: draw.choice([1, 2, 2, 3, 3, 4, 5])]
    elements = tuple((name, draw.random() < 0.55) for name in names)
    conjuncts: list[Condition] = []
    for place, (name, is_star) in enumerate(elements):
        wanted = draw.choice([0, 1, 1, 1, 2]) if not is_star else draw.choice([1, 1, 1, 2])
        conjuncts += [_draw_condition(draw, names, place, name) for _ in range(wanted)]
    if draw.random() < 0.2:
        conjuncts.append(Comparison("<>", Ref(draw.choice(names), "name", draw.choice(["", "FIRST"])), Constant("c1")))
    draw.shuffle(conjuncts)
    selected: list[Term] = [Ref(names[0], "date", "FIRST"), Ref(names[-1], "date")]
    selected += [_draw_read(draw, draw.choice(names)) for _ in range(draw.randrange(3))]
    selected += [Agg("count", name) for name, is_star in elements if is_star]
    return Pattern(elements, tuple(conjuncts), tuple(selected))


def _draw_condition(draw: random.Random, names: str, place: int, own: str) -> Condition:
    """A condition that names the element, and perhaps earlier ones."""
    kind = draw.random()
    if kind < 0.12:
        return Either((_draw_comparison(draw, names, place, own), _draw_comparison(draw, names, place, own)))
    if kind < 0.2:
        low = draw.randrange(4)
        return Between(Ref(own, "price"), Constant(low), Constant(low + draw.randrange(4)))
    if kind < 0.27:
        return Not(_draw_comparison(draw, names, place, own))
    return _draw_comparison(draw, names, place, own)


def _draw_comparison(draw: random.Random, names: str, place: int, own: str) -> Comparison:
    sign = draw.choice(["<", "<=", ">", ">=", "=", "<>"])
    left: Term = Ref(own, "price", steps=draw.choice([0, 0, 0, 0, -1, 1]))
    kind = draw.random()
    right: Term
    if kind < 0.3:
        right = Constant(draw.randrange(6))
    elif kind < 0.6:
        right = Ref(own, "price", steps=draw.choice([-1, -1, -2, 1]))
    elif kind < 0.7:
        right = Ref(own, "price", end="FIRST", steps=draw.choice([0, 0, -1]))
    elif kind < 0.78:
        left, right = Agg("count", own), Constant(draw.randrange(1, 4))
    elif kind < 0.84:
        right = Agg(draw.choice(["sum", "min", "max"]), own, "price")
    else:
        other = names[draw.randrange(place + 1)]
        right = _draw_read(draw, other)
        if isinstance(right, Ref) and right.column == "date":
            left = Ref(own, "date")
    if draw.random() < 0.2:
        right = Sum(right, Constant(draw.randrange(1, 3)))
    return Comparison(sign, left, right)


def _draw_read(draw: random.Random, element: str) -> Term:
    if draw.random() < 0.2:
        return Agg(draw.choice(["sum", "min", "max"]), element, "price")
    end = draw.choice(["", "", "FIRST", "LAST"])
    return Ref(element, draw.choice(["price", "price", "date"]), end, draw.choice([0, 0, 0, -1, -2, 1]))
