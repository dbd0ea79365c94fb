"""A switch of plans changes no answer, whatever the patterns keep: runs that switch against runs that do not."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex

pytestmark = [
    pytest.mark.filterwarnings("ignore:no event has type"),
    pytest.mark.filterwarnings("ignore:the pattern .* has stopped"),
]

BOTH_NOTS = "PATTERN SEQ(NOT(C c), A a, NOT(E e)) WITHIN 5"
COUNTED = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 3 EVENTS"


def _rows(found: Any) -> list[tuple[str, int, str, int]]:
    return [(row["pattern"], row["match_id"], row["variable"], row["ts"]) for row in found.to_pylist()]


def _given(patterns: dict[str, str], chunks: str, how: str | None, **options: Any) -> list[Any]:
    """What a run gives chunk by chunk and at the end, when its plan is replaced before each in some way.

    Chunks are separated by `|`; an event is its type, `@`, the time, and after `/` its key.
    """
    run = rex.workload(patterns, time="ts", type="kind", **options).open(adaptive=False)
    given = []
    for number, chunk in enumerate(chunks.split("|")):
        words = [word.partition("/") for word in chunk.split()]
        if number and how == "replan":
            run.replan("none")
        elif number and how == "add":
            run.add(f"x{number}", "PATTERN SEQ(X a, Y b) WITHIN 1")
        elif number > 1 and how == "remove":
            run.remove(f"x{number - 1}")
        if how == "remove":
            run.add(f"x{number}", "PATTERN SEQ(X a, Y b) WITHIN 1")
        given.append(_rows(run.feed(pa.table({
            "ts": pa.array([int(event[2:]) for event, _, _ in words], pa.int64()),
            "kind": [event[0] for event, _, _ in words],
            "k": [key or "p" for _, _, key in words], "m": [1] * len(words),
        }))))
    return [*given, _rows(run.finish())]


@pytest.mark.parametrize("how", ["replan", "add", "remove"])
@pytest.mark.parametrize(("patterns", "chunks"), [
    ({"p": BOTH_NOTS}, "C@1 A@4 Z@8 | Z@20"),
    ({"p": "PATTERN SEQ(NOT(C c), A a, B b, NOT(E e)) WITHIN 5"}, "C@1 A@3 B@5 Z@8 | Z@20"),
    ({"p": "PATTERN SEQ(X? x, NOT(C c), A a, NOT(E e), Y? y) WITHIN 5"}, "C@1 A@4 Z@8 | Z@20"),
    ({"p": BOTH_NOTS + " EVENTS"}, "C@1 Z@2 Z@3 A@4 Z@5 Z@6 Z@7 | Z@8 Z@9 Z@10 Z@11"),
    ({"p": COUNTED, "o": "PATTERN SEQ(C c, D d) WITHIN 4 EVENTS"},
     "A@1/q | Z@2 Z@3 Z@4 Z@5 Z@6 Z@7 Z@8 Z@9 Z@10 Z@11 | B@12/q"),
    ({"p": COUNTED, "o": "PATTERN SEQ(C c, D d) WHERE [m] WITHIN 4 EVENTS"},
     "A@1/q | Z@2 Z@3 Z@4 Z@5 Z@6 Z@7 Z@8 Z@9 Z@10 Z@11 | B@12/q"),
    ({"p": COUNTED, "o": "PATTERN SEQ(C c, D d) WHERE strict_contiguity(c, d) WITHIN 4 EVENTS"},
     "A@1/q | Z@2 Z@3 Z@4 Z@5 Z@6 Z@7 Z@8 Z@9 Z@10 Z@11 | B@12/q"),
    ({"p": COUNTED, "o": "PATTERN SEQ(C c, D d) WITHIN 2"},
     "A@1/q | Z@2 Z@3 Z@4 Z@5 Z@6 Z@7 Z@8 Z@9 Z@10 Z@11 | B@12/q"),
])
def test_a_switch_forgets_nothing(patterns: dict[str, str], chunks: str, how: str) -> None:
    assert _given(patterns, chunks, how) == _given(patterns, chunks, None)


@pytest.mark.parametrize("chunks", [
    "A@1 A@2 A@5 | B@6 Z@8 | Z@20",  # it stops at 5, of which the next plan sees one A
    "A@1 A@2 A@3 | A@20 B@21 Z@22 | Z@40",  # it has stopped long ago
    "A@1 A@2 B@3 A@4 | Z@5 | Z@20",  # what ended before waits, and is given
    "A@1 B@2 A@3 A@4 | A@20 B@21 Z@22 | Z@40",
])
def test_a_pattern_that_has_stopped_and_waits(chunks: str) -> None:
    patterns = {"p": "PATTERN SEQ(KL(A a), B b, NOT(E e)) WITHIN 5"}
    assert _given(patterns, chunks, "replan", max_kleene=2) == _given(patterns, chunks, None, max_kleene=2)


def _random_pattern(random: Random) -> str:
    letters = "ab" if random.random() < 0.6 else "a"
    items = [f"{random.choice('ABC')} {letter}" for letter in letters]
    if random.random() < 0.2:
        items[0] = f"KL({items[0]})"
    elif random.random() < 0.2:
        items[-1] = items[-1].replace(" ", "? ") if len(items) > 1 else items[-1]
    if random.random() < 0.5:
        items.insert(0, f"NOT({random.choice('ABC')} m)")
    if random.random() < 0.5:
        items.append(f"NOT({random.choice('ABC')} n)")
    where = random.choice(["", "", " WHERE [k]", " WHERE [k] AND [m]", " WHERE [m]"])
    return f"PATTERN SEQ({', '.join(items)}){where} WITHIN {random.randint(1, 6)}{random.choice(['', ' EVENTS'])}"


@pytest.mark.parametrize("seed", range(40))
def test_random_switches_forget_nothing(seed: int) -> None:
    random = Random(seed)
    patterns = {f"p{number}": _random_pattern(random) for number in range(random.randint(1, 3))}
    times = sorted(random.sample(range(60), 30))
    events = [f"{random.choice('ABCZ')}@{ts}/{random.choice('pq')}" for ts in times]
    for place in sorted(random.sample(range(1, 30), 8), reverse=True):
        events.insert(place, "|")
    chunks = " ".join(events)
    max_kleene = random.choice([20, 1, 2])
    given = _given(patterns, chunks, "replan", max_kleene=max_kleene)
    assert given == _given(patterns, chunks, None, max_kleene=max_kleene), (patterns, chunks)
