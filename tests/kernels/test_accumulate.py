"""Aggregates over matches, against lists of values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.kernels.accumulate import Mapped, Sets, Totals, Values, accumulate, find_extremes

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_LABELS = 4


@dataclass
class Case:
    """Matches over one column, and two sets of variables."""

    label_offsets: NDArray[np.int64]
    labels: NDArray[np.int16]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    values: NDArray[Any]
    is_valid: NDArray[np.bool_]
    takes_part: NDArray[np.bool_]
    is_member: NDArray[np.bool_]
    by_label: NDArray[np.bool_]
    bit_offset: int = 3

    def taken(self, s: int, match: int, n_rows: int | None = None) -> list[float]:
        """The values of a set in a match, up to so many rows."""
        low, high = self.label_offsets[match : match + 2]
        found = []
        for i in range(low, high if n_rows is None else low + n_rows):
            row = int(self.first[match] + i - low)
            row = int(self.order[row]) if len(self.order) else row
            is_member = not self.by_label[s] or self.is_member[s, self.labels[i]]
            if is_member and self.is_valid[row] and (not len(self.takes_part) or self.takes_part[i]):
                found.append(self.values[row].item())
        return found

    def run(self, form: str, running: bool, begin: int, end: int) -> dict[str, Any]:
        """The kernel's outputs; the one place that knows its arguments."""
        n_outputs = len(self.labels) if running else len(self.first)
        kind = self.values.dtype
        outputs = {
            "count": np.full((2, n_outputs), -9), "total": np.zeros((2, n_outputs), kind),
            "least": np.zeros((2, n_outputs), kind), "most": np.zeros((2, n_outputs), kind),
            "square": np.zeros((2, n_outputs)), "overflowed": np.zeros(2, np.bool_),
        }
        bits = np.zeros(0, np.uint8)
        if not self.is_valid.all():
            bits = np.packbits(np.concatenate([np.zeros(self.bit_offset, np.bool_), self.is_valid]), bitorder="little")
        in_form(accumulate, form)(
            Mapped(self.label_offsets, self.labels, self.first, self.order, self.takes_part),
            Values(self.values, bits, self.bit_offset, kind.type(0), kind == np.int64),
            Sets(self.is_member, self.by_label, np.ones((2, 4), np.bool_)), running, begin, end,
            Totals(*outputs.values()),
        )
        return outputs


def drawn(seed: int, kind: type) -> Case:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 6, seed % 4)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n_rows = 30
    values: NDArray[Any] = generator.integers(-5, 6, n_rows).astype(kind)
    if kind is np.float64 and seed % 3 == 0:
        values[generator.random(n_rows) < 0.2] = math.nan
    order = generator.permutation(n_rows) if seed % 2 else np.zeros(0, np.int64)
    return Case(
        offsets, generator.integers(0, N_LABELS, offsets[-1]).astype(np.int16), offsets[:-1] + seed, order, values,
        generator.random(n_rows) < (0.7 if seed % 3 else 2), np.zeros(0, np.bool_),
        generator.random((2, N_LABELS)) < 0.5, np.array([True, bool(seed % 2)]),
    )


def check(outputs: dict[str, Any], s: int, at: int, values: list[float]) -> None:
    assert outputs["count"][s, at] == len(values)
    if not values:
        return
    ordered = sorted(values, key=lambda value: (math.isnan(value), value))
    mean = sum(values) / len(values)
    expected = {
        "total": sum(values), "least": ordered[0], "most": ordered[-1],
        "square": sum((value - mean) ** 2 for value in values),
    }
    for name, value in expected.items():
        assert outputs[name][s, at] == pytest.approx(value, nan_ok=True), name


@in_both_forms
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_random_matches(seed: int, running: bool, kind: type, form: str) -> None:
    case = drawn(seed, kind)
    n_matches = len(case.first)
    outputs = case.run(form, running, 0, n_matches)
    for s in range(2):
        for match in range(n_matches):
            if not running:
                check(outputs, s, match, case.taken(s, match))
                continue
            low, high = case.label_offsets[match : match + 2]
            for n_rows in range(1, high - low + 1):
                check(outputs, s, low + n_rows - 1, case.taken(s, match, n_rows))


