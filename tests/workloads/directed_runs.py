"""Small runs by hand, each for a mistake that random ones seldom show. What they must give is derived as for these."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from tests.workloads.changing_runs import WINDOW, Changes

WIDE = {"wide": f"PATTERN SEQ(A a, B b) WITHIN {WINDOW}"}
"""What keeps events for as long as random runs do."""
NOTHING_AFTER = "PATTERN SEQ(A a, NOT(B n)) WITHIN 3"


def run_of(events: str, patterns: dict[str, str], **changes: Any) -> Changes:
    """A run over chunks, which `|` separates: of each event the type, after `@` the time, after `/` the key if any."""
    chunks = [chunk.split() for chunk in events.split("|")]
    cuts = [sum(map(len, chunks[:number])) for number in range(len(chunks) + 1)]
    words = [word.partition("/") for chunk in chunks for word in chunk]
    stream = pa.table({
        "ts": pa.array([int(event[2:]) for event, _, _ in words], pa.int64()), "id": list(range(len(words))),
        "kind": [event[0] for event, _, _ in words], "x": [1] * len(words), "key": [key or "p" for _, _, key in words],
    })
    return Changes(stream, cuts, WIDE | patterns, **changes)


DIRECTED_RUNS = {
    "the end of a window after a new plan": run_of("A@1 | C@9 | B@9", {}, replanned={2: "none"}),
    "another key lets time pass": run_of(
        "A@1/p | A@5/q | A@6/q", {
            "p": NOTHING_AFTER.replace("WITHIN", "WHERE [key] WITHIN"),
            "wide key": WIDE["wide"].replace("WITHIN", "WHERE [key] WITHIN"),
        }, replanned={2: "none"},
    ),
    "a chunk begins at the time of the last": run_of("A@1 | A@4 | B@4", {"p": NOTHING_AFTER}),
    "a pattern comes again at once": run_of(
        "A@1 B@2 | A@3 B@4", {"p": "PATTERN SEQ(A a, B b) WITHIN 1"}, removed={1: ["p"]},
        added={1: {"p": "PATTERN SEQ(A a, B b) WITHIN 1"}},
    ),
    "a pattern stops before a new plan": run_of(
        "A@1 A@2 | A@9 B@10", {"p": "PATTERN SEQ(KL(A a), B b) WITHIN 3"}, replanned={1: "none"}, max_kleene=1
    ),
}
"""By what happens in them."""
