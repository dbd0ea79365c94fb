"""Random streams of a few events, in partitions, with ties, NULLs and numbers at the ends of their types."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.modes.rows.property.draws import Draw

T = TypeVar("T")

START = datetime(2024, 2, 28, 23, 59, 57)

TYPES = {
    "k": pa.string(), "g": pa.int64(), "kind": pa.string(), "b": pa.int64(), "x": pa.int64(), "y": pa.float64(),
    "z": pa.decimal128(10, 2), "s": pa.string(), "t": pa.int64(), "d": pa.float64(), "ts": pa.timestamp("us"),
    "tz": pa.timestamp("us", "UTC"), "day": pa.date32(), "m": pa.decimal128(10, 2),
}
"""The columns: partitions, type, tie-break, values, and times of every type."""

VALUES: dict[str, list[list[Any]]] = {
    "x": [[1, 2, 3, 0, 2, 1, 3, 4, 2, 1, None], [2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 3, None]],
    "y": [[1.0, 0.5, 1.5, 2.0, 2.5, 0.25, 3.0, None], [1.0, math.nan, math.inf, -math.inf, 0.0, -0.0, None]],
    "z": [[*map(Decimal, ("1.00", "0.50", "1.25", "2.00", "-1.75")), None]],
    "s": [["u", "v", "u", "V", "", None]],
}
"""Ordinary values, and extreme ones."""


@dataclass(frozen=True, slots=True)
class StreamShape:
    """What a stream is to be like."""

    kinds: tuple[str | None, ...]
    n_most: int
    """Of the events of a partition."""
    keys: tuple[str, ...]
    """The attributes that partition it."""
    has_ties: bool
    extremes: tuple[str, ...] = ()
    """The columns whose values may be extreme."""


def draw_stream(draw: Draw, shape: StreamShape) -> list[dict[str, Any]]:
    """The events in any order; the column `b` orders those of one time."""
    choices: dict[str, list[Any]] = {"k": ["p"], "g": [1]}
    for name, others in (("k", ["q", "r"]), ("g", [2])):
        if name in shape.keys:
            choices[name] += others[: draw.integer(0, len(others))]
            choices[name] = [*choices[name] * 2, None] if draw.chance(25) else choices[name]
    n_rows = max(1, shape.n_most - draw.choice([0, 0, 1, 2, 3]))
    if shape.keys:
        n_rows += draw.integer(1, 5) * (len({*choices["k"]}) * len({*choices["g"]}) - 1)
    choices |= {name: found[1] if name in shape.extremes else found[0] for name, found in VALUES.items()}
    places = shuffled(draw, range(n_rows)) if shape.has_ties else list(range(n_rows))
    sizes: Counter[tuple[Any, ...]] = Counter()
    rows: list[dict[str, Any]] = []
    moment = draw.integer(-3, 3)
    for place in places:
        row = {
            **{name: draw.choice(values) for name, values in choices.items()},
            "kind": draw.choice(shape.kinds), "b": place, **times_at(moment),
        }
        moment += draw.choice([1, 1, 2, 3, 0, 0] if shape.has_ties else [1, 1, 1, 2, 3])
        partition = tuple(row[name] for name in shape.keys)
        if sizes[partition] < shape.n_most:
            sizes[partition] += 1
            rows.append(row)
    return shuffled(draw, rows) if draw.chance(50) else rows


def times_at(moment: int) -> dict[str, Any]:
    """One moment in every type of time."""
    return {
        "t": moment, "d": moment / 2, "ts": START + timedelta(milliseconds=500 * moment),
        "tz": (START + timedelta(milliseconds=500 * moment)).replace(tzinfo=UTC),
        "day": date(2024, 2, 28) + timedelta(days=moment), "m": Decimal(moment) / 4,
    }


def put_at_the_ends_of_time(draw: Draw, rows: list[dict[str, Any]], time: str) -> None:
    """The earliest and the latest moment of the stream, or one of them, where differences wrap or are not numbers."""
    earliest, latest = min(row[time] for row in rows), max(row[time] for row in rows)
    which = draw.choice(["both", "latest", "earliest"])
    low, high = (-(2**63), 2**63 - 1) if time == "t" else (-math.inf, draw.choice([math.nan, math.nan, math.inf]))
    for row in rows:
        if row[time] == latest and which != "earliest":
            row[time] = high
        elif row[time] == earliest and which != "latest":
            row[time] = low


def shuffled(draw: Draw, items: Iterable[T]) -> list[T]:
    """The items in some order."""
    rest = list(items)
    return [rest.pop(draw.integer(0, len(rest) - 1)) for _ in range(len(rest))]


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """The stream as Arrow; columns that the rows do not have are left out."""
    names = list(rows[0]) if rows else list(TYPES)
    return pa.table({name: pa.array([row[name] for row in rows], TYPES[name]) for name in names})
