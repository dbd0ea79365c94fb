"""EXPLAIN of a segment search: every rewriting step, the logical plan with windows, the physical plan with estimates.

If it was run, what really happened stands beside the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat, parts
from sparkrex.modes.segments.planner.physical_plan import Op
from sparkrex.modes.segments.rewrite.searches import definition_texts
from sparkrex.modes.segments.rewrite.text import window_text
from sparkrex.tree_text import Branch, stages, time_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.segments.operators.measured import Measured
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.cost import Estimate
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.planner.physical_plan import Physical
    from sparkrex.modes.segments.planner.planners import Plan
    from sparkrex.modes.segments.rewrite.driver import Step
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True)
class SearchExplained:
    """A segment search as it was asked for, how it was rewritten, and its plan, unless workers make theirs.

    Without a logical plan every mapping of rows to variables is tried.

    `by_host` are the conditions that the host evaluates. `measured` has the counters of the physical operators by
    identity of the plan node, `laps` the time of every stage, both after a run only.
    """

    search: SegmentSearch
    steps: Sequence[Step]
    logical: Logical | None
    plan: Plan | None = None
    by_host: Sequence[Expression] = ()
    measured: Mapping[int, Measured] | None = None
    laps: Sequence[tuple[str, float, str]] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        search = self.search
        keys = ", ".join(key.name for key in search.partition_by) or "none: one partition"
        order = ", ".join(f"{key.expression}{' desc' if key.is_descending else ''}" for key in search.order_by)
        found = [
            Branch(f"partition by {keys}"),
            *map(Branch, search.gap_lines()),
            Branch(f"order by {order or 'none: input order'}"),
            Branch(f"pattern {search.pattern}"),
            *(Branch(f"define {text}") for text in definition_texts(search)),
            *(Branch(f"measure {measure.name} = {measure.expression}") for measure in search.measures),
        ]
        found += [Branch(f"condition evaluated by {host}: {condition}") for condition in self.by_host]
        if self.logical is None:
            found.append(Branch("every mapping of rows to variables is tried: no segments stand for its references"))
        else:
            found += [_show_rewriting(self.steps), Branch("logical plan", (_logical(self.logical),)), self._plan(host)]
        if self.laps:
            found.append(stages(self.laps))
        mode = "ALL MATCHES" if search.skip is None else str(search.skip)
        return Branch(f"SegmentSearch {mode}", tuple(found)).lines()

    def _plan(self, host: str) -> Branch:
        if self.plan is None:
            return Branch(f"physical plan made by the workers of {host}, each on a sample of its own rows")
        cost = time_text(self.plan.estimate.total * 1e-9)
        operators = self._physical(self.plan.physical, self.plan.estimate)
        return Branch(f"physical plan by {self.plan.planner}, estimated at {cost}", (operators,))

    def _physical(self, plan: Physical, estimate: Estimate) -> Branch:
        texts = [plan.op.value]
        if subject := _subject(plan):
            texts.append(subject)
        text = f"{' '.join(texts)}: estimated {_count(estimate.found)} segments, {time_text(estimate.own * 1e-9)}"
        real = None if self.measured is None else self.measured.get(id(plan))
        if real is not None:
            tested = f"{real.n_tested:,} evaluations, " if real.n_tested else ""
            text += f"; real {real.n_found:,} segments of {real.n_spaces:,} spaces, "
            text += f"{tested}{time_text(real.own_seconds)}"
        children = zip(plan.children, estimate.children, strict=True)
        return Branch(text, tuple(self._physical(child, below) for child, below in children))


def _show_rewriting(steps: Sequence[Step]) -> Branch:
    """Every step by the name of its rule, with what came out of it."""
    if not steps:
        return Branch("rewritten by no rule")
    found: list[Branch] = []
    previous = ""
    for step in steps:
        before, after = step.before, step.after
        if before != previous:
            # The first step; and the first one after the search has become a logical plan.
            found.append(Branch(f"{'from' if not found else 'as a logical plan'}: {before}"))
        found.append(Branch(f"{step.rule}: {after}"))
        previous = after
    return Branch(f"rewritten in {len(steps)} step{'s' * (len(steps) != 1)}", tuple(found))


def _logical(node: Logical) -> Branch:
    return Branch(_logical_text(node), tuple(map(_logical, parts(node))))


def _logical_text(node: Logical) -> str:
    name: str
    match node:
        case Leaf():
            name = _leaf(node)
        case Concat(shares=shares):
            name = f"Concat {', '.join('shared row' if is_shared else 'next row' for is_shared in shares)}"
        case Both():
            name = "And"
        case Either():
            name = "Or"
        case Repeat(minimum=minimum, maximum=maximum, shares=shares):
            most = "" if maximum is None else maximum
            name = f"Kleene {{{minimum},{most}}} {'shared row' if shares else 'next row'}"
        case Neither():
            name = "Not"
        case _:
            assert_never(node)
    return name + ("" if isinstance(node, Leaf) else _windows(node))


def _leaf(leaf: Leaf) -> str:
    text = _leaf_name(leaf)
    return text if leaf.condition is None or not leaf.variables else f"{text} AS {leaf.condition}"


def _leaf_name(leaf: Leaf) -> str:
    """The variables with their windows; what has no name is its condition."""
    anything = "any row" if leaf.is_point else "any segment"
    name = " & ".join(leaf.variables) or (anything if leaf.condition is None else str(leaf.condition))
    return name + ("" if leaf.is_point else _windows(leaf))


def _windows(node: Logical) -> str:
    return " [" + ", ".join(map(window_text, node.windows)) + "]" if node.windows else ""


def _subject(plan: Physical) -> str:
    """What the operator's own work is about: a leaf, or the windows of what it joins."""
    logical = plan.logical
    if isinstance(logical, Leaf):
        return _leaf_name(logical)
    if plan.op is Op.FILTER and isinstance(logical, Both):
        other = plan.children[0].logical
        return next((_leaf_name(part) for part in logical.parts if isinstance(part, Leaf) and part != other), "")
    return _windows(logical).strip()


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"
