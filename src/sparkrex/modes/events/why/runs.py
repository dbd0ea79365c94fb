"""The viable runs of starts, all of one length at a time, and what blocks those that need least, within a bound.

Runs come in order of preference, the shorter first; of two of one length the one whose first other event is earlier, or
of the variable that PATTERN names first. So whatever is noted first is noted under the preferred run. What the bound
leaves out is said: a start of which runs were dropped needs at most the events that were found, and has at least the
blockers that were found.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.nfab.conditions import ALWAYS
from sparkrex.modes.events.plan import Strategy
from sparkrex.modes.events.why.case import Case, Run, between
from sparkrex.reasons.answer import Barrier
from sparkrex.reasons.conditions import missed_by, take_apart, truth_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.events.why.case import Tested

MOST_RUNS = 500
"""Of one start and length; those that need more, and of these the less preferred ones, are dropped beyond."""
MOST_TESTS = 500_000
"""Of events, for all starts together."""
_COST_OF_A_LENGTH = 500
"""A query takes as long as so many tests."""
_STARTS_AT_ONCE = 200
_NEVER = 1 << 40
"""The need of a start of which no run is known yet."""
_CONTIGUOUS = (Strategy.STRICT, Strategy.PARTITION)

Key: TypeAlias = "tuple[int, int, Barrier]"
"""A position, the number of a variable, and what was in the way there."""


@dataclass(slots=True)
class Blocking:
    """What blocked, under the preferred run: the condition by number, if one did, and by how much it was missed."""

    run: Run
    condition: int | None = None
    missed_by: float = np.nan


@dataclass(slots=True)
class Found:
    """What is known of a start."""

    need: int
    is_exact: bool = True
    blockers: dict[Key, Blocking] = field(default_factory=dict)


class RunSearch:
    """The runs of starts that begin no match."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.found: dict[int, Found] = {}
        self.left = MOST_TESTS

    def search(self, starts: Sequence[int]) -> dict[int, Found]:
        """By start, what is known of it."""
        for begin in range(0, len(starts), _STARTS_AT_ONCE):
            block = starts[begin : begin + _STARTS_AT_ONCE]
            for start in block:
                self.found[start] = Found(_NEVER)
            level = self._begin(block)
            while level:
                self._lower_needs(level)
                level = self._bounded(level)
                self._look_at_complete([run for run in level if self.case.needs[run.state] == 0])
                level = self._go_on(level)
            self._measure(block)
        return self.found

    # -- runs ----------------------------------------------------------------------------------------------------

    def _begin(self, starts: Sequence[int]) -> list[Run]:
        """The runs of one event. Where an event begins none, what refused it are the blockers."""
        case, empty = self.case, Run()
        in_window = [start for start in starts if case.window_first[start] <= start]
        beyond = set(starts) - set(in_window)
        edges = self._edges(0)
        holds = self._where_true([(empty, number, start, start) for start in starts for _, number, _ in edges])
        level = []
        for at, start in enumerate(starts):
            runs = [
                Run((start,), (target,)) for place, (target, _, _) in enumerate(edges)
                if len(holds[at * len(edges) + place]) and start not in beyond
            ]
            level += runs
            if not runs:
                self.found[start].need = case.needs[0]
            for target, number, _ in edges if not runs else ():
                if self._is_of_type(start, case.variable_of[target]):
                    barrier = Barrier.EXPIRED if start in beyond else Barrier.CONDITION
                    self._note(start, target, start, barrier, empty, number)
        return level

    def _go_on(self, level: list[Run]) -> list[Run]:
        """The runs of one event more. What refused those that need least is noted."""
        bounds = [self._reach(run) for run in level]
        edges = [self._edges(run.state) for run in level]
        holds = iter(self._where_true([
            (run, number, low, high)
            for run, (low, high), of_run in zip(level, bounds, edges, strict=True) for _, number, _ in of_run
        ]))
        longer: list[Run] = []
        for run, (low, high), of_run in zip(level, bounds, edges, strict=True):
            rows = [next(holds) for _ in of_run]
            stop = self._stop(of_run, rows)
            reach = high if stop is None else stop
            steps = sorted(
                (row, place) for place, one in enumerate(rows) for row in between(one, low, reach).tolist()
            )
            longer += [Run((*run.rows, row), (*run.states, of_run[place][0])) for row, place in steps]
            if self.case.needs[run.state] == self.found[run.rows[0]].need:
                self._refused(run, of_run, rows, low, reach, is_stopped=stop is not None)
        return longer

    def _edges(self, state: int) -> list[tuple[int, int, bool]]:
        """Target, number of the condition, and whether it takes one more of an array; by variable."""
        case = self.case
        edges = [
            (edge.target, number, edge.is_take)
            for edge, number in zip(case.automaton.edges[state], case.conditions.edges[state], strict=True)
        ]
        return sorted(edges, key=lambda edge: case.variable_of[edge[0]])

    def _reach(self, run: Run) -> tuple[int, int]:
        """The first and the last event that may come next, if no event must be taken between."""
        case, last = self.case, run.rows[-1]
        low, high = case.behind(last), int(min(case.window_last[run.rows[0]], case.end_of(last) - 1))
        return low, min(high, last + 1) if case.query.strategy in _CONTIGUOUS else high

    def _stop(self, edges: list[tuple[int, int, bool]], rows: list[NDArray[np.int64]]) -> int | None:
        """The event that a run under skip till next match may not ignore, None if it may ignore all."""
        if self.case.query.strategy is not Strategy.NEXT:
            return None
        has_take = any(is_take for _, _, is_take in edges)
        first = [int(one[0]) for one, (_, _, is_take) in zip(rows, edges, strict=True)
                 if len(one) and (is_take or not has_take)]
        return min(first, default=None)

    def _where_true(self, asked: list[tuple[Run, int, int, int]]) -> list[NDArray[np.int64]]:
        """For every run and condition the events in a range at which it is TRUE."""
        found = [self.case.candidates(number, low, high) for _, number, low, high in asked]
        self.left -= len(asked) + sum(map(len, found)) + _COST_OF_A_LENGTH
        of_condition: defaultdict[int, list[int]] = defaultdict(list)
        for place, (_, number, _, _) in enumerate(asked):
            if number in self.case.contexts and len(found[place]):
                of_condition[number].append(place)
        for number, places in of_condition.items():
            tested: list[Tested] = [(asked[place][0], row) for place in places for row in found[place].tolist()]
            (values,) = self.case.evaluate_at(tested)([self.case.contexts[number]])
            cuts = np.cumsum([len(found[place]) for place in places])[:-1]
            for place, holds in zip(places, np.split(truth_of(values), cuts), strict=True):
                found[place] = found[place][holds]
        return found

    def _bounded(self, level: list[Run]) -> list[Run]:
        """Without the runs beyond the bound."""
        if self.left <= 0:
            for run in level:
                self.found[run.rows[0]].is_exact = False
            return []
        of_start: defaultdict[int, list[int]] = defaultdict(list)
        for place, run in enumerate(level):
            of_start[run.rows[0]].append(place)
        dropped: set[int] = set()
        for start, places in of_start.items():
            if len(places) > MOST_RUNS:
                self.found[start].is_exact = False
                dropped.update(sorted(places, key=lambda place: self.case.needs[level[place].state])[MOST_RUNS:])
        return [run for place, run in enumerate(level) if place not in dropped]

    # -- blockers ------------------------------------------------------------------------------------------------

    def _lower_needs(self, level: list[Run]) -> None:
        """Note the least need, and forget what blocked runs that need more."""
        for run in level:
            found, need = self.found[run.rows[0]], self.case.needs[run.state]
            if need < found.need:
                found.need = need
                found.blockers.clear()

    def _note(
        self, start: int, target: int, row: int, barrier: Barrier, run: Run, condition: int | None
    ) -> None:
        """A blocker of the variable of a state."""
        key = (row, self.case.variable_of[target], barrier)
        self.found[start].blockers.setdefault(key, Blocking(run, condition))

    def _is_of_type(self, row: int, variable: int) -> bool:
        return len(between(self.case.of_type[self.case.variables[variable]], row, row)) > 0

    def _refused(
        self, run: Run, edges: list[tuple[int, int, bool]], rows: list[NDArray[np.int64]], low: int, reach: int, *,
        is_stopped: bool,
    ) -> None:
        """What keeps a run from every event that would let it need less."""
        case, start, last = self.case, run.rows[0], run.rows[-1]
        end = case.end_of(last)
        is_contiguous = case.query.strategy in _CONTIGUOUS
        next_row = last + 1 if is_contiguous else int(min(case.window_last[start], end - 1)) + 1
        for place, (target, number, _) in enumerate(edges):
            if case.needs[target] >= case.needs[run.state]:
                continue
            if is_contiguous and next_row <= min(case.window_last[start], end - 1):
                if next_row not in rows[place]:
                    self._note(start, target, next_row, Barrier.CONTIGUITY, run, number)
                continue
            if not is_contiguous:
                name = case.variables[case.variable_of[target]]
                came = between(case.of_type[name], low, reach)
                self.left -= len(came)
                for row in np.setdiff1d(came, rows[place], assume_unique=True).tolist():
                    self._note(start, target, row, Barrier.CONDITION, run, number)
            if not is_stopped:
                self._note(start, target, next_row, Barrier.END if next_row == end else Barrier.EXPIRED, run, None)

    def _look_at_complete(self, runs: list[Run]) -> None:
        """What rejects runs that need nothing more: what must hold of their arrays, or a negated event."""
        case, accepts = self.case, self.case.conditions.accepts
        asked: list[Tested] = []
        ended: list[Run] = []
        for number in dict.fromkeys(accepts[run.state] for run in runs):
            these = [run for run in runs if accepts[run.state] == number]
            if number == ALWAYS:
                ended += these
                continue
            asked = [(run, None) for run in these]
            self.left -= len(asked) + _COST_OF_A_LENGTH
            (values,) = case.evaluate_at(asked)([case.conditions.distinct[number]])
            for run, holds in zip(these, truth_of(values).tolist(), strict=True):
                if holds:
                    ended.append(run)
                else:
                    self._note(run.rows[0], run.state, run.rows[-1], Barrier.ENDING, run, number)
        if not ended or not case.absences:
            return
        for variable, number, gaps in zip(case.absences, case.conditions.absent, self._gaps(), strict=True):
            bounds = [self._gap(run, *gaps) for run in ended]
            there = self._where_true([(run, number, *bound) for run, bound in zip(ended, bounds, strict=True)])
            for run, rows in zip(ended, there, strict=True):
                for row in rows.tolist():
                    key = (row, case.variables.index(variable), Barrier.NEGATED)
                    self.found[run.rows[0]].blockers.setdefault(key, Blocking(run))

    def _gaps(self) -> list[tuple[frozenset[str], frozenset[str]] | tuple[None, None]]:
        """By negated component the variables before and after it; None in AND, where it is between first and last."""
        around = ep.around_absences(self.case.query.pattern)
        if not around:
            return [(None, None) for _ in self.case.absences]
        return [
            (
                frozenset(event.variable for item in before for event in ep.events(item)),
                frozenset(event.variable for item in after for event in ep.events(item)),
            )
            for before, after in around
        ]

    def _gap(self, run: Run, before: frozenset[str] | None, after: frozenset[str] | None) -> tuple[int, int]:
        """The first and the last event that is looked at."""
        case = self.case
        names = [case.variables[case.variable_of[state]] for state in run.states]
        earlier = [run.rows[0]] if before is None else [
            row for row, name in zip(run.rows, names, strict=True) if name in before
        ]
        later = [run.rows[-1]] if after is None else [
            row for row, name in zip(run.rows, names, strict=True) if name in after
        ]
        low = case.behind(max(earlier)) if earlier else int(case.window_first[run.rows[-1]])
        high = case.ahead(min(later)) if later else int(case.window_last[run.rows[0]])
        return low, high

    def _measure(self, starts: Sequence[int]) -> None:
        """By how much the conditions of blockers were missed, where events of the right type came."""
        of_condition: defaultdict[tuple[int, bool], list[tuple[Blocking, int]]] = defaultdict(list)
        for start in starts:
            for (row, variable, barrier), blocking in self.found[start].blockers.items():
                if blocking.condition is not None and self._is_of_type(row, variable):
                    of_condition[blocking.condition, barrier is Barrier.ENDING].append((blocking, row))
        for (number, is_end), several in of_condition.items():
            tested: list[Tested] = [(blocking.run, None if is_end else row) for blocking, row in several]
            apart = missed_by(take_apart(self.case.conditions.distinct[number]), self.case.evaluate_at(tested))
            for (blocking, _), distance in zip(several, apart.tolist(), strict=True):
                blocking.missed_by = distance
