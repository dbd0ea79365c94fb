"""Event queries that fail for different reasons, and what `rex.why` shows of them; the texts are in
`event_why_shown.txt`.

`python -m tests.api.event_why_shown --fill` writes the texts anew; read what changed before you commit it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa

import sparkrex as rex

SHOWN = Path(__file__).with_name("event_why_shown.txt")

ORDERS = pa.table({
    "shop": ["north"] * 6 + ["south"],
    "ts": [1, 2, 3, 4, 5, 9, 2],
    "kind": ["Order", "Ship", "Order", "Ship", "Bill", "Bill", "Order"],
    "amount": [5, 3, 4, 2, 9, 8, 1],
})

CASES: dict[str, tuple[str, Any]] = {
    "the awaited type never came": (
        "PATTERN SEQ(Order o, Ship s, Recall r)\nWHERE skip_till_next_match(o, s, r) { [shop] }", None,
    ),
    "a condition is missed by a number": (
        "PATTERN SEQ(Order o, Ship s)\nWHERE skip_till_next_match(o, s) { [shop] AND s.amount >= o.amount }", None,
    ),
    "the window passed": (
        "PATTERN SEQ(Order o, Ship s, Bill b)\nWHERE skip_till_next_match(o, s, b) { [shop] AND b.amount = 8 }\n"
        "WITHIN 4", 1,
    ),
    "a negated event came": (
        "PATTERN SEQ(Order o, ~(Ship s), Bill b)\n"
        "WHERE skip_till_next_match(o, b) { [shop] AND s.amount < o.amount }", 3,
    ),
    "contiguity is broken": (
        "PATTERN SEQ(Order o, Ship s, Bill b)\nWHERE partition_contiguity(o, s, b) { [shop] }", 1,
    ),
    "what must hold of an array does not": (
        "PATTERN SEQ(Order o, Ship+ s[])\nWHERE skip_till_any_match(o, s[]) { [shop] AND sum(s[].amount) > o.amount }",
        1,
    ),
    "another type": ("PATTERN SEQ(Order o, Bill b)\nWHERE skip_till_next_match(o, b) { [shop] }", 2),
    "a match begins here": ("PATTERN SEQ(Order o, Bill b)\nWHERE skip_till_next_match(o, b) { [shop] }", 3),
    "only overlapping matches begin here": (
        "PATTERN SEQ(Order o, Bill b)\nWHERE skip_till_next_match(o, b) { [shop] }\nOUTPUT NON-OVERLAPPING", 3,
    ),
}
"""By name: the query, and the event that is asked about."""


def shown(name: str) -> str:
    """What one of them shows."""
    text, at = CASES[name]
    return str(rex.why(rex.events(text, time="ts", type="kind"), ORDERS, key={"shop": "north"}, at=at))


def kept() -> dict[str, str]:
    """The texts that were read and found right."""
    parts = SHOWN.read_text(encoding="utf-8").split("=== ")[1:]
    return {name: text.strip("\n") for name, _, text in (part.partition(" ===\n") for part in parts)}


if __name__ == "__main__" and "--fill" in sys.argv:
    SHOWN.write_text("\n\n".join(f"=== {name} ===\n{shown(name)}" for name in CASES) + "\n", encoding="utf-8")
