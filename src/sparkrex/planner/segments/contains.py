"""Which patterns say no more than that a segment contains another: `W X W`, `X W`, `W X`, and the Not of these.

If the wildcards W may be as long as anything inside the whole segment, then (s, e) matches `W X W` exactly if some X
starts at s or later and ends at e or earlier: the wildcards are what is left over. With F(s) the first row at which
an X that starts at s or later ends, that is e >= F(s), one range of ends for every start, and Not is e < F(s). For
`X W` the X starts at s itself; for `W X` it ends at e, and s is at most the last such start. A least number of rows of
W moves the bounds by as many rows. A most number is more than a range: then this declines, unless the window of the
whole implies it. It also declines where somebody refers to a segment inside, or a condition inside refers outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from sparkrex.planner.segments.logical import Concat, Leaf, Logical, Neither

if TYPE_CHECKING:
    from sparkrex.ir.segment_pattern import Window


@dataclass(frozen=True, slots=True)
class Containment:
    """`begin` and `stop` are the places of X among the chain's parts.

    X starts `lead` rows or more behind the segment's start, or exactly there if that is None; `trail` likewise.
    """

    chain: Concat
    begin: int
    stop: int
    lead: int | None
    trail: int | None
    is_negated: bool


def containment_of(node: Logical) -> Containment | None:
    """The node as a containment, None if it is none."""
    is_negated = isinstance(node, Neither)
    chain = node.part if isinstance(node, Neither) else node
    if not isinstance(chain, Concat) or chain.needs or chain.gives or node.gives or node.needs:
        return None
    if is_negated and not all(_is_implied(window, node.windows) for window in chain.windows):
        return None  # what is outside of the windows inside would be in the Not, too
    first, last = _shift(chain, 0), _shift(chain, len(chain.parts) - 1)
    begin, stop = int(first is not None), len(chain.parts) - (last is not None)
    if begin >= stop or (first is None and last is None):
        return None
    return Containment(chain, begin, stop, first, last, is_negated)


def _shift(chain: Concat, place: int) -> int | None:
    """How many rows a wildcard at an end of the chain takes at least, beyond the row that it shares."""
    part = chain.parts[place]
    if not isinstance(part, Leaf) or part.condition is not None or part.gives or part.is_point:
        return None
    rows = 1
    for window in part.windows:
        has_high = window.high is not None and not _is_implied(_without_low(window), chain.windows)
        if has_high or (window.column is not None and window.low is not None and window.low > 0):
            return None
        if window.column is None:
            rows = max(rows, ceil(window.low or 1))
    shares = chain.shares[0] if place == 0 else chain.shares[-1]
    return rows - 1 + (0 if shares else 1)


def _without_low(window: Window) -> Window:
    return type(window)(window.column, None, window.high)


def _is_implied(window: Window, outer: tuple[Window, ...]) -> bool:
    """Whether every segment in the outer windows, and every part of one, is inside this window."""
    if window.low is not None and window.low > (1 if window.column is None else 0):
        return False
    if window.column is not None and window.high is None:
        return any(one.column == window.column for one in outer)  # a NULL has no distance
    return window.high is None or any(
        one.column == window.column and one.high is not None and one.high <= window.high for one in outer
    )
