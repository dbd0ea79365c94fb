"""Random trend queries over some hundred events, which kernels search compiled, and how their answers compare.

`counts="text"` always runs kernels interpreted, over Python's integers: what others give is held against it. The
generator's queries are those of the oracle's tests; their streams are longer than an oracle can enumerate.
"""

from __future__ import annotations

import math
import random
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.modes.rows.property.draws import RandomDraw
from tests.modes.trends.draws import Example, generate
from tests.modes.trends.query import ANY, NEXT, Aggregate, absences
from tests.modes.trends.streams import shuffled, table_of, times_at
from tests.modes.trends.texts import call_of

import sparkrex as rex
from sparkrex.modes.trends import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pyarrow as pa
    from tests.modes.rows.property.draws import Draw
    from tests.modes.trends.query import Query, Window

LEAST_ROWS, MOST_ROWS = 150, 300
CLOSE = 1e-12
_DIGITS = 10**38
Row = tuple[Any, ...]


def _lengthened(example: Example, draw: Draw, is_long: bool) -> Example:
    """The same query with COUNT(*) and all groups in front, and larger windows; events like its own, but many."""
    query = example.query
    count = Aggregate("COUNT")
    others = (item for item in query.returned if isinstance(item, Aggregate) and item != count)
    query = replace(query, returned=(count, *query.group_by, *others))
    if not is_long:
        return Example(query, example.rows, example.spelling)
    if query.window is not None:
        query = replace(query, window=_larger(query.window, draw))
    has_ties = (query.has_strict_ties or bool(query.tie_break)) and draw.chance(60)
    is_wide = draw.chance(60)
    rows: list[dict[str, Any]] = []
    moment = draw.integer(-3, 3)
    kinds = [row["kind"] for row in example.rows] + ["A", "B"]
    keys = [{name: row[name] for name in ("k", "g")} for row in example.rows] or [{"k": "p", "g": 1}]
    values = {name: [row[name] for row in example.rows] or [None] for name in ("x", "y", "z", "s")}
    if is_wide:
        values["x"] = [*range(40), None]
        values["y"] = [*(number / 4 for number in range(60)), None]
    for place in range(draw.integer(LEAST_ROWS, MOST_ROWS)):
        rows.append({
            **draw.choice(keys), **{name: draw.choice(known) for name, known in values.items()},
            "kind": draw.choice(kinds), "b": place, **times_at(moment),
        })
        moment += draw.choice([1, 1, 2, 3, 0, 0, 0] if has_ties else [1, 1, 1, 2, 3])
    return Example(query, shuffled(draw, rows) if draw.chance(50) else rows, example.spelling)


