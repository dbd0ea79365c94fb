"""Equalities that do not partition the stream: runs looked up by the value that they await, and all runs tested.

Each query is asked both ways, and the answers are compared. Seconds are of the processor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import TYPE_CHECKING
from unittest import mock

import sparkrex as rex
from benchmarks.events.equalities import OPTIONS, WITHIN, readings
from sparkrex.modes.events.nfab import matcher

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.events.tables import Lines

LOOKUPS = {
    "c closes by transitivity": (
        "SEQ(A a, B b, C c)", "skip_till_next_match(a, b, c)", "a.tag_id = c.tag_id AND b.tag_id = c.tag_id",
    ),
    "c is not connected": ("SEQ(A a, B b, C c)", "skip_till_next_match(a, b, c)", "a.tag_id = b.tag_id"),
    "the negated b is not connected": ("SEQ(A a, ~(B b), C c)", "skip_till_next_match(a, b, c)", "a.tag_id = c.tag_id"),
    "different columns": ("SEQ(A a, C c)", "skip_till_any_match(a, c)", "a.tag_id = c.tag_id + 1"),
}
WAYS = ("looked up", "all tested")


@dataclass
class Lookup:
    """Seconds of each pass by way, and how many matches there are."""

    query: str
    n_events: int
    n_matches: int = 0
    cpu: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    problems: list[str] = field(default_factory=list)

    def seconds(self, way: str) -> float:
        """The median."""
        return median(self.cpu[way])


def measure_lookup(name: str, n_events: int, repeat: int) -> Lookup:
    """Ways take turns, so that what else the machine does meets them alike."""
    pattern, strategy, where = LOOKUPS[name]
    stream = readings(n_events)
    text = f"PATTERN {pattern} WHERE {strategy} {{ {where} }} WITHIN {WITHIN} RETURN a.ts AS first, c.ts AS last"

    def look_up() -> pa.Table:
        return rex.events(text, stream, **OPTIONS)

    def test_all() -> pa.Table:
        with mock.patch.object(matcher, "STRATEGIES", ()):
            return look_up()

    runs = dict(zip(WAYS, (look_up, test_all), strict=True))
    found = Lookup(name, n_events)
    answers: dict[str, pa.Table] = {}
    for run in runs.values():
        run()  # compiles
    for _ in range(repeat):
        for way, run in runs.items():
            begin = process_time()
            answers[way] = run()
            found.cpu[way].append(process_time() - begin)
    found.n_matches = answers["looked up"].num_rows
    if answers["looked up"] != answers["all tested"]:
        found.problems.append(f"{name}: looking runs up changes the answer")
    return found


def lookup_lines(found: list[Lookup]) -> Lines:
    """A line a query."""
    lines = [["query", "events", "matches", *(f"{way} s" for way in WAYS), "saves"]]
    for one in found:
        looked_up, tested = (one.seconds(way) for way in WAYS)
        lines.append([
            one.query, f"{one.n_events:,}", f"{one.n_matches:,}", f"{looked_up:.3f}", f"{tested:.3f}",
            f"{tested / looked_up:.1f}x",
        ])
    return lines
