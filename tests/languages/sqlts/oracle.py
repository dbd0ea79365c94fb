"""SQL-TS by its definition, over lists of rows: slow and obvious.

A conjunct belongs to the last element that it names; one on the CLUSTER BY column only says which clusters are
searched. A star takes rows while its conjuncts are TRUE, at least one, and gives none back. From every start row there
is at most one match; the search goes on after it, or at the next start row without one.
"""

from __future__ import annotations

import operator
from typing import Any

from tests.languages.sqlts.model import (
    Agg,
    Between,
    Comparison,
    Condition,
    Constant,
    Either,
    Not,
    Pattern,
    Ref,
    Sum,
    Term,
    elements_named,
    references,
)

Row = dict[str, Any]
Mapping = dict[str, list[int]]
_COMPARE = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}


def answer(pattern: Pattern, rows: list[Row]) -> list[tuple[Any, ...]]:
    """The result, cluster by cluster in order of their names."""
    clusters: dict[Any, list[Row]] = {}
    for row in rows:
        clusters.setdefault(row[pattern.cluster] if pattern.cluster else None, []).append(row)
    conditions, filters = assign(pattern)
    found = []
    for cluster in sorted(clusters):
        ordered = sorted(clusters[cluster], key=lambda row: row["date"])
        first = {name: [0] for name, _ in pattern.elements}
        if all(truth(condition, ordered, first) is True for condition in filters):
            found += [
                tuple(value(term, ordered, match) for term in pattern.selected)
                for match in matches(pattern, conditions, ordered)
            ]
    return found


def assign(pattern: Pattern) -> tuple[dict[str, list[Condition]], list[Condition]]:
    """The conjuncts of each element, and the filters of clusters."""
    conditions: dict[str, list[Condition]] = {name: [] for name, _ in pattern.elements}
    filters = []
    for conjunct in pattern.conjuncts:
        read = references(conjunct)
        if all(isinstance(ref, Ref) and ref.column == pattern.cluster and not ref.steps for ref in read):
            filters.append(conjunct)
        else:
            named = elements_named(conjunct)
            conditions[[name for name, _ in pattern.elements if name in named][-1]].append(conjunct)
    return conditions, filters


def matches(pattern: Pattern, conditions: dict[str, list[Condition]], rows: list[Row]) -> list[Mapping]:
    found = []
    start = 0
    while start < len(rows):
        match = match_from(pattern, conditions, rows, start)
        if match is None:
            start += 1
        else:
            found.append(match)
            start = match[pattern.elements[-1][0]][-1] + 1
    return found


def match_from(
    pattern: Pattern, conditions: dict[str, list[Condition]], rows: list[Row], start: int
) -> Mapping | None:
    mapping: Mapping = {}
    at = start
    for name, is_star in pattern.elements:
        mapping[name] = []
        while at < len(rows) and (is_star or not mapping[name]):
            tried = {**mapping, name: [*mapping[name], at]}
            if not all(truth(condition, rows, tried) is True for condition in conditions[name]):
                break
            mapping = tried
            at += 1
        if not mapping[name]:
            return None
    return mapping


def truth(condition: Condition, rows: list[Row], mapping: Mapping) -> bool | None:
    """TRUE, FALSE or NULL."""
    match condition:
        case Comparison(sign, left, right):
            values = value(left, rows, mapping), value(right, rows, mapping)
            return None if None in values else _COMPARE[sign](*values)
        case Between(term, low, high):
            parts = (Comparison(">=", term, low), Comparison("<=", term, high))
            truths = [truth(part, rows, mapping) for part in parts]
            return False if False in truths else None if None in truths else True
        case Either(parts):
            truths = [truth(part, rows, mapping) for part in parts]
            return True if True in truths else None if None in truths else False
        case Not(part):
            inner = truth(part, rows, mapping)
            return None if inner is None else not inner


def value(term: Term, rows: list[Row], mapping: Mapping) -> Any:
    match term:
        case Constant(constant):
            return constant
        case Ref(element, column, end, steps):
            at = mapping[element][0 if end == "FIRST" else -1] + steps
            return rows[at][column] if 0 <= at < len(rows) else None
        case Agg("count", element):
            return len(mapping[element])
        case Agg(function, element, column):
            values = [rows[at][column] for at in mapping[element] if rows[at][column] is not None]
            if not values:
                return None
            return sum(values) if function == "sum" else min(values) if function == "min" else max(values)
        case Sum(left, right):
            values = [value(left, rows, mapping), value(right, rows, mapping)]
            return None if None in values else sum(values)
