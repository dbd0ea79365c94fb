"""Random trend queries and small streams.

Values come from small sets, so that conditions hold and fail about as often and events tie. A few events have all their
trends enumerated by the oracle, so a stream is the shorter the more variables one of its events may be bound to.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.modes.rows.property.draws import BytesDraw, RandomDraw
from tests.modes.trends.names import adjacent_names, negated_names, positive_names, types_of_negated
from tests.modes.trends.patterns import PatternDraws
from tests.modes.trends.query import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Adjacent,
    Aggregate,
    Local,
    Query,
    Term,
    Window,
    leaves,
    positive_leaves,
)
from tests.modes.trends.streams import StreamShape, draw_stream, put_at_the_ends_of_time
from tests.modes.trends.texts import text_of

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw
    from tests.modes.trends.names import Names
    from tests.modes.trends.query import Function, Pattern

OPERATORS = ("<", ">", "<=", ">=", "<>", "=", "<", "<>")
MICROSECONDS = {"ts": 500_000, "tz": 500_000, "day": 86_400_000_000}
"""How far apart two moments are."""


@dataclass(frozen=True, slots=True)
class Example:
    """A query and the rows of its stream, in any order; `spelling` seeds how its text is written, None: plainly."""

    query: Query
    rows: list[dict[str, Any]]
    spelling: int | None = None

    @property
    def words(self) -> Draw:
        """What decides how the text is written."""
        return BytesDraw(b"") if self.spelling is None else RandomDraw(random.Random(self.spelling))

    @property
    def text(self) -> str:
        """The query in the language."""
        return text_of(self.query, self.words)


def generate(draw: Draw) -> Example:
    """A random query over a random stream."""
    semantics = draw.weighted([(38, NEXT), (34, ANY), (28, CONTIGUOUS)])
    drawing = _QueryDraws(draw, semantics)
    return Example(drawing.query, drawing.stream(), draw.integer(0, 255))


class _QueryDraws:
    def __init__(self, draw: Draw, semantics: str) -> None:
        self.draw = draw
        types = draw.choice([
            ("A", "B"), ("A",), ("A", "B", "B"), ("Any", "A"), ("A", "Low"), ("Any",), ("A", "B", "D"),
        ])
        is_pair = draw.chance(10)
        self.patterns = PatternDraws(draw, types).patterns(negates=draw.chance(38), is_pair=is_pair)
        time = draw.weighted([(40, "t"), (20, "ts"), (15, "d"), (10, "tz"), (10, "day"), (5, "m")])
        window = self._window(time)
        counts_events = window is not None and window.counts_events
        self.has_ties = draw.chance(40)
        has_strict_ties = not counts_events and draw.chance(60)
        has_order = self.has_ties and not has_strict_ties
        equivalent, group_by = draw.choice([
            ((), ()), ((), ()), ((), ()), (("k",), ()), (("k",), ()), (("k",), ("g",)), ((), ("k",)),
            (("k", "g"), ("g",)), (("k",), ("k",)), ((), ("g", "k")), (("g",), ("k",)),
        ])
        self.query = Query(
            self.patterns, semantics, (Aggregate("COUNT"),),
            local=self._local(), adjacent=self._adjacent(), equivalent=equivalent, group_by=group_by,
            least_length=draw.choice([1] * 9 + [2, 2, 3]), window=window, time=time,
            tie_break=("b",) if not has_strict_ties and (has_order or draw.chance(20)) else (),
            has_strict_ties=has_strict_ties,
        )
        self.query = replace(self.query, returned=self._returned())

    # Conditions.

    def _local(self) -> tuple[Local, ...]:
        draw = self.draw
        if draw.chance(60):
            return ()
        names = [name for name in positive_names(self.patterns) if name not in types_of_negated(self.patterns)]
        names += [*negated_names(self.patterns)]
        return tuple(self._condition(draw.choice(names)) for _ in range(draw.choice([1, 1, 1, 2]))) if names else ()

    def _condition(self, name: str) -> Local:
        draw = self.draw
        match draw.weighted([(40, "x"), (20, "y"), (10, "z"), (15, "s"), (8, "two"), (7, "null")]):
            case "x":
                operator = draw.choice(["<=", ">=", "<>", "<", ">", "="])
                return Local(name, Term("x"), operator, Term(None, draw.choice([2, 1, 3])))
            case "y":
                return Local(name, Term("y"), draw.choice(["<", ">", "<=", ">="]), Term(None, draw.choice([1, 0.5, 2])))
            case "z":
                return Local(name, Term("z"), draw.choice(["<", ">", "<>"]), Term(None, Decimal("1.25")))
            case "s":
                return Local(name, Term("s"), draw.choice(["<>", "=", "<"]), Term(None, draw.choice(["v", "u"])))
            case "two":
                return Local(name, Term("x"), draw.choice(OPERATORS), Term("y", draw.choice([0, 1])))
            case _:
                column = draw.choice(["x", "y", "s"])
                return Local(name, Term(column), draw.choice(["IS NOT NULL", "IS NOT NULL", "IS NOT NULL", "IS NULL"]))

    def _adjacent(self) -> tuple[Adjacent, ...]:
        draw = self.draw
        pairs = adjacent_names(self.patterns)
        if not pairs or draw.chance(45):
            return ()
        found: list[Adjacent] = []
        for _ in range(draw.choice([1, 1, 1, 2, 2, 3])):
            if found and draw.chance(40):
                before, after = found[-1].before, found[-1].after
            else:
                before, after = draw.choice(pairs)
            left, operator, right = self._comparison()
            found.append(Adjacent(before, after, left, operator, right))
        return tuple(found)

    def _comparison(self) -> tuple[Term, str, Term]:
        draw = self.draw
        operator = draw.choice(OPERATORS)
        match draw.weighted([(40, "x"), (15, "y"), (10, "z"), (10, "s"), (10, "time"), (15, "mixed")]):
            case "s":
                return Term("s"), operator, Term("s")
            case "time":
                # At most, or at least, this long after.
                return Term("t", draw.choice([1, 2, 3])), draw.choice([">=", "<", ">"]), Term("t")
            case "mixed":
                one, other = draw.some(["x", "y", "z"], 2, 2)
                return Term(one), operator, Term(other, draw.choice([0, 0, 1]))
            case column:
                return Term(column, draw.choice([0, 0, 0, 1])), operator, Term(column, draw.choice([0, 0, 0, -1, 1]))

    # Aggregates.

    def _returned(self) -> tuple[str | Aggregate, ...]:
        draw = self.draw
        groups = draw.subset(self.query.group_by, 80)
        count = [Aggregate("COUNT")] if len(self.patterns) > 1 or draw.chance(70) else []
        names = positive_names(self.patterns)
        if len(self.patterns) > 1 or not names:
            return (*groups, Aggregate("COUNT"))
        others = [self._aggregate(names) for _ in range(draw.choice([0, 1, 1, 2, 3, 4]))]
        return (*groups, *(count + others or [Aggregate("COUNT")]))

    def _aggregate(self, names: Names) -> Aggregate:
        draw = self.draw
        name = draw.choice(list(names))
        function: Function = draw.choice(["COUNT", "COUNT", "MIN", "MAX", "SUM", "AVG"])
        if function == "COUNT" and draw.chance(60):
            return Aggregate(function, name)
        return Aggregate(function, name, Term(draw.choice(["x", "x", "y", "z", "t"]), draw.choice([0, 0, 0, 1])))

    # Windows.

    def _window(self, time: str) -> Window | None:
        draw = self.draw
        kind = draw.weighted([(42, "none"), (44, "time"), (14, "events")])
        if kind == "none":
            return None
        size = draw.choice([6, 5, 8, 4, 10, 7, 3, 2, 1, 12])
        match draw.weighted([(45, "sliding"), (25, "tumbling"), (15, "hopping"), (15, "said")]):
            case "sliding":
                slide: int | None = max(draw.integer(1, size), size // 5)
            case "hopping":
                slide = size + draw.choice([1, 2, 3])
            case "said":
                slide = size
            case _:
                slide = None
        if kind == "events":
            return Window(size, slide, counts_events=True)
        origin = draw.choice([1, 2, -1, 7]) if draw.chance(30) else None
        match time:
            case "t":
                return Window(size, slide, origin)
            case "d":
                return Window(size / 2, slide and slide / 2, None if origin is None else origin / 4)
            case "m":
                quarter = Decimal("0.25")
                return Window(size * quarter, slide and slide * quarter, None if origin is None else origin * quarter)
            case _:
                return self._window_of_times(time, size, slide, origin)

    def _window_of_times(self, time: str, size: int, slide: int | None, origin: int | None) -> Window:
        moment = MICROSECONDS[time]
        part = self.draw.choice([0, 0, moment // 2, 1])
        begin: date | None = None
        if origin is not None and time == "day":
            begin = date(2024, 2, 28) + timedelta(days=origin)
        elif origin is not None:
            begin = datetime(2024, 2, 28, tzinfo=UTC if time == "tz" else None) + timedelta(milliseconds=500 * origin)
        return Window(size * moment + part, slide and slide * moment, begin)

    # Streams.

    def stream(self) -> list[dict[str, Any]]:
        """Events that fit the query."""
        draw, query = self.draw, self.query
        n_most = self._most_events()
        keys = tuple(dict.fromkeys((*query.group_by, *query.equivalent)))
        terms = _terms(query)
        extremes = draw.subset([name for name in ("x", "y") if not _is_mixed(query)], 12)
        shape = StreamShape(self._kinds(), n_most, keys, self.has_ties, tuple(extremes))
        rows = draw_stream(draw, shape)
        time = query.time
        has_ends = time == "d" or (time == "t" and query.window is None and not any(one.column == "t" for one in terms))
        if rows and has_ends and draw.chance(15):
            put_at_the_ends_of_time(draw, rows, time)
        return rows

    def _kinds(self) -> tuple[str | None, ...]:
        positive = {leaf.type for pattern in self.patterns for leaf in positive_leaves(pattern)}
        negated = {leaf.type for pattern in self.patterns for leaf in leaves(pattern)} - positive
        known = [kind for kind in ("A", "B", "C", "D") if kind in positive] or ["A", "B"]
        known = known * (3 if self.query.semantics == CONTIGUOUS else 2)
        # A negated sub-pattern needs more than one event.
        known += [kind for kind in ("A", "B", "C", "D") if kind in negated] * 2
        rare = self.draw.choice([(), ("X",), ("X", "X"), (None,)])
        return (*known * 2, *rare)

    def _most_events(self) -> int:
        """The oracle tries every subset of events under every variable that they may be bound to, and pairs of them."""
        widest = max(_width(pattern) for pattern in self.patterns)
        # Other semantics than any leave most sequences out as soon as they begin.
        of_any, of_others = {1: 10, 2: 8, 3: 7, 4: 6}, {1: 15, 2: 11, 3: 8, 4: 7}
        most = (of_any if self.query.semantics == ANY else of_others).get(widest, 5)
        return most if len(self.patterns) == 1 else min(most, 6)


def _width(pattern: Pattern) -> int:
    """The most variables that one event may be bound to."""
    types = [leaf.type for leaf in positive_leaves(pattern)]
    n_loose = types.count("Any") + types.count("Low")
    return max((n_loose + types.count(kind) for kind in ("A", "B", "C", "D")), default=n_loose)


def _terms(query: Query) -> list[Term]:
    found = [side for pair in query.adjacent for side in (pair.left, pair.right)]
    found += [side for one in query.local for side in (one.left, one.right) if side is not None]
    aggregates = [item for item in query.returned if isinstance(item, Aggregate)]
    return found + [one.argument for one in aggregates if one.argument is not None]


def _is_mixed(query: Query) -> bool:
    """Whether columns of different types are compared: large integers are then rounded, by some hosts at least."""
    pairs = [(pair.left, pair.right) for pair in query.adjacent]
    pairs += [(one.left, one.right) for one in query.local if one.right is not None and one.right.column is not None]
    return any(left.column != right.column for left, right in pairs)
