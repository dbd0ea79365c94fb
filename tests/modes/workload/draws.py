"""Random workloads: patterns that have types and conditions in common, as text, and small streams of events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.modes.events.analysis import analyzed

from sparkrex.errors import RexError
from sparkrex.modes.events.pattern import Kleene, children, positive_variables

if TYPE_CHECKING:
    import random

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery

COLUMNS = {
    "k": "VARCHAR", "t": "BIGINT", "b": "BIGINT", "kind": "VARCHAR", "x": "BIGINT", "y": "DOUBLE", "s": "VARCHAR",
}
TYPES = "ABCD"

PAIRS = (
    "{0}.x < {1}.x", "{0}.x <= {1}.x", "{0}.x = {1}.x", "{0}.x = {1}.x", "{0}.s = {1}.s", "{0}.s < {1}.s",
    "{0}.y > {1}.x", "{0}.y >= {1}.y", "{0}.x <> {1}.x", "{0}.x + 1 < {1}.x", "{0}.x + {1}.x > 2",
    "({0}.x > 1 OR {1}.s IS NULL)", "abs({0}.x - {1}.x) < 2", "({0}.x < {1}.x OR {1}.s = 'u')",
)
"""Conditions on two events; some are comparisons, others formulas."""
OWN = ("{0}.x > 0", "{0}.s = 'u'", "{0}.y IS NOT NULL", "{0}.x + 1 > {0}.y")
THREE = "{0}.x + {1}.x >= {2}.x"
NUMBERS = (0, 1, 2, 2, 3, 71, None)
"""In an index of the least size, 2 and 71 are in one bucket."""
WINDOWS = (
    ("WITHIN 3", "WITHIN 6", "WITHIN 6", "WITHIN 10", "WITHIN 16", "WITHIN 5 EVENTS", "WITHIN 8 EVENTS", ""),
    ("WITHIN 4", "WITHIN 8", "WITHIN 14"), ("WITHIN 4 EVENTS", "WITHIN 8 EVENTS", "WITHIN 12 EVENTS"),
)
"""The windows of a workload. Without one, or with both kinds, rows are hardly ever cut into segments."""


@dataclass
class Workload:
    """Texts by name, what they ask for, and the rows of the stream in any order."""

    texts: dict[str, str] = field(default_factory=dict)
    queries: dict[str, EventQuery] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    has_strict_ties: bool = False
    max_kleene: int = 20

    def __str__(self) -> str:
        ties = "strict" if self.has_strict_ties else "order"
        lines = [f"ties {ties}, max_kleene {self.max_kleene}"]
        lines += [f"  {name}: {text}" for name, text in self.texts.items()]
        return "\n".join([*lines, *(f"  {number}: {row}" for number, row in enumerate(self.rows))])


def drawn_workload(draw: random.Random) -> Workload:
    """Three to six patterns over a stream."""
    found = Workload(has_strict_ties=draw.random() < 0.4)
    is_partitioned = draw.random() < 0.5
    if draw.random() < 0.35:
        found.max_kleene = draw.choice([1, 2, 3])
    pool, windows = _drawn_pool(draw), draw.choice(WINDOWS)
    for number in range(draw.randint(3, 6)):
        name = f"p{number}"
        if number and draw.random() < 0.12:
            found.texts[name] = draw.choice(list(found.texts.values()))
        else:
            text = None
            while text is None:
                text = _PatternDraw(draw, pool, windows, is_partitioned, found.has_strict_ties).text()
            found.texts[name] = text
        found.queries[name] = parse(found.texts[name], found.has_strict_ties)
    has_arrays = any(has_array(query.pattern) for query in found.queries.values())
    n_rows = draw.randint(0 if draw.random() < 0.1 else 8, 17 if has_arrays else 22)
    found.rows = drawn_rows(draw, n_rows, has_ties=draw.random() < (0.8 if found.has_strict_ties else 0.5))
    return found


def parse(text: str, has_strict_ties: bool) -> EventQuery:
    ties = "strict" if has_strict_ties else "order"
    return analyzed(text, time="t", tie_break=("b",), ties=ties, columns=COLUMNS)


def drawn_rows(draw: random.Random, n_rows: int, *, has_ties: bool) -> list[dict[str, Any]]:
    """Events of few types and values, some NULL."""
    rows: list[dict[str, Any]] = []
    time = 0
    for number in range(n_rows):
        time += draw.choice([0, 0, 1, 2] if has_ties else [1, 1, 2, 3])
        rows.append({
            "k": draw.choice(["u", "u", "u", "v", None]), "t": time,
            "b": number, "kind": draw.choice("ABCDE" if draw.random() < 0.3 else TYPES),
            "x": draw.choice(NUMBERS), "y": draw.choice([0.5, 1.0, 2.0, float("nan"), None]),
            "s": draw.choice(["u", "v", "uv", None]),
        })
    draw.shuffle(rows)
    return rows


def has_array(pattern: EventPattern) -> bool:
    """Whether a Kleene is in it."""
    return (isinstance(pattern, Kleene) and pattern.maximum is None) or any(map(has_array, children(pattern)))


def _drawn_pool(draw: random.Random) -> list[tuple[str, str]]:
    """Conditions with the types that they are about."""
    pairs = [(draw.choice(PAIRS), draw.choice(TYPES) + draw.choice(TYPES)) for _ in range(8)]
    own = [(draw.choice(OWN), draw.choice(TYPES)) for _ in range(3)]
    three = [(THREE, "".join(draw.choice(TYPES) for _ in "abc")) for _ in range(2)]
    return pairs + own + three


class _PatternDraw:
    """One pattern: components, each with a variable of its own, then conditions of the pool where they fit."""

    def __init__(
        self, draw: random.Random, pool: list[tuple[str, str]], windows: tuple[str, ...], is_partitioned: bool,
        strict: bool,
    ) -> None:
        self.draw, self.pool, self.windows = draw, pool, windows
        self.is_partitioned, self.strict = is_partitioned, strict
        self.style = draw.choice(["{}{}", "v{}{}", "e{1}{0}"])
        self.variables: list[tuple[str, str, bool]] = []  # type, name, whether it is an array

    def text(self) -> str | None:
        """None if what was drawn is not a pattern, such as one that requires no event."""
        draw = self.draw
        items = [self._item(1) for _ in range(draw.choice([1, 2, 2, 3, 3, 4]))]
        is_ordered = draw.random() < 0.6
        needs_window = False
        if draw.random() < 0.45:
            for _ in range(draw.choice([1, 1, 2])):
                place = draw.randint(0, len(items))
                items.insert(place, f"NOT({self._component()})")
                needs_window |= is_ordered
        pattern = f"{'SEQ' if is_ordered else 'AND'}({', '.join(items)})"
        window = draw.choice(self.windows)
        if needs_window and not window:
            window = "WITHIN 5"
        kept = ["[k]"] if self.is_partitioned else []
        if not self._is_valid(pattern, kept, window):
            return None
        for of_one in self._of_one_variable():
            if self._is_valid(pattern, [*kept, of_one], window):
                kept.append(of_one)
        most = len(kept) + draw.choice([0, 1, 1, 2, 2, 3])
        for condition in draw.sample(self.pool, len(self.pool)):
            written = self._written(*condition)
            if written is not None and len(kept) < most and self._is_valid(pattern, [*kept, written], window):
                kept.append(written)
        return _query_text(pattern, kept, window)

    def _of_one_variable(self) -> list[str]:
        """Sometimes two conditions on one variable and others: the pool has seldom several on a NOT or an array."""
        draw = self.draw
        if draw.random() < 0.8 or len(self.variables) < 2:
            return []
        _, name, is_array = draw.choice([one for one in self.variables if one[2]] or self.variables)
        others = [other for _, other, array in self.variables if other != name and not array]
        read = f"{name}[i]" if is_array else name
        return [draw.choice(PAIRS).format(read, draw.choice(others)) for _ in range(2)] if others else []

    def _is_valid(self, pattern: str, conditions: list[str], window: str) -> bool:
        """Not everything may be said of arrays, nor everywhere."""
        try:
            parse(_query_text(pattern, conditions, window), self.strict)
        except RexError:
            return False
        return True

    def _item(self, depth: int) -> str:
        draw = self.draw
        kinds = ["event"] * 8 + ["array", "array", "optional", "either"] + ["group"] * (depth > 0)
        match draw.choice(kinds):
            case "array":
                return f"KL({self._component(is_array=True)})"
            case "optional":
                return self._optional()
            case "either":
                if draw.random() < 0.2:
                    return f"OR({self._optional()}, {self._optional()})"
                return f"OR({self._component()}, {self._item(0) if draw.random() < 0.3 else self._component()})"
            case "group":
                items = ", ".join(self._item(0) for _ in range(2))
                return f"{draw.choice(['SEQ', 'AND'])}({items})"
            case _:
                return self._component()

    def _optional(self) -> str:
        kind, name = self._component().split()
        return f"{kind}? {name}"

    def _component(self, *, is_array: bool = False) -> str:
        kind = self.draw.choice(TYPES)
        name = self.style.format(kind.lower(), len(self.variables))
        self.variables.append((kind, name, is_array))
        return f"{kind} {name}"

    def _written(self, template: str, kinds: str) -> str | None:
        """A condition about variables of its types, None if there are none."""
        names: list[str] = []
        for kind in kinds:
            fitting = [(name, array) for own, name, array in self.variables if own == kind and name not in names]
            if not fitting:
                return None
            names.append(self.draw.choice(fitting)[0])
        arrays = {name for _, name, is_array in self.variables if is_array}
        read = [
            name if name not in arrays else self.draw.choice([f"{name}[1]", f"{name}[i]", f"{name}[{name}.LEN]"])
            for name in names
        ]
        return template.format(*read)


def _query_text(pattern: str, conditions: list[str], window: str) -> str:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"PATTERN {pattern}{where} {window}".strip()


def describe(query: EventQuery) -> set[str]:
    """What a query has, for tallies."""
    return _shapes(query.pattern) | {f"{len(positive_variables(query.pattern))} variables"}


def _shapes(pattern: EventPattern) -> set[str]:
    from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Sequence

    found: set[str] = set()
    match pattern:
        case Sequence(items=items):
            for place, item in enumerate(items):
                if isinstance(item, Absent):
                    found.add("NOT " + ("at the start" if not place else "at the end" if place == len(items) - 1 else
                                        "in the middle"))
        case AllOf(items=items):
            found.add("AND")
            if any(isinstance(item, Absent) for item in items):
                found.add("NOT in AND")
        case AnyOf():
            found.add("OR")
        case Kleene(maximum=None):
            found.add("Kleene")
        case Kleene():
            found.add("optional")
        case _:
            pass
    return found.union(*map(_shapes, children(pattern)))
