"""One run at a time over letters, against the definition; which is itself held against choosing events."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.events.kernels.letters import (
    ENDLESS,
    PATTERNS,
    STRATEGIES,
    EventRows,
    Query,
    Stream,
    any_matches,
    budget,
    drawn_stream,
)

from sparkrex.modes.events.kernels import backtrack as kernel
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import Matches, Memory, Trail, Walk
from sparkrex.modes.events.kernels.codes import ANY, CONTIGUITY, DONE

NEGATED = ["A ~C B", "~C A B", "A B ~C", "~C A ~C B+ ~A", "A ~C B? C", "A+ ~C B"]


def found_by(query: Query, form: str = "interpreted", *, steps: Any = None, most: int = ENDLESS) -> tuple[Any, ...]:
    """Status, where, the matches that are written, statistics."""
    room = Matches(
        np.empty(0, np.int64), np.empty(0, np.int16), np.zeros(1, np.int64), np.empty(1, np.uint8),
        np.zeros(2, np.int64),
    )
    status, where, output, statistics = in_form(kernel.search, form)(
        np.array(query.stream.offsets), query.plan(), Memory(np.zeros(1, np.int64), np.int64(0), np.int64(most)),
        query.absences, query.initial, room, budget() if steps is None else steps,
    )
    n_matches = int(output.counts[0])
    assert output.counts[1] == output.offsets[n_matches]
    assert not output.is_open[:n_matches].any()  # all rows are there
    return int(status), int(where), listed(output), statistics


def listed(output: Matches) -> list[EventRows]:
    """Matches as they are written."""
    events = list(zip(output.rows.tolist(), output.labels.tolist(), strict=True))
    cuts = output.offsets[: int(output.counts[0]) + 1].tolist()
    return [tuple(events[a:b]) for a, b in pairwise(cuts)]


@in_both_forms
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pattern", PATTERNS + NEGATED)
def test_matches(pattern: str, strategy: int, form: str) -> None:
    for seed in range(8):
        query = Query(pattern, strategy, drawn_stream(seed, 7, 1 + seed % 3))
        status, _, matches, statistics = found_by(query, form)
        assert status == DONE
        assert sorted(matches) == query.matches()
        assert statistics[codes.MATCH_ENDS] >= len(matches)


@pytest.mark.parametrize("pattern", PATTERNS + NEGATED)
def test_runs_find_what_choosing_events_finds(pattern: str) -> None:
    for seed in range(6):
        query = Query(pattern, ANY, drawn_stream(seed, 7, 1 + seed % 2))
        assert query.matches() == any_matches(query)
        adjacent = Query(pattern, CONTIGUITY, drawn_stream(seed, 7))
        assert adjacent.matches() == [
            match for match in any_matches(adjacent) if all(b[0] - a[0] == 1 for a, b in pairwise(match))
        ]


def long_stream(text: str) -> Stream:
    return Stream(text, np.zeros(len(text)), np.arange(len(text)).astype(float), (0, len(text)), 1_000)


def test_room_grows() -> None:
    query = Query("A+ B", ANY, long_stream("a" * 9 + "b"))
    status, _, matches, _ = found_by(query)
    assert status == DONE
    assert len(matches) == len(set(matches)) == 2**9 - 1
    # One run of three hundred events.
    _, _, [match], statistics = found_by(Query("A B+ C", codes.NEXT, long_stream("a" + "b" * 300 + "c")))
    assert len(match) == 302
    assert statistics[codes.MATCH_ENDS] == 1


def test_limits() -> None:
    query = Query("A+ B", ANY, long_stream("a" * 9 + "b"))
    assert found_by(query, steps=budget(100))[0] == codes.TOO_MANY_STEPS
    assert found_by(query, steps=budget(given_up=True))[0] == codes.STOPPED
    status, _, matches, _ = found_by(query, most=2_000)
    assert status == codes.TOO_MANY_MATCHES
    assert 0 < len(matches) < 511
    assert found_by(Query("A+ B", ANY, long_stream("a" * 150 + "b")), most=20_000)[0] == codes.TOO_MANY_RUNS


def test_a_history_is_read_from_its_end() -> None:
    trail = Trail(np.array([3, 5, 4, 8]), np.array([0, 1, 1, 2], np.int16), np.array([-1, 0, 0, 2]))
    walk = Walk(np.empty(0, np.int64), np.empty(0, np.int16), np.empty(0, np.int64), np.empty(0, np.int64))
    for node, expected in {0: [(3, 0)], 1: [(5, 1), (3, 0)], 3: [(8, 2), (4, 1), (3, 0)]}.items():
        read, n_events = kernel.history(node, trail, walk)
        assert list(zip(read.rows[:n_events].tolist(), read.labels[:n_events].tolist(), strict=True)) == expected


def test_a_table_is_deepened_only_where_that_is_needed() -> None:
    table = np.arange(6).reshape(3, 2)
    assert kernel.deepened(table, 3) is table
    for n_rows, size in ((4, 6), (20, 20)):
        deeper = kernel.deepened(table, n_rows)
        assert deeper.shape == (size, 2)
        assert deeper[:3].tolist() == table.tolist()