def _larger(window: Window, draw: Draw) -> Window:
    """As it is; or so large that counts need 128 bits and more."""
    factor = draw.choice([1, 6, 15])
    if factor == 1:
        return window
    size: Any = window.size
    return replace(window, size=size * factor, slide=draw.choice([None, size * factor // 2, size * factor // 3]))


def ask(example: Example, counts: Any, matcher: str | None, **settings: Any) -> list[Row] | str:
    """The rows of the engine's answer, or the code of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table: pa.Table = rex.trends(
                example.text, table_of(example.rows), **call_of(example.query), counts=counts, dialect="duckdb",
                settings={"matcher": matcher, "threads": 1, **settings},
            )
    except (rex.AnalysisError, rex.UnsupportedError, rex.ExecutionError) as error:
        return error.code
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@dataclass(frozen=True)
class Compared:
    """What two answers to an example are held against: its numbers decide how much may be lost where they cancel."""

    example: Example

    @property
    def largest(self) -> Fraction:
        """The largest finite number of the stream."""
        names = [name for name in ("x", "y", "z", "t") if name in self.example.rows[0]]
        numbers = [row[name] for row in self.example.rows for name in names if row[name] is not None]
        return max((Fraction(abs(number)) for number in numbers if math.isfinite(number)), default=Fraction(0)) + 1

    def problem(self, expected: list[Row] | str, found: list[Row] | str, counts: str) -> str | None:
        """What is wrong with an answer, by the one with all digits; None if nothing is."""
        if isinstance(expected, str):
            return None if expected == found else f"{found}, not {expected}"
        if found == "REX416":
            return None if any(self._may_be_too_large(row, counts) for row in expected) else "nothing is too large"
        if isinstance(found, str):
            return found
        if counts == "exact" and any(self._is_too_large(row) for row in expected):
            return "no error, although a number has more than 38 digits"
        one, other = ([*map(self._place, rows)] for rows in (expected, found))
        if sorted(one) != sorted(other):
            return f"groups and windows {sorted({*other} ^ {*one})}"
        by_place = dict(zip(other, found, strict=True))
        for place, row in zip(one, expected, strict=True):
            for item, exact, given in zip(self.example.query.returned, row[2:], by_place[place][2:], strict=True):
                if isinstance(item, Aggregate) and not self._is_same(item, int(row[2]), exact, given, counts):
                    return f"{place}: {item} is {given}, not {exact}"
        return None

    def _place(self, row: Row) -> str:
        """The window and the group."""
        return repr((*row[:2], *row[3 : 3 + len(self.example.query.group_by)]))

    def _numbers(self, row: Row) -> Iterator[int]:
        """Counts, and sums of whole numbers, in the unit of their last digit."""
        for item, value in zip(self.example.query.returned, row[2:], strict=True):
            if isinstance(item, Aggregate) and isinstance(value, str):
                yield int(value.replace(".", ""))

    def _is_too_large(self, row: Row) -> bool:
        return any(abs(number) >= _DIGITS for number in self._numbers(row))

    def _may_be_too_large(self, row: Row, counts: str) -> bool:
        """AVG is of a sum and a count that the row does not show; logarithms have sums that are doubles."""
        most = int(row[2]) * len(self.example.rows) * self.largest * 100
        return most >= (_DIGITS if counts == "exact" else 10**308)

    def _is_same(self, item: Aggregate, n_trends: int, exact: Any, given: Any, counts: str) -> bool:
        if exact is None or given is None:
            return exact is given or (counts == "log" and item.function == "COUNT" and exact == "0")
        if item.function in ("MIN", "MAX"):
            return bool(exact == given) or (isinstance(exact, float) and math.isnan(exact) and math.isnan(given))
        if item.function == "COUNT" and counts == "log":
            logarithm = math.log10(int(exact))
            return bool(abs(given - logarithm) <= CLOSE * max(1, logarithm))
        if isinstance(given, float) and not math.isfinite(given):
            return repr(given) == repr(exact)
        if not isinstance(given, float):
            return Fraction(given) == Fraction(exact)
        if isinstance(exact, float) and not math.isfinite(exact):
            return False
        # What cancels is lost relative to what was added: of which 30 digits are kept, but as weights of logarithms
        # integers are doubles.
        added = n_trends * len(self.example.rows) * self.largest if item.function == "SUM" else self.largest
        allowed = abs(Fraction(exact)) / 10**12 + added / (10**15 if counts == "log" else 10**24)
        return abs(Fraction(given) - Fraction(exact)) <= allowed


def always_compiled() -> AbstractContextManager[Any]:
    """However few rows there are."""
    return mock.patch.object(search, "FEW_ROWS", -10)


_WANTED: dict[str, Callable[[Query], bool]] = {
    "by_state": lambda query: not query.adjacent and not negates(query),
    "by_gap": lambda query: not query.adjacent,
    "by_rank": lambda query: bool(query.adjacent) and query.semantics == ANY and not negates(query),
    "by_open": lambda query: bool(query.adjacent) and query.semantics == NEXT and not negates(query),
    "by_event": lambda query: True,
}
"""Other queries are refused for certain."""


def negates(query: Query) -> bool:
    """Whether a pattern has negated parts."""
    return any(absences(pattern) for pattern in query.patterns)


def examples_of(
    algorithm: str, seed: int, n_examples: int, *, is_long: bool,
    is_wanted: Callable[[Query], bool] = lambda query: True,
) -> Iterator[Example]:
    """Examples of some queries that an algorithm does not refuse."""
    n_found = number = 0
    while n_found < n_examples:
        draw = RandomDraw(random.Random(f"{seed}:{number}"))
        number += 1
        drawn = generate(draw)
        few = Example(drawn.query, drawn.rows[:1], drawn.spelling)
        is_possible = drawn.rows and _WANTED[algorithm](drawn.query) and is_wanted(drawn.query)
        if is_possible and ask(few, "text", algorithm) != "REX217":
            n_found += 1
            yield _lengthened(drawn, draw, is_long)


def check_compiled(algorithm: str, counts: str, seed: int, n_small: int, n_long: int) -> None:
    """Compiled, the algorithm gives what it gives interpreted over Python's integers; also in chunks."""
    for is_long, n_examples in ((False, n_small), (True, n_long)):
        for number, example in enumerate(examples_of(algorithm, seed, n_examples, is_long=is_long)):
            chunk = (None, None, 40 if is_long else 3)[number % 3]
            expected = ask(example, "text", algorithm)
            with always_compiled():
                found = ask(example, counts, algorithm, chunk_rows=chunk)
            problem = Compared(example).problem(expected, found, counts)
            assert problem is None, f"{problem}\n{told(example)}"


def check_equals_by_event(algorithm: str, seed: int, n_examples: int) -> None:
    """The algorithm gives what the general one gives, which compares an event with all that came before."""
    for example in examples_of(algorithm, seed, n_examples, is_long=True):
        expected = ask(example, "text", "by_event")
        problem = Compared(example).problem(expected, ask(example, "text", algorithm), "text")
        assert problem is None, f"{problem}\n{told(example)}"


def told(example: Example) -> str:
    """The query, and how it is asked."""
    return f"{example.text}\n{call_of(example.query)}\n{len(example.rows)} rows"
