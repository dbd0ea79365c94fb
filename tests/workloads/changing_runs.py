"""Random runs of workloads: chunks of a stream between which patterns come, go, and are planned anew.

What a run must give is derived from `rex.events` over the whole stream: a pattern gives the matches whose first event
came after it was added, each when it is decided, as long as it is watched. Numbers of matches go on from chunk to
chunk, and begin anew with a pattern that comes again.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from tests.modes.workload.running import MisnumberedError

import sparkrex as rex

if TYPE_CHECKING:
    from random import Random

WINDOW = 8
TYPES = "ABCD"
METHODS = ("sa-edge", "none", "re", "sh", "sh-rr", "sh-mdt", "ts-vertex4", "sa-edge-prefix")
Events = frozenset[tuple[str, int]]
Given = Counter[tuple[str, Events]]
Life = tuple[str, str, int, int]
"""Name and text of a pattern, the chunk that it is added before, and the one it is removed before."""


@dataclass(slots=True)
class Changes:
    """A stream in chunks, and what happens before each: patterns added and removed, or planned anew."""

    stream: pa.Table
    cuts: list[int]
    first: dict[str, str]
    added: dict[int, dict[str, str]] = field(default_factory=dict)
    removed: dict[int, list[str]] = field(default_factory=dict)
    replanned: dict[int, str] = field(default_factory=dict)
    max_kleene: int = 20

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return len(self.cuts) - 1

    def chunk_of(self, row: int) -> int:
        """The number of the chunk that a row comes with, from 0."""
        return next(number for number in range(self.n_chunks) if row < self.cuts[number + 1])

    def lives(self) -> list[Life]:
        """All patterns, one that comes again more than once. What goes before a chunk goes before what comes."""
        found: list[Life] = []
        present = {name: (text, 0) for name, text in self.first.items()}
        for number in range(self.n_chunks + 1):
            found += [(name, *present.pop(name), number) for name in self.removed.get(number, ())]
            present.update({name: (text, number) for name, text in self.added.get(number, {}).items()})
        return found + [(name, text, added, self.n_chunks + 1) for name, (text, added) in present.items()]


def random_changes(random: Random) -> Changes:
    """A run over some thirty events in order of time, a few of them at the same time."""
    n_rows = random.randint(12, 36)
    times = sorted(random.randint(0, 40) for _ in range(n_rows))
    stream = pa.table({
        "ts": pa.array(times, pa.int64()), "id": list(range(n_rows)),
        "kind": [random.choice(TYPES) for _ in range(n_rows)],
        "x": [random.choice([None, 1, 2, 3, 4, 5]) for _ in range(n_rows)],
        "key": [random.choice(["p", "q"]) for _ in range(n_rows)],
    })
    cuts = [0, *sorted(random.sample(range(1, n_rows), random.randint(1, 6))), n_rows]
    first = {f"p{number}": random_pattern(random) for number in range(random.randint(1, 4))}
    changes = Changes(stream, cuts, {"wide": f"PATTERN SEQ(A a, B b) WITHIN {WINDOW}", **first})
    changes.max_kleene = random.choice([20, 20, 1, 2])
    present = list(first)
    for chunk in range(1, changes.n_chunks + 1):
        if random.random() < 0.4:
            name = f"p{len(first) + chunk}"
            changes.added[chunk] = {name: random_pattern(random)}
            present.append(name)
        if present and random.random() < 0.3:
            gone = present.pop(random.randrange(len(present)))
            if gone in changes.added.get(chunk, {}):
                del changes.added[chunk]
            else:
                changes.removed[chunk] = [gone]
                if random.random() < 0.4:
                    changes.added.setdefault(chunk, {})[gone] = random_pattern(random)
                    present.append(gone)
        if random.random() < 0.4:
            changes.replanned[chunk] = random.choice(METHODS)
    return changes


def random_pattern(random: Random) -> str:
    """SEQ or AND of two to four components, of which one may be a Kleene and one may be negated."""
    letters = "abcd"[: random.randint(2, 4)]
    kinds = {letter: random.choice(TYPES) for letter in letters}
    items = [f"{kinds[letter]} {letter}" for letter in letters]
    singles = list(letters)
    if random.random() < 0.35:
        at = random.randrange(len(items))
        singles.remove(letters[at])
        items[at] = f"KL({items[at]})"
    is_and = random.random() < 0.4
    if random.random() < 0.45:
        items.insert(random.choice([random.randint(0, len(items)), len(items)]), f"NOT({random.choice(TYPES)} n)")
        if random.random() < 0.4 and singles:
            singles.append("n")
    conditions = ["[key]"] if random.random() < 0.45 else []
    # Two conditions of one pair may contradict each other, which is an error.
    pairs = list(combinations(singles, 2))
    for one, other in random.sample(pairs, min(len(pairs), random.randint(0, 2))):
        conditions.append(f"{one}.x {random.choice(['<', '=', '<>', '>='])} {other}.x")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    if random.random() < 0.1 and not is_and:
        listed = ", ".join(f"{letter}[]" if f"KL({kinds[letter]} {letter})" in items else letter for letter in letters)
        where = f" WHERE skip_till_next_match({listed})" + (f" {{ {' AND '.join(conditions)} }}" if conditions else "")
    structure = "AND" if is_and else "SEQ"
    return f"PATTERN {structure}({', '.join(items)}){where} WITHIN {random.randint(1, WINDOW)}"


def run_changes(changes: Changes, *, is_adaptive: bool, seed: int) -> list[Given]:
    """What a run gives: for every chunk, and for the end, names and events of matches."""
    workload = rex.workload(
        changes.first, time="ts", type="kind", tie_break="id", seed=seed, max_steps=200, max_kleene=changes.max_kleene,
    )
    run = workload.open(adaptive=is_adaptive, drift=1.2)
    given = []
    numbers: Counter[tuple[str, str | None]] = Counter()
    for number in range(changes.n_chunks + 1):
        for name in changes.removed.get(number, ()):
            run.remove(name)
            numbers = Counter({place: n for place, n in numbers.items() if place[0] != name})
        for name, text in changes.added.get(number, {}).items():
            run.add(name, text)
        if number in changes.replanned:
            run.replan(changes.replanned[number])
        if number < changes.n_chunks:
            first, last = changes.cuts[number], changes.cuts[number + 1]
            found = run.feed(changes.stream.slice(first, last - first)).table
        else:
            found = run.finish().table
        own = {
            name: (text, found.filter(pc.equal(found.column("pattern"), name)))
            for name, text, added, removed in changes.lives() if added <= number < removed
        }
        given.append(Counter((name, events) for name, (text, part) in own.items() for events in matches_of(part, text)))
        for name, (text, part) in own.items():
            _follow_numbers(name, text, part, numbers)
    return given


def _follow_numbers(name: str, text: str, part: pa.Table, numbers: Counter[tuple[str, str | None]]) -> None:
    """Fail unless the matches of a pattern have the next numbers of their partitions."""
    for match_id, key in dict.fromkeys((row["match_id"], _key(row, text)) for row in part.to_pylist()):
        numbers[name, key] += 1
        if match_id != numbers[name, key]:
            raise MisnumberedError(f"{name}: {match_id} instead of {numbers[name, key]}")


def expected(changes: Changes) -> list[Given]:
    """What it must give, by `rex.events` over the whole stream."""
    given: list[Given] = [Counter() for _ in range(changes.n_chunks + 1)]
    times, keys = changes.stream.column("ts").to_pylist(), changes.stream.select(["key"]).to_pylist()
    for name, text, added, removed in changes.lives():
        stops = _stops(changes, text, added)
        found = rex.events(text, changes.stream, time="ts", type="kind", tie_break="id")
        for events in matches_of(found, text):
            rows = [row for _, row in events]
            key = _key(keys[rows[0]], text)
            if changes.chunk_of(min(rows)) < added or max(rows) >= stops.get(key, len(times)):
                continue
            decided = changes.chunk_of(max(rows))
            if _waits(text):
                # The window of the first event is over when a later chunk has an event behind it.
                window = int(text.rsplit(" ", 1)[1])
                after = [row for row in range(len(times)) if times[row] - times[min(rows)] > window]
                decided = max(decided, changes.chunk_of(after[0])) if after else changes.n_chunks
            if decided < removed:
                given[decided][name, events] += 1
    return given


def _stops(changes: Changes, text: str, added: int) -> dict[str | None, int]:
    """By partition the row at which a pattern has more than `max_kleene` events of its Kleene in a window.

    Events that came before the pattern are in windows too, but it does not stop with them.
    """
    kleene = re.search(r"KL\((\w)", text)
    if kleene is None or "skip_till_next_match" in text:
        return {}
    window = int(text.rsplit(" ", 1)[1])
    found: dict[str | None, int] = {}
    rows = [row for row in changes.stream.to_pylist() if row["kind"] == kleene[1]]
    for row in rows:
        inside = [
            one for one in rows
            if _key(one, text) == _key(row, text) and one["id"] <= row["id"] and row["ts"] - one["ts"] <= window
        ]
        if len(inside) > changes.max_kleene and changes.chunk_of(row["id"]) >= added:
            found.setdefault(_key(row, text), row["id"])
    return found


def _key(row: dict[str, Any], text: str) -> str | None:
    """The partition of an event, for a pattern."""
    return row["key"] if "[key]" in text else None


def matches_of(table: pa.Table, text: str) -> list[Events]:
    """The events of every match. A pattern with [key] numbers its matches apart for every key."""
    found: dict[tuple[int, str | None], list[tuple[str, int]]] = {}
    for row in table.to_pylist():
        found.setdefault((row["match_id"], _key(row, text)), []).append((row["variable"], row["id"]))
    return [frozenset(events) for events in found.values()]


def _waits(text: str) -> bool:
    """Whether a negated component is at the end of SEQ."""
    inside = text.removeprefix("PATTERN SEQ(").split(")) ")[0].split(")  ")[0]
    return text.startswith("PATTERN SEQ(") and inside.rsplit(", ", 1)[-1].startswith("NOT(")
