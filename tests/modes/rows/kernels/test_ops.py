"""Optimized Pattern Search over letters, forward and in reverse, compiled and not, against the naive search."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.rows.ops.letters import draw_pattern, draw_text, letter_matrices, letters_hold, read_pattern
from tests.modes.rows.ops.naive import naive_search, ops_search

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.context import Context
from sparkrex.modes.rows.kernels import ops as kernel
from sparkrex.modes.rows.kernels.arguments import Bounds, Deadlines, Limits
from sparkrex.modes.rows.kernels.backtrack import DONE, STOPPED
from sparkrex.modes.rows.ops.reverse import reverse_shifts
from sparkrex.modes.rows.ops.shifts import Shifts, find_shifts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.modes.rows.ops.letters import Element

ALPHABET = "abc"


class Search:
    """A pattern over partitions of letters. Matches are first row, row behind the last, number; labels as names.

    The variables of element k are 2k and 2k + 1.
    """

    def __init__(self, pattern: Sequence[Element], texts: Sequence[str], form: str) -> None:
        self.pattern, self.form = pattern, form
        self.text = "".join(texts)
        offsets = np.cumsum([0, *map(len, texts)])
        n = len(texts)
        self.bounds = Bounds(offsets, np.ones(n, np.bool_), np.ones(n, np.bool_), offsets[:-1].copy(),
                             np.ones(n, np.int64), np.zeros((n, 2 * len(pattern) + 2), np.uint8),
                             np.empty(0, np.uint8), offsets[1:])
        self.limits = Limits(0, 1, np.zeros(1, np.uint8))
        self.cursor = np.zeros(kernel.CURSOR_SIZE, np.int64)
        n_rows = len(self.text)
        self.found = kernel.Found(np.empty(n_rows + 1, np.int64), np.empty(n_rows + 1, np.int64),
                                  np.empty(n_rows + 1, np.int64), np.empty(n_rows, np.int16))

    def run(self, shifts: Shifts) -> int:
        """Forward."""
        tables, tests = self._tables(self.pattern, shifts), self._tests(self.pattern)
        variables = tuple(str(number) for number in range(2 * len(self.pattern) + 2))
        frame = Columns(pa.table({"letter": list(self.text)}), self.bounds.offsets)
        context = Context((), variables, frame, None, 1)  # type: ignore[arg-type]  # it is asked for no condition
        deadlines = Deadlines(
            np.zeros(len(variables) + 1, np.int64), np.zeros((0, 4), np.int64), 0, np.zeros(1, np.int64),
            np.zeros((0, 2), np.int64),
        )
        begins, labels = np.zeros(len(self.pattern) + 3, np.int64), np.empty(len(self.text) + 1, np.int16)

        def call() -> int:
            status, _ = in_form(kernel.search, self.form)(
                self.bounds, tables, tests, deadlines, context.machine(), context.columns,
                context.path(len(self.text)), self.limits, self.cursor, begins, labels, self.found,
            )
            return int(status)

        return self._until_done(call, tests)

    def run_back(self, shifts: Shifts) -> int:
        """In reverse, with the shifts of the reversed pattern."""
        backwards = self.pattern[::-1]
        tables, tests = self._tables(backwards, shifts), self._tests(backwards)
        begins = np.zeros(len(self.pattern) + 3, np.int64)
        occurrences = [np.empty((1, len(self.pattern) + 1), np.int64)]

        def call() -> int:
            status, occurrences[0] = in_form(kernel.search_back, self.form)(
                self.bounds, tables, tests, self.limits, self.cursor, begins, occurrences[0], self.found
            )
            return int(status)

        return self._until_done(call, tests)

    def _until_done(self, call: Callable[[], int], tests: kernel.ElementTests) -> int:
        n_calls = 0
        while (status := call()) == kernel.NEEDS_BLOCK:
            n_calls += 1
            assert tests.is_filled[self.cursor[kernel.BITMAP], self.cursor[kernel.BLOCK]] == 0
            tests.is_filled[self.cursor[kernel.BITMAP], self.cursor[kernel.BLOCK]] = 1
        assert n_calls <= len(self.pattern)
        return status

    def _tables(self, pattern: Sequence[Element], shifts: Shifts) -> kernel.Elements:
        n_entries = len(shifts.shift)
        is_star = np.zeros(n_entries, np.uint8)
        is_star[1 : len(pattern) + 1] = [star for star, _ in pattern]
        numbers = np.arange(n_entries, dtype=np.int32)
        return kernel.Elements(is_star, 2 * numbers, 2 * numbers + 1, shifts.shift, shifts.next,
                               np.ones(n_entries, np.uint8), shifts.inside)

    def _tests(self, pattern: Sequence[Element]) -> kernel.ElementTests:
        m = len(pattern)
        bitmaps = np.array([[letter in letters for letter in self.text] for _, letters in pattern], np.uint8)
        none = np.zeros(m + 1, np.int64)
        return kernel.ElementTests(np.arange(-1, m, dtype=np.int32), none, none, bitmaps.reshape(m, len(self.text)),
                                   np.zeros((m, 1), np.uint8))

    @property
    def matches(self) -> list[tuple[int, int, int]]:
        """First row, row behind the last, number."""
        n = self.cursor[kernel.N_MATCHES]
        return list(zip(*(column[:n].tolist() for column in self.found[:3]), strict=True))

    @property
    def labels(self) -> list[int]:
        """Variables of all matched rows."""
        return [label // 2 for label in self.found.labels[: self.cursor[kernel.N_LABELS]].tolist()]


def _expected(pattern: Sequence[Element], texts: Sequence[str]) -> tuple[list[tuple[int, int, int]], list[int]]:
    """By the naive search, one partition after the other."""
    matches, labels = [], []
    before = 0
    for text in texts:
        found = naive_search([star for star, _ in pattern], len(text), letters_hold(pattern, text))
        for number, begins in enumerate(found.matches, 1):
            matches.append((before + begins[0], before + begins[-1], number))
            for k, (begin, end) in enumerate(pairwise(begins), 1):
                labels += [2 * k, *[2 * k + 1] * (end - begin - 1)]
        before += len(text)
    return matches, labels


@in_both_forms
def test_forward_gives_the_naive_matches_with_the_tests_of_the_plain_search(form: str) -> None:
    draw = Random(3)
    for _ in range(300):
        pattern = draw_pattern(draw, ALPHABET)
        texts = [draw_text(draw, pattern, ALPHABET, 16) for _ in range(draw.choice((1, 3)))]
        stars = [star for star, _ in pattern]
        shifts = find_shifts(letter_matrices(pattern, ALPHABET), stars)
        search = Search(pattern, texts, form)
        assert search.run(shifts) == DONE
        assert (search.matches, search.labels) == _expected(pattern, texts)
        n_tests = sum(
            ops_search(stars, len(text), letters_hold(pattern, text), shifts).n_tests for text in texts
        )
        assert search.cursor[kernel.N_TESTS] == n_tests
        assert search.bounds.start.tolist() == search.bounds.offsets[1:].tolist()


def _draw_reversible(draw: Random) -> list[Element]:
    """A pattern whose stars share no letter with their neighbours."""
    while True:
        pattern = draw_pattern(draw, ALPHABET)
        if all(not ((s or t) and a & b) for (s, a), (t, b) in pairwise(pattern)):
            return pattern


@in_both_forms
def test_reverse_gives_the_naive_matches(form: str) -> None:
    draw = Random(4)
    n_matches = 0
    for _ in range(400):
        pattern = _draw_reversible(draw)
        texts = [draw_text(draw, pattern, ALPHABET, 16) for _ in range(draw.choice((1, 3)))]
        backwards = pattern[::-1]
        shifts = reverse_shifts(letter_matrices(backwards, ALPHABET), [star for star, _ in backwards])
        search = Search(pattern, texts, form)
        assert search.run_back(shifts) == DONE
        matches, labels = _expected(pattern, texts)
        assert search.matches == matches
        # Elements are numbered from the last one there.
        turned = [2 * (len(pattern) + 1 - number // 2) + number % 2 for number in labels]
        assert search.labels == turned
        n_matches += len(matches)
    assert n_matches > 300


@pytest.mark.parametrize(("pattern", "text", "expected"), [
    ("*a b", "aaabaab", [(0, 4, 1), (4, 7, 2)]),
    # The first match has the first of the two rows of the second occurrence's star.
    ("*a b a", "abaaba", [(0, 3, 1), (3, 6, 2)]),
    ("*a b *a", "aabaabaa", [(0, 5, 1)]),
    ("a b a", "ababa", [(0, 3, 1)]),
])
def test_reverse_takes_what_comes_first_and_clips_a_leading_star(
    pattern: str, text: str, expected: list[tuple[int, int, int]]
) -> None:
    elements = read_pattern(pattern)
    backwards = elements[::-1]
    search = Search(elements, [text], "interpreted")
    search.run_back(reverse_shifts(letter_matrices(backwards, ALPHABET), [star for star, _ in backwards]))
    assert search.matches == expected == _expected(elements, [text])[0]


@in_both_forms
def test_a_clipped_star_needs_a_row(form: str) -> None:
    """All rows of the second occurrence's first star are in the first match; the third one overlaps nothing."""
    pattern = read_pattern("*a b *a")
    search = Search(pattern, ["aabaabaaba"], form)
    search.run_back(reverse_shifts(letter_matrices(pattern[::-1], ALPHABET), [True, False, True]))
    assert search.matches == _expected(pattern, ["aabaabaaba"])[0] == [(0, 5, 1), (6, 10, 2)]


