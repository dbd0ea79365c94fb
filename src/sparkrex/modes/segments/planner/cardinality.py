"""How many segments a logical node has in a search space: Table 1 of the paper.

All physical plans of a node have the same segments, so the estimate is the node's alone. For that to hold of split
nodes too, a Concat, And or Or that is directly below one of its kind counts as part of it.

Beyond Table 1: operators here give each segment once, so that concatenations that carry no bindings are counted as
expected distinct ones, everywhere and not just below Not; the windows of a node's parts count (`lengths`);
conditions on the same segment are sampled together, not taken as independent; and what a segment contains, or does not
contain, is sampled as such (`containment_sample`).
"""

from __future__ import annotations

from math import expm1, log1p
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.joint_selectivity import JointSelectivity
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Logical, Neither, Repeat
from sparkrex.modes.segments.planner.windows_selectivity import (
    Lengths,
    Ranges,
    candidates,
    concatenated,
    lengths_of,
    mean_length,
    meet,
    selectivity_of_concatenation,
    selectivity_of_part,
)

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.statistics import Statistics


def expected_distinct(draws: float, n: float) -> float:
    """D(c, n): how many different ones of n things c draws with replacement give. For less than one draw, c."""
    if draws <= 1 or n <= 1:
        return max(0.0, min(draws, n))
    return -n * expm1(draws * log1p(-1 / n))


def joined_pairs(left: float, right: float, meeting_points: float) -> float:
    """Pairs of left and right segments that meet, if ends and starts are spread evenly over the rows between."""
    return left * right / meeting_points


def one_or_two(part: float, ranges: Ranges, between: float, single: float, double: float) -> float:
    """Table 1's Kleene, as corrected: one occurrence and two, that start and end in the search space.

    `single` and `double` are the window's selectivities for one and for two segments of the part's window.
    """
    inside = ranges.starts * ranges.ends / between**2
    return part * inside * single + part**2 / between * inside * double


