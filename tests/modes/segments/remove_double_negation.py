"""Double negation: `~~P` is P.

Proof. `~P` is every segment of the partition that P does not match, so `~~P` is every segment that P does match. The
outer node's windows hold for the same segment, so they become P's. Nothing inside a Not can be referred to, and then
nobody refers to the variables of P either. The inner Not must have no windows of its own: `~(~P)[..3 rows]` also has
all longer segments. Every step removes two nodes, so there is an end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.lengths import with_windows
from sparkrex.modes.segments.planner.logical import Neither
from sparkrex.modes.segments.planner.references import with_parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical


def remove_double_negation(node: Logical) -> Logical | None:
    """Replace a Not of a Not by what is inside.

        (A = ~~B[2..3 rows])
        -> (A = B[2..3 rows])
        ~(~A)[..3 rows]
        -> stays
    """
    positive = _positive(node)
    return None if positive is node else positive


def _positive(node: Logical) -> Logical:
    node = with_parts(node, _positive)
    match node:
        case Neither(part=Neither(part=inside, windows=())):
            return with_windows(inside, *node.windows)
    return node
