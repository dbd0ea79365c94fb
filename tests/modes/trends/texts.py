"""Trend queries as text of the language, and the keyword arguments that go with them.

A text can be written in many ways that mean the same; a `Draw` decides among them, and its simplest choices give the
plainest text.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.trends.event_types import CONDITIONS
from tests.modes.trends.names import edges
from tests.modes.trends.query import Absent, Aggregate, Either, Leaf, Pattern, Repeat, Seq

if TYPE_CHECKING:
    from tests.modes.rows.property.draws import Draw
    from tests.modes.trends.query import Adjacent, Local, Query, Term

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
UNITS = {"day": 86_400_000_000, "hour": 3_600_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
TIMES = ("ts", "tz", "day")


def text_of(query: Query, draw: Draw) -> str:
    """The query, one clause to a line."""
    words = _Words(query, draw)
    clauses = [
        ("RETURN", ", ".join(words.returned(number) for number in range(len(query.returned)))),
        ("PATTERN", " & ".join(words.pattern(pattern) for pattern in query.patterns)),
        ("SEMANTICS", words.semantics()),
        ("WHERE", " AND ".join(words.conditions())),
        (draw.choice(["GROUP-BY", "GROUP BY"]), ", ".join(query.group_by)),
        ("WITHIN", words.window()),
    ]
    return "\n".join(f"{title} {text}" for title, text in clauses if text)


def call_of(query: Query) -> dict[str, Any]:
    """The keyword arguments of `sparkrex.trends`, without the way of counting and settings."""
    origin = {} if query.window is None or query.window.origin is None else {"origin": query.window.origin}
    return {
        "time": query.time, "type": "kind", "types": CONDITIONS, "tie_break": query.tie_break,
        "ties": "strict" if query.has_strict_ties else "order", **origin,
    }


def sql_of(query: Query, draw: Draw, counts: str) -> str:
    """The query as a relation of a table `stream`."""
    options = [f"TIME {query.time}"]
    if query.tie_break:
        options.append(f"TIE BREAK {', '.join(query.tie_break)}")
    options.append("TYPE kind")
    options.append(f"TYPES ({', '.join(f'{name} AS {condition}' for name, condition in CONDITIONS.items())})")
    if not query.has_strict_ties or draw.chance(50):
        options.append("TIES STRICT" if query.has_strict_ties else "TIES ORDER")
    if query.window is not None and query.window.origin is not None:
        options.append(f"ORIGIN {literal(query.window.origin)}")
    if counts != "exact" or draw.chance(30):
        options.append(f"COUNTS {counts.upper()}")
    clause = "\n".join([*options, text_of(query, draw)])
    return f"SELECT * FROM stream MATCH_TRENDS (\n{clause})"


def literal(value: Any) -> str:
    """A constant of SQL."""
    match value:
        case str():
            return f"'{value}'"
        case datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'"
        case date():
            return f"DATE '{value}'"
        case Decimal():
            return f"{value:f}"
        case _:
            return repr(value)


class _Words:
    def __init__(self, query: Query, draw: Draw) -> None:
        self.query = query
        self.draw = draw

    # RETURN

    def returned(self, number: int) -> str:
        item = self.query.returned[number]
        if isinstance(item, str):
            return f"{item} AS c{number}" if self.draw.chance(30) else item
        return f"{self._aggregate(item)} AS c{number}"

    def _aggregate(self, asked: Aggregate) -> str:
        if asked.name is None:
            return "COUNT(*)"
        if asked.argument is None:
            return f"COUNT({asked.name})"
        return f"{asked.function}({self._term(asked.argument, asked.name)})"

    # PATTERN

    def pattern(self, pattern: Pattern) -> str:
        """One side of `&`, where alternatives need no parentheses."""
        if isinstance(pattern, Either) and not self.draw.chance(50):
            return " | ".join(map(self._element, pattern.options))
        return self._element(pattern)

    def _element(self, pattern: Pattern) -> str:
        match pattern:
            case Leaf():
                return self._component(pattern, "")
            case Seq():
                return self._sequence(pattern)
            case Either(options=options):
                return f"({' | '.join(map(self._element, options))})"
            case Repeat(body=body):
                sign = self._quantifier(pattern)
                if isinstance(body, Leaf) and not self.draw.chance(10):
                    return self._component(body, sign)
                inner = self._element(body)
                return f"({inner}){sign}" if isinstance(body, Repeat | Leaf) else f"{inner}{sign}"
            case Absent(body=body):
                inner = self._element(body)
                needs = isinstance(body, Repeat) or (isinstance(body, Leaf) and self.draw.chance(40))
                return f"~({inner})" if needs else f"~{inner}"
            case _:
                assert_never(pattern)

    def _component(self, leaf: Leaf, sign: str) -> str:
        if not leaf.is_named:
            return f"{leaf.type}{sign}"
        if not sign:
            return f"{leaf.type} {leaf.variable}"
        return self.draw.choice([
            f"{leaf.type} {leaf.variable}{sign}", f"{leaf.type}{sign} {leaf.variable}",
            f"{leaf.type}{sign} {leaf.variable}[]",
        ])

    def _sequence(self, pattern: Seq) -> str:
        word = self.draw.choice(["SEQ", "SEQ", ""]) if len(pattern.items) > 1 else "SEQ"
        return f"{word}({', '.join(map(self._element, pattern.items))})"

    def _quantifier(self, pattern: Repeat) -> str:
        least, most = pattern.least, pattern.most
        signs = {(1, None): "+", (0, None): "*", (0, 1): "?"}
        if (least, most) in signs and not self.draw.chance(10):
            return signs[least, most]
        if least == most and self.draw.chance(60):
            return f"{{{least}}}"
        low = "" if least == 0 and most is not None and self.draw.chance(50) else str(least)
        return f"{{{low},{'' if most is None else most}}}"

    def semantics(self) -> str:
        written = self.query.semantics
        return self.draw.choice([written, written.replace("-", "_"), written.upper()])

    # WHERE

    def conditions(self) -> list[str]:
        query, draw = self.query, self.draw
        equivalent = query.equivalent
        is_joint = len(equivalent) > 1 and not draw.chance(40)
        found = [f"[{', '.join(equivalent)}]"] if is_joint else [f"[{name}]" for name in equivalent]
        found += map(self._local, query.local)
        found += map(self._between, query.adjacent)
        if query.least_length > 1:
            least = query.least_length
            found.append(draw.choice([f"length >= {least}", f"length > {least - 1}"]))
        return found

    def _local(self, condition: Local) -> str:
        left = self._term(condition.left, condition.name)
        if condition.right is None:
            return f"{left} {condition.operator}"
        return f"{left} {self._sign(condition.operator)} {self._term(condition.right, condition.name)}"

    def _between(self, pair: Adjacent) -> str:
        has_next = not self._has_one_direction(pair) or not self.draw.chance(50)
        left = self._term(pair.left, pair.before)
        right = self._term(pair.right, f"NEXT({pair.after})" if has_next else pair.after)
        if self.draw.chance(30):
            return f"{right} {self._sign(FLIPPED[pair.operator])} {left}"
        return f"{left} {self._sign(pair.operator)} {right}"

    def _has_one_direction(self, pair: Adjacent) -> bool:
        """Whether without NEXT it is clear which event is the later one."""
        before, after = self.query.variables_of(pair.before), self.query.variables_of(pair.after)
        pairs = edges(self.query.patterns)
        return pair.before != pair.after and not any((two, one) in pairs for one in before for two in after)

    def _sign(self, operator: str) -> str:
        return self.draw.choice([operator, {"=": "==", "<>": "!="}.get(operator, operator)])

    def _term(self, term: Term, name: str) -> str:
        if term.column is None:
            return literal(term.plus)
        if not term.plus:
            return f"{name}.{term.column}"
        return f"{name}.{term.column} {'+' if term.plus > 0 else '-'} {abs(term.plus)}"

    # WITHIN

    def window(self) -> str:
        window = self.query.window
        if window is None:
            return ""
        sizes = [window.size] if window.slide is None else [window.size, window.slide]
        return " SLIDE ".join(map(self._size, sizes))

    def _size(self, size: Any) -> str:
        window = self.query.window
        assert window is not None
        if window.counts_events:
            return f"{size} EVENTS"
        if self.query.time not in TIMES:
            return literal(size)
        fitting = [unit for unit, length in UNITS.items() if size % length == 0]
        unit = fitting[0] if not self.draw.chance(30) else self.draw.choice(fitting)
        number = size // UNITS[unit]
        return f"{number} {unit}{'' if number == 1 else 's'}"
