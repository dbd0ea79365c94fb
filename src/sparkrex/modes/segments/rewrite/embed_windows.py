"""Window embedding: what bounds one part of an And bounds all of it; what bounds all parts bounds the whole.

Proof. A segment of `A & B` is one of A and of B, so it is in the windows of both: they may be the And's own, and every
part's. A segment of any other node has the lengths that follow from its parts (see `lengths`): a chain is as long as
its parts together, one of several options is as long as one of them. So these lengths may be the node's window, too:
nothing is lost. A Not has only its own windows: what holds for segments of its inside says nothing of the others
(Figure 20 of the paper).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.lengths import as_windows, columns_of, lengths, with_windows
from sparkrex.modes.segments.planner.logical import Both, Leaf
from sparkrex.modes.segments.planner.references import with_parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical


def embed_windows(node: Logical) -> Logical | None:
    """Give every node the windows that follow from its parts, and all parts of an And those of the others.

        (A[2..5 rows] & B)
        -> (A[2..5 rows] & B[2..5 rows])[2..5 rows]
        (A[2..5 rows] > B[1..3 rows])
        -> (A[2..5 rows] > B[..3 rows])[3..8 rows]
        ~A[2..5 rows]
        -> stays
    """
    columns = columns_of(node)
    embedded = _embed(node, columns)
    return None if embedded is node else embedded


def _embed(node: Logical, columns: set[str | None]) -> Logical:
    node = with_parts(node, lambda part: _embed(part, columns))
    if isinstance(node, Leaf):
        return with_windows(node)
    windows = [window for column in columns for window in as_windows(lengths(node, column), column)]
    if isinstance(node, Both):
        node = with_parts(node, lambda part: with_windows(part, *windows))
    return with_windows(node, *windows)