def _open_search(pattern: str, text: str, form: str, lookahead: int = 0) -> Search:
    elements = read_pattern(pattern)
    search = Search(elements, [text], form)
    search.bounds = search.bounds._replace(ends=np.zeros(1, np.bool_))
    search.limits = search.limits._replace(lookahead=lookahead)
    search.run(find_shifts(letter_matrices(elements, ALPHABET), [star for star, _ in elements]))
    return search


@in_both_forms
@pytest.mark.parametrize(("pattern", "text", "lookahead", "matches", "start"), [
    ("a b", "abab", 0, [(0, 2, 1), (2, 4, 2)], 4),
    ("a b", "aba", 0, [(0, 2, 1)], 2),
    ("a *b", "abb", 0, [], 0),
    ("a *b", "abba", 0, [(0, 3, 1)], 3),
    ("a *b c", "cabbab", 0, [], 4),
    ("a b", "abab", 1, [(0, 2, 1)], 2),
    ("a b", "", 0, [], 0),
])
def test_an_attempt_that_meets_the_end_of_an_open_partition_waits(
    form: str, pattern: str, text: str, lookahead: int, matches: list[tuple[int, int, int]], start: int
) -> None:
    search = _open_search(pattern, text, form, lookahead)
    assert search.matches == matches
    assert search.bounds.start.tolist() == [start]
    assert search.bounds.number.tolist() == [len(matches) + 1]


@in_both_forms
def test_the_stop_flag_ends_both_searches(form: str) -> None:
    pattern = read_pattern("a b")
    for run in ("run", "run_back"):
        search = Search(pattern, ["c" * 1_000], form)
        search.limits.stop[0] = 1
        matrices = letter_matrices(pattern, ALPHABET)
        shifts = find_shifts(matrices, [False] * 2) if run == "run" else reverse_shifts(matrices, [False] * 2)
        assert getattr(search, run)(shifts) == STOPPED
