"""Physical plans to operators over a series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.operators.contains import Contains
from sparkrex.modes.segments.operators.joins import (
    Join,
    LeftProbeConcat,
    ProbeAnd,
    RightProbeConcat,
    SortMergeAnd,
    SortMergeConcat,
    SortMergeOr,
    WildcardConcat,
)
from sparkrex.modes.segments.operators.leaves import Generator
from sparkrex.modes.segments.operators.unary import Filter, MaterializeKleene, MaterializeNot, ProbeNot
from sparkrex.modes.segments.planner.contains import containment_of
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, Repeat
from sparkrex.modes.segments.planner.physical_plan import Op, Physical

if TYPE_CHECKING:
    from sparkrex.modes.segments.operators.conditions import SegmentConditions
    from sparkrex.modes.segments.operators.contract import Operator
    from sparkrex.modes.segments.operators.series import Series

JOINS: dict[Op, type[Join]] = {
    Op.SORT_MERGE_CONCAT: SortMergeConcat, Op.LEFT_PROBE_CONCAT: LeftProbeConcat,
    Op.RIGHT_PROBE_CONCAT: RightProbeConcat, Op.SORT_MERGE_AND: SortMergeAnd, Op.LEFT_PROBE_AND: ProbeAnd,
    Op.RIGHT_PROBE_AND: ProbeAnd, Op.SORT_MERGE_OR: SortMergeOr,
}


class Builder:
    """Builds operators. Equal sub-plans become one operator, so that what they share is evaluated once a batch."""

    def __init__(self, series: Series, conditions: SegmentConditions, limit: int) -> None:
        self.series = series
        self.conditions = conditions
        self.limit = limit
        self.operators: dict[int, Operator] = {}
        """By identity of the plan node, for EXPLAIN ANALYZE."""

    def build(self, plan: Physical) -> Operator:
        """The operator of a plan."""
        operator = self.operators.get(id(plan))
        if operator is None:
            operator = self.operators[id(plan)] = self._built(plan)
        return operator

    def _built(self, plan: Physical) -> Operator:
        logical, name = plan.logical, plan.op.value
        if plan.op in (Op.WINDOW, Op.SCAN, Op.INDEX):
            assert isinstance(logical, Leaf)  # the planner's choice
            is_tested = logical.condition is not None
            condition = self.conditions.of(logical, uses_index=plan.op is Op.INDEX) if is_tested else None
            gives = tuple(variable for variable in logical.variables if variable in logical.gives)
            return Generator(name, self.series, logical.windows, condition, gives, self.limit)
        children: tuple[Operator, ...] = ()
        for child in plan.children:  # a comprehension would have a frame of its own, and plans may be deep
            children += (self.build(child),)
        common = (name, self.series, logical.windows)
        if plan.op is Op.FILTER:
            assert isinstance(logical, Both)
            leaf = next(part for part in logical.parts if isinstance(part, Leaf) and part != plan.children[0].logical)
            binds = tuple(variable for variable in leaf.variables if variable in logical.gives)
            return Filter(
                name, self.series, tuple(dict.fromkeys((*logical.windows, *leaf.windows))), (children[0],),
                logical.gives, self.limit,
                None if leaf.condition is None else self.conditions.of(leaf, uses_index=False), binds,
            )
        if plan.op is Op.CONTAINS:
            return self._contains(plan, children)
        if plan.op in (Op.MATERIALIZE_NOT, Op.PROBE_NOT):
            kind = MaterializeNot if plan.op is Op.MATERIALIZE_NOT else ProbeNot
            return kind(*common, (children[0],), logical.gives, self.limit)
        if plan.op is Op.MATERIALIZE_KLEENE:
            assert isinstance(logical, Repeat)
            return MaterializeKleene(
                *common, (children[0],), logical.gives, self.limit, logical.minimum, logical.maximum,
                0 if logical.shares else 1,
            )
        left, right = plan.children[0].logical, plan.children[-1].logical
        pair = (children[0], children[-1])
        needs = (left.needs & right.gives, right.needs & left.gives)
        if plan.op is Op.WILDCARD_CONCAT:
            assert isinstance(logical, Concat)
            gaps = (0 if logical.shares[0] else 1, 0 if logical.shares[1] else 1)
            return WildcardConcat(
                *common, pair, needs, logical.gives, self.limit, 0, logical.parts[1].windows, gaps,
            )
        gap = 0 if not isinstance(logical, Concat) or logical.shares[0] else 1
        return JOINS[plan.op](*common, pair, needs, logical.gives, self.limit, gap)

    def _contains(self, plan: Physical, children: tuple[Operator, ...]) -> Operator:
        node = plan.logical
        if isinstance(node, Both):
            node = node.parts[1]
        found = containment_of(node)
        assert found is not None  # the planner's choice
        return Contains(
            plan.op.value, self.series, node.windows, children, plan.logical.gives, found.chain.windows, found.lead,
            found.trail, found.gaps, found.is_negated, self.limit,
        )
