"""Lengths that a sub-tree's segments can have, and windows from them.

A length counts rows, or is the growth of the column that windows prune by; rows ascend by it, so growth is never
negative, and over parts that share their boundary rows it adds up. Between neighbouring rows it may grow by anything.
Growth of floating-point columns adds up but for rounding, so every sum on a column gets a little slack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.segments.planner.logical import Logical

SLACK = 2.0**-40


@dataclass(frozen=True, slots=True)
class Lengths:
    """From `low` to `high`, both inclusive; None for no upper bound. `low` above `high`: none at all."""

    low: float
    high: float | None

    def within(self, other: Lengths) -> Lengths:
        """Lengths that are in both."""
        highs = [high for high in (self.high, other.high) if high is not None]
        return Lengths(max(self.low, other.low), min(highs, default=None))

    def hull(self, other: Lengths) -> Lengths:
        """Lengths between any two of both."""
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Lengths(min(self.low, other.low), high)


def shortest(column: str | None) -> int:
    """What a segment measures at least."""
    return 1 if column is None else 0


def window_lengths(windows: Sequence[Window], column: str | None) -> Lengths:
    """What the windows on this column (None: those that count rows) allow."""
    allowed = Lengths(shortest(column), None)
    if column is not None and _is_one_row(windows):
        allowed = Lengths(0, 0)
    for window in windows:
        if window.column == column:
            allowed = allowed.within(Lengths(shortest(column) if window.low is None else window.low, window.high))
    return allowed


def _is_one_row(windows: Sequence[Window]) -> bool:
    return any(window.column is None and window.high is not None and window.high <= 1 for window in windows)


def merged(*windows: Window) -> tuple[Window, ...]:
    """The same windows, one per column, rows first; without those that allow everything."""
    if _is_one_row(windows):
        # One row grows by nothing, which most windows on a column allow.
        windows = tuple(one for one in windows if one.column is None or (one.low or 0) > 0 or (one.high or 0) < 0)
    columns = sorted({window.column for window in windows}, key=lambda column: (column is not None, column or ""))
    return tuple(found for column in columns for found in as_windows(window_lengths(windows, column), column))


def as_windows(allowed: Lengths, column: str | None) -> tuple[Window, ...]:
    """The window that allows these lengths, if it says anything. There is one that allows none, so that rules end."""
    if allowed.high is not None and allowed.low > allowed.high:
        return (Window(column, None, shortest(column) - 1),)
    low = None if allowed.low <= shortest(column) else allowed.low
    high = None if allowed.high is None else max(allowed.high, shortest(column) - 1)
    return () if low is None and high is None else (Window(column, low, high),)


def with_windows(node: Logical, *windows: Window) -> Logical:
    """The node inside further windows; the node itself, if they say nothing new."""
    together = merged(*node.windows, *windows)
    return node if together == node.windows else replace(node, windows=together)


def columns_of(node: Logical) -> set[str | None]:
    """The columns of all windows in the tree; rows always count."""
    found: set[str | None] = {None, *(window.column for window in node.windows)}
    return found.union(*map(columns_of, parts(node)))


def lengths(node: Logical, column: str | None) -> Lengths:
    """The lengths that the node's segments have: what its windows allow and what follows from its parts."""
    return window_lengths(node.windows, column).within(lengths_from_parts(node, column))


def lengths_from_parts(node: Logical, column: str | None) -> Lengths:
    """What the parts of a node allow, its own windows left out."""
    match node:
        case Leaf(is_point=True):
            return Lengths(shortest(column), shortest(column))
        case Leaf() | Neither():
            # What the inside of a Not has, its outside has not.
            return Lengths(shortest(column), None)
        case Both(parts=inside):
            found = lengths(inside[0], column)
            for part in inside[1:]:
                found = found.within(lengths(part, column))
            return found
        case Either(parts=inside):
            found = lengths(inside[0], column)
            for part in inside[1:]:
                found = found.hull(lengths(part, column))
            return found
        case Concat(parts=inside, shares=shares):
            return total([lengths(part, column) for part in inside], shares, column)
        case Repeat():
            return _lengths_of_repeat(node, lengths(node.part, column), column)
        case _:
            assert_never(node)


def total(of_parts: Sequence[Lengths], shares: Sequence[bool], column: str | None) -> Lengths:
    """Lengths of a chain of parts."""
    low = sum(one.low for one in of_parts)
    highs = [one.high for one in of_parts if one.high is not None]
    high = sum(highs) if len(highs) == len(of_parts) else None
    if column is None:
        n_shared = sum(shares)
        return Lengths(low - n_shared, None if high is None else high - n_shared)
    if not all(shares):
        high = None
    return Lengths(lowered(low), None if high is None else raised(high))


def _lengths_of_repeat(node: Repeat, of_part: Lengths, column: str | None) -> Lengths:
    """Lengths of iterations: each adds what it has beyond the shared row."""
    step = Lengths(of_part.low, of_part.high)
    if column is None and node.shares:
        step = Lengths(of_part.low - 1, None if of_part.high is None else of_part.high - 1)
    own = 1 if column is None and node.shares else 0
    low = node.minimum * max(step.low, 0) + own
    high: float | None = None
    if step.high is not None and step.high <= 0 and (column is None or node.shares):
        high = own
    elif step.high is not None and node.maximum is not None and (column is None or node.shares):
        high = node.maximum * step.high + own
    if column is None:
        return Lengths(low, high)
    return Lengths(lowered(low), None if high is None else raised(high))


def lowered(low: float) -> float:
    """A lower bound of a sum on a column, rounding considered."""
    return low - low * SLACK if low else low


def raised(high: float) -> float:
    """An upper bound of a sum on a column, rounding considered."""
    return high + high * SLACK if high else high