def test_rows_may_be_filtered() -> None:
    case = drawn(7, np.int64)
    case.takes_part = np.random.default_rng(1).random(len(case.labels)) < 0.5
    case.by_label[:] = False
    outputs = case.run("interpreted", False, 0, len(case.first))
    for match in range(len(case.first)):
        check(outputs, 0, match, case.taken(0, match))


def test_only_the_matches_asked_for_are_written() -> None:
    outputs = drawn(7, np.int64).run("interpreted", False, 1, 2)
    assert (outputs["count"][0] == -9).tolist() == [True, False, True]


@in_both_forms
def test_a_match_larger_than_what_is_fetched_at_a_time(form: str) -> None:
    sizes = np.array([3, 5_000, 0, 2_047, 2])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    n_rows = int(offsets[-1])
    values = np.arange(n_rows)
    case = Case(
        offsets, np.zeros(n_rows, np.int16), offsets[:-1].copy(), np.zeros(0, np.int64), values,
        np.ones(n_rows, np.bool_), np.zeros(0, np.bool_), np.ones((2, N_LABELS), np.bool_), np.array([True, False]),
    )
    outputs = case.run(form, False, 0, 5)
    assert outputs["count"].tolist() == [sizes.tolist()] * 2
    assert outputs["total"][1].tolist() == [int(values[a:b].sum()) for a, b in pairwise(offsets)]


@in_both_forms
def test_a_sum_that_leaves_64_bits_is_told(form: str) -> None:
    case = drawn(3, np.int64)
    case.label_offsets, case.first = np.array([0, 2, 4]), np.array([0, 2])
    case.labels, case.order = np.zeros(4, np.int16), np.zeros(0, np.int64)
    case.values, case.is_valid = np.array([2**62, 2**62, -(2**63), 0]), np.ones(4, np.bool_)
    case.is_member = np.array([[True] * 4, [False] * 4])
    case.by_label = np.array([True, True])
    assert case.run(form, False, 0, 2)["overflowed"].tolist() == [True, False]
    assert case.run(form, False, 1, 2)["overflowed"].tolist() == [False, False]


@in_both_forms
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_one_extreme(seed: int, kind: type, form: str) -> None:
    """Bit for bit what `accumulate` finds: NaN, infinities, zeros of both signs."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 6, 60)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = random.integers(0, N_LABELS, offsets[-1]).astype(np.int16)
    first = offsets[:-1] + 2
    drawn = random.integers(0, 7, offsets[-1] + 2)
    special = np.array([np.nan, -np.inf, np.inf, 0.0, -0.0, 1.5, -1.5])
    values = special[drawn] if kind is np.float64 else np.array([-(2**63), 2**63 - 1, -1, 0, 1, 5, 5])[drawn]
    none = np.zeros(0, np.int64)
    for member in (np.array([True, False, True, False]), np.zeros(0, np.bool_)):
        for wants_most in (True, False):
            sets = Sets(
                np.array([member if len(member) else np.zeros(N_LABELS, np.bool_)]), np.array([len(member) > 0]),
                np.array([[False, not wants_most, wants_most, False]]),
            )
            least: NDArray[Any]
            most: NDArray[Any]
            found: NDArray[Any]
            count, least, most = np.full((1, 60), -9), np.zeros((1, 60), kind), np.zeros((1, 60), kind)
            totals = Totals(count, np.zeros((1, 60), kind), least, most, np.zeros((1, 60)), np.zeros(1, np.bool_))
            mapped = Mapped(offsets, labels, first, none, none.view(np.bool_))
            column = Values(values, none.view(np.uint8), 0, kind(0), kind is np.int64)
            in_form(accumulate)(mapped, column, sets, False, 5, 60, totals)
            found, n_found = np.zeros(60, kind), np.full(60, -9)
            in_form(find_extremes, form)(offsets, labels, first, values, member, wants_most, 5, 60, n_found, found)
            assert n_found.tolist() == count[0].tolist()
            wanted = (most if wants_most else least)[0]
            held = n_found > 0
            assert found[held].view(np.int64).tolist() == wanted[held].view(np.int64).tolist()
