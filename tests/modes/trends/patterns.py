"""Random trend patterns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.modes.trends.query import (
    Absent,
    Either,
    Leaf,
    Pattern,
    Repeat,
    Seq,
    absences,
    allows_empty,
    nodes,
    parts,
    positive_leaves,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.modes.rows.property.draws import Draw

BOUNDS: dict[str, tuple[int, int | None]] = {
    "+": (1, None), "*": (0, None), "?": (0, 1), "{2,3}": (2, 3), "{,2}": (0, 2), "{1,3}": (1, 3), "{2,}": (2, None),
    "{2}": (2, 2),
}
MOST_LEAVES = 5
VARIABLES = tuple("uvwpqrnoefhijl")
"""No column is called so, and no type, in capitals or not."""


@dataclass(slots=True)
class PatternDraws:
    """Draws the sides of one query's pattern; `types` are those of positive components."""

    draw: Draw
    types: tuple[str, ...]
    n_named: int = 0
    n_left: int = 0
    used: set[str] = field(default_factory=set)
    sides: list[Pattern] = field(default_factory=list)
    negates: bool = False

    def patterns(self, *, negates: bool, is_pair: bool) -> tuple[Pattern, ...]:
        """One pattern, or the two sides of `&`."""
        self.negates = negates
        self.sides.append(self._side(MOST_LEAVES - 2 * is_pair, names_negated=is_pair))
        if is_pair and self.draw.chance(20):
            self.sides.append(self.sides[0])
        elif is_pair:
            self.negates = negates and self.draw.chance(50)
            self.sides.append(self._side(MOST_LEAVES - 2, names_negated=True))
        return tuple(self.sides)

    def _side(self, n_leaves: int, *, names_negated: bool) -> Pattern:
        self.n_left, self.used = n_leaves, set()
        side = self._whole()
        if allows_empty(side):
            side = Seq((side, self._leaf()))
        if self.negates and not absences(side):
            place = self.draw.choice(["middle", "first", "last"])
            items = list(side.items) if isinstance(side, Seq) else [side]
            items.insert({"first": 0, "last": len(items)}.get(place, len(items) // 2), self._absent())
            side = Seq(tuple(items))
        return numbered(side, self._name_negated if names_negated else None)

    def _whole(self) -> Pattern:
        kind = self.draw.weighted([
            (35, "sequence"), (14, "kleene"), (12, "paper"), (14, "kleene of sequence"), (8, "either"), (10, "ending"),
            (7, "nested"),
        ])
        match kind:
            case "kleene":
                return Repeat(self._leaf(), *self._bounds("+", "+", "{2,3}", "{2,}", "{1,3}"))
            case "kleene of sequence":
                return Repeat(self._sequence(2), *self._bounds("+", "+", "+", "+", "{1,3}", "{2,}", "{2}"))
            case "either":
                return Either((self._part(), self._sequence(2)))
            case "paper":
                # The running example, or q1 and q2.
                kleene, last = Repeat(self._leaf(), 1, None), self._leaf()
                if self.draw.chance(60):
                    return Repeat(self._with_absent([kleene, last]), 1, None)
                return self._with_absent([self._leaf(), kleene, last])
            case "ending":
                # One event is one more of the Kleene, or its end.
                first = self._leaf()
                return Seq((Repeat(first, 1, None), self._leaf(first.type)))
            case "nested":
                inner = Repeat(Seq((self._leaf(), self._part())), *self._bounds("+", "*", "{1,3}", "?"))
                return Repeat(Seq((self._part(), inner)), *self._bounds("+", "+", "{2}"))
            case _:
                return self._sequence(self.draw.choice([2, 2, 1, 3]))

    def _sequence(self, size: int) -> Seq:
        return self._with_absent([self._item() for _ in range(size)])

    def _with_absent(self, items: list[Pattern]) -> Seq:
        if self.negates and self.draw.chance(65):
            for _ in range(self.draw.choice([1, 1, 1, 2])):
                place = len(items) // 2 if self.draw.chance(50) else self.draw.integer(0, len(items))
                items.insert(place, self._absent())
        return Seq(tuple(items))

    def _item(self) -> Pattern:
        if self.n_left <= 1:
            return self._leaf() if self.draw.chance(50) else Repeat(self._leaf(), 1, None)
        kind = self.draw.weighted([
            (30, "single"), (28, "plus"), (14, "quantified"), (8, "either"), (5, "kleene of either"),
            (9, "kleene of sequence"), (3, "kleene of kleene"), (3, "sequence"),
        ])
        match kind:
            case "single":
                return self._leaf()
            case "plus":
                return Repeat(self._leaf(), 1, None)
            case "quantified":
                return Repeat(self._leaf(), *self._bounds(*BOUNDS))
            case "either":
                return Either((self._leaf(), self._part()))
            case "kleene of either":
                return Repeat(Either((self._leaf(), self._part())), *self._bounds("+", "+", "*", "{1,3}"))
            case "kleene of kleene":
                return Repeat(Repeat(self._leaf(), *self._bounds(*BOUNDS)), *self._bounds(*BOUNDS))
            case "sequence":
                return self._sequence(2)
            case _:
                return Repeat(self._sequence(2), *self._bounds(*BOUNDS))

    def _part(self) -> Pattern:
        kind = self.draw.choice(["single", "single", "+", "?", "sequence"])
        match kind:
            case "single":
                return self._leaf()
            case "sequence":
                return Seq((self._leaf(), self._leaf()))
            case _:
                return Repeat(self._leaf(), *BOUNDS[kind])

    def _bounds(self, *names: str) -> tuple[int, int | None]:
        return BOUNDS[self.draw.choice(names)]

    def _absent(self) -> Absent:
        kind = self.draw.weighted([
            (45, "single"), (22, "sequence"), (8, "plus"), (9, "either"), (8, "optional"), (8, "kleene of sequence"),
        ])
        match kind:
            case "sequence":
                return Absent(Seq((self._negated(), self._negated())))
            case "plus":
                return Absent(Repeat(self._negated(), *self._bounds("+", "{2}", "{2,3}")))
            case "either":
                return Absent(Either((self._negated(), Seq((self._negated(), self._negated())))))
            case "optional":
                return Absent(Seq((self._negated(), Repeat(self._negated(), *self._bounds("?", "*")), self._negated())))
            case "kleene of sequence":
                return Absent(Repeat(Seq((self._negated(), self._negated())), *self._bounds("+", "{2}")))
            case _:
                return Absent(self._negated())

    def _negated(self) -> Leaf:
        kind = self.draw.weighted([(50, "C"), (28, "D"), (7, "A"), (7, "B"), (4, "Any"), (4, "Low")])
        return Leaf(kind, self._fresh()) if self.draw.chance(65) else Leaf(kind, "", is_named=False)

    def _leaf(self, kind: str | None = None) -> Leaf:
        self.n_left -= 1
        kind = kind or self.draw.choice(self.types)
        others = [
            leaf for side in self.sides for leaf in positive_leaves(side)
            if leaf.type == kind and leaf.is_named and leaf.variable not in self.used
        ]
        if others and self.draw.chance(50):
            self.used.add(others[0].variable)
            return others[0]
        return Leaf(kind, self._fresh()) if self.draw.chance(60) else Leaf(kind, "", is_named=False)

    def _fresh(self) -> str:
        self.n_named += 1
        return VARIABLES[self.n_named - 1] if self.n_named <= len(VARIABLES) else f"v{self.n_named}"

    def _name_negated(self, leaf: Leaf) -> Leaf:
        """No variable of one side is negated on the other."""
        return leaf if leaf.is_named else Leaf(leaf.type, self._fresh())


def numbered(pattern: Pattern, name_negated: Callable[[Leaf], Leaf] | None = None) -> Pattern:
    """The pattern whose components without a variable are called by their type: A, A#2, A#3."""
    seen: Counter[str] = Counter()

    def inner(node: Pattern, *, is_negated: bool) -> Pattern:
        if isinstance(node, Leaf):
            if node.is_named:
                return node
            if is_negated and name_negated is not None:
                return name_negated(node)
            seen[node.type] += 1
            number = seen[node.type]
            return Leaf(node.type, node.type if number == 1 else f"{node.type}#{number}", is_named=False)
        inside = is_negated or isinstance(node, Absent)
        return rebuilt(node, tuple(inner(part, is_negated=inside) for part in parts(node)))

    return inner(pattern, is_negated=False)


def rebuilt(node: Pattern, new: tuple[Pattern, ...]) -> Pattern:
    """The node with other parts."""
    match node:
        case Seq():
            return Seq(new)
        case Either():
            return Either(new)
        case Repeat():
            return replace(node, body=new[0])
        case Absent():
            return Absent(new[0])
        case Leaf():
            return node


def shapes(pattern: Pattern) -> Iterator[str]:
    """What the pattern is made of, for the tally."""
    for node in nodes(pattern):
        match node:
            case Repeat(body=body, least=least, most=most):
                yield {(1, None): "+", (0, None): "*", (0, 1): "?"}.get((least, most), "{n,m}")
                yield from ["Kleene of more than an event"] * (not isinstance(body, Leaf))
                yield from ["negation inside a Kleene"] * (most != 1 and bool(absences(body)))
                yield from ["nested Kleene"] * any(isinstance(inner, Repeat) for inner in nodes(body))
            case Either():
                yield "alternation"
                yield from ["negation inside |"] * bool(absences(node))
            case Absent(body=body):
                yield "negated sub-pattern" if parts(body) else "negated component"
    yield from negation_places(pattern, is_first=True, is_last=True)
    yield from ["several negations"] * (len(absences(pattern)) > 1)
    types = [leaf.type for leaf in positive_leaves(pattern)]
    yield from ["repeated type"] * (len(set(types)) < len(types))


def negation_places(pattern: Pattern, *, is_first: bool, is_last: bool) -> Iterator[str]:
    """Where in the trend negated parts may stand."""
    match pattern:
        case Absent():
            yield from ["leading negation"] * is_first + ["trailing negation"] * is_last
            yield from ["negation in the middle"] * (not is_first and not is_last)
        case Seq(items=items):
            for n, item in enumerate(items):
                before, after = all(map(allows_empty, items[:n])), all(map(allows_empty, items[n + 1 :]))
                yield from negation_places(item, is_first=is_first and before, is_last=is_last and after)
        case _:
            for part in parts(pattern):
                yield from negation_places(part, is_first=is_first, is_last=is_last)
