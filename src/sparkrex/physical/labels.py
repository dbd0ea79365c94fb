"""Whether anybody reads which variable a matched row is mapped to. If nobody does, matchers need not find out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.ir import traverse
from sparkrex.ir.plan import RowsPerMatch
from sparkrex.ir.scalar import Aggregate, ClassifierAt, ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.ir.plan import MatchRecognize


def needs_labels(plan: MatchRecognize) -> bool:
    """Whether the measures or the rows shown depend on the labels of matched rows."""
    if plan.rows_per_match is not RowsPerMatch.ONE and traverse.has_exclusion(plan.pattern):
        return True
    names = traverse.variables(plan.pattern)
    for measure in plan.measures:
        for node in walk(measure.expression):
            if isinstance(node, ClassifierAt):
                return True
            if isinstance(node, ColumnAt) and selecting(node.target.variables, names) is not None:
                return True
            if isinstance(node, Aggregate) and selecting(node.variables, names) is not None:
                return True
    return False


def selecting(variables: frozenset[str] | None, names: Iterable[str]) -> frozenset[str] | None:
    """The variables if they select among those of the pattern, None if every matched row is mapped to one of them."""
    return None if variables is None or variables.issuperset(names) else variables
