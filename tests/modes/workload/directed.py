"""Small workloads by hand, each for a mistake that random ones seldom show. They too are compared with the oracle."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.modes.workload.comparing import WAYS, Example, expected_of
from tests.modes.workload.draws import Workload, parse
from tests.modes.workload.running import shared_forms

from sparkrex.modes.workload.planner.optimizer import METHODS


@dataclass(frozen=True, slots=True)
class Directed:
    """Patterns and a stream, run by plans of several methods.

    `events` has a word for each event in order: its type, its x if any, its k after `/` and its time after `@`; without
    these k is u, and the time the event's number. `ways` are the ways of feeding that can show the mistake.
    """

    texts: tuple[str, ...]
    events: str
    has_strict_ties: bool = False
    max_kleene: int = 20
    ways: tuple[str, ...] = WAYS

    def example(self, seed: int) -> Example:
        """With plans that a seed gives."""
        draw = random.Random(seed)
        texts = {f"p{number}": f"PATTERN {text}" for number, text in enumerate(self.texts)}
        queries = {name: parse(text, self.has_strict_ties) for name, text in texts.items()}
        workload = Workload(texts, queries, self.rows(), self.has_strict_ties, self.max_kleene)
        shared = shared_forms(queries)
        methods = {way: draw.choice(METHODS) for way in self.ways}
        plans = {way: (method, shared.multitree(method, draw)) for way, method in methods.items()}
        return Example(seed, workload, shared, expected_of(workload), plans)

    def rows(self) -> list[dict[str, Any]]:
        """The events as rows."""
        found: list[dict[str, Any]] = []
        for number, word in enumerate(self.events.split()):
            rest, _, time = word.partition("@")
            event, _, key = rest.partition("/")
            found.append({
                "k": key or "u", "t": int(time or number), "b": number, "kind": event[0],
                "x": int(event[1:]) if event[1:] else None, "y": None, "s": None,
            })
        return found


DIRECTED = {
    "two are tied": Directed(("SEQ(A a, B b) WITHIN 9",), "A@1 B@1", has_strict_ties=True),
    "two of three are tied": Directed(
        ("AND(SEQ(A a, B b), C c) WITHIN 9", "SEQ(A a, B b, C c) WITHIN 9"), "A@1 B@1 C@2", has_strict_ties=True
    ),
    "an array of tied events": Directed(("SEQ(KL(A a), B b) WITHIN 9",), "A@1 A@1 B@3", has_strict_ties=True),
    "an array and one of its events": Directed(("AND(KL(A a), A b) WITHIN 9",), "A A A"),
    "an array fails in the middle": Directed(
        ("SEQ(KL(A a), C c) WITHIN 9", "SEQ(B b, KL(A a)) WHERE b.x > a[i].x WITHIN 9"), "B5 A1 A9 A1 B5"
    ),
    "one value after the other": Directed(("SEQ(A a, B b) WHERE a.x = b.x WITHIN 9",), "A1 B1 A1 B1 A1 B1"),
    "NULL on both sides": Directed(("SEQ(A a, B b) WHERE a.x = b.x WITHIN 9",), "A B"),
    "NULL in a formula": Directed(("SEQ(A a, B b) WHERE abs(a.x - b.x) < 2 WITHIN 9",), "A B1"),
    "the same value is not less": Directed(("AND(A a, B b) WHERE a.x < b.x WITHIN 9",), "B1 A1 B1"),
    "three windows, one after the other": Directed(("SEQ(A a, B b, C c) WITHIN 2",), "A B C A B C A B C A B C A B C"),
    "two comparisons of a pair": Directed(
        ("SEQ(A a, B b) WHERE a.x <= b.x AND b.x <= a.x WITHIN 9",), "A1 B2 A1 B1 A2 B0"
    ),
    "the greater one first": Directed(
        ("SEQ(A a, B b) WHERE b.x < a.x WITHIN 9", "SEQ(B b, A a) WHERE b.x < a.x WITHIN 9"), "A1 B2 A0 B3"
    ),
    "an array of three events": Directed(("SEQ(KL(A a), B b) WITHIN 9",), "A A A B"),
    "as many as an array may have": Directed(("SEQ(KL(A a), B b) WITHIN 2",), "A@0 A@5 A@6 B@7", max_kleene=2),
    "one too many ends a match": Directed(("SEQ(KL(A a), A b) WITHIN 9",), "A A", max_kleene=1),
    "fewer again after one too many": Directed(
        ("SEQ(KL(A a), B b) WITHIN 2",), "A A B D D D A B", max_kleene=1, ways=("chunks", "many slots")
    ),
    "two options, neither taken": Directed(("SEQ(A a, OR(B? b, C? c)) WITHIN 9",), "A B C"),
    "absent at the start of the window": Directed(("SEQ(NOT(C n), A a, B b) WITHIN 3",), "C A D B"),
    "absent before the window of the last": Directed(("SEQ(NOT(C n), A a, B b) WITHIN 3",), "C@0 A@2 B@5"),
    "absent at the end of the window": Directed(("SEQ(A a, NOT(B n)) WITHIN 2",), "A D B D"),
    "absent, but tied with the last": Directed(("SEQ(A a, NOT(B n)) WITHIN 2",), "A@1 B@1 D@9", has_strict_ties=True),
    "absent inside an array": Directed(("SEQ(KL(A a), NOT(C n), B b) WITHIN 9",), "A C A B"),
    "absent by two comparisons": Directed(
        ("SEQ(A a, NOT(C n), B b) WHERE n.x > a.x AND n.x < b.x WITHIN 9",), "A1 C9 B5 A5 C1 B7 A1 C2 B4"
    ),
    "windows of two sizes over a cut": Directed(
        ("SEQ(A a, B b) WITHIN 1", "SEQ(A a, B b) WITHIN 20"),
        "D@0 D@3 D@6 D@9 D@12 D@15 D@18 A@21 D@24 D@27 D@30 D@33 B@36 D@39", ways=("segments",),
    ),
    "arrays under way in three slots": Directed(
        ("SEQ(KL(A a), B b) WHERE [k] WITHIN 9",), "A/u@1 A/v@1 A/w@1 A/v@2 A/w@2 A/w@3 B/u@4 B/v@4 B/w@4",
        ways=("many slots",),
    ),
    "two slots wait": Directed(
        ("SEQ(KL(A a), NOT(C n)) WHERE [k] WITHIN 9",),
        "A/u@1 A/v@1 A/w@1 A/x@1 D/u@2 D/v@2 D/w@2 D/x@2 D/u@3 D/v@3 D/w@3 D/x@3", ways=("many slots",),
    ),
}
"""By what is in them."""
