"""What must hold between the two sides of a join, as kernels read it.

Of what SEQ says of pairs only that is tested which does not follow from the rest: that a comes before c follows from a
before b, which the left side has seen to, and b before c. Where all of one side comes before all of the other, that is
a range of the other side's instances, and needs no test of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import BEFORE, DIFFERENT
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.symbols import Comparison, Formula

if TYPE_CHECKING:
    from sparkrex.modes.workload.lines import Lines
    from sparkrex.modes.workload.planner.multitree import JoinNode, NodeLink
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.prepared import Node
    from sparkrex.modes.workload.symbols import Symbols

Pair = tuple[int, int]
Line = tuple[int, ...]
"""A link, as `kernels.links` has it, with lines of keys in the place of where these are."""
Key = tuple[int, int, int]
"""Slot, line of keys, and which event of an array."""


@dataclass(slots=True)
class JoinLines:
    """A join as kernels read it. `left_key` and `right_key` are what the first comparison reads, if `way` is not ALL.

    `order` are the pairs of slots of which the first is before the second, `side_order` whether one side is before the
    other; the last event can be one of the left if `left_ends`.
    """

    order: frozenset[Pair]
    side_order: int
    left_ends: bool
    right_ends: bool
    links: list[Line] = field(default_factory=list)
    formulas: list[tuple[tuple[int, ...], Formula]] = field(default_factory=list)
    way: int = codes.ALL
    operator: int = 0
    left_key: Key = (0, 0, 0)
    right_key: Key = (0, 0, 0)

    def look_first(self, line: Line) -> None:
        """Look at a comparison before all others."""
        self.operator = line[link_codes.OPERATOR]
        self.way = codes.BY_HASH if self.operator == link_codes.EQUAL else codes.BY_COMPARISON
        self.left_key = line[link_codes.LEFT_SLOT], line[link_codes.LEFT_KEYS], line[link_codes.LEFT_READS]
        self.right_key = line[link_codes.RIGHT_SLOT], line[link_codes.RIGHT_KEYS], line[link_codes.RIGHT_READS]


def join_lines(
    node: JoinNode, left: Node, right: Node, symbols: Symbols, lines: Lines, statistics: Statistics
) -> JoinLines:
    """The links of a join. An equality is looked at first, else the comparison that holds least often."""
    found = _ordered(node, left, right)
    n_left = len(left.labels)
    compared: list[tuple[tuple[bool, float], Line]] = []
    for link in node.links:
        if link.key == DIFFERENT:
            found.links.append(_event_line(link_codes.DIFFERENT, (link.left_slot, link.right_slot), left, right))
        if link.key in (BEFORE, DIFFERENT):
            continue
        condition = symbols.conditions[int(link.key)]  # type: ignore[call-overload]  # of these symbols
        if isinstance(condition, Formula):
            slots = (link.left_slot, n_left + link.right_slot)
            found.formulas.append((slots if link.is_forward else slots[::-1], condition))
            continue
        line = _comparison_line(link, condition, lines)
        if link_codes.LATER in line[link_codes.LEFT_READS :] or line[link_codes.OPERATOR] == link_codes.UNEQUAL:
            found.links.append(line)
        else:
            is_equality = line[link_codes.OPERATOR] == link_codes.EQUAL
            compared.append(((not is_equality, statistics.selectivity(link.key)), line))
    for joint in node.joints:
        condition = symbols.conditions[int(joint.key)]  # type: ignore[call-overload]  # of these symbols
        assert isinstance(condition, Formula)  # nothing else reads three items
        found.formulas.append((joint.slots, condition))
    compared.sort(key=lambda one: one[0])
    found.links[:0] = [line for _, line in compared[1:]]
    if compared:
        found.look_first(compared[0][1])
    return found


def _ordered(node: JoinNode, left: Node, right: Node) -> JoinLines:
    """What is before what."""
    n_left, n_right = len(left.labels), len(right.labels)
    pairs = [(link.left_slot, link.right_slot, link.is_forward) for link in node.links if link.key == BEFORE]
    forward = {(one, other) for one, other, is_forward in pairs if is_forward}
    backward = {(one, other) for one, other, is_forward in pairs if not is_forward}
    order = left.order | {(one + n_left, other + n_left) for one, other in right.order}
    order |= {(one, other + n_left) for one, other in forward} | {(other + n_left, one) for one, other in backward}
    side_order = codes.UNORDERED
    if len(forward) == n_left * n_right:
        side_order = codes.LEFT_FIRST
    elif len(backward) == n_left * n_right:
        side_order = codes.RIGHT_FIRST
    found = JoinLines(
        order, side_order, len({one for one, _ in forward}) < n_left, len({other for _, other in backward}) < n_right
    )
    if side_order == codes.UNORDERED:
        reverse = [{pair[::-1] for pair in side.order} for side in (left, right)]
        for kind, tested, inside in (
            (link_codes.BEFORE, forward, [left.order, right.order]), (link_codes.AFTER, backward, reverse)
        ):
            for one, other in sorted(tested):
                nearer = [(later, other) for later in range(n_left) if (one, later) in inside[0]]
                nearer += [(one, sooner) for sooner in range(n_right) if (sooner, other) in inside[1]]
                if not tested.intersection(nearer):
                    found.links.append(_event_line(kind, (one, other), left, right))
    return found


def _event_line(kind: int, slots: Pair, left: Node, right: Node) -> Line:
    reads = (
        link_codes.LAST if left.slots_are_kleene[slots[0]] else link_codes.SINGLE,
        link_codes.LAST if right.slots_are_kleene[slots[1]] else link_codes.SINGLE,
    )
    return (kind, *slots, 0, 0, 0, 0, 0, *reads)


def _comparison_line(link: NodeLink, condition: Comparison, lines: Lines) -> Line:
    one, other = condition.leaves
    line = lines.number((condition.left, one), (condition.right, other), condition.source, condition.span)
    operator, sides = link_codes.CODES[condition.operator], (line, line + 1)
    reads = (condition.left_reads, condition.right_reads)
    if not link.is_forward:
        sides, reads = sides[::-1], reads[::-1]
        operator = operator if operator in (link_codes.EQUAL, link_codes.UNEQUAL) else link_codes.GREATER - operator
    return (link_codes.COMPARE, link.left_slot, link.right_slot, operator, *sides, 0, 0, *reads)
