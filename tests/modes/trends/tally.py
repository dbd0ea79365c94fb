"""What a run of random trend queries exercised, and whether that was enough to mean something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.modes.trends.names import negated_names
from tests.modes.trends.oracle import find_results, partitions
from tests.modes.trends.patterns import rebuilt, shapes
from tests.modes.trends.query import ANY, Absent, Aggregate, Seq, absences, parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.trends.draws import Example
    from tests.modes.trends.oracle import Row
    from tests.modes.trends.query import Pattern, Query

LEAST_PERCENT = {
    "trends": 45, "more than ten trends": 17, "several rows": 18, "a group of several partitions": 10,
    "skip-till-any-match": 22, "skip-till-next-match": 28, "contiguous": 18, "semantics leave some out": 14,
    "+": 60, "*": 4, "?": 9, "{n,m}": 25, "alternation": 17, "Kleene of more than an event": 30, "nested Kleene": 25,
    "repeated type": 50, "conjunction": 5, "minimal length": 15, "minimal length leaves some out": 5,
    "negated component": 12, "negated sub-pattern": 11, "leading negation": 8, "trailing negation": 5,
    "negation in the middle": 5, "negation inside a Kleene": 3, "negation inside |": 0.4, "several negations": 2.5,
    "negation rejects some": 4.5, "local": 28, "local leaves some out": 10,
    "adjacent": 32, "adjacent leaves some out": 9, "several adjacent": 12, "adjacent in a negated part": 1.5,
    **{f"adjacent {operator}": 4 for operator in ("<", "<=", ">", ">=", "=", "<>")},
    "[..]": 40, "NULL in [..]": 7, "GROUP-BY": 40, "NULL in GROUP-BY": 3.5, "ties": 22, "strict ties leave some out": 3,
    "no window": 30, "tumbling": 14, "sliding": 9, "hopping": 2.5, "EVENTS": 8, "origin": 7,
    "window leaves some out": 20,
    "COUNT": 75, "MIN": 14, "MAX": 14, "SUM": 14, "AVG": 13, "NULL as an aggregate": 4.5,
}
"""The share of examples, of all, in which each must have happened."""


@dataclass(slots=True)
class Tally:
    """Counts of examples by what happened in them."""

    examples: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)

    def add(self, example: Example, answer: list[Row], ways: Iterable[str] = ()) -> None:
        """Counts one example; `ways` say how the engine was asked."""
        self.examples += 1
        self.happened.update(set(_happened(example.query, example.rows, answer)))
        self.ways.update(ways)

    def merge(self, other: Tally) -> None:
        """Counts the examples of another run too."""
        self.examples += other.examples
        self.happened += other.happened
        self.ways += other.ways

    def percent(self, name: str) -> float:
        """The share of examples in which it happened."""
        return 100 * self.happened[name] / max(1, self.examples)

    def shortfalls(self) -> list[str]:
        """The targets that this run missed."""
        return [
            f"{name}: {self.percent(name):.1f}%, wanted at least {least}%"
            for name, least in LEAST_PERCENT.items() if self.percent(name) < least
        ]

    def table(self) -> str:
        """The counts as text."""
        lines = [f"{self.examples} examples"]
        lines += [f"{name:34} {self.happened[name]:7} {self.percent(name):6.1f}%" for name in LEAST_PERCENT]
        lines += [
            f"asked: {name:27} {count:7} {100 * count / max(1, self.examples):6.1f}%"
            for name, count in self.ways.most_common()
        ]
        return "\n".join(lines)


def n_trends(query: Query, rows: list[dict[str, Any]]) -> int:
    """How many trends, or pairs of them, all groups and windows have together."""
    return sum(len(result.trends) + result.n_pairs for result in find_results(query, rows).values())


def _happened(query: Query, rows: list[dict[str, Any]], answer: list[Row]) -> list[str]:
    happened = [query.semantics, *(shape for pattern in query.patterns for shape in shapes(pattern)), _window(query)]
    happened += [f"adjacent {pair.operator}" for pair in query.adjacent]
    happened += [item.function for item in query.returned if isinstance(item, Aggregate)]
    found = partitions(query, rows)
    times = [[event.row[query.time] for event in partition] for partition in found]
    has_ties = any(len({*map(repr, one)}) < len(one) for one in times)
    n_all = n_trends(query, rows)
    groups = Counter(tuple(partition[0].row[name] for name in query.group_by) for partition in found)
    questions = {
        "trends": bool(answer),
        "more than ten trends": n_all > 10,
        "several rows": len(answer) > 1,
        "a group of several partitions": bool(answer) and max(groups.values(), default=0) > 1,
        "conjunction": len(query.patterns) > 1,
        "minimal length": query.least_length > 1,
        "local": bool(query.local),
        "adjacent": bool(query.adjacent),
        "several adjacent": len(query.adjacent) > 1,
        "adjacent in a negated part": any(pair.before in negated_names(query.patterns) for pair in query.adjacent),
        "[..]": bool(query.equivalent),
        "NULL in [..]": any(row[name] is None for row in rows for name in query.equivalent),
        "GROUP-BY": bool(query.group_by),
        "NULL in GROUP-BY": any(None in group for group in groups),
        "ties": has_ties,
        "origin": query.window is not None and query.window.origin is not None,
        "NULL as an aggregate": any(
            value is None for row in answer for value, item in zip(row[2:], query.returned, strict=True)
            if isinstance(item, Aggregate)
        ),
    }
    others = _other_queries(query, has_ties=has_ties)
    if max(map(len, found), default=0) > 10:
        others.pop("semantics leave some out", None)  # too many to enumerate
    questions |= {name: n_all != n_trends(other, rows) for name, other in others.items()}
    return happened + [name for name, is_so in questions.items() if is_so]


def _window(query: Query) -> str:
    window = query.window
    if window is None:
        return "no window"
    if window.counts_events:
        return "EVENTS"
    slide = window.size if window.slide is None else window.slide
    return "tumbling" if slide == window.size else "sliding" if slide < window.size else "hopping"


def _other_queries(query: Query, *, has_ties: bool) -> dict[str, Query]:
    """The query without one thing that it has."""
    found = {}
    if query.semantics != ANY:
        found["semantics leave some out"] = replace(query, semantics=ANY)
    if query.least_length > 1:
        found["minimal length leaves some out"] = replace(query, least_length=1)
    if query.local:
        found["local leaves some out"] = replace(query, local=())
    if query.adjacent:
        found["adjacent leaves some out"] = replace(query, adjacent=())
    if any(map(absences, query.patterns)):
        found["negation rejects some"] = replace(query, patterns=tuple(map(_without_negation, query.patterns)))
    if query.window is not None:
        found["window leaves some out"] = replace(query, window=None)
    if has_ties and query.has_strict_ties:
        found["strict ties leave some out"] = replace(query, has_strict_ties=False, tie_break=("b",))
    return found


def _without_negation(pattern: Pattern) -> Pattern:
    """The same pattern for the positive components only; conditions on others mean nothing then."""
    kept = parts(pattern)
    if isinstance(pattern, Seq):
        kept = tuple(item for item in kept if not isinstance(item, Absent))
    return rebuilt(pattern, tuple(map(_without_negation, kept)))
