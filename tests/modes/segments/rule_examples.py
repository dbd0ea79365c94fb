"""The examples in the docstrings of rules, and what a rule really makes of them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.modes.segments.analysis import analyzed
from tests.modes.segments.logical_text import read_logical

from sparkrex.modes.segments.rewrite.rules import PlanRule, SearchRule
from sparkrex.modes.segments.rewrite.searches import search_text
from sparkrex.modes.segments.rewrite.text import logical_text

if TYPE_CHECKING:
    from sparkrex.modes.segments.rewrite.rules import Rule

STAYS = "stays"


@dataclass(frozen=True)
class Example:
    """What a rule is applied to, and what comes out, `stays` if it does not fire."""

    rule: Rule
    before: str
    after: str


def examples(rule: Rule) -> list[Example]:
    """The pairs of lines `before`, `-> after` in the docstring of a rule's function."""
    lines = [line.strip() for line in inspect.cleandoc(rule.apply.__doc__ or "").splitlines()]
    return [
        Example(rule, before, after.removeprefix("-> "))
        for before, after in pairwise(lines) if after.startswith("-> ")
    ]


def result(rule: Rule, before: str) -> str:
    """What the rule makes of a text: a clause from its PATTERN on, or a logical plan as EXPLAIN writes it."""
    if isinstance(rule, SearchRule):
        search = rule.apply(analyzed(f"ORDER BY n {'' if 'SEGMENT' in before else 'ALL MATCHES '}{before}"), {})
        return STAYS if search is None else search_text(search)
    assert isinstance(rule, PlanRule)
    tree = rule.apply(read_logical(before))
    return STAYS if tree is None else logical_text(tree)
