"""A shared plan made ready to run: the nodes of a multitree with their links as lines of numbers.

What depends on the rows, where keys stand and which events a leaf has, is filled in for each segment (`arrays`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.workload.joining import JoinLines, join_lines
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.kernels import matches as match_codes
from sparkrex.modes.workload.lines import Lines
from sparkrex.modes.workload.planner.multitree import JoinNode, LeafNode
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.normal_form import ClauseForm, PatternForm
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.symbols import Formula, Symbols
    from sparkrex.source import Source

Window = tuple[bool, float | None]
"""Whether it counts events, and its size."""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A node of the plan: what it has in each slot, its window, and what the host tests on its instances.

    `labels` are those of the slots. `keeps` if its instances are needed again: by joins, or by a Kleene itself. `order`
    has pairs of slots of which the first is before the second. `keys` are the columns of keys that joins look it up by:
    slot, line, which event.
    """

    number: int
    window: Window
    labels: tuple[int, ...]
    slots_are_kleene: tuple[bool, ...]
    keeps: bool
    order: frozenset[tuple[int, int]] = frozenset()
    join: JoinLines | None = None
    left: int = -1
    right: int = -1
    formulas: tuple[tuple[tuple[int, ...], Formula], ...] = ()
    keys: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def is_kleene(self) -> bool:
        """Whether it is the leaf of a Kleene."""
        return self.join is None and self.slots_are_kleene[0]

    @property
    def kind(self) -> int:
        """As kernels number kinds."""
        return codes.JOIN if self.join is not None else codes.KLEENE if self.is_kleene else codes.LEAF


@dataclass(frozen=True, eq=False, slots=True)
class ClauseRoot:
    """Where the matches of a clause come from: the place of a node, and the slots of the clause's items.

    `absences` are the conditions of its negated components, as `kernels.matches.reject` reads them but with lines in
    the place of keys.
    """

    pattern: int
    form: ClauseForm
    node: int
    slots: tuple[int, ...]
    window: Window
    absences: tuple[NDArray[np.int64], ...]
    clause: int
    """Its number among all clauses, whatever the plan."""


