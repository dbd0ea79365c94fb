"""What repetitions reach, against walking from end to end."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.segments.kernels.drawing import ENDLESS, Batch, Lines, arrays, budget, drawn_batch, lists, some_of

from sparkrex.modes.segments.kernels import closures
from sparkrex.modes.segments.kernels.closures import KnownSteps
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, Limits

SEEDS = range(8)


def drawn(seed: int) -> tuple[Batch, Lines, Lines]:
    """A batch, segments to go on from, and segments to go on by."""
    generator = np.random.default_rng(seed)
    batch = drawn_batch(generator)
    pairs = [
        (batch.space_of(s), s, e) for s in range(batch.n_rows) for e in range(s, batch.n_rows)
        if batch.space_of(s) == batch.space_of(e) and e - s < batch.high
    ]
    return batch, some_of(pairs, generator, 0.3), some_of(pairs, generator)


def reached(ends: set[int], base: Lines, space: int, gap: int, furthest: int) -> set[int]:
    """Where one more base segment leads from some ends."""
    return {
        end for other, start, end in base if other == space and start - gap in ends and end <= furthest
    }


@in_both_forms
@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("rounds", [0, 1, 2, -1])
@pytest.mark.parametrize("seed", SEEDS)
def test_closures(seed: int, rounds: int, gap: int, form: str) -> None:
    batch, begun, base = drawn(seed)
    expected: Lines = []
    for space, start in sorted({line[:2] for line in begun}):
        furthest = min(start + batch.high - 1, int(batch.end_high[space]))
        found = latest = {end for s, b, end in begun if (s, b) == (space, start) and end <= furthest}
        n_rounds = 0
        while latest and n_rounds != rounds:
            latest = reached(latest, base, space, gap, furthest) - found
            found = found | latest
            n_rounds += 1
        expected += [(space, start, end) for end in sorted(found)]
    given = (arrays(begun), arrays(base), gap, batch.end_high, batch.frame, rounds)
    close = in_form(closures.close, form)
    assert lists(close(*given, Limits(batch.high, ENDLESS, budget()))) == expected
    if expected:
        assert close(*given, Limits(batch.high, len(expected) - 1, budget()))[0] == TOO_MANY
        assert close(*given, Limits(batch.high, len(expected), budget()))[0] == len(expected)
    if expected and rounds:
        assert close(*given, Limits(batch.high, ENDLESS, budget(0)))[0] == SPENT
        assert close(*given, Limits(batch.high, ENDLESS, budget(given_up=True)))[0] == SPENT


def steps_by_row(base: Lines, known: np.ndarray, n_known: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of base segments by the number of the row they start at."""
    rows = {int(number): row for row, number in enumerate(known) if number >= 0}
    ends = [sorted(end for _, start, end in base if start == rows[number]) for number in range(n_known)]
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in ends])]).astype(np.int64)
    return offsets, np.array([end for some in ends for end in some], np.int64)


@in_both_forms
@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize(("minimum", "maximum"), [(1, 1), (1, -1), (2, 3), (3, -1)])
@pytest.mark.parametrize("seed", SEEDS)
def test_ends_of_so_many_steps(seed: int, minimum: int, maximum: int, gap: int, form: str) -> None:
    """As an operator uses them: rows that may be stepped from are found first, each known by a number."""
    batch, begun, base = drawn(seed)
    start = np.array(sorted({line[1] for line in begun}), np.int64)
    furthest = np.array([min(row + batch.high - 1, batch.end_high[batch.space_of(row)]) for row in start], np.int64)
    known, far = np.full(batch.n_rows + 2, -1), np.full(batch.n_rows + 2, -1)
    rows = in_form(closures.first_rows, form)(start, furthest, far, 0)
    assert rows.tolist() == start.tolist()
    n_known, offsets, ends = 0, np.zeros(1, np.int64), np.empty(0, np.int64)
    while len(rows):
        new = in_form(closures.new_rows, form)(rows, known, 0, n_known)
        assert len(set(new.tolist())) == len(new)
        n_known += len(new)
        offsets, ends = steps_by_row(base, known, n_known)
        rows = in_form(closures.next_rows, form)(rows, far, KnownSteps(known, 0, offsets, ends, gap))
    expected = []
    for place, row in enumerate(start.tolist()):
        space, limit = batch.space_of(row), int(furthest[place])
        latest, found, history = {row - gap}, set(), []
        for n_steps in range(1, 12):
            latest = reached(latest, base, space, gap, limit)
            if n_steps >= minimum:
                found |= latest
            if not latest or n_steps == maximum or (n_steps > minimum and latest in history):
                break
            history.append(latest)
        expected += [(place, end) for end in sorted(found)]
    given = (start, furthest, KnownSteps(known, 0, offsets, ends, gap), minimum, maximum)
    reached_ends = in_form(closures.reached_ends, form)
    assert lists(reached_ends(*given, Limits(batch.high, ENDLESS, budget()))) == expected
    if expected:
        assert reached_ends(*given, Limits(batch.high, len(expected) - 1, budget()))[0] == TOO_MANY
        assert reached_ends(*given, Limits(batch.high, ENDLESS, budget(0)))[0] == SPENT
