"""A search by `nfab.advance` over letters: room for all that it writes, and the matches out of its buffer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.kernels.forms import in_form
from tests.modes.events.kernels.buffers import copy_to_front
from tests.modes.events.kernels.letters import ENDLESS, EventRows, Query, budget

from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import Ends, Lookup, Matches, Nodes, Partitions, Records, Walk, Work
from sparkrex.modes.events.kernels.lookup import INT_KEY
from sparkrex.modes.events.kernels.matches import revive, write
from sparkrex.modes.events.kernels.nfab import advance

if TYPE_CHECKING:
    from sparkrex.modes.events.kernels.arguments import Plan

ROOM = 1_200


class Search:
    """`run` once, or again after it asked for room."""

    def __init__(
        self, query: Query, form: str = "interpreted", *, merges: bool = False, looks_up: bool = False,
        only_first: bool = False, is_open: bool = False, room: int = ROOM, before: Search | None = None,
        steps: Any = None,
    ) -> None:
        self.query, self.form = query, form
        self.plan: Plan = query.plan(merges=merges, only_first=only_first)
        self.absences = query.absences if query.absent else None
        self.lookup = lookup_of(query, room) if looks_up else None
        self.budget = budget() if steps is None else steps
        self.at = np.zeros(codes.N_PLACES, np.int64)
        self.statistics = np.zeros(codes.N_STATISTICS, np.int64)
        self.work = work_of(query, room, self.lookup)
        low, high = (np.array(query.stream.offsets[k:][: len(query.stream.offsets) - 1]) for k in range(2))
        runs, n_runs = np.empty((codes.N_FIELDS, 0), np.int64), 0
        unseen = low.copy()
        if before is not None:
            n_runs = int(before.at[codes.N_LEFT])
            runs = before.work.left[:, :n_runs].copy()
            unseen[:] = before.query.stream.n_rows
            n_nodes = int(before.at[codes.N_NODES])
            copy_to_front((array[:n_nodes] for array in before.work.nodes), self.work.nodes)
            self.at[codes.N_NODES] = self.at[codes.N_KEPT_NODES] = n_nodes
        records = query.records(n_runs + 1)
        self.partitions = Partitions(
            low, high, unseen, low.copy() if is_open else high.copy(), np.full(len(low), -1),
            np.array([0, *[n_runs] * len(low)]), runs, records.ints, records.floats,
        )
        assert in_form(revive, form)(runs, self.work.nodes, self.plan.values, records) == -1
        if before is not None:
            self.partitions.blocked[:] = before.partitions.blocked

    def run(self) -> int:
        return int(in_form(advance, self.form)(
            self.at, self.partitions, self.work, self.plan, self.absences, self.lookup, self.budget, self.statistics
        ))

    def more_room(self, factor: int = 2) -> None:
        """As a search makes it: what is there stays."""
        def longer(array: Any, axis: int) -> Any:
            shape = list(array.shape)
            shape[axis] = factor * shape[axis] + 8
            larger = np.zeros(shape, array.dtype)
            larger[tuple(slice(size) for size in array.shape)] = array
            return larger

        work = self.work
        floats = longer(work.records.floats, 0)
        self.work = Work(
            longer(work.runs, 2), longer(work.left, 1), longer(work.free, 0),
            np.full(2 ** (2 * work.table.shape[0] - 1).bit_length(), -1), longer(work.used, 0),
            Nodes._make(longer(array, 0) for array in work.nodes), Ends._make(longer(array, 0) for array in work.ends),
            Records(longer(work.records.ints, 0), floats, floats.view(np.int64)),
        )
        if self.lookup is not None:
            self.lookup = self.lookup._replace(hits=longer(self.lookup.hits, 1))

    def matches(self) -> list[EventRows]:
        """All matches of the ends, in the order in which they are written."""
        return written(self.work.ends, int(self.at[codes.N_ENDS]), self.work.nodes, self.form)[0]

    def is_open(self) -> list[bool]:
        return written(self.work.ends, int(self.at[codes.N_ENDS]), self.work.nodes, self.form)[1]


def work_of(query: Query, room: int, lookup: Lookup | None) -> Work:
    sides, fields = (2, codes.N_FIELDS) if lookup is None else (3, codes.N_FIELDS + 1)
    rows, labels = np.full((4, room), -9), np.full(room, -9, np.int16)
    return Work(
        np.full((sides, fields, room), -9), np.full((codes.N_FIELDS, room), -9), np.full(room + 2, -9),
        np.full(2 ** (2 * room).bit_length(), -1), np.full(room, -9),
        Nodes(rows[0].copy(), labels, rows[1].copy(), rows[2].copy(), rows[3].copy()),
        Ends(rows[0].copy(), rows[1].copy(), rows[2].copy(), np.zeros(room, np.uint8)), query.records(room + 1),
    )


def lookup_of(query: Query, room: int) -> Lookup:
    """Runs are looked up by the x of the last A where an edge of their state compares with it."""
    tables, joined = query.tables, query.joined
    n_states = len(query.automaton.edges)
    kinds, columns = np.zeros(n_states, np.int64), []
    for state, edges in enumerate(query.automaton.edges):
        own = [joined[tables.state_variable[edge.target]] for edge in edges]
        kinds[state] = INT_KEY if state and any(own) else 0
        columns += [0 if state and is_joined else -1 for is_joined in own]
    return Lookup(
        kinds, np.zeros(n_states, np.int64), np.zeros(n_states, np.int64), np.array(columns, np.int64),
        np.zeros(n_states, np.int64), np.zeros(n_states, np.int64), np.empty((2, room + 1), np.int64),
    )


def written(ends: Ends, n_ends: int, nodes: Nodes, form: str = "interpreted") -> tuple[list[EventRows], list[bool]]:
    """All matches of some ends, and whether they are open."""
    n_events = 40_000
    output = Matches(
        np.empty(n_events, np.int64), np.empty(n_events, np.int16), np.zeros(n_events, np.int64),
        np.empty(n_events, np.uint8), np.zeros(2, np.int64),
    )
    walk = Walk(np.empty(900, np.int64), np.empty(900, np.int16), np.empty(900, np.int64), np.empty(900, np.int64))
    cursor = np.array([0, 0, -1, 0])
    result = in_form(write, form)(
        cursor, ends, np.int64(n_ends), nodes, walk, output, np.int64(ENDLESS), budget()
    )
    assert result == 0
    n_matches = int(output.counts[0])
    events = list(zip(*(column[: output.counts[1]].tolist() for column in output[:2]), strict=True))
    cuts = output.offsets[: n_matches + 1].tolist()
    return [tuple(events[a:b]) for a, b in pairwise(cuts)], output.is_open[:n_matches].astype(bool).tolist()
