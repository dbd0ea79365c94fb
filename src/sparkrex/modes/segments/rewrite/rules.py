"""All rules, in one list. The driver applies the first that fires, again and again.

A rule is a function with a proof in its module and examples in its docstring, each a line with what it is applied to
and a line `-> ` with what it gives, or `-> stays`; a test runs them. EXPLAIN calls it by its name, and the setting
`without_rules` turns it off by that name. No answer depends on which rules are on: see docs/adding-a-rule.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.modes.segments.rewrite.common_subpatterns import share_common_subpatterns
from sparkrex.modes.segments.rewrite.decompose_conditions import decompose_conditions
from sparkrex.modes.segments.rewrite.drop_irrelevant import drop_irrelevant
from sparkrex.modes.segments.rewrite.embed_windows import embed_windows
from sparkrex.modes.segments.rewrite.factor_alternatives import factor_alternatives
from sparkrex.modes.segments.rewrite.flatten import flatten
from sparkrex.modes.segments.rewrite.lift_conditions import lift_conditions
from sparkrex.modes.segments.rewrite.points_to_segments import convert_pluses, convert_stars
from sparkrex.modes.segments.rewrite.push_down_windows import push_down_windows
from sparkrex.modes.segments.rewrite.reassign_conditions import reassign_conditions
from sparkrex.modes.segments.rewrite.unions_to_segments import convert_repeated, convert_unions
from sparkrex.modes.segments.rewrite.wildcards import simplify_wildcards

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.rewrite.sizes import Units


@dataclass(frozen=True, slots=True)
class SearchRule:
    """A rule over a query without segment variables, which is to become one with them (appendix B of the paper).

    `apply` gives the changed search, None if the rule does not fire; it is told the units of the columns of times.
    """

    name: str
    apply: Callable[[SegmentSearch, Units], SegmentSearch | None]


@dataclass(frozen=True, slots=True)
class PlanRule:
    """A rule over a logical plan. `apply` gives the changed plan, None if the rule does not fire.

    One that `comes_last` is applied when no other rule fires any more, and no other is applied after it.
    """

    name: str
    apply: Callable[[Logical], Logical | None]
    comes_last: bool = False


Rule: TypeAlias = SearchRule | PlanRule

RULES: tuple[Rule, ...] = (
    SearchRule("factor alternatives", factor_alternatives),
    # The rules of appendix B in the order of its example: unions first, while their variables are still there.
    SearchRule("convert unions", convert_unions),
    SearchRule("convert stars", convert_stars),
    # A plus is converted only between stars that have become segments.
    SearchRule("convert pluses", convert_pluses),
    SearchRule("convert repeated", convert_repeated),
    SearchRule("reassign conditions", reassign_conditions),
    SearchRule("decompose conditions", decompose_conditions),
    SearchRule("drop irrelevant", drop_irrelevant),
    PlanRule("flatten", flatten),
    PlanRule("simplify wildcards", simplify_wildcards),
    PlanRule("lift conditions", lift_conditions),
    # What is lifted is any segment in its windows, so windows come after it.
    PlanRule("embed windows", embed_windows),
    PlanRule("push down windows", push_down_windows),
    # Parts are equal only when all their windows are known, and sharing changes nothing that another rule looks at.
    PlanRule("share common subpatterns", share_common_subpatterns, comes_last=True),
)
