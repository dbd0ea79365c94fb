"""Whether anybody reads which variable a matched row is mapped to. If nobody does, matchers need not find out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.languages.match_recognize import traverse
from sparkrex.matching.labels import selecting
from sparkrex.modes.plan import RowsPerMatch
from sparkrex.scalar.expression import Aggregate, ClassifierAt, ColumnAt, walk

if TYPE_CHECKING:

    from sparkrex.modes.rows.plan import MatchRecognize


def needs_labels(plan: MatchRecognize, variables: tuple[str, ...] | None = None) -> bool:
    """Whether the measures or the rows shown depend on the labels of matched rows.

    `variables` are those that have numbers: where proofs have pruned the pattern, more than it still has.
    """
    if plan.rows_per_match is not RowsPerMatch.ONE and traverse.has_exclusion(plan.pattern):
        return True
    names = traverse.variables(plan.pattern) if variables is None else variables
    for measure in plan.measures:
        for node in walk(measure.expression):
            if isinstance(node, ClassifierAt):
                return True
            if isinstance(node, ColumnAt) and selecting(node.target.variables, names) is not None:
                return True
            if isinstance(node, Aggregate) and selecting(node.variables, names) is not None:
                return True
    return False
