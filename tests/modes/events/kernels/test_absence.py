"""Negated components: rows around gaps, and what survives what must be absent, against looking at every row."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from tests.kernels.forms import in_form
from tests.modes.events.kernels.letters import ANY, EventRows, Query, Stream, budget, drawn_stream

from sparkrex.modes.events.kernels import absence as kernel
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import Bounds
from sparkrex.modes.events.kernels.codes import KEPT, REFUSED, UNDECIDED

SEEDS = range(12)
TIES = np.array([0, 0, 1, 2, 2, 2, 3])


def test_how_a_search_ends_that_a_test_has_ended() -> None:
    assert [kernel.status_of(found) for found in (-1, -2, -3, -4)] == [
        codes.OVERFLOW, codes.DIVISION_BY_ZERO, codes.TOO_MANY_STEPS, codes.STOPPED,
    ]


def test_rows_behind_and_before() -> None:
    nothing = np.empty(0, np.int64)
    for row in range(7):
        for edge in range(7):
            assert kernel.row_behind(row, edge, nothing) == row + 1
            assert kernel.row_before(row, edge, nothing) == row - 1
            if edge >= row:
                later = [k for k in range(row + 1, edge + 1) if TIES[k] > TIES[row]]
                assert kernel.row_behind(row, edge, TIES) == min(later, default=edge + 1 if edge > row else row + 1)
            if edge <= row:
                earlier = [k for k in range(edge, row) if TIES[k] < TIES[row]]
                assert kernel.row_before(row, edge, TIES) == max(earlier, default=edge - 1 if edge < row else row - 1)


def bounds_of(query: Query, start: int, open_from: int | None = None) -> Bounds:
    n_rows = query.stream.n_rows
    return Bounds(np.int64(start), np.int64(0), np.int64(n_rows),
                  np.int64(n_rows if open_from is None else open_from))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_condition_is_a_bitmap_and_code(seed: int) -> None:
    query = Query("A B= C", ANY, drawn_stream(seed))
    records = query.records(2)
    for first in range(query.stream.n_rows):
        records.ints[1] = first
        for row in range(query.stream.n_rows):
            for variable in range(3):
                expected = query.holds(variable, row, ((first, 0),))
                for test in (kernel.condition_holds, kernel.holds_for):
                    given = (row, 1, bounds_of(query, first), query.values(), records)
                    assert test(variable, *given) == expected
                    assert test(-1, *given) == 1
        # Without an A there is nothing to be equal to.
        assert kernel.condition_holds(1, first, 0, bounds_of(query, 0), query.values(), records) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_is_there(seed: int) -> None:
    query = Query("A ~C B", ANY, drawn_stream(seed))
    text, records = query.stream.text, query.records(1)
    for low in range(len(text)):
        for high in range(-1, len(text)):
            steps = budget()
            given = (0, low, high, 0, bounds_of(query, 0), query.absences, query.values(), records)
            rows = range(low, high + 1)
            assert kernel.is_there(*given, steps) == any(text[row] == "c" for row in rows)
            if "c" in text[low : high + 1]:
                assert steps[codes.STEPS] == 1
                assert kernel.is_there(*given, budget(0)) == -3
                assert kernel.is_there(*given, budget(given_up=True)) == -4


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gap_between_two_events(seed: int) -> None:
    query = Query("A ~C B ~A C", ANY, drawn_stream(seed))
    stream, records = query.stream, query.records(2)
    for last in range(stream.n_rows):
        for row in range(last + 1, stream.n_rows):
            if not stream.follows(last, row):
                continue
            between = [k for k in range(stream.n_rows) if stream.follows(last, k) and stream.follows(k, row)]
            for asked, letters in ((np.array([0]), "c"), (np.array([1]), "a"), (np.array([0, 1]), "ac")):
                found = kernel.gaps_verdict(
                    (asked, 0, len(asked)), last, row, 1, bounds_of(query, last), query.absences, stream.ties,
                    query.values(), records, budget(),
                )
                assert found == any(stream.text[k] in letters for k in between)
    assert kernel.gaps_verdict(
        (np.array([0]), 0, 0), 0, 1, 1, bounds_of(query, 0), query.absences, stream.ties, query.values(), records,
        budget(),
    ) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gap_that_a_run_remembers(seed: int) -> None:
    stream = drawn_stream(seed)
    query = Query("A ~C B", ANY, stream)
    postponed = np.array([[0, 0, 1]])  # its rows are in the first two slots of the record
    absences = query.absences._replace(postponed=postponed)
    ints = np.full((2, 2), -1)
    records = query.records(1)._replace(ints=ints)
    assert kernel.gap_of(1, 0, postponed, stream.ties, ints) == (0, -1)
    for before in range(stream.n_rows):
        for after in range(before + 1, stream.n_rows):
            if not stream.follows(before, after):
                continue
            ints[1] = before, after
            between = [k for k in range(stream.n_rows) if stream.follows(before, k) and stream.follows(k, after)]
            low, high = kernel.gap_of(1, 0, postponed, stream.ties, ints)
            assert list(range(low, high + 1)) == between
            found = kernel.gaps_verdict(
                (np.array([~0]), 0, 1), 99, 99, 1, bounds_of(query, before), absences, stream.ties, query.values(),
                records, budget(),
            )
            assert found == any(stream.text[k] == "c" for k in between)


def unforbidden(query: Query) -> list[EventRows]:
    """Matches as if nothing had to be absent."""
    return Query(" ".join(query.components), query.strategy, query.stream).matches()


@pytest.mark.parametrize("pattern", ["A ~C B", "~C A B", "A B ~C", "~C A ~C B+ ~A", "A ~C B? C", "A? ~C B"])
def test_a_match_survives_its_negated_components(pattern: str) -> None:
    n_refused = 0
    for seed in range(8):
        query = Query(pattern, ANY, drawn_stream(seed, 8))
        stream, records = query.stream, query.records(2)
        for match in unforbidden(query):
            rows, labels = np.array([row for row, _ in match[::-1]]), np.array([k for _, k in match[::-1]], np.int16)
            is_forbidden = query.is_forbidden(match)
            n_refused += is_forbidden
            for open_from in (0, stream.n_rows):
                bounds = bounds_of(query, -1, open_from)
                given = (bounds, query.absences, stream.ties, query.values(), records)
                # A component behind all events waits for the rows that the window of the first may still have.
                waits = match[0][0] >= open_from and any(
                    all(label in before for _, label in match) for before in query.before
                )
                expected = REFUSED if is_forbidden else UNDECIDED if waits else KEPT
                assert kernel.verdict(rows, labels, len(match), *given, budget()) == expected
                assert end_verdict(query, match, open_from) == expected
    assert n_refused


def test_around_a_negated_component_of_and() -> None:
    n_refused = 0
    for seed in range(8):
        query = Query("A ~C B", ANY, drawn_stream(seed, 8))
        stream, records = query.stream, query.records(2)
        absences = query.absences._replace(
            side=np.full_like(query.absences.side, codes.AROUND), at_end=np.array([0], np.int64)
        )
        for rows in combinations(range(stream.n_rows), 1 + seed % 3):
            inside = [
                row for row in range(stream.n_rows) if stream.follows(rows[0], row) and stream.follows(row, rows[-1])
            ]
            expected = REFUSED if any(stream.text[row] == "c" for row in inside) else KEPT
            n_refused += expected == REFUSED
            # Rows to come, and the window of the first event, are of no account.
            bounds = bounds_of(query, rows[0], 0)
            given = (bounds, absences, stream.ties, query.values(), records, budget())
            labels = np.zeros(len(rows), np.int16)
            assert kernel.verdict(np.array(rows[::-1]), labels, len(rows), *given) == expected
            assert kernel.end_verdict(rows[-1], (0, 1), 1, *given) == expected
    assert n_refused


def end_verdict(query: Query, match: EventRows, open_from: int) -> int:
    """The same, asked as a search does: the gaps on the way, and at the end those before and behind all events."""
    stream, records, absences = query.stream, query.records(2), query.absences
    for k, before in enumerate(query.before):
        for (last, label), (row, other) in pairwise(match):
            if label in before and other not in before and kernel.gaps_verdict(
                (np.array([k]), 0, 1), last, row, 1, bounds_of(query, match[0][0]), absences, stream.ties,
                query.values(), records, budget(),
            ):
                return REFUSED
    return int(kernel.end_verdict(
        match[-1][0], (match[0][1], match[-1][1]), 1, bounds_of(query, match[0][0], open_from), absences, stream.ties,
        query.values(), records, budget(),
    ))


def test_errors_come_through() -> None:
    query = Query("A B ~C", ANY, Stream("abc", np.zeros(3), np.arange(3.0), (0, 3), 100))
    rows, labels = np.array([1, 0]), np.array([1, 0], np.int16)
    given = (bounds_of(query, 0), query.absences, query.stream.ties, query.values(), query.records(2))
    assert in_form(kernel.verdict)(rows, labels, 2, *given, budget(0)) == -3
    assert in_form(kernel.end_verdict)(1, (0, 1), 1, *given, budget(given_up=True)) == -4
