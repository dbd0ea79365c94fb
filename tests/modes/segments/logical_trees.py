"""Logical trees for tests: their answer by brute force, and the search that means the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.segments.definitions import number
from tests.modes.segments.values import Scene, value

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat
from sparkrex.modes.segments.planner.references import renamed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.segments.pattern import SegmentPattern, Window
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical

Pairs = set[tuple[int, int]]


def is_in(window: Window, rows: Sequence[Mapping[str, Any]], start: int, end: int) -> bool:
    """Whether a segment is in a window; its column has no NULLs."""
    length = end - start + 1 if window.column is None else number(rows[end][window.column]) - number(
        rows[start][window.column]
    )
    return (window.low is None or length >= window.low) and (window.high is None or length <= window.high)


def segments_of(tree: Logical, rows: Sequence[Mapping[str, Any]]) -> Pairs:
    """All segments of a tree without references, windows being filters."""
    everything = {(start, end) for start in range(len(rows)) for end in range(start, len(rows))}
    found = _segments(tree, rows, everything)
    return {pair for pair in found if all(is_in(window, rows, *pair) for window in tree.windows)}


def _segments(tree: Logical, rows: Sequence[Mapping[str, Any]], everything: Pairs) -> Pairs:
    match tree:
        case Leaf():
            return {
                pair for pair in everything
                if (not tree.is_point or pair[0] == pair[1])
                and (
                    tree.condition is None
                    or value(tree.condition, Scene(rows, dict.fromkeys(tree.variables, pair))) is True
                )
            }
        case Both(parts=parts):
            return everything.intersection(*(segments_of(part, rows) for part in parts))
        case Either(parts=parts):
            return set().union(*(segments_of(part, rows) for part in parts))
        case Neither(part=part):
            return everything - segments_of(part, rows)
        case Concat(parts=parts, shares=shares):
            found = segments_of(parts[0], rows)
            for part, is_shared in zip(parts[1:], shares, strict=True):
                found = _joined(found, segments_of(part, rows), is_shared)
            return found
        case Repeat(part=part):
            one = segments_of(part, rows)
            power, found = one, set()
            for times in count(1):
                if times >= tree.minimum:
                    if power <= found and times > tree.minimum + len(everything):
                        break
                    found |= power
                if times == tree.maximum:
                    break
                power = _joined(power, one, tree.shares)
            return found
        case _:
            assert_never(tree)


def _joined(left: Pairs, right: Pairs, is_shared: bool) -> Pairs:
    gap = 0 if is_shared else 1
    return {(start, end) for start, middle in left for begin, end in right if begin == middle + gap}


@dataclass
class _Back:
    names: Iterator[str] = field(default_factory=lambda: (f"new{k}" for k in count()))
    definitions: list[SegmentDefinition] = field(default_factory=list)

    def pattern(self, tree: Logical) -> SegmentPattern:
        inner = self._inner(tree)
        if isinstance(tree, Leaf) or not tree.windows:
            return inner
        name = next(self.names)
        self.definitions.append(SegmentDefinition(name, True, tree.windows, None))
        return sp.And((inner, sp.SegmentVariable(name)))

    def _inner(self, tree: Logical) -> SegmentPattern:
        match tree:
            case Leaf():
                return self._leaf(tree)
            case Both(parts=parts):
                return sp.And(tuple(map(self.pattern, parts)))
            case Either(parts=parts):
                return sp.Alternation(tuple(map(self.pattern, parts)))
            case Neither(part=part):
                return sp.Not(self.pattern(part))
            case Concat(parts=parts, shares=shares):
                return sp.Concatenation(tuple(map(self.pattern, parts)), shares)
            case Repeat(part=part):
                return sp.Kleene(self.pattern(part), tree.minimum, tree.maximum, tree.shares)
            case _:
                assert_never(tree)

    def _leaf(self, leaf: Leaf) -> SegmentPattern:
        """A condition gets a name of its own, beside those of the leaf: these may stand at several places."""
        name = next(self.names)
        own = dict.fromkeys(leaf.variables, name)
        condition = None if leaf.condition is None else renamed(leaf.condition, own)
        self.definitions.append(SegmentDefinition(name, not leaf.is_point, leaf.windows, condition))
        variable = sp.PointVariable(name) if leaf.is_point else sp.SegmentVariable(name)
        kept = [name for name in leaf.variables if name in leaf.gives]
        self.definitions += [SegmentDefinition(name, True, (), None) for name in kept]
        return sp.And((variable, *map(sp.SegmentVariable, kept))) if kept else variable


def as_search(tree: Logical, search: SegmentSearch) -> SegmentSearch:
    """The search of a tree, otherwise like `search`."""
    back = _Back()
    pattern = back.pattern(tree)
    return replace(search, pattern=pattern, definitions=tuple(back.definitions))


def with_all_definitions(search: SegmentSearch) -> SegmentSearch:
    """The search with an empty definition for every variable that has none, as analysis gives it."""
    known = {definition.variable for definition in search.definitions}
    new = dict.fromkeys(name for name, _ in _variables(search.pattern) if name not in known)
    kinds = dict(_variables(search.pattern))
    added = tuple(SegmentDefinition(name, kinds[name], (), None) for name in new)
    return replace(search, definitions=search.definitions + added)


def _variables(pattern: SegmentPattern) -> Iterator[tuple[str, bool]]:
    if isinstance(pattern, sp.PointVariable | sp.SegmentVariable):
        yield pattern.name, isinstance(pattern, sp.SegmentVariable)
    for part in sp.children(pattern):
        yield from _variables(part)
