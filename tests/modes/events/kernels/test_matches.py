"""Matches out of the shared buffer, and records written anew from it, against listing histories one by one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.events.kernels.buffers import copy_to_front, drawn_buffer, histories, youngest_history
from tests.modes.events.kernels.letters import ANY, ENDLESS, EventRows, Query, Stream, budget, drawn_stream

from sparkrex.kernels import path as p
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import matches as kernel
from sparkrex.modes.events.kernels.arguments import Ends, Matches, Nodes, Partitions, Waiting, Walk
from sparkrex.modes.events.kernels.codes import KEPT, REFUSED, UNDECIDED

SEEDS = range(12)


def room(n_events: int, n_matches: int, depth: int, n_stack: int) -> tuple[Matches, Walk]:
    """For so many matches, histories of such a depth, and so many nodes to come back to."""
    return (
        Matches(np.full(n_events, -9), np.full(n_events, -9, np.int16), np.zeros(n_matches + 1, np.int64),
                np.full(n_matches + 1, 9, np.uint8), np.zeros(2, np.int64)),
        Walk(np.empty(depth, np.int64), np.empty(depth, np.int16), np.empty(n_stack, np.int64),
             np.empty(n_stack, np.int64)),
    )


def listed(output: Matches) -> list[EventRows]:
    n_matches, n_events = output.counts.tolist()
    events = list(zip(output.rows[:n_events].tolist(), output.labels[:n_events].tolist(), strict=True))
    return [tuple(events[a:b]) for a, b in pairwise(output.offsets[: n_matches + 1].tolist())]


def drawn_ends(seed: int, nodes: Nodes) -> Ends:
    """Some ends with a history inside their window each."""
    generator = np.random.default_rng(seed)
    tops = generator.choice(len(nodes.row), min(len(nodes.row), seed % 4 + 1), replace=False)
    first = np.array([int(generator.integers(0, nodes.youngest[top] + 1)) for top in tops])
    return Ends(tops, nodes.row[tops], first, generator.integers(0, 2, len(tops)).astype(np.uint8))


@in_both_forms
@pytest.mark.parametrize("seed", range(20))
def test_all_histories_inside_the_window_are_written(seed: int, form: str) -> None:
    nodes = drawn_buffer(seed)
    ends = drawn_ends(seed, nodes)
    expected = [
        (match, bool(is_open))
        for top, first, is_open in zip(ends.node.tolist(), ends.first.tolist(), ends.is_open, strict=True)
        for match in histories(nodes, top) if match[0][0] >= first
    ]
    output, walk = room(9_000, 999, 99, 99)
    cursor = np.array([0, 0, -1, 0])
    given = (ends, np.int64(len(ends.node)), nodes)
    assert in_form(kernel.write, form)(cursor, *given, walk, output, np.int64(ENDLESS), budget()) == 0
    is_open = output.is_open[: output.counts[0]].astype(bool).tolist()
    assert sorted(zip(listed(output), is_open, strict=True)) == sorted(expected)
    assert in_form(kernel.write, form)(
        np.array([0, 0, -1, 0]), *given, walk, output, np.int64(ENDLESS), budget(given_up=True)
    ) < 0


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_writing_goes_on_when_it_has_room(seed: int, form: str) -> None:
    nodes = drawn_buffer(seed)
    ends = drawn_ends(seed, nodes)
    whole, walk = room(9_000, 999, 99, 99)
    write = in_form(kernel.write, form)
    given = (ends, np.int64(len(ends.node)), nodes)
    write(np.array([0, 0, -1, 0]), *given, walk, whole, np.int64(ENDLESS), budget())
    sizes = [1, 1, 1, 1]
    output, walk = room(*sizes)
    cursor = np.array([0, 0, -1, 0])
    for n_calls in range(200):
        if write(cursor, *given, walk, output, np.int64(ENDLESS), budget()) == 0:
            break
        sizes[n_calls % 4] += 1  # of one thing at a time
        larger, wider = room(*sizes)
        copy_to_front(output, larger)
        copy_to_front(walk, wider)
        output, walk = larger, wider
    assert listed(output) == listed(whole)


def test_matches_may_take_so_many_bytes() -> None:
    n = 20
    nodes = Nodes(np.arange(n), np.zeros(n, np.int16), np.full(n, -1), np.full(n, -1), np.arange(n))
    ends = Ends(np.arange(n), np.arange(n), np.zeros(n, np.int64), np.zeros(n, np.uint8))
    output, walk = room(100, 100, 9, 9)
    most = 5 * (kernel.EVENT_BYTES + kernel.MATCH_BYTES)
    arguments = (np.array([0, 0, -1, 0]), ends, np.int64(n), nodes, walk, output, np.int64(most), budget())
    assert in_form(kernel.write)(*arguments) == 1
    assert output.counts[0] == 6  # it is told when there are more than allowed


def test_arrays_grow() -> None:
    array = np.array([1, 2, 3], np.int16)
    assert kernel.grown(array, 3) is array
    for length, size in ((4, 6), (50, 50)):
        larger = kernel.grown(array, length)
        assert (len(larger), larger.dtype, larger[:3].tolist()) == (size, array.dtype, [1, 2, 3])
    assert len(kernel.lengthened(array, 4)) == 4


def test_records_begin_with_that_of_no_events() -> None:
    records = kernel.new_records((np.array([-1, 4]), np.array([0.5])), 3)
    assert (records.ints.shape, records.floats.shape) == ((3, 2), (3, 1))
    assert (records.ints[0].tolist(), records.floats[0].tolist()) == ([-1, 4], [0.5])
    records.floats[1] = 2.0
    assert records.float_bits[1, 0] == np.float64(2.0).view(np.int64)


def test_selecting_an_event_writes_the_record() -> None:
    query = Query("A B= C", ANY, drawn_stream(3, 9))
    values, records = query.values(), query.records(4)
    given = (values.path, values.cells.columns, records)
    assert kernel.select(0, 1, 0, 5, *given)
    assert records.ints[:2].tolist() == [[-1], [5]]
    assert kernel.select(1, 2, 1, 6, *given)  # of B nothing is read: the record is copied
    assert kernel.select(2, 2, 2, 7, *given)
    assert records.ints[2].tolist() == [5]
    assert kernel.replay_rows(np.array([8, 7, 3]), np.array([2, 1, 0], np.int16), 3, 3, *given) == p.MAPPED
    assert records.ints[3].tolist() == [3]


def summing(query: Query, numbers: list[int]) -> Any:
    """Values of which records add up x of all events."""
    values = query.values()
    updates = np.array([[p.SUM, 0, 0, p.INTEGERS, 0, -1]] * len(query.letters))
    path = (updates, np.arange(len(query.letters) + 1), np.empty((2, 2), np.int64), np.empty((2, 0)))
    columns = values.cells.columns._replace(ints=np.array([numbers]))
    return values._replace(path=path, cells=values.cells._replace(columns=columns))


@pytest.mark.parametrize("seed", SEEDS)
def test_records_are_written_anew(seed: int) -> None:
    nodes = drawn_buffer(seed)
    n_rows = int(nodes.row.max()) + 1
    numbers = np.random.default_rng(seed).integers(-9, 9, n_rows).tolist()
    stream = Stream("a" * n_rows, np.zeros(n_rows), np.arange(float(n_rows)), (0, n_rows), 100)
    values = summing(Query("A B C", ANY, stream), numbers)
    tops = list(range(len(nodes.row)))
    runs = np.full((codes.N_FIELDS, len(tops)), -9)
    runs[codes.NODE] = tops
    records = kernel.new_records((np.zeros(2, np.int64), np.empty(0)), len(tops) + 1)
    assert in_form(kernel.revive)(runs, nodes, values, records) == -1
    for r, top in enumerate(tops):
        events = youngest_history(nodes, top)
        assert runs[codes.LABEL, r] == events[0][1]
        assert records.ints[r + 1].tolist() == [len(events), sum(numbers[row] for row, _ in events)]
    assert records.ints[0].tolist() == [0, 0]


def test_a_sum_that_overflows_is_told() -> None:
    nodes = Nodes(np.arange(3), np.zeros(3, np.int16), np.array([-1, 0, -1]), np.full(3, -1), np.array([0, 0, 2]))
    stream = Stream("aaa", np.zeros(3), np.arange(3.0), (0, 3), 100)
    values = summing(Query("A", ANY, stream), [2**62, 2**62, 5])
    runs = np.zeros((codes.N_FIELDS, 2), np.int64)
    runs[codes.NODE] = [2, 1]
    records = kernel.new_records((np.zeros(2, np.int64), np.empty(0)), 3)
    assert in_form(kernel.revive)(runs, nodes, values, records) == 1


def verdicts(query: Query, matches: list[EventRows], open_from: int, form: str, *, by_ends: bool) -> list[int]:
    """Of matches that were undecided, by their rows or by ends that wait."""
    stream = query.stream
    low, high = np.array([0]), np.array([stream.n_rows])
    partitions = Partitions(low, high, low, np.array([open_from]), np.array([-1]), np.array([0, 0]),
                            np.empty((codes.N_FIELDS, 0), np.int64), np.empty((1, 0), np.int64), np.empty((1, 0)))
    states, places = np.full(len(matches), -9), np.zeros(len(matches), np.int64)
    behind = (partitions, query.absences, stream.ties, query.values(), query.initial, budget(), states)
    events = [event for match in matches for event in match]
    rows, labels = (np.array([event[k] for event in events], kind) for k, kind in enumerate((np.int64, np.int16)))
    offsets = np.concatenate([[0], np.cumsum([len(match) for match in matches])]).astype(np.int64)
    if not by_ends:
        assert in_form(kernel.recheck, form)(places, (rows, labels, offsets), *behind) == 0
        return states.tolist()
    before = np.arange(len(rows)) - 1
    before[offsets[:-1]] = -1
    nodes = Nodes(rows, labels, before, np.full(len(rows), -1), np.repeat(rows[offsets[:-1]], np.diff(offsets)))
    waiting = Waiting(places, offsets[1:] - 1, rows[offsets[:-1]], rows[offsets[1:] - 1],
                      np.ones(len(matches), np.uint8))
    assert in_form(kernel.recheck_ends, form)(waiting, nodes, *behind) == 0
    return states.tolist()


@in_both_forms
@pytest.mark.parametrize("by_ends", [False, True])
@pytest.mark.parametrize("pattern", ["A B ~C", "~C A B", "~C A B+ ~A"])
def test_matches_are_asked_for_again_when_more_rows_are_there(pattern: str, by_ends: bool, form: str) -> None:
    n_open = 0
    for seed in SEEDS:
        query = Query(pattern, ANY, drawn_stream(seed, 9))
        free = Query(" ".join(query.components), ANY, query.stream)  # nothing is forbidden
        matches = free.matches()
        if not matches:
            continue
        for open_from in (0, query.stream.n_rows // 2, query.stream.n_rows):
            waits = pattern[-2] == "~"
            expected = [
                REFUSED if query.is_forbidden(match) else UNDECIDED if waits and match[0][0] >= open_from else KEPT
                for match in matches
            ]
            assert verdicts(query, matches, open_from, form, by_ends=by_ends) == expected
            n_open += expected.count(UNDECIDED)
    assert (n_open > 0) == (pattern[-2] == "~")


def test_ends_that_only_wait_for_others_are_kept_and_giving_up_is_told() -> None:
    query = Query("A B ~C", ANY, Stream("abc", np.zeros(3), np.arange(3.0), (0, 3), 100))
    nodes = Nodes(np.arange(2), np.arange(2, dtype=np.int16), np.array([-1, 0]), np.full(2, -1), np.zeros(2, np.int64))
    zero, one = np.array([0]), np.array([1])
    partitions = Partitions(zero, np.array([3]), zero, zero, np.array([-1]), np.array([0, 0]),
                            np.empty((codes.N_FIELDS, 0), np.int64), np.empty((1, 0), np.int64), np.empty((1, 0)))
    for is_open, steps, result, state in ((0, budget(), 0, KEPT), (1, budget(), 0, REFUSED),
                                          (1, budget(given_up=True), -4, -9), (1, budget(0), -3, -3)):
        states = np.full(1, -9)
        waiting = Waiting(zero, one, zero, one, np.array([is_open], np.uint8))
        assert in_form(kernel.recheck_ends)(
            waiting, nodes, partitions, query.absences, query.stream.ties, query.values(), query.initial, steps, states
        ) == result
        assert states[0] == state
