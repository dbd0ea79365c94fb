"""A shared plan in words: every node once, whom it serves, what it costs, and what sharing gains.

The plan is a graph, not a tree. So nodes have names; a node that several others read is shown where it is first read,
and by its name from then on. Of a large workload the nodes that serve most patterns are shown, and the rest is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import BEFORE, STRUCTURAL
from sparkrex.modes.workload.planner.multitree import JoinNode
from sparkrex.tree_text import Branch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.workload.planner.multitree import Multitree, Node
    from sparkrex.modes.workload.wording import Wording

MOST_NODES = 60
"""Shared nodes that are listed."""
MOST_PATTERNS = 12
"""Patterns whose whole plan is shown."""
MOST_NAMES = 6
"""Names of patterns after which the others are counted."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A node of the plan, ready to be shown. `text` are its events, `conditions` what is tested where it is made."""

    number: int
    name: str
    text: str
    conditions: tuple[str, ...]
    children: tuple[int, ...]
    patterns: tuple[str, ...]
    cost: float
    is_root_of: tuple[str, ...]

    @property
    def is_shared(self) -> bool:
        """Whether it serves several patterns."""
        return len(self.patterns) > 1


@dataclass(frozen=True, slots=True)
class _Slots:
    """The events of a node, one for each slot, and which slot comes before which."""

    texts: tuple[str, ...]
    before: frozenset[tuple[int, int]] = frozenset()

    def text(self) -> str:
        """SEQ or AND of the events; where only some are ordered, AND, and which comes before which."""
        n_slots = len(self.texts)
        if n_slots == 1:
            return self.texts[0]
        order = sorted(range(n_slots), key=lambda slot: sum(later == slot for _, later in self.before))
        listed_in_order = ", ".join(self.texts[slot] for slot in order)
        if 2 * len(self.before) == n_slots * (n_slots - 1):
            return f"SEQ({listed_in_order})"
        orders = [f"{self.texts[one]} before {self.texts[other]}" for one, other in sorted(self.before)]
        return f"AND({listed_in_order}{'; ' if orders else ''}{', '.join(orders)})"


def _joined(left: _Slots, right: _Slots, node: JoinNode) -> _Slots:
    n_left = len(left.texts)
    before = {*left.before, *((one + n_left, other + n_left) for one, other in right.before)}
    for link in node.links:
        if link.key == BEFORE:
            pair = (link.left_slot, n_left + link.right_slot)
            before.add(pair if link.is_forward else pair[::-1])
    return _Slots(left.texts + right.texts, frozenset(before))


class Description:
    """All nodes of a plan. `names` are those of the patterns, by number of the clause.

    `absent` has, by pattern, what is tested on its whole matches: components that are negated.
    """

    def __init__(
        self, multitree: Multitree, names: Sequence[str], wording: Wording, absent: Mapping[str, Sequence[str]]
    ) -> None:
        self.names, self.wording, self.absent = tuple(names), wording, absent
        self.nodes: dict[int, Shown] = {}
        self.roots = {number: multitree.root(number) for number in multitree.plans}
        slots: dict[int, _Slots] = {}
        for place, node in enumerate(multitree.nodes()):
            self.nodes[node.number] = self._shown(f"n{place + 1}", node, slots)

    def _shown(self, name: str, node: Node, slots: dict[int, _Slots]) -> Shown:
        conditions: list[str] = []
        children: tuple[int, ...] = ()
        if isinstance(node, JoinNode):
            slots[node.number] = _joined(slots[node.left], slots[node.right], node)
            keys = [link.key for link in node.links] + [joint.key for joint in node.joints]
            conditions = [self.wording.key(key) for key in keys if key not in STRUCTURAL]
            children = (node.left, node.right)
        else:
            slots[node.number] = _Slots((self.wording.leaf(node.label),))
        roots = [self.names[clause] for clause, root in self.roots.items() if root.node == node.number]
        return Shown(
            node.number, name, slots[node.number].text(), tuple(dict.fromkeys(conditions)), children,
            tuple(dict.fromkeys(self.names[clause] for clause in node.served)), node.cost, tuple(dict.fromkeys(roots)),
        )

    def plans(self) -> list[Branch]:
        """The plan of every pattern, or of the first ones."""
        found: list[Branch] = []
        seen: set[int] = set()
        patterns = list(dict.fromkeys(self.names[clause] for clause in sorted(self.roots)))
        for name in patterns[:MOST_PATTERNS]:
            roots = [root.node for clause, root in sorted(self.roots.items()) if self.names[clause] == name]
            trees = [self._tree(root, seen) for root in dict.fromkeys(roots)]
            trees += [Branch(f"without {text}") for text in self.absent.get(name, ())]
            found.append(Branch(name, tuple(trees)))
        if len(patterns) > MOST_PATTERNS:
            found.append(Branch(f"{len(patterns) - MOST_PATTERNS:,} more patterns"))
        return found

    def _tree(self, number: int, seen: set[int]) -> Branch:
        node = self.nodes[number]
        if number in seen and node.children:
            return Branch(f"{node.name} (see above)")
        seen.add(number)
        served = f", serves {listed(node.patterns)}" if node.is_shared and node.children else ""
        tested = f" where {' AND '.join(node.conditions)}" if node.conditions else ""
        text = f"{node.name} {node.text}{tested}, cost {node.cost:,.4g}{served}"
        return Branch(text, tuple(self._tree(child, seen) for child in dict.fromkeys(node.children)))

    def shared(self) -> list[Shown]:
        """The joins that serve several patterns, those that serve most first."""
        found = [node for node in self.nodes.values() if node.children and node.is_shared]
        return sorted(found, key=lambda node: (-len(node.patterns), -node.cost, node.number))

    def shared_lines(self) -> Branch:
        """Them as a list."""
        shared = self.shared()
        lines = [
            Branch(
                f"{node.name} {node.text}{f' where {_all(node)}' if node.conditions else ''}: serves "
                f"{listed(node.patterns)}, cost {node.cost:,.4g}"
            )
            for node in shared[:MOST_NODES]
        ]
        if len(shared) > MOST_NODES:
            lines.append(Branch(f"{len(shared) - MOST_NODES:,} more"))
        return Branch(f"{len(shared):,} shared sub-pattern{'' if len(shared) == 1 else 's'}", tuple(lines))

    def dispatch(self) -> Branch:
        """Which leaves an event goes to, by its type, and which nodes read each."""
        readers: dict[int, list[str]] = {}
        for node in self.nodes.values():
            for child in dict.fromkeys(node.children):
                readers.setdefault(child, []).append(node.name)
        leaves = [node for node in self.nodes.values() if not node.children]
        lines = [
            Branch(f"{node.text}: {node.name}" + (f", read by {listed(readers[node.number])}" if node.number in readers
                   else "")) for node in leaves[:MOST_NODES]
        ]
        if len(leaves) > MOST_NODES:
            lines.append(Branch(f"{len(leaves) - MOST_NODES:,} more"))
        return Branch("events go to", tuple(lines))


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES:,} more"


def _all(node: Shown) -> str:
    return " AND ".join(node.conditions)
