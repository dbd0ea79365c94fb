"""Random runs of workloads: chunks of a stream between which patterns come, go, and are planned anew.

What a run must give is derived from `rex.events` over the whole stream: a pattern gives the matches whose first event
came after it was added, each when it is decided, as long as it is watched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

import sparkrex as rex

if TYPE_CHECKING:
    from random import Random

WINDOW = 8
TYPES = "ABCD"
METHODS = ("sa-edge", "none", "re", "sh", "sh-rr", "sh-mdt", "ts-vertex4", "sa-edge-prefix")
Events = frozenset[tuple[str, int]]
Given = Counter[tuple[str, Events]]


@dataclass(slots=True)
class Changes:
    """A stream in chunks, and what happens before each: patterns added and removed, or planned anew."""

    stream: pa.Table
    cuts: list[int]
    first: dict[str, str]
    added: dict[int, dict[str, str]] = field(default_factory=dict)
    removed: dict[int, list[str]] = field(default_factory=dict)
    replanned: dict[int, str] = field(default_factory=dict)

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return len(self.cuts) - 1

    def chunk_of(self, row: int) -> int:
        """The number of the chunk that a row comes with, from 0."""
        return next(number for number in range(self.n_chunks) if row < self.cuts[number + 1])

    def lives(self) -> dict[str, tuple[str, int, int]]:
        """By name the text of a pattern, the chunk that it is added before, and the one it is removed before."""
        found = {name: (text, 0, self.n_chunks + 1) for name, text in self.first.items()}
        for number, patterns in self.added.items():
            found.update({name: (text, number, self.n_chunks + 1) for name, text in patterns.items()})
        for number, names in self.removed.items():
            for name in names:
                found[name] = (*found[name][:2], number)
        return found


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
    # Events of one time come with one chunk, as horizons are told by times.
    inside = [row for row in range(1, n_rows) if times[row] != times[row - 1]]
    cuts = [0, *sorted(random.sample(inside, min(len(inside), random.randint(1, 6)))), n_rows]
    first = {f"p{number}": random_pattern(random) for number in range(random.randint(1, 4))}
    changes = Changes(stream, cuts, {"wide": f"PATTERN SEQ(A a, B b) WITHIN {WINDOW}", **first})
    present = list(first)
    for chunk in range(1, changes.n_chunks + 1):
        if random.random() < 0.4:
            name = f"p{len(first) + chunk}"
            changes.added[chunk] = {name: random_pattern(random)}
            present.append(name)
        if present and random.random() < 0.3:
            changes.removed[chunk] = [present.pop(random.randrange(len(present)))]
            if changes.removed[chunk][0] in changes.added.get(chunk, {}):
                del changes.removed[chunk], changes.added[chunk]
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
        items.insert(random.randint(0, len(items)), f"NOT({random.choice(TYPES)} n)")
        if random.random() < 0.4 and singles:
            singles.append("n")
    conditions = ["[key]"] if random.random() < 0.3 else []
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
    workload = rex.workload(changes.first, time="ts", type="kind", tie_break="id", seed=seed, max_steps=200)
    run = workload.open(adaptive=is_adaptive, drift=1.2)
    given = []
    for number in range(changes.n_chunks + 1):
        for name in changes.removed.get(number, ()):
            run.remove(name)
        for name, text in changes.added.get(number, {}).items():
            run.add(name, text)
        if number in changes.replanned:
            run.replan(changes.replanned[number])
        if number < changes.n_chunks:
            first, last = changes.cuts[number], changes.cuts[number + 1]
            found = run.feed(changes.stream.slice(first, last - first)).table
        else:
            found = run.finish().table
        texts = {name: text for name, (text, _, _) in changes.lives().items()}
        given.append(Counter(
            (name, events) for name, text in texts.items()
            for events in matches_of(found.filter(pc.equal(found.column("pattern"), name)), text)
        ))
    return given


def expected(changes: Changes) -> list[Given]:
    """What it must give, by `rex.events` over the whole stream."""
    given: list[Given] = [Counter() for _ in range(changes.n_chunks + 1)]
    times = changes.stream.column("ts").to_pylist()
    for name, (text, added, removed) in changes.lives().items():
        found = rex.events(text, changes.stream, time="ts", type="kind", tie_break="id")
        for events in matches_of(found, text):
            rows = [row for _, row in events]
            if changes.chunk_of(min(rows)) < added:
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


def matches_of(table: pa.Table, text: str) -> list[Events]:
    """The events of every match. A pattern with [key] numbers its matches apart for every key."""
    found: dict[tuple[int, str | None], list[tuple[str, int]]] = {}
    for row in table.to_pylist():
        key = row["key"] if "[key]" in text else None
        found.setdefault((row["match_id"], key), []).append((row["variable"], row["id"]))
    return [frozenset(events) for events in found.values()]


def _waits(text: str) -> bool:
    """Whether a negated component is at the end of SEQ."""
    inside = text.removeprefix("PATTERN SEQ(").split(")) ")[0].split(")  ")[0]
    return text.startswith("PATTERN SEQ(") and inside.rsplit(", ", 1)[-1].startswith("NOT(")
