"""Which patterns say no more than that a segment contains others: `W X W`, `X W`, `W X`, `W X W Y W`, and their Not.

If the wildcards W may be as long as anything inside the whole segment, then (s, e) matches `W X W` exactly if some X
starts at s or later and ends at e or earlier: the wildcards are what is left over. With F(s) the first row at which
an X that starts at s or later ends, that is e >= F(s), one range of ends for every start, and Not is e < F(s). For
`X W` the X starts at s itself; for `W X` it ends at e, and s is at most the last such start. A least number of rows of
W moves the bounds by as many rows. A most number is more than a range: then this declines, unless the window of the
whole implies it. It also declines where somebody refers to a segment inside, or a condition inside refers outside.

`W X W Y W` composes if neither of X and Y refers to the other. Let g be the rows from X's end to Y's start that W takes
at least. (s, e) matches exactly if there is an X that starts at s or later and ends at some b, and a Y that starts at
b + g or later and ends at e or earlier: that is F_Y(b + g) <= e for some such b. Fewer Y start at a later row or after
it, so F_Y never falls, and the least F_Y(b + g) is that of the least b, which is F_X(s): the first end is
F_Y(F_X(s) + g). The same holds of the X from s itself in `X W Y W`; and in `W X W Y`, from the end, of the last start
of a Y to e and the last start of an X that ends g rows or more before it. By induction, of any number of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.lengths import lengths
from sparkrex.modes.segments.planner.logical import Concat, Leaf, Logical, Neither

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window


@dataclass(frozen=True, slots=True)
class Containment:
    """`pieces` are where X, Y and so on begin and stop among the chain's parts.

    X starts `lead` rows or more after the segment's start, or exactly there if that is None; `trail` likewise. Between
    the end of a piece and the start of the next are `gaps` rows, or more.
    """

    chain: Concat
    pieces: tuple[tuple[int, int], ...]
    gaps: tuple[int, ...]
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
    last_place = len(chain.parts) - 1
    first, last = _shift(chain, 0), _shift(chain, last_place)
    begin, stop = int(first is not None), last_place + (last is None)
    if begin >= stop or (first is None and last is None):
        return None
    between: dict[int, int] = {}
    for place in range(begin + 1, stop - 1):
        gap = _shift(chain, place)
        if gap is not None and place - 1 not in between:
            between[place] = gap
    cuts = [begin - 1, *between, stop]
    pieces = tuple((before + 1, after) for before, after in pairwise(cuts))
    if not all(_is_independent(chain.parts[low:high]) for low, high in pieces):
        pieces, between = ((begin, stop),), {}
    return Containment(chain, pieces, tuple(between.values()), first, last, is_negated)


def _is_independent(parts: tuple[Logical, ...]) -> bool:
    """Whether no condition in these parts refers to any other part."""
    bound = frozenset().union(*(part.gives for part in parts))
    return all(part.needs <= bound for part in parts)


def _shift(chain: Concat, place: int) -> int | None:
    """How many rows a wildcard puts at least between its neighbours' ends, or the segment's; None if it is not one."""
    part = chain.parts[place]
    if not isinstance(part, Leaf) or part.condition is not None or part.gives or part.is_point:
        return None
    rows = 1
    for window in part.windows:
        has_high = window.high is not None and not _is_all_that_is_left(chain, place, window)
        if has_high or (window.column is not None and window.low is not None and window.low > 0):
            return None
        if window.column is None:
            rows = max(rows, ceil(window.low or 1))
    sides = chain.shares[max(place - 1, 0) : place + 1]
    return rows - 1 + sum(not shares for shares in sides)


def _is_all_that_is_left(chain: Concat, place: int, window: Window) -> bool:
    """Whether a part cannot be longer than its window allows: the chain's windows, or those and the others' least."""
    if _is_implied(_without_low(window), chain.windows):
        return True
    others = [part for other, part in enumerate(chain.parts) if other != place]
    taken = sum(lengths(part, None).low for part in others)
    return window.column is None and window.high is not None and any(
        one.column is None and one.high is not None and one.high + sum(chain.shares) - taken <= window.high
        for one in chain.windows
    )


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
