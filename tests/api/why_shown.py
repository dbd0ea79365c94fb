"""Ten queries that fail for ten reasons, and what `rex.why` shows of them; the texts are in `why_shown.txt`.

`python -m tests.api.why_shown --fill` writes the texts anew; read what changed before you commit it.
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

import sparkrex as rex

SHOWN = Path(__file__).with_name("why_shown.txt")

TICKS = pa.table({
    "symbol": ["AY"] * 6 + ["BX"] * 3,
    "ts": [datetime(2024, 1, 1, 9, minute) for minute in (0, 5, 10, 15, 20, 25, 0, 5, 10)],
    "price": [10.0, 9.0, 9.5, 9.6, 9.2, 9.3, 20.0, 21.0, 22.0],
    "volume": [100, 200, None, 400, 500, 600, 10, 20, 30],
    "side": ["buy", "sell", "buy", "buy", "sell", "buy", "buy", "buy", "buy"],
})

CASES: dict[str, tuple[str, Any]] = {
    "a comparison of numbers is missed": (
        "PATTERN (DOWN UP UP2)\n  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price),\n"
        "         UP2 AS price > PREV(price) * 1.02", None,
    ),
    "the partition ends": (
        "PATTERN (UP{2,} HIGH)\n  DEFINE UP AS price > PREV(price), HIGH AS price > 20", datetime(2024, 1, 1, 9, 25),
    ),
    "the window ends": (
        "PATTERN (A X* B) WITHIN INTERVAL '10' MINUTE\n  DEFINE A AS price < PREV(price), X AS price >= 9, "
        "B AS price > 9.55", 2,
    ),
    "the match would have to begin with the partition": (
        "PATTERN (^ UP UP)\n  DEFINE UP AS price > PREV(price)", 3,
    ),
    "the match would have to end with the partition": (
        "PATTERN (DOWN UP $)\n  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)", 2,
    ),
    "a value is NULL": ("PATTERN (A BIG)\n  DEFINE A AS side = 'sell', BIG AS volume > 150", 2),
    "a text is another one": ("PATTERN (B S S)\n  DEFINE B AS side = 'buy', S AS side LIKE 's%'", 1),
    "two parts of a condition are missed": (
        "PATTERN (A B)\n  DEFINE A AS price < PREV(price), B AS price BETWEEN 9.6 AND 9.9 AND volume > 700", 5,
    ),
    "an aggregate over the match is missed": (
        "PATTERN (A B+ C)\n  DEFINE B AS price < A.price, C AS price > avg(B.price) + 1", 1,
    ),
    "an earlier match skips the start": ("PATTERN (A B)\n  DEFINE B AS price < PREV(price)", 2),
}
"""By name: pattern and conditions, and the row that is asked about."""


def shown(name: str) -> str:
    """What one of them shows."""
    clause, at = CASES[name]
    query = f"SELECT * FROM ticks MATCH_RECOGNIZE (\n  PARTITION BY symbol ORDER BY ts\n  {clause})"
    return str(rex.why(query, ticks=TICKS, key={"symbol": "AY"}, at=at))


def kept() -> dict[str, str]:
    """The texts by name."""
    parts = SHOWN.read_text(encoding="utf-8").split("## ")[1:]
    return {name: text.strip("\n") for name, _, text in (part.partition("\n") for part in parts)}


if __name__ == "__main__" and "--fill" in sys.argv:
    SHOWN.write_text("\n\n".join(f"## {name}\n\n{shown(name)}" for name in CASES) + "\n", encoding="utf-8")
