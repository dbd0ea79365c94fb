"""The list of rules: every rule has a name, examples that are true, and a switch that changes no answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.modes.segments.remove_double_negation import remove_double_negation
from tests.modes.segments.rule_examples import STAYS, Example, examples, result
from tests.modes.segments.test_engine import TABLE, UP, rows, same
from tests.modes.segments.texts import SCHEMA, clauses, containing_clauses, plain_clauses, tables

import sparkrex as rex
from sparkrex.modes.segments.rewrite import rules
from sparkrex.modes.segments.rewrite.rules import RULES, PlanRule

if TYPE_CHECKING:
    from sparkrex.modes.segments.rewrite.rules import Rule

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = [example for rule in RULES for example in examples(rule)]
NAMES = [rule.name for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_the_name_of_its_function_and_examples_of_both_kinds(rule: Rule) -> None:
    assert rule.apply.__name__ == rule.name.replace(" ", "_")
    kinds = {example.after == STAYS for example in examples(rule)}
    assert kinds == {True, False}, "one example in which it fires, one in which it does not"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"{example.rule.name}: {example.before}")
def test_an_example_is_true(example: Example) -> None:
    assert result(example.rule, example.before) == example.after


def test_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_the_page_lists_all_rules() -> None:
    page = (DOCS / "segments.md").read_text(encoding="utf-8").partition("\n## Rules\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w ]+)` \|", page, re.MULTILINE) == NAMES


# The switch.


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
@given(
    st.one_of(clauses(), containing_clauses(), plain_clauses(), plain_clauses()),
    tables(n_rows=5, decimals=True, nulls=False, nan=False), st.lists(st.sampled_from(NAMES), min_size=3, max_size=3),
)
def test_a_rule_that_is_turned_off_changes_no_answer(
    clause: str, data: list[dict[str, Any]], without: list[str]
) -> None:
    table = pa.Table.from_pylist(data, schema=SCHEMA)
    expected = rows(clause, table)
    for names in (*([name] for name in without), without):
        try:
            found = rows(clause, table, settings={"without_rules": names})
        except rex.UnsupportedError as error:
            # Nothing else makes an order of evaluation where the references have none.
            assert "lift conditions" in names, error
            assert "no order of evaluation" in str(error)
            continue
        assert len(found) == len(expected), f"{names}: {clause}\n{data}\n{found}\n{expected}"
        assert all(map(same, *pair) for pair in zip(found, expected, strict=True)), f"{names}: {clause}\n{data}"


def fired(clause: str, **options: Any) -> set[str]:
    """The rules that EXPLAIN names."""
    text = str(rex.explain(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=TABLE, **options))
    return set(re.findall(r"^│  [├└]─ ([\w ]+): ", text, re.MULTILINE)) & {rule.name for rule in rules.RULES}


CLAUSES = (
    "ORDER BY t MEASURES first(U.t) AS i ALL MATCHES PATTERN (A* D+ B* Z) SUBSET U = (A, D, B)"
    " DEFINE D AS t - first(D.t) <= 5, Z AS last(U.t) - first(U.t) <= 7 AND sum(D.x) > 3 AND avg(D.x) > 1",
    "ORDER BY t ALL MATCHES PATTERN (A B+ C) DEFINE C AS count(B.x) > 1",
    f"{UP} PATTERN ((S & D) (T & C)) DEFINE SEGMENT S AS avg(x) > last(T.x), SEGMENT T AS window(2, 3),"
    " SEGMENT C AS avg(x) > last(D.x), SEGMENT D AS sum(x) > 2",
    f"{UP} PATTERN (S W T W S) DEFINE SEGMENT W AS true, SEGMENT S AS sum(x) > 2, SEGMENT T AS avg(x) < 3",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_fires_unless_it_is_turned_off(name: str) -> None:
    using = [clause for clause in CLAUSES if name in fired(clause)]
    assert using
    for clause in using:
        if name == "lift conditions":
            with pytest.raises(rex.UnsupportedError, match="no order of evaluation"):
                rows(clause, settings={"without_rules": [name]})
        else:
            assert name not in fired(clause, settings={"without_rules": [name]})
            assert rows(clause, settings={"without_rules": [name]}) == rows(clause)


def test_an_unknown_rule_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(rex.AnalysisError, match=r"REX217.*'push windows'") as caught:
        rows(f"{UP} PATTERN (S) DEFINE SEGMENT S AS true", settings={"without_rules": "push windows"})
    assert caught.value.hint == f"did you mean push down windows? The rules are {', '.join(NAMES)}"


# A rule from outside the package, through the list.

NEGATED = f"{UP} PATTERN (~(~S)) DEFINE SEGMENT S AS sum(x) > 5 AND window(2, 4)"


@pytest.fixture
def double_negation(monkeypatch: pytest.MonkeyPatch) -> PlanRule:
    rule = PlanRule("remove double negation", remove_double_negation)
    monkeypatch.setattr(rules, "RULES", (*RULES, rule))
    return rule


def test_a_rule_of_ones_own_is_a_line_in_the_list(double_negation: PlanRule) -> None:
    name = double_negation.name
    assert name in fired(NEGATED)
    assert name not in fired(NEGATED, settings={"without_rules": [name]})
    assert rows(NEGATED) == rows(NEGATED, settings={"without_rules": [name]}) != []


def test_examples_of_a_rule_of_ones_own_are_true(double_negation: PlanRule) -> None:
    test_a_rule_has_the_name_of_its_function_and_examples_of_both_kinds(double_negation)
    for example in examples(double_negation):
        test_an_example_is_true(example)


def test_the_page_shows_the_rule_as_it_is() -> None:
    module = Path(remove_double_negation.__code__.co_filename).read_text(encoding="utf-8")
    assert f"```python\n{module}```" in (DOCS / "adding-a-rule.md").read_text(encoding="utf-8")
