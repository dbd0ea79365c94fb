"""What two clauses have in common: all maximal sub-patterns of both.

The paper intersects event types, then drops those whose conditions or order differ. Which ones to drop may be a choice
(SEQ(A, B, C) and SEQ(A, C, B) have SEQ(A, B) and SEQ(A, C) in common), and a label that repeats can be laid over the
other clause in several ways. So pairs of items with equal labels are laid over each other, two such pairs agree if
what holds between their items is the same, and the maximal sets of pairs that agree are found (Bron and Kerbosch).
Joints are looked at afterwards: if one clause has one and the other has not, one of its items has to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.tree import items_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.workload.planner.subpattern import Shape

MAX_FOUND = 500
"""Clauses in which one label repeats many times have very many common parts; some of them are enough."""

Overlay = tuple[tuple[int, int], ...]


def maximal_common(one: Shape, other: Shape) -> list[tuple[int, int]]:
    """The maximal common sub-patterns of two clauses with two items or more, as sets of items of each."""
    if one is other:
        return [(one.full, one.full)] if len(one.leaves) > 1 else []
    pairs = [
        (first, second)
        for first, leaf in enumerate(one.leaves)
        for second, other_leaf in enumerate(other.leaves)
        if leaf == other_leaf
    ]
    if len(pairs) < 2:
        return []
    agreeing = [0] * len(pairs)
    for at, (first, second) in enumerate(pairs):
        for beside in range(at):
            other_first, other_second = pairs[beside]
            if (
                first != other_first
                and second != other_second
                and one.between[first][other_first] == other.between[second][other_second]
            ):
                agreeing[at] |= 1 << beside
                agreeing[beside] |= 1 << at
    overlays: dict[Overlay, None] = {}
    for clique in _maximal_cliques(agreeing):
        overlay = tuple(pairs[at] for at in items_of(clique))
        overlays |= dict.fromkeys(kept for kept in _with_joints(overlay, one, other) if len(kept) > 1)
        if len(overlays) >= MAX_FOUND:
            break
    if one.joints or other.joints:
        # What is left of one overlay may be a part of another.
        overlays = {kept: None for kept in overlays if not any(set(kept) < set(larger) for larger in overlays)}
    return list(dict.fromkeys(map(_masks, overlays)))


def _masks(overlay: Overlay) -> tuple[int, int]:
    return sum(1 << first for first, _ in overlay), sum(1 << second for _, second in overlay)


def _maximal_cliques(agreeing: list[int]) -> Iterator[int]:
    pending = [(0, (1 << len(agreeing)) - 1, 0)]
    while pending:
        clique, candidates, done = pending.pop()
        if not candidates:
            if not done:
                yield clique
            continue
        pivot = max(items_of(candidates | done), key=lambda at: (agreeing[at] & candidates).bit_count())
        for at in items_of(candidates & ~agreeing[pivot]):
            pending.append((clique | 1 << at, candidates & agreeing[at], done & agreeing[at]))
            candidates &= ~(1 << at)
            done |= 1 << at


def _with_joints(overlay: Overlay, one: Shape, other: Shape) -> Iterator[Overlay]:
    """The overlay, or what is left of it where both clauses have the same joints."""
    if not one.joints and not other.joints:
        yield overlay
        return
    pending, seen = [overlay], {overlay}
    while pending:
        kept = pending.pop()
        offending = _unmatched_joint(kept, one, other)
        if offending is None:
            yield kept
            continue
        for pair in offending:
            less = tuple(other_pair for other_pair in kept if other_pair != pair)
            if less not in seen:
                seen.add(less)
                pending.append(less)


def _unmatched_joint(overlay: Overlay, one: Shape, other: Shape) -> Overlay | None:
    forward = dict(overlay)
    backward = {second: first for first, second in overlay}
    for items, key in one.joints:
        if all(item in forward for item in items):
            image = tuple(forward[item] for item in items)
            if (image, key) not in other.joints:
                return tuple(dict.fromkeys(zip(items, image, strict=True)))
    for items, key in other.joints:
        if all(item in backward for item in items):
            image = tuple(backward[item] for item in items)
            if (image, key) not in one.joints:
                return tuple(dict.fromkeys(zip(image, items, strict=True)))
    return None
