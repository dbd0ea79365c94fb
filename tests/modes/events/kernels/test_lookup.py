"""Runs looked up by the value that they await, against comparing values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.modes.events.kernels.letters import ANY, Query, drawn_stream
from tests.modes.events.kernels.searching import lookup_of, work_of

from sparkrex.kernels.machine import ReadColumns
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import lookup as kernel
from sparkrex.modes.events.kernels.arguments import Cells
from sparkrex.modes.events.kernels.codes import AWAITS, RECORD, SIDE, START, STATE
from sparkrex.modes.events.kernels.lookup import FLOAT_KEY, INT_KEY, MISSING, NO_KEY, UNKNOWN

SEEDS = range(12)
FLOATS = [0.0, -0.0, 1.0, math.nan, -math.nan, math.inf, -math.inf, 5e-324]


def cells_with(ints: list[int], int_nulls: list[int], floats: list[float], float_nulls: list[int]) -> Cells:
    doubles = np.array([floats])
    columns = ReadColumns(
        np.array([ints]), np.array([int_nulls], np.uint8), np.array([any(int_nulls)], np.uint8), doubles,
        np.array([float_nulls], np.uint8), np.array([any(float_nulls)], np.uint8),
    )
    return Cells(columns, doubles.view(np.int64))


def test_equal_values_have_equal_keys() -> None:
    ints = [0, 1, -1, 2**63 - 1, -(2**63), 1, 7, 7]
    nulls = [0, 0, 0, 0, 0, 0, 1, 0]
    cells = cells_with(ints, nulls, FLOATS, nulls)
    for kind, numbers in ((INT_KEY, ints), (FLOAT_KEY, FLOATS)):
        keys = [kernel.key_at(kind, 0, row, cells) for row in range(8)]
        for row, (key, is_null) in enumerate(keys):
            assert bool(is_null) == bool(nulls[row])
            assert (key == MISSING) == bool(nulls[row])
            for other in range(8):
                if nulls[row] or nulls[other]:
                    continue
                both_nan = math.isnan(numbers[row]) and math.isnan(numbers[other])
                assert (key == keys[other][0]) == (numbers[row] == numbers[other] or both_nan)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_run_awaits(seed: int) -> None:
    query = Query("A B= C", ANY, drawn_stream(seed))
    lookup, cells = lookup_of(query, 4), query.values().cells
    ints = np.arange(-1, query.stream.n_rows).reshape(-1, 1)
    for state in range(4):
        for record, row in enumerate(ints[:, 0].tolist()):
            key = kernel.awaited_key(state, record, lookup, cells, ints)
            is_known = lookup.state_kind[state] != NO_KEY and row >= 0
            assert key == (query.stream.x[row] if is_known else UNKNOWN)
    assert lookup.state_kind.tolist() == [NO_KEY, INT_KEY, NO_KEY, NO_KEY]


def test_a_state_and_a_key_have_one_bit() -> None:
    bits = [int(kernel.bit_of(np.int64(state), np.int64(key))) for state in range(8) for key in (-9, 0, 1, 2**62)]
    assert all(bit.bit_count() == 1 for bit in bits)
    assert len(set(bits)) > 8


def drawn_runs(query: Query, seed: int, n_runs: int = 12) -> tuple[Any, Any]:
    """Runs in states behind an A, as fields, and their records."""
    generator = np.random.default_rng(seed)
    runs = np.zeros((codes.N_FIELDS + 1, n_runs), np.int64)
    runs[STATE] = generator.integers(1, len(query.automaton.edges), n_runs)
    runs[START] = generator.integers(0, query.stream.n_rows, n_runs)
    runs[RECORD] = np.arange(n_runs) + 1
    ints = np.concatenate([[-1], runs[START]]).reshape(-1, 1)
    lookup, cells = lookup_of(query, n_runs), query.values().cells
    for r in range(n_runs):
        awaits = kernel.awaited_key(runs[STATE, r], runs[RECORD, r], lookup, cells, ints)
        runs[AWAITS, r] = UNKNOWN if generator.random() < 0.2 else awaits
    return runs, ints


@pytest.mark.parametrize("pattern", ["A B= C", "A+ B= C", "A B= A= C"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_run_that_a_row_may_extend_is_found(seed: int, pattern: str) -> None:
    query = Query(pattern, ANY, drawn_stream(seed + 20, 12))
    if not query.stream.n_rows:
        return
    runs, ints = drawn_runs(query, seed)
    lookup, values, tables = lookup_of(query, 12), query.values(), query.tables
    for row in range(query.stream.n_rows):
        for bound in (0, row // 2):
            n_hits, n_over = kernel.look_up(runs, 12, row, bound, lookup, tables, values.tests, values.cells)
            hits = lookup.hits[0, :n_hits].tolist()
            over = [r for r in range(12) if runs[START, r] < bound]
            assert hits == sorted(set(hits) - set(over))
            can_extend = {
                r for r in range(12) if r not in over and any(
                    query.holds(int(tables.state_variable[edge.target]), row, ((int(ints[runs[RECORD, r], 0]), 0),))
                    for edge in query.automaton.edges[runs[STATE, r]]
                )
            }
            assert can_extend <= set(hits)
            # Of those that await another value none is there, unless another edge of their state may hold.
            for r in set(hits) - can_extend:
                letter = query.stream.text[row]
                edges = [int(tables.state_variable[edge.target]) for edge in query.automaton.edges[runs[STATE, r]]]
                assert runs[AWAITS, r] == UNKNOWN or any(query.letters[v] == letter for v in edges)
            if hits or row % 16 == 0:
                assert n_over == len(over)


@pytest.mark.parametrize("is_one_for_one", [False, True])
@pytest.mark.parametrize("n_over", [0, 1, 6])
@pytest.mark.parametrize("seed", range(6))
def test_what_came_of_runs_is_put_back(seed: int, n_over: int, is_one_for_one: bool) -> None:
    query = Query("A B= C", ANY, drawn_stream(3))
    generator = np.random.default_rng(seed)
    lookup = lookup_of(query, 40)
    work = work_of(query, 40, lookup)
    side, n_runs, bound = seed % 3, 8, 100
    numbers = list(range(n_runs))
    over = generator.choice(n_runs, n_over, replace=False).tolist()
    work.runs[side, :, :n_runs] = np.array(numbers) + 1_000
    work.runs[side, START, :n_runs] = [bound - 1 if r in over else bound + r for r in numbers]
    hit = [r for r in numbers if r not in over and generator.random() < 0.6]
    came = [1 if is_one_for_one else int(generator.integers(0, 3)) for _ in hit]
    n_begun = seed % 2
    n_new = sum(came) + n_begun
    work.runs[(side + 1) % 3, :, :n_new] = np.arange(n_new) + 5_000
    lookup.hits[0, : len(hit)] = hit
    lookup.hits[1, : len(hit) + 1] = np.concatenate([[0], np.cumsum(came)])
    at = np.zeros(codes.N_PLACES, np.int64)
    at[SIDE], at[codes.N_RUNS], at[codes.N_FREE] = side, n_runs, 2
    has_record = np.int64(query.has_records)
    kernel.put_back(at, len(hit), n_new, n_over, bound, lookup.hits, work.runs, work.free, has_record)
    # By their states: each run that was found gives way to what came of it, the others stay, those that began follow.
    expected, place = [], 0
    for r in numbers:
        if r in hit:
            expected += [5_000 + place + k for k in range(came[hit.index(r)])]
            place += came[hit.index(r)]
        else:
            expected.append(1_000 + r)
    expected += [5_000 + place + k for k in range(n_begun)]
    found = work.runs[at[SIDE], STATE, : at[codes.N_RUNS]].tolist()
    dropped = [1_000 + r for r in over]
    assert found in (expected, [run for run in expected if run not in dropped])
    if 4 * n_over > n_runs:
        assert not set(found) & set(dropped)
    gone = [run for run in expected if run not in found]
    assert at[codes.N_FREE] == 2 + len(gone)
    assert sorted(work.free[2 : at[codes.N_FREE]].tolist()) == sorted(gone)  # every field of a run has its number
