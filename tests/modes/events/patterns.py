"""Random event patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.modes.events.building import ANY_TYPE
from tests.modes.events.positions import allows_empty

from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, EventPattern, Kleene, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.modes.rows.property.draws import Draw

BOUNDS = {
    "plus": (1, None), "star": (0, None), "optional": (0, 1), "two to three": (2, 3), "at most three": (0, 3),
    "one to three": (1, 3), "two or more": (2, None), "exactly two": (2, 2),
}


@dataclass(slots=True)
class PatternDraws:
    """One draw of a pattern; variables are named in order of appearance."""

    draw: Draw
    types: tuple[str, ...] = ("Any", "A", "B")
    n_variables: int = 0
    n_negated: int = 0

    def simple(self) -> Sequence:
        """SEQ of single components and `+`."""
        size = self.draw.choice([1, 2, 2, 3])
        kinds = [self.draw.choice(["single", "plus", "plus"]) for _ in range(size)]
        return Sequence(tuple(self.event() if kind == "single" else Kleene(self.event(), 1, None) for kind in kinds))

    def pattern(self) -> EventPattern:
        """Any pattern that the language has."""
        if self.draw.chance(15):
            return self.trend()
        items = [self.item() for _ in range(self.draw.choice([2, 2, 1, 2, 3]))]
        if all(map(allows_empty, items)):
            items.append(self.event())
        place = self.draw.choice(["none"] * 6 + ["middle", "middle", "start", "end", "end", "two"])
        match place:
            case "start":
                items.insert(0, self.negated())
            case "end":
                items.append(self.negated())
            case "middle":
                items.insert(self.draw.integer(1, max(1, len(items) - 1)), self.negated())
            case "two":
                for _ in range(2):
                    items.insert(self.draw.integer(0, len(items)), self.negated())
        return Sequence(tuple(items))

    def trend(self) -> Sequence:
        """The paper's experiments: an array, then an event that may be either one more of it or its end."""
        before = [self.event()] if self.draw.chance(30) else []
        self.types = (ANY_TYPE,)
        return Sequence((*before, Kleene(self.event(), 1, None), self.event()))

    def item(self) -> EventPattern:
        """One item of the outermost sequence."""
        kinds = ["single"] * 4 + ["plus"] * 5 + ["quantified"] * 3 + ["alternation", "kleene of alternation"]
        kind = self.draw.choice([*kinds, "kleene of sequence", "kleene of sequence", "nested", "kleene of kleene"])
        match kind:
            case "single":
                return self.event()
            case "plus":
                return Kleene(self.event(), 1, None)
            case "quantified":
                return Kleene(self.event(), *BOUNDS[self.draw.choice(sorted(BOUNDS))])
            case "alternation":
                return AnyOf((self.part(), self.part()))
            case "kleene of alternation":
                return self.repeated(AnyOf((self.part(), self.event())))
            case "kleene of kleene":
                return self.repeated(self.repeated(self.event()))
            case "nested":
                return self.repeated(Sequence((self.part(), self.repeated(Sequence((self.event(), self.part()))))))
            case _:
                return self.repeated(Sequence((self.part(), self.part())))

    def part(self) -> EventPattern:
        """A component inside of something."""
        kind = self.draw.choice(["single", "single", "single", "plus", "optional", "sequence"])
        match kind:
            case "single":
                return self.event()
            case "sequence":
                return Sequence((self.event(), self.event()))
            case _:
                return Kleene(self.event(), *BOUNDS[kind])

    def repeated(self, body: EventPattern) -> Kleene:
        """A Kleene of a larger body; an empty iteration counts for nothing, so none is asked for."""
        choices = ["plus", "plus", "star", "optional"] if allows_empty(body) else sorted(BOUNDS)
        return Kleene(body, *BOUNDS[self.draw.choice(choices)])

    def event(self) -> Event:
        """A positive component with a variable of its own."""
        self.n_variables += 1
        kind = self.draw.choice(self.types)
        return Event(kind, "abcdefghijklmnop"[self.n_variables - 1])

    def negated(self) -> Absent:
        """A negated component."""
        self.n_negated += 1
        return Absent(Event(self.draw.choice(["C", "C", "B", "A", "Any"]), f"n{self.n_negated}"))


def shapes(pattern: EventPattern) -> Iterator[str]:
    """What the pattern is made of, for the tally."""
    match pattern:
        case Sequence(items=items):
            for number, item in enumerate(items):
                if isinstance(item, Absent):
                    before = all(map(allows_empty, items[:number]))
                    after = all(map(allows_empty, items[number + 1 :]))
                    yield "negation at " + ("the start" if before else "the end" if after else "the middle")
                yield from shapes(item)
        case AllOf(items=items):
            yield "any order"
            for item in items:
                if isinstance(item, Absent):
                    yield "negation in any order"
                yield from shapes(item)
        case AnyOf(options=options):
            yield "alternation"
            for option in options:
                yield from shapes(option)
        case Kleene(body=body, minimum=minimum, maximum=maximum):
            signs = {(1, None): "+", (0, None): "*", (0, 1): "?"}
            yield signs.get((minimum, maximum), "{n,m}")
            if not isinstance(body, Event):
                yield "Kleene of more than an event"
            yield from shapes(body)
        case _:
            return
