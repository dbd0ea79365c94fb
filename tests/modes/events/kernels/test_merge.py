"""Equivalent runs merged, against grouping them by what they must agree in; and which of two histories is better."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.modes.events.kernels.buffers import drawn_buffer, histories
from tests.modes.events.kernels.letters import ANY, EventRows, Query, drawn_stream
from tests.modes.events.kernels.searching import lookup_of, work_of

from sparkrex.kernels.machine import ReadColumns
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import merge as kernel
from sparkrex.modes.events.kernels.arguments import Cells, Compared, Nodes, Plan, Reads, Records, Work
from sparkrex.modes.events.kernels.codes import AWAITS, LABEL, LAST, NODE, RECORD, START, STATE
from sparkrex.modes.events.kernels.lookup import UNKNOWN, awaited_key, bit_of
from sparkrex.modes.events.kernels.matches import UNION
from sparkrex.modes.events.kernels.merge import BY_CANDIDATES, BY_ROWS, FLOAT_AT, FLOAT_SLOT, INT_AT, INT_SLOT, IS_ZERO

SEEDS = range(12)
N_RUNS = 14


def test_better_histories_are_shorter_then_earlier_then_of_smaller_labels() -> None:
    for seed in SEEDS:
        nodes = drawn_buffer(seed, 20)
        single = [n for n in range(len(nodes.row)) if len(histories(nodes, n)) == 1 and not _has_union(nodes, n)]
        best = {n: histories(nodes, n)[0] for n in single}
        counted = nodes._replace(other=np.array([len(best.get(n, ())) for n in range(len(nodes.row))]))
        for one in single:
            for other in single:
                expected = _rank(best[one]) < _rank(best[other])
                assert bool(kernel.is_better(one, other, counted)) == expected


def _has_union(nodes: Nodes, node: int) -> bool:
    while node >= 0:
        if nodes.label[node] == UNION:
            return True
        node = int(nodes.before[node])
    return False


def _rank(match: EventRows) -> tuple[int, list[int], list[int]]:
    return len(match), [row for row, _ in match], [label for _, label in match]


class Runs:
    """Random runs of a query, each with a node and a record of its own, and room to merge them."""

    def __init__(self, query: Query, seed: int, *, looks_up: bool = False) -> None:
        self.query = query
        self.row = query.stream.n_rows - 1
        self.lookup = lookup_of(query, N_RUNS) if looks_up else None
        self.work: Work = work_of(query, 40, self.lookup)
        generator = np.random.default_rng(seed)
        runs = self.work.runs[0]
        runs[STATE, :N_RUNS] = generator.integers(1, len(query.automaton.edges), N_RUNS)
        runs[START, :N_RUNS] = generator.integers(0, self.row + 1, N_RUNS)
        runs[LAST, :N_RUNS] = [generator.integers(start, self.row + 1) for start in runs[START, :N_RUNS]]
        runs[LABEL, :N_RUNS] = generator.integers(0, 2, N_RUNS)
        runs[NODE, :N_RUNS] = np.arange(N_RUNS)
        runs[RECORD, :N_RUNS] = np.arange(N_RUNS) + 1
        nodes = self.work.nodes
        nodes.row[:N_RUNS], nodes.label[:N_RUNS] = runs[START, :N_RUNS], np.arange(N_RUNS)
        nodes.before[:N_RUNS] = -1
        nodes.other[:N_RUNS] = 1  # one event each, where best histories are kept
        nodes.youngest[:N_RUNS] = runs[START, :N_RUNS]
        if query.has_records:
            self.work.records.ints[1 : N_RUNS + 1, 0] = runs[START, :N_RUNS]
        self.at = np.zeros(codes.N_PLACES, np.int64)
        self.at[codes.N_RUNS] = self.at[codes.N_NODES] = N_RUNS
        if self.lookup is not None:
            for r in range(N_RUNS):
                runs[AWAITS, r] = awaited_key(
                    runs[STATE, r], runs[RECORD, r], self.lookup, query.values().cells, self.work.records.ints
                )
        self.before = runs[:, :N_RUNS].copy()

    def merge(self, plan: Plan, absences: Any = None, *, bound: int = 0, changed: int = 2**64 - 1) -> list[list[int]]:
        """The runs that are left, each as the numbers of those that became part of it."""
        statistics = np.zeros(codes.N_STATISTICS, np.int64)
        compared = Compared(plan.reads, plan.apart, plan.events.ties, plan.values.cells)
        kernel.merge.interpreted(
            self.at, self.row, bound, np.uint64(changed), self.work.runs[0], self.work, compared, absences, self.lookup,
            statistics,
        )
        n_left = int(self.at[codes.N_RUNS])
        assert statistics[codes.MERGES] == N_RUNS - n_left
        assert (self.work.table == -1).all()  # as it was found
        tops = self.work.runs[0, NODE, :n_left].tolist()
        return [sorted(match[0][1] for match in histories(self.work.nodes, top)) for top in tops]

    def check_fields(self, groups: list[list[int]]) -> None:
        """What is left of a group: the latest first row, the latest last one, and the rest of its first run."""
        runs, before = self.work.runs[0], self.before
        for place, group in enumerate(groups):
            first = group[0]
            assert runs[STATE, place] == before[STATE, first]
            assert runs[RECORD, place] == before[RECORD, first]
            assert runs[START, place] == before[START, group].max()
            assert runs[LAST, place] == before[LAST, group].max()
            assert self.work.nodes.youngest[runs[NODE, place]] == before[START, group].max()
        freed = [int(before[RECORD, r]) for group in groups for r in group[1:]]
        n_free = int(self.at[codes.N_FREE])
        assert sorted(self.work.free[:n_free].tolist()) == (sorted(freed) if self.query.has_records else [])


def grouped(keys: list[Any]) -> list[list[int]]:
    """Numbers of equal keys, by the first."""
    groups: dict[Any, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def long_stream(seed: int, *, has_ties: bool = False) -> Any:
    """One partition of seven rows or more."""
    streams = (drawn_stream(seed + 50 * k, 12) for k in range(99))
    return replace(next(stream for stream in streams if stream.n_rows > 6), window=100, has_ties=has_ties)


@pytest.mark.parametrize("has_ties", [False, True])
@pytest.mark.parametrize("pattern", ["A B+ C", "A B= C", "A+ B= C="])
@pytest.mark.parametrize("seed", SEEDS)
def test_runs_that_agree_are_merged(seed: int, pattern: str, has_ties: bool) -> None:
    query = Query(pattern, ANY, long_stream(seed, has_ties=has_ties))
    runs = Runs(query, seed)
    stream, fields = query.stream, runs.before
    keys = [
        (fields[STATE, r], stream.x[fields[START, r]] if query.has_records else 0,
         has_ties and stream.times[fields[LAST, r]] == stream.times[runs.row])
        for r in range(N_RUNS)
    ]
    groups = runs.merge(query.plan(merges=True))
    assert groups == grouped(keys)
    runs.check_fields(groups)


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_of_different_first_events_are_apart_if_they_must(seed: int) -> None:
    query = Query("A B+ C", ANY, long_stream(seed))
    runs, plan = Runs(query, seed), query.plan(merges=True)
    groups = runs.merge(plan._replace(apart=plan.apart._replace(by_start=True)))
    fields = runs.before
    assert groups == grouped([(fields[STATE, r], fields[START, r], fields[LABEL, r]) for r in range(N_RUNS)])


@pytest.mark.parametrize("by_start", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_history_is_kept(seed: int, by_start: bool) -> None:
    query = Query("A B+ C", ANY, long_stream(seed))
    runs, plan = Runs(query, seed), query.plan(merges=True, keeps_best=True)
    nodes, fields = runs.work.nodes, runs.before
    nodes.other[:N_RUNS] = np.random.default_rng(seed).integers(1, 3, N_RUNS)  # so many events
    runs.merge(plan._replace(apart=plan.apart._replace(by_start=by_start)))
    groups = grouped([
        (fields[STATE, r], *((fields[START, r], fields[LABEL, r]) if by_start else ())) for r in range(N_RUNS)
    ])
    left = runs.work.runs[0, NODE, : runs.at[codes.N_RUNS]].tolist()
    # The earliest start, then the fewest events, then the smallest label: each node has its number for one.
    assert left == [min(group, key=lambda r: (fields[START, r], nodes.other[r], r)) for group in groups]
    assert runs.at[codes.N_NODES] == N_RUNS


def candidates(query: Query, k: int, low: int, high: int) -> list[int]:
    return [row for row in range(low, high + 1) if query.stream.text[row] == query.absent[k]]


@pytest.mark.parametrize("reads_run", [0, BY_CANDIDATES, BY_ROWS])
@pytest.mark.parametrize("seed", SEEDS)
def test_runs_in_front_of_a_negated_component(seed: int, reads_run: int) -> None:
    query = Query("A+ ~C B A", ANY, long_stream(seed))
    runs, plan = Runs(query, seed), query.plan(merges=True)
    apart = plan.apart._replace(reads_run=np.array([reads_run], np.uint8))
    groups = runs.merge(plan._replace(apart=apart), query.absences)
    fields, keys = runs.before, []
    for r in range(N_RUNS):
        mark: Any = None
        if query.tables.state_variable[fields[STATE, r]] == 0:  # the gap is yet to come
            last = int(fields[LAST, r])
            behind = candidates(query, 0, last + 1, runs.row)
            mark = {0: bool(behind), BY_CANDIDATES: min(behind, default=-1), BY_ROWS: last}[reads_run]
        keys.append((fields[STATE, r], mark))
    assert groups == grouped(keys)


@pytest.mark.parametrize("reads_run", [BY_CANDIDATES, BY_ROWS])
@pytest.mark.parametrize("seed", SEEDS)
def test_runs_that_remember_a_gap(seed: int, reads_run: int) -> None:
    query = Query("A ~C B A", ANY, long_stream(seed))
    runs, plan = Runs(query, seed), query.plan(merges=True)
    n_states, n_rows = len(query.automaton.edges), query.stream.n_rows
    generator = np.random.default_rng(seed)
    around = np.sort(np.array([generator.choice(n_rows, 2, replace=False) for _ in range(N_RUNS + 1)]), axis=1)
    around[generator.random(N_RUNS + 1) < 0.2, 0] = -1
    rows = np.arange(n_rows)
    is_candidate = query.absences.next_candidate[:, :-1] == rows
    apart = plan.apart._replace(
        gap_offsets=np.arange(n_states + 1), gaps=np.full(n_states, ~0), reads_run=np.array([reads_run], np.uint8),
        postponed=np.array([[0, 0, 1]]),
        previous_candidate=np.maximum.accumulate(np.where(is_candidate, rows, -1), axis=1),
    )
    floats = np.empty((N_RUNS + 1, 0))
    runs.work = runs.work._replace(records=Records(around, floats, floats.view(np.int64)))
    groups = runs.merge(plan._replace(apart=apart), query.absences)
    keys: list[Any] = []
    for r in range(N_RUNS):
        before, after = around[r + 1].tolist()
        between = candidates(query, 0, before + 1, after - 1) if before >= 0 else []
        mark = (before, after) if reads_run == BY_ROWS else (between[0], between[-1]) if between else None
        keys.append((runs.before[STATE, r], mark))
    assert groups == grouped(keys)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_runs_that_are_looked_up_only_those_that_may_have_changed_are_compared(seed: int) -> None:
    query = Query("A+ B= C=", ANY, long_stream(seed))
    runs, bound = Runs(query, seed, looks_up=True), query.stream.n_rows // 3
    fields = runs.before
    changed = int(bit_of(fields[STATE, 0], fields[AWAITS, 0]))
    keys: list[Any] = []
    for r in range(N_RUNS):
        awaits = fields[AWAITS, r]
        is_compared = awaits == UNKNOWN or changed & int(bit_of(fields[STATE, r], awaits))
        is_inside = fields[START, r] >= bound
        agrees = (fields[STATE, r], query.stream.x[fields[START, r]])
        keys.append(agrees if is_compared and is_inside else ("apart", r))
    assert runs.merge(query.plan(merges=True), bound=bound, changed=changed) == grouped(keys)
    left = [group[0] for group in grouped(keys)]
    assert runs.work.runs[0, AWAITS, : len(left)].tolist() == fields[AWAITS, left].tolist()


def test_what_runs_read() -> None:
    ints = np.array([[2, 0], [2, 1], [3, 0], [4, 0], [-1, 0], [5, 7]])
    floats = np.array([[0.5], [0.5], [-0.0], [0.0], [math.nan], [math.nan]])
    records = Records(ints, floats, floats.view(np.int64))
    doubles = np.array([[1.0, 1.0, 2.5, 2.5, 2.0, 0.0, 0.0]])
    columns = ReadColumns(
        np.array([[9, 9, 8, 8, 7, 7, 7]]), np.array([[0, 0, 0, 0, 1, 1, 0]], np.uint8), np.ones(1, np.uint8), doubles,
        np.array([[0, 0, 0, 0, 1, 0, 1]], np.uint8), np.ones(1, np.uint8),
    )
    cells = Cells(columns, doubles.view(np.int64))
    expected: dict[tuple[int, int], list[Any]] = {
        (INT_SLOT, 0): [2, 2, 3, 4, -1, 5], (FLOAT_SLOT, 0): [0.5, 0.5, "-0", "0", "nan", "nan"],
        (IS_ZERO, 1): [True, False, True, True, True, False], (INT_AT, 0): [8, 8, 8, None, "no row", None],
        (FLOAT_AT, 0): [2.5, 2.5, 2.5, None, "no row", 0.0],
    }
    for (kind, slot), seen in expected.items():
        reads = Reads(np.array([0, 1]), np.array([[kind, slot, 0]]))
        for one in range(6):
            for other in range(6):
                agree = kernel._are_equivalent(0, one, other, reads, records, cells)
                assert bool(agree) == (seen[one] == seen[other]), (kind, one, other)