class Prepared:
    """The patterns of one group and their plan."""

    def __init__(self, patterns: tuple[PatternForm, ...], symbols: Symbols, multitree: Multitree) -> None:
        self.patterns, self.symbols, self.multitree = patterns, symbols, multitree
        self.source: Source = patterns[0].query.source
        self.has_strict_ties = patterns[0].query.has_strict_ties
        self.lines = Lines(symbols, self.source, patterns[0].query.span)
        self.nodes = self._make_nodes()
        self.roots = self._make_roots()
        self.root_of = np.argsort([root.clause for root in self.roots])
        """The root of each clause."""
        self.windows = list(dict.fromkeys(
            [node.window for node in self.nodes] + [root.window for root in self.roots] or [(False, None)]
        ))
        queries = [pattern.query for pattern in patterns]
        self._query_of: dict[Window, EventQuery] = {window_of(query): query for query in queries}
        self.kernel_nodes, self.kernel_links, self.kernel_keys = self._tables()
        self.kernel_roots = self._root_tables()
        self.width = max((len(node.labels) for node in self.nodes), default=0)
        """The most slots that a node has."""
        self.patterns_of_kleene: dict[int, set[int]] = {}
        """The patterns that have a leaf, by its label, for those of Kleenes."""
        for root in self.roots:
            for item in root.form.clause.items:
                if item.is_kleene:
                    label = int(item.label)  # type: ignore[call-overload]  # of these symbols
                    self.patterns_of_kleene.setdefault(label, set()).add(root.pattern)

    def query_of(self, window: Window) -> EventQuery:
        """A query that has the window."""
        found = self._query_of.get(window)
        return replace(self.patterns[0].query, window=None) if found is None else found

    def _make_nodes(self) -> list[Node]:
        nodes: list[Node] = []
        planned = list(self.multitree.nodes())
        places = {node.number: place for place, node in enumerate(planned)}
        read = {child for node in planned if isinstance(node, JoinNode) for child in (node.left, node.right)}
        for node in planned:
            keeps = node.number in read
            if isinstance(node, LeafNode):
                label = int(node.label)  # type: ignore[call-overload]  # of these symbols
                leaf = self.symbols.leaves[label]
                window = (leaf.counts_events, node.window)
                nodes.append(Node(node.number, window, (label,), (leaf.is_kleene,), keeps or leaf.is_kleene))
                continue
            left, right = nodes[places[node.left]], nodes[places[node.right]]
            made = join_lines(node, left, right, self.symbols, self.lines, self.multitree.statistics)
            nodes.append(Node(
                node.number, (left.window[0], node.window), left.labels + right.labels,
                left.slots_are_kleene + right.slots_are_kleene, keeps, made.order, made, places[node.left],
                places[node.right], tuple(made.formulas),
            ))
        return nodes

    def _make_roots(self) -> list[ClauseRoot]:
        places = {node.number: place for place, node in enumerate(self.nodes)}
        roots = []
        forms = [(number, form) for number, pattern in enumerate(self.patterns) for form in pattern.clauses]
        for clause, (pattern, form) in enumerate(forms):
            root = self.multitree.root(clause)
            node = places[root.node]
            window = (self.nodes[node].window[0], form.clause.window)
            roots.append(ClauseRoot(pattern, form, node, root.slots, window, self._absence_tables(form), clause))
        return sorted(roots, key=lambda one: one.node)  # so that those of one node stand together

    def _absence_tables(self, form: ClauseForm) -> tuple[NDArray[np.int64], ...]:
        tables = []
        for absence in form.absences:
            table = []
            for condition in absence.conditions:
                item = int(form.clause.items[condition.item].label)  # type: ignore[call-overload]
                line = self.lines.number((condition.left, item), (condition.right, absence.label), None, None)
                table.append([link_codes.CODES[condition.operator], condition.item, line, 0, line + 1, 0])
            tables.append(np.array(table, np.int64).reshape(len(table), match_codes.N_CONDITION_FIELDS))
        return tuple(tables)

    def _tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Nodes, links and columns of keys as kernels read them, with lines in the place of where these stand."""
        for node in self.nodes:
            if node.join is not None and node.join.way != codes.ALL:
                for child, key in ((node.left, node.join.left_key), (node.right, node.join.right_key)):
                    if key not in self.nodes[child].keys:
                        self.nodes[child].keys.append(key)
        table = np.zeros((len(self.nodes), codes.N_NODE_FIELDS), np.int64)
        links: list[tuple[int, ...]] = []
        keys: list[tuple[int, int, int, int]] = []
        for line, node in zip(table, self.nodes, strict=True):
            line[codes.KIND], line[codes.N_SLOTS] = node.kind, len(node.labels)
            line[codes.WINDOW], line[codes.KEEPS] = self.windows.index(node.window), node.keeps
            line[codes.HAS_FORMULAS] = bool(node.formulas)
            line[codes.KEYS_BEGIN] = len(keys)
            keys += [(slot, at, 0, reads) for slot, at, reads in node.keys]
            line[codes.KEYS_END] = len(keys)
            if node.join is not None:
                self._fill_join(line, node, node.join)
                line[codes.LINKS_BEGIN] = len(links)
                links += node.join.links
                line[codes.LINKS_END] = len(links)
        nodes_of_roots = np.array([root.node for root in self.roots], np.int64)
        table[:, codes.ROOTS_BEGIN] = np.searchsorted(nodes_of_roots, np.arange(len(table)))
        table[:, codes.ROOTS_END] = np.searchsorted(nodes_of_roots, np.arange(len(table)), side="right")
        return (
            table, np.array(links, np.int64).reshape(len(links), link_codes.N_COLUMNS),
            np.array(keys, np.int64).reshape(len(keys), codes.N_KEY_FIELDS),
        )

    def _root_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Roots, and the slots of their items."""
        table = np.zeros((len(self.roots), codes.N_ROOT_FIELDS), np.int64)
        slots: list[int] = []
        for line, root in zip(table, self.roots, strict=True):
            line[:] = self.windows.index(root.window), len(root.slots), len(slots)
            slots += root.slots
        return table, np.array(slots, np.int64)

    def _fill_join(self, line: NDArray[np.int64], node: Node, join: JoinLines) -> None:
        line[codes.LEFT], line[codes.RIGHT] = node.left, node.right
        line[codes.LEFT_ENDS], line[codes.RIGHT_ENDS] = join.left_ends, join.right_ends
        line[codes.ORDER], line[codes.WAY], line[codes.OPERATOR] = join.side_order, join.way, join.operator
        if join.way != codes.ALL:
            for field, child, key in (
                (codes.LEFT_KEY, node.left, join.left_key), (codes.RIGHT_KEY, node.right, join.right_key)
            ):
                own = self.nodes[child]
                line[field] = codes.VALUES + len(own.labels) + own.keys.index(key)


def window_of(query: EventQuery) -> Window:
    """The window of a query."""
    window = query.window
    if window is None:
        return False, None
    return window.unit is WindowUnit.EVENTS, float(window.size)
