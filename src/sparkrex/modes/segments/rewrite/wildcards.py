"""Wildcards: any segment in its windows that nobody refers to.

1. `W & X` is X inside W's windows: W asks for nothing else, of the same segment. If somebody refers to W and X is a
   variable, the two are one leaf with both names: their segments are the same. If all parts are wildcards, so is the
   whole.
2. A repetition of a wildcard whose windows count rows is a wildcard, if it has all lengths between its shortest and
   its longest. Let an iteration add from a to b rows (one less than its length where iterations share a row): n of
   them add all from n*a to n*b, since each can be made longer by one row at a time. Two such ranges for n and n + 1
   leave no gap iff (n + 1)*a <= n*b + 1, that is a - 1 <= n*(b - a), true for all n if for the fewest. Always-true W
   has a = 0 under shared rows; an always-true point variable has a = b = 1.
3. Two wildcards side by side in a Concat whose windows count rows are one: lengths l1 and l2 from two ranges have all
   sums between the smallest and the largest, less the shared row.

Windows on a column stop 2 and 3: which growths are possible depends on the data. So do windows that allow nothing.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.lengths import Lengths, as_windows, lengths, merged, total, with_windows
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, Repeat
from sparkrex.modes.segments.planner.references import with_parts
from sparkrex.modes.segments.planner.validate import is_wildcard

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.logical import Logical


def simplify_wildcards(node: Logical) -> Logical | None:
    """Drop wildcards that ask for nothing but a window, and join those side by side.

        (A & *[2..3 rows])
        -> A[2..3 rows]
        (A = *[..3 rows] > *[..4 rows])
        -> (A = *[2..7 rows])
        *[3..4 rows]{2,2}=
        -> *[5..7 rows]
        (A = *[t ..3] > *[t ..4])
        -> stays
    """
    simple = _simple(node)
    return None if simple is node else simple


def _simple(node: Logical) -> Logical:
    node = with_parts(node, _simple)
    match node:
        case Both(parts=inside) if any(_has_no_condition(part) for part in inside):
            return _without_wildcards(node)
        case Repeat(part=part) if _counts_rows(part):
            return _simplify_repeat(node)
        case Concat(parts=inside) if any(
            _counts_rows(left) and _counts_rows(right) for left, right in pairwise(inside)
        ):
            return _simplify_concat(node)
    return node


def _has_no_condition(node: Logical) -> bool:
    return isinstance(node, Leaf) and node.condition is None


def _counts_rows(node: Logical) -> bool:
    """Whether this is a wildcard that has all lengths of a range, and not none at all."""
    if not is_wildcard(node) or any(window.column is not None for window in node.windows):
        return False
    allowed = lengths(node, None)
    return allowed.high is None or allowed.low <= allowed.high


def _any_segment(*windows: Window) -> Leaf:
    return Leaf((), None, False, windows=merged(*windows))


def _without_wildcards(node: Both) -> Logical:
    wildcards = [part for part in node.parts if isinstance(part, Leaf) and part.condition is None]
    others = [part for part in node.parts if not _has_no_condition(part)]
    windows = [window for part in wildcards for window in part.windows]
    names = tuple(name for part in wildcards for name in part.variables if name in part.gives)
    if names:
        # The names go to one leaf: another variable, else one of the wildcards.
        place = next((k for k, part in enumerate(others) if isinstance(part, Leaf)), None)
        if place is None:
            others.append(Leaf(names, None, False, gives=frozenset(names)))
        else:
            leaf = others[place]
            assert isinstance(leaf, Leaf)  # `place` is of one
            others[place] = replace(leaf, variables=leaf.variables + names)
        if len(wildcards) == 1 and place is None:
            return node
    if not others:
        return _any_segment(*node.windows, *windows)
    if len(others) == 1:
        return with_windows(others[0], *node.windows, *windows)
    return with_windows(replace(node, parts=tuple(others)), *windows)


def _simplify_repeat(node: Repeat) -> Logical:
    one = lengths(node.part, None)
    shared = int(node.shares)
    low, high = one.low - shared, None if one.high is None else one.high - shared
    has_gap = high is not None and low - 1 > node.minimum * (high - low)
    if has_gap and node.maximum != node.minimum:
        return node
    most = None if high is None else 0 if high == 0 else None if node.maximum is None else node.maximum * high
    whole = Lengths(node.minimum * low + shared, None if most is None else most + shared)
    return _any_segment(*node.windows, *as_windows(whole, None))


def _simplify_concat(node: Concat) -> Logical:
    inside: list[Logical] = [node.parts[0]]
    shares: list[bool] = []
    for part, is_shared in zip(node.parts[1:], node.shares, strict=True):
        if _counts_rows(part) and _counts_rows(inside[-1]):
            both = total([lengths(inside[-1], None), lengths(part, None)], (is_shared,), None)
            inside[-1] = _any_segment(*as_windows(both, None))
        else:
            inside.append(part)
            shares.append(is_shared)
    if len(inside) == 1:
        return with_windows(inside[0], *node.windows)
    return replace(node, parts=tuple(inside), shares=tuple(shares))
