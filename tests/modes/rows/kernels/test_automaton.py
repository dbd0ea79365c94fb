"""The two passes of the automaton over letters, against Python's regular expressions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.rows.kernels.letters import (
    DECIDED,
    HOLDS,
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
    regex,
    words,
)

from sparkrex.modes.rows.automaton.symbols import symbols_of
from sparkrex.modes.rows.automaton.viability import Viability
from sparkrex.modes.rows.kernels import automaton as kernel
from sparkrex.modes.rows.kernels.automaton import DONE, NONE, TO_FIRST, TO_LAST, UNDECIDED

SEEDS = range(12)
OPEN_ENDS = np.array([0, 1])
"""States behind the last row: of a partition that ends, and of one of whose next row nothing is known."""


class Automaton:
    """The tables of a pattern, and the kernels called with them."""

    def __init__(self, pattern: str, form: str = "interpreted") -> None:
        self.pattern, self.form = pattern, form
        self.program = program_of(pattern)
        self.viability = Viability(self.program, bitmaps_of(pattern, "")[0])

    def states(self, bounds: tuple[Any, ...], text: str, lookahead: int = 0, unknown: int = 0) -> Any:
        """As `look_back` leaves them; what conditions are in the last `unknown` rows nobody can know."""
        bitmaps = bitmaps_of(self.pattern, text)[1]
        bitmaps[:, bitmaps.shape[1] - unknown :] = 1
        rows = symbols_of(bitmaps, self.viability)
        partition, row, state = len(bounds[0]) - 2, -1, 0
        while partition >= 0:
            transitions, shift = self.viability.tables()
            partition, row, state = in_form(kernel.look_back, self.form)(
                rows, bounds, OPEN_ENDS, lookahead, transitions, shift, partition, row, state
            )
            if partition >= 0:
                assert transitions[(state << shift) + rows[row]] < 0
                self.viability.add(int(state), int(rows[row]))
        return rows

    def walk(
        self, text: str, skip: Skip, *, offsets: tuple[int, ...] = (), begins: bool = True, ends: bool = True,
        start: int = 0, number: int = 1, lookahead: int = 0, wants_labels: bool = True, stop: int = 0,
        reports: bool = False,
    ) -> Found:
        cuts = np.array(offsets or (0, len(text)))
        n = len(cuts) - 1
        starts, numbers = cuts[:-1] + start, np.full(n, number)
        kinds = np.full(n, kernel.CLOSED if ends else 1)
        bounds = (cuts, np.full(n, begins), kinds, starts, numbers, cuts[1:])
        states = self.states(bounds, text, lookahead, 0 if ends else min(lookahead, len(text)))
        viability = self.viability
        member = np.array([name == skip.variable for name in self.program.variables] or [False])
        status, row, n_matches, found, n_labels, labels, n_failed, failed = in_form(kernel.walk, self.form)(
            states, bounds, lookahead, viability.steps.reshape(-1), viability.n_positions, viability.entry,
            viability.first_entry, np.array([viability.accepts_before(0)] * 2), skip.mode, member, wants_labels,
            reports, np.empty(0, np.uint8), np.array([stop], np.uint8),
        )
        self.failed = [(int(row), int(why)) for row, why in failed[:n_failed]]
        matches = [(int(a), int(b), int(c)) for a, b, c in found[:n_matches]]
        names = "".join(self.program.variables[label >> 1] for label in labels[:n_labels])
        lengths = [end - begin for begin, end, _ in matches] if wants_labels else []
        places = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
        return Found(
            matches, [names[a:b] for a, b in pairwise(places)], int(status), int(row),
            int(starts[-1]) if n else 0, int(numbers[-1]) if n else 1,
        )


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS + LOOKING_AHEAD)
def test_matches(pattern: str, form: str) -> None:
    automaton = Automaton(pattern, form)
    for seed in SEEDS:
        text = drawn_text(seed)
        for skip in SKIPS:
            for begins in (True, False):
                found = automaton.walk(text, skip, begins=begins)
                assert found.status == DONE
                assert found.matches == by_definition(pattern, text, skip, begins=begins)
                check_labels(pattern, text, found)


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_state_knows_whether_a_match_starts_there(pattern: str, form: str) -> None:
    automaton = Automaton(pattern, form)
    for seed in SEEDS:
        text = drawn_text(seed)
        cuts = np.array([0, len(text)])
        bounds = (cuts, np.array([True]), np.array([kernel.CLOSED]), cuts[:1], np.array([1]), cuts[1:])
        states = automaton.states(bounds, text)
        for row in range(1, len(text)):
            step = automaton.viability.steps[states[row], automaton.viability.entry]
            assert step != UNDECIDED
            assert (step == NONE) == (regex(pattern).match(text, row) is None)


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_partitions_do_not_meet(pattern: str, form: str) -> None:
    automaton = Automaton(pattern, form)
    for seed in range(4):
        texts = [drawn_text(10 * seed + k, 7) for k in range(4)]
        offsets = tuple(np.concatenate([[0], np.cumsum([len(text) for text in texts])]).tolist())
        expected = [
            (begin + low, end + low, number)
            for low, text in zip(offsets, texts, strict=False)
            for begin, end, number in by_definition(pattern, text, SKIPS[0])
        ]
        assert automaton.walk("".join(texts), SKIPS[0], offsets=offsets).matches == expected
        if automaton.viability.gives_empty:
            continue
        for wants_labels in (False, True):
            assert walked_past(automaton, "".join(texts), offsets, wants_labels=wants_labels) == expected


def walked_past(
    automaton: Automaton, text: str, offsets: tuple[int, ...], *, wants_labels: bool, n_before: int = 0
) -> list[tuple[int, int, int]]:
    """What `walk_past` finds, from its ends and lengths; `walk_both` walks over the first rows of the first partition,
    and over another one at the same time."""
    n, n_rows = len(offsets) - 1, len(text)
    cuts, begins = np.array(offsets), np.ones(n, np.bool_)
    bounds = (cuts, begins, np.full(n, kernel.CLOSED), cuts[:-1].copy(), np.ones(n, np.int64), cuts[1:])
    states = automaton.states(bounds, text)
    labels = np.empty(n_rows if wants_labels else 0, np.int16)
    ends, numbers = np.full(n_rows + 1, -9), np.full(n_rows + 1, -9)
    label_offsets = np.full(n_rows + 2, -9)
    viability = automaton.viability
    moves, begun = viability.moves(), np.empty(0, np.int64)
    if n_before:
        begun = np.array([0, viability.first_entry, 0, 0])
        other = (np.array([offsets[-2], viability.first_entry, 0, 0]), *map(np.copy, (labels, ends, label_offsets)))
        walks = [(begun, labels, ends, label_offsets), other]
        in_form(kernel.walk_both, automaton.form)(
            states, moves, viability.n_positions, n_before, *(walks if n_before % 2 else walks[::-1])
        )
        assert (begun[0], other[0][0]) == (n_before, offsets[-2] + n_before)
    n_matches, n_labels = in_form(kernel.walk_past, automaton.form)(
        states, bounds, moves, viability.n_positions, viability.entry, viability.first_entry, begun, labels, ends,
        numbers, label_offsets,
    )
    assert label_offsets[n_matches] == n_labels
    lengths = np.diff(label_offsets[: n_matches + 1])
    found = [
        (int(end - length), int(end), int(number))
        for end, length, number in zip(ends[:n_matches], lengths, numbers[:n_matches], strict=True)
    ]
    if wants_labels:
        names = "".join(automaton.program.variables[label >> 1] for label in labels[:n_labels])
        places = label_offsets[: n_matches + 1]
        rows = Found(found, [names[a:b] for a, b in pairwise(places)])
        if "$" not in automaton.pattern:
            check_labels(automaton.pattern, text, rows)
    return found


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_walks_in_turns_find_the_same(pattern: str, form: str) -> None:
    automaton = Automaton(pattern, form)
    if automaton.viability.gives_empty:
        return
    for seed in range(6):
        texts = [drawn_text(10 * seed + k, 9) for k in range(2)]
        offsets = (0, len(texts[0]), len(texts[0]) + len(texts[1]))
        for wants_labels in (True, False):
            expected = walked_past(automaton, "".join(texts), offsets, wants_labels=wants_labels)
            for n_before in range(1, 1 + min(map(len, texts))):
                found = walked_past(
                    automaton, "".join(texts), offsets, wants_labels=wants_labels, n_before=n_before
                )
                assert found == expected, (texts, n_before)


def check_open(automaton: Automaton, text: str, skip: Skip, lookahead: int, longest: int) -> None:
    """Whatever is decided is so for every continuation, and the rest is found from there on."""
    found = automaton.walk(text, skip, ends=False, lookahead=lookahead)
    assert found.status == DONE
    for more in words(longest):
        whole = by_definition(automaton.pattern, text + more, skip)
        assert whole[: len(found.matches)] == found.matches, more
        rest = automaton.walk(text + more, skip, start=found.start, number=found.number)
        assert found.matches + rest.matches == whole, more


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_decided_while_rows_may_come_stays(pattern: str) -> None:
    automaton = Automaton(pattern)
    for seed in range(6):
        for skip in SKIPS:
            check_open(automaton, drawn_text(seed, 8), skip, 0, 3)


@in_both_forms
@pytest.mark.parametrize(("pattern", "text", "matches", "start"), DECIDED)
def test_what_no_row_to_come_can_change_is_decided(
    pattern: str, text: str, matches: list[tuple[int, int]], start: int, form: str
) -> None:
    found = Automaton(pattern, form).walk(text, SKIPS[0], ends=False)
    assert [match[:2] for match in found.matches] == matches
    assert found.start == start
    assert found.number == len(matches) + 1


@pytest.mark.parametrize("pattern", LOOKING_AHEAD)
def test_rows_whose_conditions_read_rows_to_come_are_not_looked_at(pattern: str) -> None:
    automaton, lookahead = Automaton(pattern), 2 if "M" in pattern else 1
    for seed in range(6):
        for skip in SKIPS:
            check_open(automaton, drawn_text(seed, 9), skip, lookahead, 3)


@in_both_forms
@pytest.mark.parametrize("mode", [TO_FIRST, TO_LAST])
def test_skip_to_a_variable(mode: int, form: str) -> None:
    automaton, skip = Automaton("C A* B (A | B)* C", form), Skip(mode, "B")
    for text in ("cabc", "cabbac", "cbcbc", "caabbacabc", "abc"):
        assert automaton.walk(text, skip).matches == by_definition(automaton.pattern, text, skip)


@in_both_forms
def test_skip_to_where_it_cannot_go_is_an_error(form: str) -> None:
    automaton = Automaton("A B? C", form)
    text = "abcac"
    absent = automaton.walk(text, Skip(TO_LAST, "B"))
    assert (absent.status, absent.row) == (kernel.SKIP_TO_ABSENT, 3)
    for mode in (TO_FIRST, TO_LAST):
        first = automaton.walk(text, Skip(mode, "A"))
        assert (first.status, first.row) == (kernel.SKIP_TO_FIRST_ROW, 0)


def test_the_preferred_variable_is_mapped() -> None:
    for pattern, labels in {"(A | D)+": "ADAA", "(D | A)+": "DDDD", "A* D+": "ADDD", "A*? D+": "DDDD"}.items():
        [found] = Automaton(pattern).walk("abaa", SKIPS[0]).labels
        assert found == labels, pattern
    assert HOLDS["D"] == "[ab]"


def test_a_search_goes_on_and_can_be_stopped() -> None:
    automaton = Automaton("A B?")
    found = automaton.walk("abaab", SKIPS[0], start=1, number=7)
    assert (found.matches, found.start, found.number) == ([(2, 3, 7), (3, 5, 8)], 5, 9)
    assert automaton.walk("abaab", SKIPS[0], wants_labels=False).labels == []
    assert automaton.walk("abaab", SKIPS[0], stop=1).status == kernel.STOPPED
    many = automaton.walk("a" * 200, SKIPS[0])
    assert many.matches == [(row, row + 1, row + 1) for row in range(200)]
    longer = Automaton("A+").walk("a" * 40, Skip(kernel.NEXT_ROW))
    assert [len(labels) for labels in longer.labels] == list(range(40, 0, -1))


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_two_partitions_in_turns_leave_what_one_leaves(pattern: str, form: str) -> None:
    """Ranges of partitions of any lengths, empty ones too; each has to come back for transitions that are missing."""
    random = np.random.default_rng(len(pattern))
    for seed in SEEDS:
        lengths = random.integers(0, 9, random.integers(1, 7))
        text = "".join(drawn_text(100 * seed + n) for n in range(9))[: int(lengths.sum())]
        lengths[-1] -= int(lengths.sum()) - len(text)
        cuts = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
        cuts = np.minimum(cuts, len(text))
        n = len(cuts) - 1
        bounds = (cuts, np.full(n, True), np.full(n, kernel.CLOSED), cuts[:-1].copy(), np.full(n, 1), cuts[1:])
        expected = Automaton(pattern).states(bounds, text)
        automaton = Automaton(pattern)
        rows = symbols_of(bitmaps_of(pattern, text)[1], automaton.viability)
        half = int(random.integers(0, n + 1))
        places = np.array([[0, half, 0, 0], [half, n, 0, 0]])
        is_done = False
        while not is_done:
            transitions, shift = automaton.viability.tables()
            is_done = in_form(kernel.look_back_twice, form)(rows, cuts, transitions, shift, places)
            for _, partition, n_left, state in () if is_done else places.tolist():
                if n_left:
                    automaton.viability.add(state, int(rows[cuts[partition] + n_left - 1]))
        # States are numbered as they are met; what they hold is the same.
        other = Automaton(pattern)
        other.states(bounds, text)
        held = [automaton.viability._sets[state] for state in rows.tolist()]
        wanted = [other.viability._sets[state] for state in expected.tolist()]
        assert all((a == c).all() and (b == d).all() for (a, b), (c, d) in zip(held, wanted, strict=True))


@in_both_forms
@pytest.mark.parametrize("n_rows", [0, 50, 3 * kernel._BLOCK + 5])
def test_bits_are_joined(form: str, n_rows: int) -> None:
    if form == "interpreted":
        n_rows = min(n_rows, 500)
    bitmaps = np.random.default_rng(1).integers(0, 2, (16, n_rows + 7)).astype(np.uint8)
    symbols = np.full(n_rows, 99, np.uint16)
    with mock.patch.object(kernel, "_BLOCK", 64 if form == "interpreted" else kernel._BLOCK):
        in_form(kernel.join_bits, form)(bitmaps, 3, symbols)
    bits = bitmaps[:, 3 : 3 + n_rows].astype(np.int64)
    assert (symbols == (bits << np.arange(16)[:, None]).sum(axis=0)).all()
