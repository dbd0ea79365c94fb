"""Random event queries with AND, from text: analysis says what their conjuncts are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.modes.events.analysis import analyzed
from tests.modes.events.draws import Example, events, looks_outside
from tests.modes.events.positions import allows_empty

from sparkrex.errors import AnalysisError
from sparkrex.modes.events.pattern import (
    Absent,
    AllOf,
    AnyOf,
    Event,
    EventPattern,
    Kleene,
    Sequence,
    absences,
    positive_variables,
)
from sparkrex.modes.events.pattern import events as components_of
from sparkrex.modes.events.plan import Strategy

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw

    from sparkrex.modes.events.plan import EventQuery

COLUMNS = {
    "k": "VARCHAR", "t": "BIGINT", "d": "DOUBLE", "ts": "TIMESTAMP", "b": "BIGINT", "kind": "VARCHAR", "x": "BIGINT",
    "y": "DOUBLE", "s": "VARCHAR",
}
MOST_VARIABLES = 5
_COMPARISONS = (">", ">=", "<", "<=", "<>", "=")
_BOUNDS = {"plus": (1, None), "star": (0, None), "optional": (0, 1)}


@dataclass(slots=True)
class AnyOrderDraws:
    """One draw of a pattern with AND, and of conjuncts over its variables."""

    draw: Draw
    types: tuple[str, ...] = ("Any", "A", "B")
    n_variables: int = 0
    arrays: list[str] = field(default_factory=list)
    negated: list[str] = field(default_factory=list)

    def pattern(self) -> Sequence | AllOf:
        """AND, or SEQ with an AND in it; of every three some have a negated component."""
        if self.draw.chance(60):
            items = self._items(self.draw.choice([2, 2, 3]), AllOf)
            if all(map(allows_empty, items)):
                items.append(self._event())
            if self.draw.chance(35):
                items.insert(self.draw.integer(0, len(items)), self._negated())
            return AllOf(tuple(items))
        items = [AllOf(tuple(self._items(2, AllOf)))]
        for _ in range(self.draw.choice([1, 1, 2])):
            items.insert(self.draw.integer(0, len(items)), self._item(1, Sequence))
        if all(map(allows_empty, items)):
            items.append(self._event())
        for _ in range(self.draw.choice([0, 0, 0, 1, 1, 2])):
            items.insert(self.draw.integer(0, len(items)), self._negated())
        return Sequence(tuple(items))

    def _items(self, number: int, group: type, depth: int = 1) -> list[EventPattern]:
        return [self._item(depth, group) for _ in range(number)]

    def _item(self, depth: int, group: type) -> EventPattern:
        """An item of a group; a group is not in one of its kind, which would be the same."""
        is_last = depth > 2 or self.n_variables + 2 > MOST_VARIABLES
        kinds = ["single"] * 5 + ["plus"] * 3 + ["star", "optional"]
        kind = self.draw.choice(kinds if is_last else [*kinds, "or", "group", "group", "optional group"])
        match kind:
            case "single":
                return self._event()
            case "or":
                return AnyOf((self._item(depth + 2, AnyOf), self._item(depth + 2, AnyOf)))
            case "group" | "optional group":
                inner = Sequence if group is AllOf else AllOf
                found = inner(tuple(self._items(2, inner, depth + 1)))
                return found if kind == "group" else Kleene(found, 0, 1)
            case _:
                minimum, maximum = _BOUNDS[kind]
                event = self._event()
                if maximum is None:
                    self.arrays.append(event.variable)
                return Kleene(event, minimum, maximum)

    def _event(self) -> Event:
        self.n_variables += 1
        return Event(self.draw.choice(self.types), "abcdefghijklmnop"[self.n_variables - 1])

    def _negated(self) -> Absent:
        self.negated.append(f"n{len(self.negated) + 1}")
        return Absent(Event(self.draw.choice(["C", "C", "B", "A", "Any"]), self.negated[-1]))

    def conjunct(self, pattern: EventPattern) -> str:
        """A condition, as text, which may make no sense of these variables."""
        names = positive_variables(pattern)
        kinds = ["pair"] * 6 + ["own", "three", "missing", "missing"]
        kinds += ["later", "later", "whole", "whole"] if self.arrays else []
        kinds += ["negated"] * 4 if self.negated else []
        one, other = self.draw.choice(names), self.draw.choice(names)
        column, compared = self.draw.choice(["x", "x", "y"]), self.draw.choice(_COMPARISONS)
        match self.draw.choice(kinds):
            case "own":
                own = f"{one}[1]" if one in self.arrays else one
                return self.draw.choice([f"{own}.{column} {compared} 2", f"{own}.s = 'u'"])
            case "pair":
                return f"{self._read(one, column)} {compared} {self._read(other, column)}"
            case "three":
                third = self._read(self.draw.choice(names), column)
                return f"{self._read(one, column)} + {self._read(other, column)} {compared} {third}"
            case "missing":
                read = self._read(one, column)
                return self.draw.choice([
                    f"coalesce({read}, 2) {compared} {self._read(other, column)}",
                    f"({read} IS NULL OR {self._read(other, column)} {compared} 2)",
                ])
            case "later":
                array = self.draw.choice(self.arrays)
                compared_with = self.draw.choice([
                    f"{array}[i-1].{column}", f"{array}[1].{column}", f"avg({array}[..i-1].{column})",
                    self._read(other, column), "2",
                ])
                return f"{array}[i].{column} {compared} {compared_with}"
            case "whole":
                array = self.draw.choice(self.arrays)
                return self.draw.choice([
                    f"count({array}[]) {self.draw.choice(['<>', '>=', '='])} 2",
                    f"{array}[{array}.LEN].{column} {compared} {array}[1].{column}",
                    f"sum({array}[].{column}) {compared} {self._read(other, column)}",
                ])
            case _:
                negated = self.draw.choice(self.negated)
                return f"{negated}.{column} {compared} {self.draw.choice(['2', self._read(one, column)])}"

    def _read(self, variable: str, column: str) -> str:
        if variable not in self.arrays:
            return f"{variable}.{column}"
        function = self.draw.choice(["sum", "min", "max", "avg"])
        return self.draw.choice([
            f"{variable}[1].{column}", f"{variable}[{variable}.LEN].{column}", f"{function}({variable}[].{column})",
        ])


def generate_any_order(draw: Draw) -> Example:
    """A random query with AND over a random stream."""
    strategy = draw.weighted([(35, Strategy.NEXT), (35, Strategy.ANY), (15, Strategy.PARTITION), (15, Strategy.STRICT)])
    types = ("Any", "A", "B") if strategy in (Strategy.NEXT, Strategy.ANY) else ("Any", "Any", "Any", "A", "B")
    drawing = AnyOrderDraws(draw, types)
    pattern = drawing.pattern()
    is_partitioned = strategy is Strategy.PARTITION or (strategy is not Strategy.STRICT and draw.chance(50))
    has_ties = draw.chance(40)
    time = draw.choice(["t", "t", "d", "ts"])
    within = _within(draw, time, is_needed=looks_outside(pattern))
    output = "OUTPUT NON-OVERLAPPING" if draw.chance(30) else ""
    ties = "strict" if has_ties and draw.chance(60) else "order"
    said = ["[k]"] if is_partitioned else []

    def query(conjuncts: list[str]) -> EventQuery:
        listed = ", ".join(positive_variables(pattern))
        where = f"{strategy.value}({listed}) {{ {' AND '.join(conjuncts)} }}"
        found = analyzed(
            f"PATTERN {pattern} WHERE {where} {within} {output}", time=time, tie_break=("b",) if has_ties else (),
            types={"Any": "true"}, ties=ties, dialect="duckdb", columns=COLUMNS,
        )
        return replace(found, type_column=None, type_names=())  # a few random rows need not have all types

    for _ in range(draw.choice([0, 1, 1, 2, 2, 3])):
        more = [*said, drawing.conjunct(pattern)]
        try:
            query(more)
        except AnalysisError:
            continue
        said = more
    rows = events(draw, 8, n_keys=2, has_ties=has_ties, parts=is_partitioned)
    return Example(query(said), _not_too_many(pattern, rows, may_pass=strategy is Strategy.ANY))


def _not_too_many(pattern: EventPattern, rows: list[dict[str, Any]], *, may_pass: bool) -> list[dict[str, Any]]:
    """As many events as the oracle can try all choices of."""
    types = [event.type for event in components_of(pattern) if event not in absences(pattern)]
    n_choices = 1
    for number, row in enumerate(rows):
        n_choices *= may_pass + max(1, sum(kind in ("Any", row["kind"]) for kind in types))
        if n_choices > 5_000:
            return rows[:number]
    return rows


def _within(draw: Draw, time: str, *, is_needed: bool) -> str:
    size = draw.choice([4, 3, 5, 6, 7, 2])
    match draw.choice(["time", "time", "events"] if is_needed else ["none", "time", "time", "events"]):
        case "none":
            return ""
        case "events":
            return f"WITHIN {size} EVENTS"
        case _:
            return f"WITHIN {size} seconds" if time == "ts" else f"WITHIN {size}"
