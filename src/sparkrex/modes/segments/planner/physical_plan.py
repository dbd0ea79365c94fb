"""Physical plans: which operator answers for which logical node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical


class Op(Enum):
    """The physical operators of T-ReX."""

    WINDOW = "SegGenWindow"
    SCAN = "SegGenFilter"
    INDEX = "SegGenIndexing"
    SORT_MERGE_CONCAT = "SortMergeConcat"
    LEFT_PROBE_CONCAT = "LeftProbeConcat"
    RIGHT_PROBE_CONCAT = "RightProbeConcat"
    WILDCARD_CONCAT = "WildcardConcat"
    SORT_MERGE_AND = "SortMergeAnd"
    LEFT_PROBE_AND = "LeftProbeAnd"
    RIGHT_PROBE_AND = "RightProbeAnd"
    SORT_MERGE_OR = "SortMergeOr"
    MATERIALIZE_NOT = "MaterializeNot"
    PROBE_NOT = "ProbeNot"
    MATERIALIZE_KLEENE = "MaterializeKleene"
    FILTER = "Filter"
    CONTAINS = "Contains"

    # Planning looks operators up all the time; there is one of each, so their identity will do.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Physical:
    """One operator.

    Binary operators have two children; a logical node of more parts is split, and `logical` is then a node over just
    the parts that this operator joins, with the windows that hold for them. `FILTER` has one child, the other part of
    `logical`, a `Both`, being the leaf whose condition is tested. `WILDCARD_CONCAT` has two children, the outer parts
    of a `Concat` of three whose middle one is any segment. `CONTAINS` has the part that is contained as its last child;
    if it has two, `logical` is a `Both` whose first part, the first child, is asked inside of the second's ranges.
    """

    op: Op
    logical: Logical
    children: tuple[Physical, ...] = ()
