"""The pass over states, and the walks in windows, over letters: need and blockers are those of all prefixes, listed."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.languages.match_recognize.parse_pattern import parse_pattern
from sparkrex.modes.rows.kernels.arguments import Barred, Blocked, StateTables
from sparkrex.modes.rows.kernels.blockers import find_blockers, find_blockers_within
from sparkrex.modes.rows.program import compile_pattern
from sparkrex.modes.rows.why.places import NEVER, Places, Ways
from sparkrex.modes.rows.why.states import DEAD, make_states
from sparkrex.source import Source, Span
from sparkrex.syntax.names import name_rules

PATTERNS = [
    "A B C", "A (A | B)* C", "(A B?)+ C C", "A+? B+ C{2}", "^ A B | B (A? B)* C", "PERMUTE(A, B, C)", "A B* $",
    "A{1,3} (B | C)", "(A | ^ B C)",
]


def places_of(text: str) -> Places:
    rules = name_rules("spark")
    source = Source(text)
    return Places.of(compile_pattern(parse_pattern(source, Span(0, len(text)), rules), source))


def listed(places: Places, text: str, start: int, end: int) -> tuple[int, set[tuple[int, int]]]:
    """Need and blockers of one start, by listing all prefixes of rows before `end`."""
    found: dict[int, set[tuple[int, int]]] = {}
    is_matched = False
    pending: list[tuple[int, Ways]] = [(start, places.entry_at(is_first=start == 0))]
    seen = set()
    while pending:
        row, ways = pending.pop()
        is_matched |= ways.accepts or (ways.accepts_at_end and row == len(text))
        for place in ways.places:
            variable = int(places.variable[place])
            found.setdefault(int(places.needs[place]), set()).add((row, variable))
            if (row, place) not in seen and row < end and places.variables[variable] == text[row]:
                seen.add((row, place))
                pending.append((row + 1, places.ways[place]))
    if start > 0:
        for place in places.barred:
            found.setdefault(int(places.needs[place]), set()).add((start, int(places.variable[place])))
    least = 0 if is_matched else min(found, default=NEVER)
    return least, found.get(least, set())


@in_both_forms
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_need_and_blockers(form: str, pattern: str, window: int | None) -> None:
    draw = random.Random(pattern)
    places = places_of(pattern)
    texts = ["".join(draw.choices("ABC", k=draw.randrange(9))) for _ in range(25)]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    n_rows = int(offsets[-1])
    letters = "".join(texts)
    symbols = np.array(["ABC".index(letter) for letter in letters], np.uint16)
    names = places.variables
    states = make_states(places, [1 << names.index(letter) if letter in names else 0 for letter in "ABC"])
    barred = sorted({int(places.variable[place]) for place in places.barred})
    miss = np.array([[draw.choice((np.nan, 1.0, 2.0, 3.0)) for _ in range(n_rows)] for _ in names])
    found = Blocked(
        np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64),
        np.full(n_rows, DEAD, np.int32), np.zeros(n_rows), np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int32),
        np.zeros(n_rows, np.uint64),
    )
    apart, starts_of = np.full(len(names), np.nan), np.zeros(len(names), np.int64)
    given = (
        offsets, symbols,
        StateTables(states.following, states.accepts, states.need, states.offsets, states.variables, states.bits,
                    states.entry, states.first),
        Barred(places.need, len(barred), np.uint64(sum(1 << one for one in barred))), miss, np.ones(n_rows, np.bool_),
    )
    is_exact = np.ones(n_rows, np.bool_)
    # Times rise by 0 or 1; the window has three of them.
    keys = np.cumsum([draw.randrange(2) for _ in range(n_rows)])
    if window is None:
        in_form(find_blockers, form)(*given, found, apart, starts_of)
    else:
        in_form(find_blockers_within, form)(
            *given, keys, keys + window, 1_000_000, found, is_exact, apart, starts_of
        )
    assert is_exact.all()
    expected_starts, expected_apart = np.zeros(len(names), np.int64), np.full(len(names), np.nan)
    for text, (low, high) in zip(texts, pairwise(offsets.tolist()), strict=True):
        for start in range(len(text)):
            row = low + start
            end = len(text)
            if window is not None:
                end = start + int((keys[row:high] < keys[row] + window).sum())
            need, blockers = listed(places, text, start, end)
            assert found.need[row] == need, (text, start)
            if need == 0:
                continue
            assert found.n_blockers[row] == len(blockers), (text, start, blockers)
            assert found.last_row[row] == low + max(at for at, _ in blockers)
            assert int(found.bits[row]) == sum(1 << one for one in {variable for _, variable in blockers})
            barred_here = {(start, one) for one in barred} if start else set()
            inside = [(at, v) for at, v in blockers - barred_here if at < end]
            distances = [miss[v, low + at] for at, v in inside]
            least = np.nan if np.isnan(distances).all() else np.nanmin(distances)
            assert np.array_equal([found.close[row]], [least], equal_nan=True), (text, start, blockers)
            for one in {variable for _, variable in blockers}:
                expected_starts[one] += 1
            for (_, one), distance in zip(inside, distances, strict=True):
                expected_apart[one] = np.fmin(expected_apart[one], distance)
    assert starts_of.tolist() == expected_starts.tolist()
    assert np.array_equal(apart, expected_apart, equal_nan=True)


def test_the_bound_of_walks() -> None:
    places = places_of("A B* C")
    states = make_states(places, [1, 2, 4])
    n_rows = 9
    symbols = np.array([0] + [1] * 8, np.uint16)
    found = Blocked(
        np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64),
        np.full(n_rows, DEAD, np.int32), np.zeros(n_rows), np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int32),
        np.zeros(n_rows, np.uint64),
    )
    tried, is_exact = np.zeros(n_rows, np.bool_), np.ones(n_rows, np.bool_)
    tried[0] = True
    in_form(find_blockers_within)(
        np.array([0, n_rows]), symbols,
        StateTables(states.following, states.accepts, states.need, states.offsets, states.variables, states.bits,
                    states.entry, states.first),
        Barred(places.need, 0, np.uint64(0)), np.full((3, n_rows), np.nan), tried, np.arange(n_rows),
        np.arange(n_rows) + 100, 4, found, is_exact, np.full(3, np.nan), np.zeros(3, np.int64),
    )
    assert is_exact.tolist() == [False] + [True] * 8
    assert (found.need[0], found.n_blockers[0], found.last_row[0]) == (1, 3, 3)
