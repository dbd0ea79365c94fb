"""Event queries over letters, by hand: the tuples that kernels take, and what is a match by the definition.

An event is a letter with a number `x` and a time. A pattern is a line of components, `A B+ C?`, each an event of its
letter; `B=` must have the x of the last A. `~B` must be absent: between two components, before or behind all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.modes.events.building import seq

from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import (
    Absences,
    Apart,
    Automaton,
    Cells,
    Events,
    Options,
    Plan,
    Reads,
    Tests,
    Values,
)
from sparkrex.modes.events.kernels.codes import ANY as ANY
from sparkrex.modes.events.kernels.codes import CONTIGUITY, NEXT
from sparkrex.modes.events.kernels.matches import new_records
from sparkrex.modes.events.kernels.merge import INT_AT
from sparkrex.modes.events.kernels.windows import first_rows, last_rows, next_set
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.events.kernels.arguments import Records

STRATEGIES = [CONTIGUITY, NEXT, ANY]
PATTERNS = ["A", "A B", "A B+", "A B+ C", "A+ B C", "A B? C", "A B* C+", "A+", "A B C", "A B= C", "A B+= C", "A+ B= C="]
NO_ROWS = np.empty(0, np.int64)
ENDLESS = 1 << 40
EventRows = tuple[tuple[int, int], ...]
"""A match: row and label of its events."""


def budget(most: int = ENDLESS, *, given_up: bool = False) -> Any:
    return np.array([0, most, int(given_up)])


@dataclass(frozen=True)
class Stream:
    """Letters, numbers and ascending times of all events; partitions; how long a window is."""

    text: str
    x: Any
    times: Any
    offsets: tuple[int, ...]
    window: int
    has_ties: bool = False

    @property
    def n_rows(self) -> int:
        return len(self.text)

    @property
    def ties(self) -> Any:
        """A number by row that rises with the time, if tied events may not follow each other."""
        return self.times.astype(np.int64) if self.has_ties else NO_ROWS

    def follows(self, before: int, row: int) -> bool:
        """Whether an event is later than another."""
        return row > before and not (self.has_ties and self.times[row] == self.times[before])

    def is_within(self, first: int, last: int) -> bool:
        return bool(self.times[last] - self.times[first] <= self.window)


def drawn_stream(seed: int, most: int = 9, n_partitions: int = 1) -> Stream:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, most + 1, n_partitions)
    n = int(sizes.sum())
    text = "".join(generator.choice(list("abc"), n, p=[0.4, 0.4, 0.2]))
    times = np.concatenate([np.empty(0), *(np.cumsum(generator.integers(0, 3, size)) for size in sizes)])
    offsets = tuple(np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist())
    window = [100, 5, 2][seed % 3]
    return Stream(text, generator.integers(0, 2, n), times, offsets, window, has_ties=seed % 4 == 1)


@dataclass(frozen=True)
class Query:
    """A pattern and a strategy over a stream."""

    pattern: str
    strategy: int
    stream: Stream

    @property
    def components(self) -> list[str]:
        return [word for word in self.pattern.split() if not word.startswith("~")]

    @property
    def absent(self) -> list[str]:
        """Letters of negated components."""
        return [word[1].lower() for word in self.pattern.split() if word.startswith("~")]

    @property
    def letters(self) -> list[str]:
        """By variable."""
        return [word[0].lower() for word in self.components]

    @property
    def joined(self) -> list[bool]:
        """By variable, whether its x is that of the last A."""
        return [word.endswith("=") for word in self.components]

    @cached_property
    def automaton(self) -> Any:
        words = [word.rstrip("=") for word in self.components]
        return compile_automaton(seq(*(f"{word} v{k}" for k, word in enumerate(words))), Source(self.pattern))

    @cached_property
    def before(self) -> list[set[int]]:
        """By negated component the variables before it."""
        words = self.pattern.split()
        places = [k for k, word in enumerate(words) if word.startswith("~")]
        return [set(range(sum(not word.startswith("~") for word in words[:place]))) for place in places]

    # -- as kernels take it --------------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> Automaton:
        automaton = self.automaton
        offsets = np.concatenate([[0], np.cumsum([len(edges) for edges in automaton.edges])]).astype(np.int64)
        edges = [edge for own in automaton.edges for edge in own]
        variables = [-1, *(int(position.variable[1:]) for position in automaton.positions)]
        return Automaton(
            offsets, np.array([edge.target for edge in edges], np.int64),
            np.array([variables[edge.target] for edge in edges], np.int64),
            np.array([edge.is_take for edge in edges], np.uint8),
            np.array([any(edge.is_take for edge in own) for own in automaton.edges], np.uint8),
            np.array(variables, np.int64), np.array([-1 if accepts else -2 for accepts in automaton.accepts]),
        )

    @property
    def has_records(self) -> bool:
        return any(self.joined)

    @property
    def initial(self) -> tuple[Any, Any]:
        """The record of no events: the row of the last A."""
        return np.full(int(self.has_records), -1, np.int64), np.empty(0)

    def records(self, n_records: int) -> Records:
        made: Records = new_records(self.initial, n_records)
        return made

    @cached_property
    def tests(self) -> Tests:
        """Conditions are numbered as variables are, then as negated components."""
        stream, letters = self.stream, self.letters + self.absent
        bitmaps = np.array([[letter == own for letter in stream.text] for own in letters], np.uint8)
        joined = self.joined + [False] * len(self.absent)
        return Tests(
            np.arange(len(letters)), bitmaps.reshape(len(letters), stream.n_rows), np.zeros(len(letters), np.int64),
            np.array(joined, np.int64),
        )

    def values(self) -> Values:
        n_rows, n_ints = self.stream.n_rows, len(self.initial[0])
        nothing, machine_bits = np.zeros(1, np.uint8), np.zeros(2, np.uint8)
        machine = m.Machine(
            np.array([[m.EQ_I, m.TEST, m.COLUMN, 0, 0, m.TARGET, 0, 0, 0]]), np.array([[p.LAST_OF_SET, 0, 0, 0]]),
            np.zeros((0, 3), np.int64), NO_ROWS, np.empty(0), np.zeros(1, np.int64), np.ones(1, np.uint8), np.zeros(1),
            nothing, np.zeros(2, np.int64), np.zeros(2), machine_bits, np.zeros(1, np.int64),
        )
        floats = np.zeros((0, n_rows))
        columns = m.ReadColumns(
            self.stream.x.astype(np.int64).reshape(1, n_rows), np.zeros((1, n_rows), np.uint8), nothing, floats,
            np.zeros((0, n_rows), np.uint8), np.empty(0, np.uint8),
        )
        is_read = np.array([self.has_records and letter == "a" for letter in self.letters], np.int64)
        updates = np.array([[p.LAST_ROW, 0, 0, 0, 0, -1]] * int(is_read.sum()), np.int64).reshape(-1, 6)
        path = (
            updates, np.concatenate([[0], np.cumsum(is_read)]).astype(np.int64), np.empty((2, n_ints), np.int64),
            np.empty((2, 0)),
        )
        return Values(self.tests, machine, Cells(columns, floats.view(np.int64)), path, np.empty(0, np.int16))

    @cached_property
    def events(self) -> Events:
        stream = self.stream
        offsets = np.array(stream.offsets)
        can_start = np.zeros(stream.n_rows, np.uint8)
        for edge in self.automaton.edges[0]:
            can_start |= self.tests.bitmaps[self.tables.state_variable[edge.target]]
        return Events(first_rows.interpreted(stream.times, offsets, float(stream.window)), stream.ties, can_start)

    @cached_property
    def absences(self) -> Absences:
        stream = self.stream
        n_variables, n_absent = len(self.letters), len(self.absent)
        candidates = [next_set.interpreted(self.tests.bitmaps[n_variables + k]) for k in range(n_absent)]
        side = np.array([[v in names for v in range(n_variables)] for names in self.before], np.uint8)
        edges = [(state, edge.target) for state, own in enumerate(self.automaton.edges) for edge in own]
        variable = self.tables.state_variable
        asked = [
            [k for k, names in enumerate(self.before) if state and variable[state] in names
             and variable[target] not in names]
            for state, target in edges
        ]
        at_end = [k for k, names in enumerate(self.before) if self._may_be_outside(names)]
        return Absences(
            np.arange(n_absent) + n_variables, side.reshape(n_absent, n_variables),
            np.array(candidates, np.int64).reshape(n_absent, stream.n_rows + 1), self.events.window_first,
            last_rows.interpreted(stream.times, np.array(stream.offsets), float(stream.window)),
            np.array(at_end, np.int64), np.concatenate([[0], np.cumsum([len(own) for own in asked])]).astype(np.int64),
            np.array([k for own in asked for k in own], np.int64), np.zeros(len(self.automaton.edges) + 1, np.int64),
            NO_ROWS, np.empty((0, 3), np.int64),
        )

    def _may_be_outside(self, names: set[int]) -> bool:
        """Whether a match may have no event before, or none behind, a negated component."""
        can_be_left_out = [word.rstrip("=").endswith(("*", "?")) for word in self.components]
        behind = set(range(len(self.letters))) - names
        return all(can_be_left_out[v] for v in names) or all(can_be_left_out[v] for v in behind)

    def plan(self, *, merges: bool = False, only_first: bool = False, keeps_best: bool | None = None) -> Plan:
        n_states = len(self.automaton.edges)
        n_reads = int(self.has_records)
        # Whatever the state, runs agree in the x of the last A.
        reads = Reads(np.arange(n_states + 1) * n_reads, np.array([[INT_AT, 0, 0]] * n_states * n_reads, np.int64)
                      .reshape(-1, 3))
        absences = self.absences
        gaps = [
            [k for k, names in enumerate(self.before) if state and self.tables.state_variable[state] in names]
            for state in range(n_states)
        ]
        apart = Apart(
            np.concatenate([[0], np.cumsum([len(own) for own in gaps])]).astype(np.int64),
            np.array([k for own in gaps for k in own], np.int64), np.zeros(len(self.absent), np.uint8),
            bool(len(absences.at_end)) or only_first, only_first if keeps_best is None else keeps_best,
            absences.next_candidate, absences.postponed, np.empty((0, self.stream.n_rows), np.int64),
        )
        most_edges = max(len(edges) for edges in self.automaton.edges)
        options = Options(np.int64(self.strategy), merges, only_first, False, True, np.int64(most_edges))
        return Plan(self.tables, self.events, options, reads, apart, self.values())

    # -- by the definition ---------------------------------------------------------------------------------------

    def holds(self, variable: int, row: int, selected: EventRows) -> bool:
        """Whether an event may be selected for a variable by a run."""
        stream = self.stream
        if stream.text[row] != self.letters[variable]:
            return False
        if not self.joined[variable]:
            return True
        rows = [k for k, label in selected if self.letters[label] == "a"]
        return bool(rows) and bool(stream.x[row] == stream.x[rows[-1]])

    def matches(self) -> list[EventRows]:
        """All matches, one start after the other, each by following its runs; without those that are forbidden."""
        found: list[EventRows] = []
        for low, high in pairwise(self.stream.offsets):
            for first in range(low, high):
                found += self._of_run(0, (), first, high)
        return sorted(match for match in found if not self.is_forbidden(match))

    def _of_run(self, state: int, selected: EventRows, row: int, high: int) -> Iterator[EventRows]:
        stream = self.stream
        if row >= high or not stream.is_within(selected[0][0] if selected else row, row):
            return
        if selected and not stream.follows(selected[-1][0], row):
            if self.strategy != CONTIGUITY:
                yield from self._of_run(state, selected, row + 1, high)
            return
        followed = []
        for edge in self.automaton.edges[state]:
            variable = int(self.tables.state_variable[edge.target])
            if self.holds(variable, row, selected):
                followed.append(edge)
                longer = (*selected, (row, variable))
                if self.automaton.accepts[edge.target]:
                    yield longer
                yield from self._of_run(edge.target, longer, row + 1, high)
        has_take = any(edge.is_take for edge in self.automaton.edges[state])
        is_left = any(edge.is_take for edge in followed) if has_take else bool(followed)
        if selected and (self.strategy == ANY or (self.strategy == NEXT and not is_left)):
            yield from self._of_run(state, selected, row + 1, high)

    def is_forbidden(self, match: EventRows) -> bool:
        """Whether an event that must be absent stands where its component does."""
        return any(self.forbids(k, match) for k in range(len(self.absent)))

    def forbids(self, k: int, match: EventRows) -> bool:
        """Whether negated component k forbids a match: between its neighbours, or inside the window of the match."""
        stream = self.stream
        [(low, high)] = [(a, b) for a, b in pairwise(stream.offsets) if a <= match[0][0] < b]
        left = [row for row, label in match if label in self.before[k]]
        right = [row for row, label in match if label not in self.before[k]]
        for row in range(low, high):
            is_behind = stream.follows(left[-1], row) if left else stream.is_within(row, match[-1][0])
            is_before = stream.follows(row, right[0]) if right else stream.is_within(match[0][0], row)
            if is_behind and is_before and stream.text[row] == self.absent[k]:
                return True
        return False


def any_matches(query: Query) -> list[EventRows]:
    """Under skip-till-any-match: every choice of events that the pattern spells, without following runs."""
    found: set[EventRows] = set()
    for low, high in pairwise(query.stream.offsets):
        for n_events in range(1, high - low + 1):
            for rows in combinations(range(low, high), n_events):
                follow = all(query.stream.follows(a, b) for a, b in pairwise(rows))
                if follow and query.stream.is_within(rows[0], rows[-1]):
                    found.update(_spelled(query, rows))
    return sorted(match for match in found if not query.is_forbidden(match))


def _spelled(query: Query, rows: tuple[int, ...]) -> Iterator[EventRows]:
    """Ways to give the rows to components, one after the other."""

    def give(place: int, component: int, match: EventRows, n_own: int) -> Iterator[EventRows]:
        words = [word.rstrip("=") for word in query.components]
        if component == len(words):
            if place == len(rows):
                yield match
            return
        mark = words[component][1:]
        if n_own >= (0 if mark in ("*", "?") else 1):
            yield from give(place, component + 1, match, 0)
        if place < len(rows) and (n_own == 0 or mark in ("*", "+")) and query.holds(component, rows[place], match):
            yield from give(place + 1, component, (*match, (rows[place], component)), n_own + 1)

    yield from give(0, 0, (), 0)


assert codes.N_FIELDS == 6  # of the runs that tests write by hand
