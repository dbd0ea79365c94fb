"""All runs at once over letters, against the definition: merged or not, looked up or not, in one feed or in two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.events.kernels.buffers import drawn_buffer, histories
from tests.modes.events.kernels.letters import ANY, PATTERNS, STRATEGIES, EventRows, Query, Stream, budget, drawn_stream
from tests.modes.events.kernels.searching import Search

from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import Nodes
from sparkrex.modes.events.kernels.codes import CONTIGUITY, DONE, NEEDS_ROOM
from sparkrex.modes.events.kernels.nfab import compact
from sparkrex.modes.events.nfab.search import room_to_move

NEGATED = ["A ~C B", "~C A B", "A B ~C", "~C A ~C B+ ~A", "A ~C B? C", "A+ ~C B"]
JOINED = [pattern for pattern in PATTERNS if "=" in pattern]


@in_both_forms
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pattern", PATTERNS + NEGATED)
def test_matches(pattern: str, strategy: int, merges: bool, form: str) -> None:
    for seed in range(6):
        query = Query(pattern, strategy, drawn_stream(seed, 8, 1 + seed % 3))
        search = Search(query, form, merges=merges)
        assert search.run() == DONE
        assert sorted(search.matches()) == query.matches()
        assert not any(search.is_open())
        assert (search.statistics[codes.MERGES] > 0) <= merges


@in_both_forms
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("strategy", [strategy for strategy in STRATEGIES if strategy != CONTIGUITY])
@pytest.mark.parametrize("pattern", [*JOINED, "A+ B+ C=", "A B= A= C"])
def test_runs_that_are_looked_up(pattern: str, strategy: int, merges: bool, form: str) -> None:
    for seed in range(8):
        query = Query(pattern, strategy, drawn_stream(seed, 9, 1 + seed % 2))
        search = Search(query, form, merges=merges, looks_up=True)
        assert search.run() == DONE
        assert sorted(search.matches()) == query.matches()


def test_runs_are_merged() -> None:
    text = "a" * 12 + "b"
    stream = Stream(text, np.zeros(13), np.arange(13.0), (0, 13), 1_000)
    search = Search(Query("A+ B", ANY, stream), merges=True, room=9_000)
    assert search.run() == DONE
    assert search.statistics[codes.MOST_RUNS] <= 3
    assert len(set(search.matches())) == 2**12 - 1


def first_to_complete(query: Query) -> list[EventRows]:
    """One match after the other: the first to end, of those that begin behind the one before."""
    chosen: list[EventRows] = []
    matches = sorted(query.matches(), key=lambda match: (match[-1][0], match[0][0], len(match), [r for r, _ in match],
                                                         [label for _, label in match]))
    partition_of = np.searchsorted(query.stream.offsets, [match[0][0] for match in matches], side="right")
    lasts: dict[int, int] = {}
    for match, partition in zip(matches, partition_of.tolist(), strict=True):
        if partition not in lasts or query.stream.follows(lasts[partition], match[0][0]):
            chosen.append(match)
            lasts[partition] = match[-1][0]
    return sorted(chosen)


@in_both_forms
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pattern", [*PATTERNS, "A ~C B", "~C A B"])
def test_matches_that_do_not_overlap(pattern: str, strategy: int, merges: bool, form: str) -> None:
    for seed in range(6):
        query = Query(pattern, strategy, drawn_stream(seed, 8, 1 + seed % 3))
        search = Search(query, form, merges=merges, only_first=True)
        assert search.run() == DONE
        assert sorted(search.matches()) == first_to_complete(query)


def cut(stream: Stream, n_rows: int) -> Stream:
    """The first rows of a stream of one partition."""
    return replace(stream, text=stream.text[:n_rows], x=stream.x[:n_rows], times=stream.times[:n_rows],
                   offsets=(0, n_rows))


@in_both_forms
@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("pattern", [*PATTERNS, "A ~C B", "A+ ~C B"])
def test_two_feeds_find_what_one_finds(pattern: str, strategy: int, merges: bool, form: str) -> None:
    for seed in range(6):
        stream = drawn_stream(seed, 9)
        whole = Query(pattern, strategy, stream)
        n_first = stream.n_rows // 2
        looks_up = "=" in pattern and strategy != CONTIGUITY and seed % 2 == 0
        first = Search(Query(pattern, strategy, cut(stream, n_first)), form, merges=merges, is_open=True,
                       looks_up=looks_up)
        assert first.run() == DONE
        second = Search(whole, form, merges=merges, before=first, looks_up=looks_up)
        assert second.run() == DONE
        assert sorted(first.matches() + second.matches()) == whole.matches()


@pytest.mark.parametrize("pattern", ["A B ~C", "A B+ ~A"])
def test_a_match_whose_window_is_open_is_undecided(pattern: str) -> None:
    for seed in range(6):
        query = Query(pattern, ANY, drawn_stream(seed, 7))
        search = Search(query, is_open=True)
        assert search.run() == DONE
        # What is refused already is not there any more; the rest waits for the rows to come.
        assert sorted(search.matches()) == query.matches()
        assert all(search.is_open())


@in_both_forms
@pytest.mark.parametrize("looks_up", [False, True])
@pytest.mark.parametrize("pattern", ["A+ B= C", "A B+= C"])
def test_a_search_goes_on_when_it_has_room(pattern: str, looks_up: bool, form: str) -> None:
    stream = drawn_stream(5, 9, 3)
    query = Query(pattern, ANY, replace(stream, window=100))
    search = Search(query, form, merges=True, looks_up=looks_up, room=4, is_open=True)
    n_asked = 0
    while (status := search.run()) == NEEDS_ROOM:
        search.more_room()
        n_asked += 1
    assert (status, n_asked > 0) == (DONE, True)
    assert sorted(search.matches()) == query.matches()


def test_a_search_that_is_given_up_or_takes_too_many_steps() -> None:
    query = Query("A ~C B", ANY, Stream("accccb", np.zeros(6), np.arange(6.0), (0, 6), 100))
    assert Search(query, steps=budget(given_up=True)).run() == codes.STOPPED
    # A candidate that is there is found by one step.
    assert Search(query, steps=budget(0)).run() == codes.TOO_MANY_STEPS
    assert Search(query, steps=budget(1)).run() == DONE


@in_both_forms
@pytest.mark.parametrize("seed", range(12))
def test_a_buffer_is_compacted(seed: int, form: str) -> None:
    nodes = drawn_buffer(seed)
    n_nodes, n_rows = len(nodes.row), int(nodes.row.max()) + 1
    bounds = np.maximum(np.arange(n_rows) - 4, 0) if seed % 2 else np.empty(0, np.int64)
    # A run that the window has left is no root: nobody asks for its histories.
    tops = [n for n in range(n_nodes) if not len(bounds) or nodes.youngest[n] >= bounds[nodes.row[n]]]
    roots = np.random.default_rng(seed).choice(tops, min(len(tops), 3), replace=False).tolist()

    def alive(buffer: Nodes, tops: list[int]) -> list[list[EventRows]]:
        """Of every root the histories that its window still has."""
        firsts = [int(bounds[buffer.row[top]]) if len(bounds) else 0 for top in tops]
        return [
            sorted(match for match in histories(buffer, top) if match[0][0] >= first)
            for top, first in zip(tops, firsts, strict=True)
        ]

    expected = alive(nodes, roots)
    moved, new_roots = room_to_move(n_nodes), np.array(roots)
    left = Nodes._make(array.copy() for array in nodes)
    n_left = in_form(compact, form)(moved, new_roots, left, np.int64(n_nodes), bounds)
    assert len(roots) <= n_left <= n_nodes
    assert alive(Nodes._make(array[:n_left] for array in left), new_roots.tolist()) == expected
    if not len(bounds):
        reached, pending = set(), list(roots)
        while pending:
            node = pending.pop()
            if node >= 0 and node not in reached:
                reached.add(node)
                pending += [int(nodes.before[node]), int(nodes.other[node])]
        assert n_left == len(reached)
