"""`make demo`: two MATCH_RECOGNIZE queries over in-memory tables, and what they find."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import sparkrex as rex
from examples.sample_data import clicks, ticks

if TYPE_CHECKING:
    import pyarrow as pa

V_SHAPES = """
SELECT symbol, fell_at, turned_at, back_at, low, round(100 * (top - low) / top, 1) AS drop_percent
FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  MEASURES
    FIRST(DOWN.ts) AS fell_at,
    LAST(DOWN.ts)  AS turned_at,
    LAST(UP.ts)    AS back_at,
    STRT.price     AS top,
    MIN(DOWN.price) AS low
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST UP
  PATTERN (STRT DOWN{4,} UP{4,})
  DEFINE
    DOWN AS price < PREV(price),
    UP   AS price > PREV(price))
ORDER BY symbol, fell_at
"""

ABANDONED_CARTS = """
SELECT visitor, visit, ts, event, step, clicks_so_far
FROM clicks MATCH_RECOGNIZE (
  PARTITION BY visitor
  ORDER BY ts
  MEASURES
    MATCH_NUMBER() AS visit,
    CLASSIFIER()   AS step,
    count(*)       AS clicks_so_far
  ALL ROWS PER MATCH
  PATTERN (CART BROWSE* GONE)
  DEFINE
    CART   AS event = 'cart',
    BROWSE AS event IN ('view', 'search'),
    GONE   AS event = 'leave')
"""


def main() -> None:
    prices, planted = ticks()
    print(f"1. V shapes: {prices.num_rows:,} ticks of {len(set(prices['symbol'].to_pylist()))} symbols")
    print(V_SHAPES)
    found = rex.sql(V_SHAPES, ticks=prices)
    print(aligned(found))
    hits = set(zip(found["symbol"].to_pylist(), found["fell_at"].to_pylist(), strict=True))
    print(f"\n{found.num_rows} found; {len(hits & set(planted))} of the {len(planted)} planted shapes are among them.")
    print("\nThe first of them, every row of it marked:\n")
    print(drawing(prices, found.slice(0, 1).to_pylist()[0]))

    visits = clicks()
    print(f"\n2. Carts left behind: {visits.num_rows} clicks of {len(set(visits['visitor'].to_pylist()))} visitors")
    print(ABANDONED_CARTS)
    print(aligned(rex.sql(ABANDONED_CARTS, clicks=visits)))


def aligned(table: pa.Table) -> str:
    """A table as text: numbers to the right, everything else to the left."""
    columns = [[name, *map(shown, table[name].to_pylist())] for name in table.column_names]
    right = [any(isinstance(value, int | float) for value in table[name].to_pylist()) for name in table.column_names]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in zip(*columns, strict=True)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def shown(value: Any) -> str:
    """One value as text."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return f"{value:%H:%M:%S}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def drawing(prices: pa.Table, match: dict[str, Any], height: int = 10, margin: int = 14) -> str:
    """The price around a match, time to the right; `o` is a row of the match, `.` any other."""
    rows = [row for row in prices.to_pylist() if row["symbol"] == match["symbol"]]
    times = [row["ts"] for row in rows]
    # The row before the first DOWN is STRT, which belongs to the match.
    first, last = times.index(match["fell_at"]) - 1, times.index(match["back_at"])
    near = range(max(0, first - margin), min(len(rows), last + margin + 1))
    top = max(rows[place]["price"] for place in near)
    bottom = min(rows[place]["price"] for place in near)
    canvas = [[" "] * len(near) for _ in range(height)]
    for column, place in enumerate(near):
        line = round((top - rows[place]["price"]) / (top - bottom) * (height - 1))
        canvas[line][column] = "o" if first <= place <= last else "."
    labels = [f"{top:8.2f} |", *[" " * 9 + "|"] * (height - 2), f"{bottom:8.2f} |"]
    lines = [label + "".join(cells).rstrip() for label, cells in zip(labels, canvas, strict=True)]
    return "\n".join([*lines, f"{match['symbol']:>8}  {shown(times[near[0]])} to {shown(times[near[-1]])}"])


if __name__ == "__main__":
    main()
