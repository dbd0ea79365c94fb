"""Logical navigation over matches, against lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.kernels.navigate import find_final, find_running, merge_unmatched, shift_inside, unfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_LABELS = 6


@dataclass
class Matches:
    """Some matches, also empty ones."""

    label_offsets: NDArray[np.int64]
    labels: NDArray[np.int16]
    start: NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.start)

    def rows(self, match: int) -> list[tuple[int, int]]:
        """Position and label of every row."""
        low, high = self.label_offsets[match : match + 2]
        return [(int(self.start[match]) + k, int(label)) for k, label in enumerate(self.labels[low:high])]


def drawn(seed: int) -> Matches:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 7, seed % 5)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    labels = generator.integers(0, N_LABELS, offsets[-1]).astype(np.int16)
    start = np.cumsum(sizes) + np.cumsum(generator.integers(0, 4, len(sizes)))
    return Matches(offsets, labels, start.astype(np.int64))


@in_both_forms
@pytest.mark.parametrize("seed", range(6))
def test_unfold(seed: int, form: str) -> None:
    matches = drawn(seed)
    row_match, row_position = (np.full(len(matches.labels), -9) for _ in range(2))
    in_form(unfold, form)(matches.label_offsets, matches.start, 0, matches.n, row_match, row_position)
    expected = [(m, position) for m in range(matches.n) for position, _ in matches.rows(m)]
    assert list(zip(row_match.tolist(), row_position.tolist(), strict=True)) == expected


@in_both_forms
@pytest.mark.parametrize("seed", range(6))
def test_first_and_last_rows_of_sets_of_variables(seed: int, form: str) -> None:
    matches = drawn(seed)
    generator = np.random.default_rng(seed)
    is_member = generator.random((4, N_LABELS)) < 0.5
    from_first = np.array([True, True, False, False])
    offset = np.array([0, 2, 0, 1])
    found = np.full((4, matches.n), -9)
    in_form(find_final, form)(
        matches.label_offsets, matches.labels, matches.start, is_member, from_first, offset, 0, matches.n, found
    )
    for t in range(4):
        running = np.full(len(matches.labels), -9)
        in_form(find_running, form)(
            matches.label_offsets, matches.labels, matches.start, is_member[t], bool(from_first[t]), int(offset[t]), 0,
            matches.n, running,
        )
        for m in range(matches.n):
            rows = matches.rows(m)

            def row_of(n_seen: int, rows: list[tuple[int, int]] = rows, t: int = t) -> int:
                members = [position for position, label in rows[:n_seen] if is_member[t, label]]
                members = members if from_first[t] else members[::-1]
                return members[offset[t]] if offset[t] < len(members) else -1

            assert found[t, m] == row_of(len(rows))
            low = matches.label_offsets[m]
            assert running[low : low + len(rows)].tolist() == [row_of(k + 1) for k in range(len(rows))]


@in_both_forms
def test_only_the_matches_asked_for_are_written(form: str) -> None:
    matches = drawn(4)
    found = np.full((1, matches.n), -9)
    everything = np.ones((1, N_LABELS), np.bool_)
    in_form(find_final, form)(
        matches.label_offsets, matches.labels, matches.start, everything, np.array([True]), np.array([0]), 1, 3, found
    )
    assert (found[0] == -9).tolist() == [True, False, False, True]


@in_both_forms
@pytest.mark.parametrize("shift", [-(2**40), -2, 0, 3])
def test_a_shift_stays_in_the_partition(shift: int, form: str) -> None:
    positions, row_match = np.array([0, 3, 4, -1, 9]), np.array([0, 0, 1, 1, 1])
    first, behind = np.array([0, 4]), np.array([4, 10])
    shifted = np.full(5, -9)
    in_form(shift_inside, form)(positions, row_match, first, behind, shift, 0, 5, shifted)
    assert shifted.tolist() == [
        to if position >= 0 and first[m] <= (to := int(position) + shift) < behind[m] else -1
        for position, m in zip(positions, row_match, strict=True)
    ]


@in_both_forms
@pytest.mark.parametrize("seed", range(6))
def test_unmatched_rows_stand_where_they_are(seed: int, form: str) -> None:
    matches = drawn(seed)
    rows = [(m, position) for m in range(matches.n) for position, _ in matches.rows(m)]
    taken = {position for _, position in rows}
    unmatched = [position for position in range(40) if position not in taken]
    place, position = (np.full(len(rows) + len(unmatched), -9) for _ in range(2))
    in_form(merge_unmatched, form)(
        np.array([m for m, _ in rows], np.int64), np.array([at for _, at in rows], np.int64), matches.start,
        np.array(unmatched, np.int64), place, position,
    )
    expected = [((int(matches.start[m]), 0, k), k, at) for k, (m, at) in enumerate(rows)]
    expected += [((at, 1, 0), -1, at) for at in unmatched]
    assert list(zip(place.tolist(), position.tolist(), strict=True)) == [one[1:] for one in sorted(expected)]
