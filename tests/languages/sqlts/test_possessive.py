"""The elements in the plan, searched without the equivalent pattern, give the matches of the oracle."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.languages.sqlts import oracle
from tests.languages.sqlts.draws import as_table, draw_pattern, draw_rows
from tests.languages.sqlts.model import Pattern, query_text
from tests.modes.rows.oracle.expressions import View, value

from sparkrex.modes.rows.explain import RowsExplained
from sparkrex.pipeline import explain_query, parse_query
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from sparkrex.modes.rows.plan import MatchRecognize


def plan_of(query: str, rows: list[dict[str, Any]]) -> MatchRecognize:
    (explained,) = explain_query(parse_query(query, "spark"), {"quote": as_table(rows)}, Settings())
    assert isinstance(explained, RowsExplained)
    return explained.plan


def possessive_match(plan: MatchRecognize, rows: list[dict[str, Any]], start: int) -> tuple[str, ...] | None:
    """The labels of the match from a start row, every star taking what it can."""
    labels: tuple[str, ...] = ()
    for element in plan.possessive:
        n_before = len(labels)
        while start + len(labels) < len(rows) and (element.is_star or len(labels) == n_before):
            tried = (*labels, element.variables[len(labels) > n_before])
            view = View(rows, start, tried, tried, 1, plan.dialect)
            if element.condition is not None and value(element.condition, view) is not True:
                break
            labels = tried
        if len(labels) == n_before:
            return None
    return labels


def possessive_matches(plan: MatchRecognize, rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    found = []
    start = 0
    while start < len(rows):
        labels = possessive_match(plan, rows, start)
        if labels is not None:
            found.append((start, start + len(labels) - 1))
        start += 1 if labels is None else len(labels)
    return found


def test_elements_alone_give_the_matches() -> None:
    draw = random.Random("possessive")
    n_matches = 0
    for _ in range(200):
        pattern, rows = draw_pattern(draw), draw_rows(draw)
        plain = Pattern(pattern.elements, oracle_conjuncts(pattern), pattern.selected[:2], "name")
        ordered = sorted((row for row in rows if row["name"] == "c0"), key=lambda row: row["date"])
        plan = plan_of(query_text(plain), ordered)
        expected = [(first, last) for first, last in oracle.answer(plain, ordered)]
        places = [(ordered[first]["date"], ordered[last]["date"]) for first, last in possessive_matches(plan, ordered)]
        assert places == expected, query_text(plain)
        n_matches += len(expected)
    assert n_matches > 50


def oracle_conjuncts(pattern: Pattern) -> tuple[Any, ...]:
    """Without filters of clusters, which are conditions on the input."""
    _, filters = oracle.assign(pattern)
    return tuple(conjunct for conjunct in pattern.conjuncts if conjunct not in filters)


def test_conditions_name_the_current_row() -> None:
    query = (
        "SELECT X.date FROM quote CLUSTER BY name SEQUENCE BY date AS (X, *Y, *Z, T) WHERE Y.price < Y.previous.price "
        "AND Z.price > Z.previous.price AND T.price > Z.price AND T.price > FIRST(Z).price AND X.name = 'c0'"
    )
    plan = plan_of(query, [])
    assert [(element.variables, element.is_star) for element in plan.possessive] == [
        (("X", "X"), False), (("Y", "Y"), True), (("Z1", "Z2"), True), (("T", "T"), False),
    ]
    assert [str(element.condition) for element in plan.possessive] == [
        "None", "(price[running last] < price[running last -1])", "(price[running last] > price[running last -1])",
        "((price[running last] > price[Z1|Z2 running last]) AND (price[running last] > price[Z1|Z2 running first]))",
    ]