class Cardinalities:
    """Estimates for the nodes of one query. They are remembered by the node's identity, so nodes are kept."""

    def __init__(self, statistics: Statistics) -> None:
        self.statistics = statistics
        self.n_rows = statistics.n_rows
        self._lengths: dict[int, tuple[Logical, Lengths]] = {}
        self._found: dict[tuple[int, Ranges], float] = {}
        self._joint = JointSelectivity(statistics)

    def whole(self) -> Ranges:
        """The search space of the root: a whole series."""
        return Ranges(self.n_rows, self.n_rows)

    def between(self, ranges: Ranges, lengths: Lengths) -> float:
        """l_se of appendix C.1: how many rows a space spans, in which the parts of a concatenation may meet."""
        if ranges.is_one_segment:
            known = ranges.known or Lengths(1, self.n_rows)
            both = meet(known, lengths)
            return max(2.0, round(mean_length(both if both.low <= both.high else known, self.n_rows)))
        return max(ranges.starts, ranges.ends)

    def lengths(self, node: Logical) -> Lengths:
        """The rows that segments of a node may have, by its windows and those below."""
        known = self._lengths.get(id(node))
        if known is None:
            own = lengths_of(node.windows, self.statistics.steps, self.n_rows)
            known = self._lengths[id(node)] = (node, meet(own, self._below(node)))
        return known[1]

    def _below(self, node: Logical) -> Lengths:
        match node:
            case Leaf():
                return Lengths(1, 1 if node.is_point else self.n_rows)
            case Concat():
                found = self.lengths(node.parts[0])
                for part, shares in zip(node.parts[1:], node.shares, strict=True):
                    found = concatenated(found, self.lengths(part), int(shares))
                return found
            case Both():
                found = self.lengths(node.parts[0])
                for part in node.parts[1:]:
                    found = meet(found, self.lengths(part))
                return found
            case Either():
                options = [self.lengths(part) for part in node.parts]
                return Lengths(min(option.low for option in options), max(option.high for option in options))
            case Repeat():
                once = self.lengths(node.part)
                less = int(node.shares)
                low = node.minimum * (once.low - less) + less
                if once.high <= less:  # one row that is shared: more of them are no longer
                    return Lengths(low, once.high)
                most = self.n_rows if node.maximum is None else node.maximum * (once.high - less) + less
                return Lengths(low, most)
            case Neither():
                return Lengths(1, self.n_rows)

    def tested(self, node: Logical, ranges: Ranges) -> float:
        """How many segments the windows of a node leave in a space: range sizes times Sel_w."""
        return candidates(self.lengths(node), ranges, self.n_rows)

    def found(self, node: Logical, ranges: Ranges) -> float:
        """C_out: how many segments a node has in a space."""
        key = (id(node), ranges)
        known = self._found.get(key)
        if known is None:
            self.lengths(node)  # keeps the node
            known = self._found[key] = self._new(node, ranges)
        return known

    def _new(self, node: Logical, ranges: Ranges) -> float:
        room = self.tested(node, ranges)
        if self.statistics.containments and isinstance(node, Concat | Neither):
            sample = self.statistics.containments.get(node)
            if sample is not None:
                return room * sample.share(self._in_space(node, ranges), self.n_rows)
        match node:
            case Leaf():
                return room * self._joint.of([node])
            case Concat():
                pairs = self._concatenations(node, ranges)
                return pairs if node.gives else expected_distinct(pairs, room)
            case Both():
                parts = _flat(node)
                leaves = [part for part in parts if isinstance(part, Leaf)]
                room *= self._joint.of(leaves)
                for part in parts:
                    if isinstance(part, Leaf):
                        continue
                    sample = self.statistics.containments.get(part) if self.statistics.containments else None
                    if sample is not None:
                        room *= sample.share_beside(leaves, self._in_space(node, ranges), self.n_rows)
                        continue
                    among = self.tested(part, ranges)
                    room *= self.found(part, ranges) / among if among else 0.0
                return room
            case Either():
                lengths = self.lengths(node)
                total = sum(
                    self.found(part, ranges) * selectivity_of_part(lengths, self.lengths(part), self.n_rows)
                    for part in _flat(node)
                )
                return total if node.gives else min(total, room)
            case Repeat():
                many = self._repetitions(node, ranges)
                return many if node.gives else expected_distinct(many, room)
            case Neither():
                return room - min(room, self.found(node.part, ranges))

    def _in_space(self, node: Logical, ranges: Ranges) -> Lengths:
        """The lengths of a node's segments in a space."""
        if ranges.is_one_segment:
            return meet(self.lengths(node), ranges.known or Lengths(1, self.n_rows))
        return meet(self.lengths(node), Lengths(1, int(max(ranges.starts, ranges.ends))))

    def _concatenations(self, node: Concat, ranges: Ranges) -> float:
        """Part by part from the end that is fixed, every time Table 1's C_l C_r / l_se Sel_{w|w_l,w_r}."""
        parts, shares = _flat_concat(node)
        lengths = self.lengths(node)
        between = self.between(ranges, lengths)
        is_backwards = ranges.ends <= 1 < ranges.starts
        if is_backwards:
            parts, shares = parts[::-1], shares[::-1]
        first = Ranges(ranges.starts, between) if not is_backwards else Ranges(between, ranges.ends)
        middle = Ranges(between, between)
        total = self.found(parts[0], first)
        so_far = self.lengths(parts[0])
        upper = Lengths(1, lengths.high)
        for number, (part, shared) in enumerate(zip(parts[1:], shares, strict=True), 2):
            is_last = number == len(parts)
            if is_last and ranges.is_one_segment:
                # Both ends are fixed: only the meeting point is open, and the length is known to fit.
                return joined_pairs(total, self.found(part, Ranges(between, 1)), between)
            fitting = selectivity_of_concatenation(
                lengths if is_last else upper, so_far, self.lengths(part), int(shared)
            )
            total = joined_pairs(total, self.found(part, middle), between) * fitting
            so_far = meet(concatenated(so_far, self.lengths(part), int(shared)), upper)
        return total

    def _repetitions(self, node: Repeat, ranges: Ranges) -> float:
        """The fewest occurrences and one more; for one and two, `one_or_two`."""
        lengths, part, overlap = self.lengths(node), self.lengths(node.part), int(node.shares)
        between = self.between(ranges, lengths)
        some = self.found(node.part, Ranges(between, between))
        fits = 1.0 if ranges.is_one_segment else None
        if node.minimum == 1:
            single = selectivity_of_part(lengths, part, self.n_rows) if fits is None else fits
            double = selectivity_of_concatenation(lengths, part, part, overlap) if fits is None else fits
            return one_or_two(some, ranges, between, single, double if node.maximum != 1 else 0.0)
        upper = Lengths(1, lengths.high)
        so_far, total, result = part, some, 0.0
        for number in range(2, node.minimum + 2):
            if node.maximum is not None and number > node.maximum:
                break
            fitting = selectivity_of_concatenation(upper, so_far, part, overlap) if fits is None else fits
            if number >= node.minimum:
                last = selectivity_of_concatenation(lengths, so_far, part, overlap) if fits is None else fits
                result += joined_pairs(total, some, between) * last
            total = joined_pairs(total, some, between) * fitting
            so_far = meet(concatenated(so_far, part, overlap), upper)
            if so_far.low > so_far.high:
                break
        return result * ranges.starts * ranges.ends / between**2


def _flat(node: Both | Either) -> list[Logical]:
    found: list[Logical] = []
    for part in node.parts:
        found += _flat(part) if isinstance(part, Both | Either) and type(part) is type(node) else [part]
    return found


def _flat_concat(node: Concat) -> tuple[list[Logical], list[bool]]:
    parts: list[Logical] = []
    shares: list[bool] = []
    for number, part in enumerate(node.parts):
        if number:
            shares.append(node.shares[number - 1])
        if isinstance(part, Concat):
            inner_parts, inner_shares = _flat_concat(part)
            parts += inner_parts
            shares += inner_shares
        else:
            parts.append(part)
    return parts, shares
