"""An example that differs, made small: fewer events, a simpler query, simpler values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.modes.trends.names import adjacent_names, negated_names, positive_names
from tests.modes.trends.patterns import numbered, rebuilt
from tests.modes.trends.query import (
    Absent,
    Aggregate,
    Either,
    Leaf,
    Pattern,
    Query,
    Repeat,
    Seq,
    absences,
    allows_empty,
    leaves,
    nodes,
    parts,
    positive_leaves,
)
from tests.modes.trends.streams import times_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.modes.trends.draws import Example

SIMPLEST = {"k": "p", "g": 1, "x": 1, "y": 1.0, "z": None, "s": None}


def reduced(example: Example, differs: Callable[[Example], bool], most: int = 2000) -> Example:
    """A small example that differs still; `most` are tried."""
    n_tried = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for other in smaller(example):
            n_tried += 1
            if n_tried > most:
                return example
            if differs(other):
                example, is_smaller = other, True
                break
    return example


def smaller(example: Example) -> Iterator[Example]:
    """Examples with one thing less, the most promising first."""
    rows = example.rows
    for size in (len(rows) // 2, len(rows) // 4, 1):
        if size:
            for first in range(0, len(rows), size):
                yield replace(example, rows=rows[:first] + rows[first + size :])
    for query in smaller_queries(example.query):
        yield replace(example, query=query)
    if example.spelling is not None:
        yield replace(example, spelling=None)
    for name, value in SIMPLEST.items():
        if any(row[name] != value for row in rows):
            yield replace(example, rows=[row | {name: value} for row in rows])
            for number, row in enumerate(rows):
                if row[name] != value:
                    yield replace(example, rows=[*rows[:number], row | {name: value}, *rows[number + 1 :]])
    ordered = sorted(rows, key=lambda row: (row["t"], row["b"]))
    for simple in (ordered, [row | times_at(number) | {"b": number} for number, row in enumerate(ordered, 1)]):
        if rows != simple:
            yield replace(example, rows=simple)


def smaller_queries(query: Query) -> Iterator[Query]:
    """Queries with one thing less, or one thing simpler."""
    if len(query.patterns) > 1:
        yield from (cleaned(replace(query, patterns=(side,))) for side in query.patterns)
    if query.window is not None:
        yield replace(query, window=None)
        if query.window.origin is not None:
            yield replace(query, window=replace(query.window, origin=None))
        if query.window.slide is not None:
            yield replace(query, window=replace(query.window, slide=None))
    elif query.time != "t":
        yield replace(query, time="t")
    if query.least_length > 1:
        yield replace(query, least_length=1)
    yield from (replace(query, local=fewer) for fewer in _without_one(query.local))
    yield from (replace(query, adjacent=fewer) for fewer in _without_one(query.adjacent))
    yield from (replace(query, equivalent=fewer) for fewer in _without_one(query.equivalent))
    for column in query.group_by:
        returned = tuple(item for item in query.returned if item != column)
        group_by = tuple(name for name in query.group_by if name != column)
        yield replace(query, group_by=group_by, returned=returned or (Aggregate("COUNT"),))
    if len(query.returned) > 1:
        yield from (replace(query, returned=fewer) for fewer in _without_one(query.returned))
    for number, pair in enumerate(query.adjacent):
        simple = replace(pair, left=replace(pair.left, plus=0), right=replace(pair.right, plus=0))
        if simple != pair:
            yield replace(query, adjacent=(*query.adjacent[:number], simple, *query.adjacent[number + 1 :]))
    if query.tie_break and query.has_strict_ties:
        yield replace(query, tie_break=())
    for number, side in enumerate(query.patterns):
        for other in _smaller_patterns(side):
            if is_valid(other):
                sides = (*query.patterns[:number], numbered(other), *query.patterns[number + 1 :])
                if _has_one_type_each(sides):
                    yield cleaned(replace(query, patterns=sides))


def cleaned(query: Query) -> Query:
    """The query without what speaks of variables that its pattern no longer has."""
    names = {**positive_names(query.patterns), **negated_names(query.patterns)}
    pairs = adjacent_names(query.patterns)
    returned = tuple(
        item for item in query.returned
        if isinstance(item, str) or item.name is None or item.name in positive_names(query.patterns)
    )
    return replace(
        query, local=tuple(one for one in query.local if one.name in names),
        adjacent=tuple(pair for pair in query.adjacent if (pair.before, pair.after) in pairs),
        returned=returned if any(isinstance(item, Aggregate) for item in returned) else (*returned, Aggregate("COUNT")),
    )


def is_valid(pattern: Pattern) -> bool:
    """Whether the language allows it."""
    inner = all(
        not (isinstance(node, Seq) and (not node.items or all(isinstance(item, Absent) for item in node.items)))
        and not (isinstance(node, Repeat | Either) and any(isinstance(part, Absent) for part in parts(node)))
        and not (isinstance(node, Absent) and (allows_empty(node.body) or absences(node.body)))
        for node in nodes(pattern)
    )
    return inner and not isinstance(pattern, Absent) and bool(positive_leaves(pattern)) and not allows_empty(pattern)


def _has_one_type_each(patterns: tuple[Pattern, ...]) -> bool:
    typed = {(leaf.variable, leaf.type) for pattern in patterns for leaf in leaves(pattern)}
    return len(typed) == len({variable for variable, _ in typed})


def _smaller_patterns(pattern: Pattern) -> Iterator[Pattern]:
    yield from parts(pattern)
    if isinstance(pattern, Seq | Either):
        of: Any = Seq if isinstance(pattern, Seq) else Either
        least = 1 if isinstance(pattern, Seq) else 2
        if len(parts(pattern)) > least:
            yield from (of(fewer) for fewer in _without_one(parts(pattern)))
    if isinstance(pattern, Repeat) and (pattern.least, pattern.most) != (1, None):
        yield replace(pattern, least=1, most=None)
    if isinstance(pattern, Leaf) and pattern.type in ("Any", "Low"):
        yield replace(pattern, type="A")
    found = parts(pattern)
    for number, part in enumerate(found):
        for other in _smaller_patterns(part):
            yield rebuilt(pattern, (*found[:number], other, *found[number + 1 :]))


def _without_one(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return (items[:number] + items[number + 1 :] for number in range(len(items)))
