"""Equalities between variables beside the equivalence test that says the same: the paper's Query 1, and five types.

Each query is asked three ways: with `[tag_id]`, with the equalities, and with the equalities but without the partition
that they make. Seconds are of the processor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa

import sparkrex as rex
from benchmarks.data import generator
from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events.analyze.equalities import EqualityPartition

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.events.tables import Lines

WITHIN = 10_000
EVENTS_OF_TAG = 20
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind", "settings": {"threads": 1}}
QUERIES = {
    "Query 1": (
        "SEQ(A a, ~(B b), C c)", "skip_till_next_match(a, b, c)", "a.tag_id = b.tag_id AND a.tag_id = c.tag_id",
        "a.tag_id AS tag, a.ts AS first, c.ts AS last",
    ),
    "SEQ of five types": (
        "SEQ(A a, B b, C c, D d, E e)", "skip_till_next_match(a, b, c, d, e)",
        "a.tag_id = b.tag_id AND b.tag_id = c.tag_id AND c.tag_id = d.tag_id AND d.tag_id = e.tag_id",
        "a.tag_id AS tag, a.ts AS first, e.ts AS last",
    ),
}
WAYS = ("[tag_id]", "equalities", "unpartitioned")
GOAL = 2.0
"""The equalities take at most so many times as long as `[tag_id]`."""


@dataclass
class Equalities:
    """Seconds of each pass by way, and how many matches there are."""

    query: str
    n_events: int
    n_matches: int = 0
    cpu: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    problems: list[str] = field(default_factory=list)

    def seconds(self, way: str) -> float:
        """The median."""
        return median(self.cpu[way])


def readings(n_events: int) -> pa.Table:
    """(ts, kind, tag_id): one reading a time unit, of five kinds, each tag about twenty times."""
    random = generator(11)
    kinds = random.integers(0, 5, n_events)
    return pa.table({
        "ts": np.arange(n_events), "kind": pa.array([*"ABCDE"]).take(pa.array(kinds)),
        "tag_id": random.integers(0, max(1, n_events // EVENTS_OF_TAG), n_events),
    })


def measure_equalities(name: str, n_events: int, repeat: int) -> Equalities:
    """Ways take turns, so that what else the machine does meets them alike."""
    pattern, strategy, where, returned = QUERIES[name]
    stream = readings(n_events)

    def asked(where: str) -> Callable[[], pa.Table]:
        text = f"PATTERN {pattern} WHERE {strategy} {{ {where} }} WITHIN {WITHIN} RETURN {returned}"
        return lambda: rex.events(text, stream, **OPTIONS)

    def unpartitioned() -> pa.Table:
        with mock.patch.object(event_engine, "find_partition", lambda query: EqualityPartition()):
            return asked(where)()

    runs = dict(zip(WAYS, (asked("[tag_id]"), asked(where), unpartitioned), strict=True))
    found = Equalities(name, n_events)
    answers: dict[str, pa.Table] = {}
    for way in WAYS[:2]:
        runs[way]()  # compiles
    for _ in range(repeat):
        for way, run in runs.items():
            begin = process_time()
            answers[way] = run()
            found.cpu[way].append(process_time() - begin)
    found.n_matches = answers["equalities"].num_rows
    if answers["equalities"] != answers["unpartitioned"]:
        found.problems.append(f"{name}: the partition changes the answer")
    by_match = [("last", "ascending"), ("first", "ascending")]
    if answers["equalities"].sort_by(by_match) != answers["[tag_id]"].sort_by(by_match):
        found.problems.append(f"{name}: equalities and [tag_id] differ")
    return found


def equality_lines(found: list[Equalities]) -> Lines:
    """A line a query."""
    lines = [["query", "events", "matches", *(f"{way} s" for way in WAYS), "equalities / [tag_id]", "partition saves"]]
    for one in found:
        ratio = one.seconds("equalities") / one.seconds("[tag_id]")
        lines.append([
            one.query, f"{one.n_events:,}", f"{one.n_matches:,}", *(f"{one.seconds(way):.3f}" for way in WAYS),
            f"{ratio:.2f}x (goal {GOAL:g}x {'ok' if ratio <= GOAL else 'MISSED'})",
            f"{one.seconds('unpartitioned') / one.seconds('equalities'):.0f}x",
        ])
    return lines
