"""The prioritised search over letters, against Python's regular expressions; and conditions that read the match."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.rows.kernels.letters import (
    DECIDED,
    LOOKING_AHEAD,
    PATTERNS,
    SKIPS,
    Found,
    Skip,
    bitmaps_of,
    by_definition,
    check_labels,
    drawn_text,
    program_of,
    words,
)

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.context import Context
from sparkrex.kernels import machine as m
from sparkrex.kernels.path import FIRST_OF_PATH
from sparkrex.modes.rows.kernels import arguments
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.kernels.backtrack import DONE, TO_FIRST, TO_LAST
from sparkrex.modes.rows.memo import find_memo
from sparkrex.modes.rows.runs import Runs, find_runs, run_tables

SEEDS = range(12)
MANY_STEPS = 1 << 40


class Search:
    """A pattern's program, with and without what lets the search pass over rows, and the kernel called with it.

    `code` gives variables conditions that read the match: by variable, `ranges` are from where to where it is.
    """

    def __init__(
        self, pattern: str, form: str = "interpreted", *, has_runs: bool = True, remembers: bool = True
    ) -> None:
        self.pattern, self.form = pattern, form
        self.program = program_of(pattern)
        program = self.program
        self.runs = find_runs(program) if has_runs else Runs(program.operation, program.first, program.second)
        self.memo = find_memo(program, ())
        if not remembers:
            self.memo = arguments.Memo(np.full(len(program), -1, np.int32), self.memo.is_per_start, 0, 0)
        self.deadlines = arguments.Deadlines(
            np.zeros(len(program.variables) + 1, np.int64), _lines([]), 0, *NOTHING_AHEAD
        )
        self.bounds_of_runs: list[list[int]] = []
        self.code: list[list[int]] = []
        self.ranges: dict[str, tuple[int, int]] = {}
        self.constants: list[int] = []

    def find(
        self, text: str, skip: Skip = SKIPS[1], *, offsets: tuple[int, ...] = (), begins: bool = True,
        ends: bool = True, start: int = 0, number: int = 1, lookahead: int = 0, stop: int = 0,
        max_steps: int = MANY_STEPS, times: Any = None,
    ) -> Found:
        program, variables = self.program, self.program.variables
        cuts = np.array(offsets or (0, len(text)))
        n = len(cuts) - 1
        barred = np.zeros((n, len(variables) + 1), np.uint8)
        bounds = arguments.Bounds(
            cuts, np.full(n, begins), np.full(n, ends), cuts[:-1] + start, np.full(n, number), barred,
            np.empty(0, np.uint8), cuts[1:],
        )
        numbers, bitmaps = bitmaps_of(self.pattern, text)
        if not ends:
            bitmaps[:, max(len(text) - lookahead, 0) :] = 1  # what conditions are there nobody can know
        bitmap_of = np.array([numbers.get(name, -1) for name in variables] or [-1], np.int32)
        frame = Columns(pa.table({"letter": pa.array(list(text), pa.string())}), cuts)
        context = Context((), variables, frame, None, 1)  # type: ignore[arg-type]  # it is asked for no condition
        runs = run_tables(program, self.runs, context, bitmap_of, bitmaps, None, is_whole=ends)
        ranges = [self.ranges.get(name, (0, 0)) for name in variables] or [(0, 0)]
        if self.bounds_of_runs:
            runs = runs._replace(bounds=_lines(self.bounds_of_runs), bound_of=np.where(self.runs.is_run, 0, -1))
        tests = arguments.Tests(bitmap_of, bitmaps, *(np.array(part, np.int64) for part in zip(*ranges, strict=True)))
        label = (2 * program.variable + program.is_excluded).astype(np.int16)
        instructions = arguments.Instructions(
            self.runs.operation, program.variable, label, program.first, program.second, program.entry
        )
        status, row, n_matches, first, last, match_number, n_labels, labels, *_ = in_form(kernel.search, self.form)(
            bounds, instructions, runs, self.memo, tests, self.deadlines, self._machine(), _columns(times, len(text)),
            context.path(int(np.diff(cuts).max(initial=0))), skip.mode,
            np.array([name == skip.variable for name in variables] or [False]),
            arguments.Limits(lookahead, max_steps, np.array([stop], np.uint8)),
        )
        matches = list(zip(*(column[:n_matches].tolist() for column in (first, last, match_number)), strict=True))
        names = "".join(variables[label // 2] for label in labels[:n_labels])
        places = np.concatenate([[0], np.cumsum([end - begin for begin, end, _ in matches])]).astype(int)
        return Found(
            matches, [names[a:b] for a, b in pairwise(places)], int(status), int(row),
            int(bounds.start[-1]) if n else 0, int(bounds.number[-1]) if n else 1,
        )

    def _machine(self) -> m.Machine:
        nothing = np.zeros(1, np.uint8)
        return m.Machine(
            np.array([row + [0] * (9 - len(row)) for row in self.code], np.int64).reshape(-1, 9),
            np.array([[FIRST_OF_PATH, 0, 0, 0]]), np.zeros((0, 3), np.int64), np.array(self.constants, np.int64),
            np.zeros(0), np.zeros(1, np.int64), nothing, np.zeros(1), nothing, np.zeros(2, np.int64), np.zeros(2),
            np.zeros(2, np.uint8), np.zeros(len(self.program.variables) or 1, np.int64),
        )


NOTHING_AHEAD = np.zeros(1, np.int64), np.empty((0, 2), np.int64)


def _lines(lines: list[list[int]]) -> Any:
    return np.array(lines, np.int64).reshape(-1, 4)


def _columns(times: Any, n_rows: int) -> m.ReadColumns:
    """One column of integers, the times."""
    values = np.array([np.zeros(n_rows) if times is None else times]).astype(np.int64)
    return m.ReadColumns(
        values, np.zeros((1, n_rows), np.uint8), np.zeros(1, np.uint8), np.zeros((0, n_rows)),
        np.zeros((0, n_rows), np.uint8), np.zeros(0, np.uint8),
    )


WAYS = [(True, True), (True, False), (False, True), (False, False)]


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS + LOOKING_AHEAD)
def test_matches(pattern: str, form: str) -> None:
    for place, (has_runs, remembers) in enumerate(WAYS):
        search = Search(pattern, form, has_runs=has_runs, remembers=remembers)
        for seed in SEEDS if place == 0 else SEEDS[place::4]:
            text = drawn_text(seed)
            for skip, begins in zip(SKIPS, (True, seed % 2 == 0), strict=True):
                found = search.find(text, skip, begins=begins)
                assert found.status == DONE
                assert found.matches == by_definition(pattern, text, skip, begins=begins)
                check_labels(pattern, text, found)


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_partitions_do_not_meet(pattern: str, form: str) -> None:
    search = Search(pattern, form)
    for seed in range(3):
        texts = [drawn_text(10 * seed + k, 7) for k in range(4)]
        offsets = tuple(np.concatenate([[0], np.cumsum([len(text) for text in texts])]).tolist())
        assert search.find("".join(texts), offsets=offsets).matches == [
            (begin + low, end + low, number)
            for low, text in zip(offsets, texts, strict=False)
            for begin, end, number in by_definition(pattern, text, SKIPS[1])
        ]


def check_open(search: Search, text: str, skip: Skip, lookahead: int) -> None:
    """Whatever is decided is so for every continuation, and the rest is found from there on."""
    found = search.find(text, skip, ends=False, lookahead=lookahead)
    assert found.status == DONE
    for more in words(3):
        whole = by_definition(search.pattern, text + more, skip)
        assert whole[: len(found.matches)] == found.matches, more
        if len(more) < 2:
            rest = search.find(text + more, skip, start=found.start, number=found.number)
            assert found.matches + rest.matches == whole, more


@pytest.mark.parametrize("pattern", PATTERNS + LOOKING_AHEAD)
def test_what_is_decided_while_rows_may_come_stays(pattern: str) -> None:
    lookahead = (2 if "M" in pattern else 1) if pattern in LOOKING_AHEAD else 0
    for seed in range(6):
        search = Search(pattern, has_runs=seed < 4)
        for skip in SKIPS:
            check_open(search, drawn_text(seed, 9), skip, lookahead)


@in_both_forms
@pytest.mark.parametrize(("pattern", "text", "matches", "start"), DECIDED)
def test_what_no_row_to_come_can_change_is_decided(
    pattern: str, text: str, matches: list[tuple[int, int]], start: int, form: str
) -> None:
    found = Search(pattern, form).find(text, SKIPS[0], ends=False)
    assert [match[:2] for match in found.matches] == matches
    assert (found.start, found.number) == (start, len(matches) + 1)


@in_both_forms
@pytest.mark.parametrize("mode", [TO_FIRST, TO_LAST])
def test_skip_to_a_variable(mode: int, form: str) -> None:
    search, skip = Search("C A* B (A | B)* C", form), Skip(mode, "B")
    for text in ("cabc", "cabbac", "cbcbc", "caabbacabc", "abc"):
        assert search.find(text, skip).matches == by_definition(search.pattern, text, skip)
    refused = Search("A B? C", form).find("abcac", Skip(mode, "A"))
    assert (refused.status, refused.row) == (kernel.SKIP_TO_FIRST_ROW, 0)
    refused = Search("A B? C", form).find("abcac", Skip(mode, "B"))
    assert (refused.status, refused.row) == (kernel.SKIP_TO_ABSENT, 3)


def test_the_preferred_variable_is_mapped() -> None:
    for pattern, labels in {"(A | D)+": "ADAA", "(D | A)+": "DDDD", "A* D+": "ADDD", "A*? D+": "DDDD"}.items():
        for has_runs, remembers in WAYS:
            search = Search(pattern, has_runs=has_runs, remembers=remembers)
            assert search.find("abaa", SKIPS[0]).labels == [labels]


def test_room_grows() -> None:
    # More than a thousand matches, four thousand labels and sixty-four splits that wait.
    found = Search("(A | B)+", has_runs=False).find("ab" * 50, SKIPS[1])
    assert found.matches == [(row, 100, row + 1) for row in range(100)]
    assert [len(labels) for labels in found.labels] == list(range(100, 0, -1))
    found = Search("A").find("a" * 1_100)
    assert found.matches == [(row, row + 1, row + 1) for row in range(1_100)]


def test_failures_are_remembered() -> None:
    # Without memory 2^40 ways would be tried: the test ends.
    text = "a" * 40 + "b"
    assert Search("((A | A) | (A | A))+ C", has_runs=False).find(text).matches == []


def test_a_search_can_be_stopped() -> None:
    assert Search("A* B* C", has_runs=False).find("a" * 300, stop=1).status == kernel.STOPPED


def within(search: Search, most: int) -> Search:
    """X and B must also come at most so long after the match's first row."""
    search.code = [
        [m.SUB_I, 0, m.COLUMN, 0, 0, m.TARGET, 0, 0], [m.LE_I, m.TEST, m.REGISTER, 0, 0, m.CONSTANT, 0, 0],
    ]
    search.constants = [most]
    search.ranges = {"X": (0, 2), "B": (0, 2)}
    return search


