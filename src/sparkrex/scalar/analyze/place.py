"""Where in an expression a node stands: what the functions around it already say about the rows it may read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Semantics, Target


@dataclass(frozen=True, slots=True)
class Place:
    """The surroundings of a node.

    `navigation` is the target that FIRST, LAST, PREV or NEXT around it fixes. `each_row` is set inside aggregates,
    `in_relation` inside window functions and subqueries, where aggregates are the host's own. `semantics` is a RUNNING
    or FINAL directly around it.
    """

    navigation: Target | None = None
    each_row: bool = False
    in_relation: bool = False
    semantics: Semantics | None = None
