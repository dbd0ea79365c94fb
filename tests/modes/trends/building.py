"""Short ways to write patterns, streams and queries of tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.modes.trends.oracle import evaluate, find_results
from tests.modes.trends.query import Absent, Adjacent, Either, Leaf, Local, Pattern, Query, Repeat, Seq, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

BOUNDS: dict[str, tuple[int, int | None]] = {"+": (1, None), "*": (0, None), "?": (0, 1)}


def part(written: str | Pattern) -> Pattern:
    """A component such as `A`, `A a`, `A a+`, `~C`, `~C c+`; a pattern is what it is."""
    if not isinstance(written, str):
        return written
    found = re.fullmatch(r"(~?)(\w+)(?: (\w+))?([+*?]?)", written)
    assert found is not None, written
    absent, kind, variable, sign = found.groups()
    result: Pattern = Leaf(kind, variable or kind, is_named=variable is not None)
    if sign:
        result = Repeat(result, *BOUNDS[sign])
    return Absent(result) if absent else result


def seq(*items: str | Pattern) -> Seq:
    """One after the other."""
    return Seq(tuple(map(part, items)))


def either(*options: str | Pattern) -> Either:
    """One of them."""
    return Either(tuple(map(part, options)))


def plus(body: str | Pattern) -> Repeat:
    """Once or more."""
    return Repeat(part(body), 1, None)


def absent(body: str | Pattern) -> Absent:
    """No trend of it."""
    return Absent(part(body))


def local(condition: str) -> Local:
    """Such as `a.x < 3`."""
    found = re.fullmatch(r"(\w+)\.(\w+) (\S+) (\S+)", condition)
    assert found is not None, condition
    name, column, operator, number = found.groups()
    return Local(name, Term(column), operator, Term(None, int(number)))


def adjacent(condition: str) -> Adjacent:
    """Such as `a.x < NEXT(b).x`."""
    found = re.fullmatch(r"(\w+)\.(\w+) (\S+) NEXT\((\w+)\)\.(\w+)", condition)
    assert found is not None, condition
    before, left, operator, after, right = found.groups()
    return Adjacent(before, after, Term(left), operator, Term(right))


def stream(kinds: str, times: Sequence[Any] | None = None, **columns: Sequence[Any]) -> list[dict[str, Any]]:
    """One event for every letter, whose type is the letter in upper case; at the times 1, 2, and so on."""
    kinds = kinds.replace(" ", "").upper()
    given = {"t": times or range(1, len(kinds) + 1), **columns}
    return [
        {"kind": kind, "b": place, **{name: values[place] for name, values in given.items()}}
        for place, kind in enumerate(kinds)
    ]


def asked(pattern: str | Pattern, semantics: str, *conditions: str, **options: Any) -> Query:
    """A query of one pattern; conditions with NEXT are on adjacent events, others on single ones."""
    between = tuple(adjacent(condition) for condition in conditions if "NEXT(" in condition)
    alone = tuple(local(condition) for condition in conditions if "NEXT(" not in condition)
    return Query((part(pattern),), semantics, local=alone, adjacent=between, **options)


def number(query: Query, rows: list[dict[str, Any]]) -> int:
    """COUNT(*) of a query with one group and no window."""
    answers = evaluate(query, rows)
    assert len(answers) <= 1
    return int(answers[0][2]) if answers else 0


def trends(query: Query, rows: list[dict[str, Any]]) -> list[str]:
    """The trends of all groups and windows, sorted: each as its variables with the times of their events."""
    results = find_results(query, rows).values()
    return sorted(
        " ".join(f"{variable}{event.row['t']}" for event, variable in trend) for result in results
        for trend in result.trends
    )