def matches_within(pattern: str, text: str, times: list[int], most: int) -> list[tuple[int, int]]:
    """Of `A X* B` or `A X*? B`, by the definition: the last, or the first, B in time."""
    found = []
    for start in range(len(text)):
        ends = [row for row in range(start + 1, len(text)) if text[row] == "b" and times[row] - times[start] <= most]
        if text[start] == "a" and ends:
            found.append((start, (min(ends) if "?" in pattern else max(ends)) + 1))
    return found


@in_both_forms
@pytest.mark.parametrize("is_bounded", [False, True])
@pytest.mark.parametrize("pattern", ["A X* B", "A X*? B"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_condition_that_reads_the_match(seed: int, pattern: str, is_bounded: bool, form: str) -> None:
    text = drawn_text(seed)
    times = np.cumsum(np.random.default_rng(seed).integers(0, 3, len(text))).tolist()
    search = within(Search(pattern, form, has_runs=is_bounded or seed % 2 == 0, remembers=False), seed % 5)
    if is_bounded:
        search.bounds_of_runs = [[0, 0, 0, seed % 5]]  # times ascend, so that a run need not go beyond
    found = search.find(text, times=times)
    assert found.status == DONE
    assert [match[:2] for match in found.matches] == matches_within(pattern, text, times, seed % 5)


@pytest.mark.parametrize("pattern", ["A X* B", "A X*? B"])
@pytest.mark.parametrize("seed", range(6))
def test_a_deadline_decides_what_no_row_to_come_can_change(seed: int, pattern: str) -> None:
    text, most = drawn_text(seed, 8), 3
    times = np.cumsum(np.random.default_rng(seed).integers(0, 3, len(text))).tolist()
    last = times[-1] if times else 0
    for earliest in (last, last + 2, last + 9):
        search = within(Search(pattern, has_runs=seed % 2 == 0, remembers=False), most)
        variables = search.program.variables
        begin = [sum(name != "A" for name in variables[:k]) for k in range(len(variables) + 1)]
        search.deadlines = arguments.Deadlines(
            np.array(begin), _lines([[0, 0, 0, most]] * 2), earliest, *NOTHING_AHEAD
        )
        found = search.find(text, times=times, ends=False)
        decided = [match[:2] for match in found.matches]
        for more in words(2):
            later = times + [earliest + k for k in range(len(more))]
            whole = matches_within(pattern, text + more, later, most)
            assert [match for match in whole if match[0] < found.start] == decided
        if earliest == last + 9:
            assert found.start == len(text)  # whatever comes is too late for all


def test_conditions_that_read_the_match_have_a_budget() -> None:
    text, times = "a" * 30 + "b", list(range(31))
    search = within(Search("A X* B", remembers=False), 100)
    found = search.find(text, times=times, max_steps=20)
    assert (found.status, found.row) == (kernel.BUDGET, 0)
    assert search.find(text, times=times, max_steps=200).status == DONE


@pytest.mark.parametrize(
    ("operation", "constant", "status"),
    [(m.ADD_I, 2**63 - 1, kernel.OVERFLOW), (m.DIV_I, 0, kernel.DIVISION_BY_ZERO)],
)
def test_a_failing_condition_ends_the_search(operation: int, constant: int, status: int) -> None:
    search = Search("A B")
    search.code = [
        [operation, 0, m.COLUMN, 0, 0, m.CONSTANT, 0, 0], [m.LE_I, m.TEST, m.REGISTER, 0, 0, m.CONSTANT, 0, 0],
    ]
    search.constants, search.ranges = [constant], {"B": (0, 2)}
    found = search.find("cabab", times=[0, 0, 0, 0, 7])
    failing = 1 if operation == m.DIV_I else 3  # at the first B, or at that with a time which is not 0
    assert (found.status, found.row) == (status, failing)
    assert [match[:2] for match in found.matches] == ([] if failing == 1 else [(1, 3)])


def test_is_ascending_looks_inside_partitions_only() -> None:
    is_ascending = kernel.is_ascending.interpreted
    values = np.array([3, 3, 4, 1, 2, 2])
    assert is_ascending(values, np.array([0, 3, 6]))
    assert not is_ascending(values, np.array([0, 4, 6]))
    assert is_ascending(values[:0], np.zeros(1, np.int64))


def test_no_rows_and_no_partitions() -> None:
    for pattern in ("A*", "A B", "()"):
        assert Search(pattern).find("").matches == []
        assert Search(pattern).find("", offsets=(0,)).matches == []
        assert Search(pattern).find("", ends=False).matches == []
