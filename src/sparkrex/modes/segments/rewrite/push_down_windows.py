"""Window push-down: the windows of a node bound its parts, relaxed where a part is only a piece of the whole.

Proof, for a node whose segments have lengths in [L, H]. Windows of a part may be narrowed to what it can have in a
segment of the node, since the part's other segments appear nowhere.
- And, Or, Not: the part's segment is the node's. (For Not: whether the inside has a segment is asked only of segments
  in the Not's windows.)
- Concat: rows add up but for one per shared row, so with s shared rows a part has the whole's rows, plus s, less the
  others' rows: at most H + s - (least of the others), at least L + s - (most of the others). Growth of the pruning
  column adds up where all rows are shared; where not, what the gaps take only makes parts shorter, so the upper bound
  stands and there is no lower one.
- Kleene: the same of an iteration among n - 1 others, n from the fewest iterations to the most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments.planner.lengths import (
    Lengths,
    as_windows,
    columns_of,
    lengths,
    lowered,
    raised,
    shortest,
    total,
    window_lengths,
    with_windows,
)
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat
from sparkrex.modes.segments.planner.references import with_parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.logical import Logical


def push_down_windows(node: Logical) -> Logical | None:
    """Narrow the windows of parts to what the whole leaves them.

        (A = B)[..5 rows]
        -> (A[..5 rows] = B[..5 rows])[..5 rows]
        (A[2..3 rows] > B)[6..8 rows]
        -> (A[2..3 rows] > B[3..6 rows])[6..8 rows]
        (A = B)
        -> stays
    """
    columns = columns_of(node)
    pushed = _push(node, columns)
    return None if pushed is node else pushed


def _push(node: Logical, columns: set[str | None]) -> Logical:
    match node:
        case Leaf():
            return node
        case Both() | Either() | Neither():
            node = with_parts(node, lambda part: with_windows(part, *node.windows))
        case Concat():
            node = _pushed_into_chain(node, columns)
        case Repeat():
            windows = [window for column in columns for window in _of_an_iteration(node, column)]
            node = with_parts(node, lambda part: with_windows(part, *windows))
        case _:
            assert_never(node)
    return with_parts(node, lambda part: _push(part, columns))


def _pushed_into_chain(node: Concat, columns: set[str | None]) -> Logical:
    narrower: dict[int, list[Window]] = {}
    for column in columns:
        whole = window_lengths(node.windows, column)
        of_parts = [lengths(part, column) for part in node.parts]
        n_shared, is_gapless = sum(node.shares), all(node.shares)
        for place in range(len(of_parts)):
            others = of_parts[:place] + of_parts[place + 1 :]
            piece = window_of_piece(whole, total(others, (), column), n_shared, column, is_gapless)
            narrower.setdefault(place, []).extend(as_windows(piece, column))
    inside = tuple(with_windows(part, *narrower[place]) for place, part in enumerate(node.parts))
    changed = iter(inside)
    return with_parts(node, lambda _: next(changed))


def _of_an_iteration(node: Repeat, column: str | None) -> tuple[Window, ...]:
    whole = window_lengths(node.windows, column)
    one = lengths(node.part, column)
    fewest = node.minimum - 1
    shared = int(node.shares)
    high = window_of_piece(
        Lengths(0, whole.high), Lengths(lowered(fewest * one.low) if column else fewest * one.low, None),
        fewest * shared, column, node.shares,
    ).high
    low: float = shortest(column)
    step = None if one.high is None else one.high - (shared if column is None else 0)
    if step is not None and (node.maximum is not None or step <= 0):
        most = 0 if step <= 0 else step * ((node.maximum or 1) - 1)
        if column is None:
            low = whole.low - most
        elif node.shares:
            low = lowered(whole.low) - raised(most)
    return as_windows(Lengths(low, high), column)


def window_of_piece(whole: Lengths, others: Lengths, n_shared: int, column: str | None, is_gapless: bool) -> Lengths:
    """What is left of the whole for one part."""
    if column is None:
        high = None if whole.high is None else whole.high + n_shared - others.low
        low = shortest(column) if others.high is None else whole.low + n_shared - others.high
        return Lengths(low, high)
    high = whole.high if whole.high is None or not others.low else raised(whole.high) - others.low
    low = 0 if others.high is None or not is_gapless else lowered(whole.low) - others.high
    return Lengths(low, high)
