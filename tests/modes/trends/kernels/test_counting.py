"""Counting that goes ahead: the same as by state, as far as it goes, and it hands over what it has."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.trends.kernels.lines import is_close
from tests.modes.trends.kernels.machines import LETTERS, Counted, machine_of, symbols_of
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT

from sparkrex.modes.trends.kernels.by_state import advance_by_state
from sparkrex.modes.trends.kernels.counting import count_exact, count_log
from sparkrex.modes.trends.plan import Counts

PATTERNS = [
    "A+ a", "SEQ(A a, B b)", "SEQ(A+ a, B+ b)", "SEQ(A+ a, B b, C? c)", "(SEQ(A+ a, B+ b))+", "A+ a | B+ b | C+ c",
    "SEQ(A{2,3} a, B* b, C c)", "(A a1 | A a2)+", "SEQ((A a1 | B b1)+, A+ a2)", "(A a1 | A a2 | A a3 | B b)+",
    "SEQ(A+ a, (SEQ(B b, C+ c))*, D d) | C+ c2", "SEQ(A a1, A a2, A a3)", "SEQ(A a, B? b)+",
]
SEMANTICS = [ANY, NEXT, CONTIGUOUS]


def drawn_units(seed: int, n_rows: int) -> tuple[str, list[int]]:
    """Events, more of one letter than of others, in some units, of which some are empty."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet([0.7] * 4)
    letters = "".join(random.choice(list(LETTERS), n_rows, p=shares))
    return letters, [0, *sorted(random.integers(0, n_rows + 1, int(random.integers(0, 4))).tolist()), n_rows]


@in_both_forms
@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_exact_counts_are_those_by_state(pattern: str, semantics: str, form: str) -> None:
    """In pieces too: what goes ahead in a later one begins with what it is handed."""
    machine = machine_of(pattern, semantics)
    for seed in range(3):
        letters, cuts = drawn_units(seed, 250)
        symbols = symbols_of(letters)
        plain = Counted.fresh(machine, Counts.TEXT, len(cuts) - 1)
        plain.advance(in_form(advance_by_state), symbols, cuts, closes=True)
        expected = plain.values()
        whole = Counted.fresh(machine, Counts.EXACT, len(cuts) - 1)
        whole.count(in_form(count_exact, form), symbols, cuts)
        assert all(first <= at <= end for first, at, end in zip(cuts, whole.reached, cuts[1:], strict=False))
        whole.advance(in_form(advance_by_state), symbols, cuts, closes=True)
        assert whole.values() == [[value if value < 2**127 else None for value in unit] for unit in expected]
        pieces = Counted.fresh(machine, Counts.EXACT, 1)
        ends = [0, 1, 60, 61, 140, 250]
        for begin, end in pairwise(ends):
            pieces.count(in_form(count_exact, form), symbols, [begin, end])
            pieces.advance(in_form(advance_by_state), symbols, [begin, end], closes=end == 250)
        one = Counted.fresh(machine, Counts.TEXT, 1)
        one.advance(in_form(advance_by_state), symbols, [0, 250], closes=True)
        assert pieces.values() == [[value if value < 2**127 else None for value in unit] for unit in one.values()]


@in_both_forms
@pytest.mark.parametrize("pattern", PATTERNS)
def test_logarithms_are_those_by_state(pattern: str, form: str) -> None:
    machine = machine_of(pattern, ANY)
    for seed in range(3):
        letters, cuts = drawn_units(seed, 900)
        symbols = symbols_of(letters)
        plain = Counted.fresh(machine, Counts.TEXT, len(cuts) - 1)
        plain.advance(in_form(advance_by_state), symbols, cuts, closes=True)
        whole = Counted.fresh(machine, Counts.LOG, len(cuts) - 1)
        whole.count(in_form(count_log, form), symbols, cuts)
        whole.advance(in_form(advance_by_state), symbols, cuts, closes=True)
        for found, exact in zip(whole.values(), plain.values(), strict=True):
            assert all(is_close(*pair) for pair in zip(found, map(Fraction, exact), strict=True)), letters


# Where it stops.


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_exact_counting_stops_before_sums_leave_64_bits(semantics: str) -> None:
    pattern = "A+ a" if semantics == ANY else "(A a1 | A a2)+"
    machine = machine_of(pattern, semantics)
    symbols = symbols_of("A" * 100)
    counted = Counted.fresh(machine, Counts.EXACT, 1)
    counted.count(in_form(count_exact), symbols, [0, 100])
    reached = int(counted.reached[0])
    assert 58 <= reached <= 62
    plain = Counted.fresh(machine, Counts.TEXT, 1)
    plain.advance(in_form(advance_by_state), symbols, [0, reached], closes=False)
    assert counted.values() == plain.values()
    assert 2**59 < max(counted.values()[0]) < 2**63
    # From there on it does not begin again.
    counted.count(in_form(count_exact), symbols, [reached, 100])
    assert counted.reached.tolist() <= [reached + 1]


@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_an_event_that_ends_many_trends(semantics: str) -> None:
    for n_variables in (3, 4, 8, 12, 16, 32):
        machine = machine_of(f"({' | '.join(f'A a{number}' for number in range(n_variables))})+", semantics)
        symbols = symbols_of("A" * 40)
        for n_rows in range(10, 40):
            counted = Counted.fresh(machine, Counts.EXACT, 1)
            counted.count(in_form(count_exact), symbols, [0, n_rows])
            if counted.reached[0] < n_rows:
                break
            lengths = range(1, n_rows + 1)
            assert counted.totals() == [sum(n_variables**length * (n_rows + 1 - length) for length in lengths)]


@in_both_forms
def test_logarithms_stop_where_numbers_are_far_apart(form: str) -> None:
    """c's begin when there have been very many a's: the 1 of the first c is nothing beside their number."""
    machine = machine_of("SEQ(A+ a, B+ b) | C+ c", ANY)
    letters = "A" * 300 + "B" * 700 + "C" * 900 + "ABC" * 50
    symbols = symbols_of(letters)
    counted = Counted.fresh(machine, Counts.LOG, 1)
    counted.count(in_form(count_log, form), symbols, [0, len(letters)])
    assert 250 < counted.reached[0] < 310
    counted.advance(in_form(advance_by_state, form), symbols, [0, len(letters)], closes=True)
    plain = Counted.fresh(machine, Counts.TEXT, 1)
    plain.advance(in_form(advance_by_state), symbols, [0, len(letters)], closes=True)
    assert all(
        is_close(*pair) for pair in zip(counted.values()[0], map(Fraction, plain.values()[0]), strict=True)
    )


def test_logarithms_go_on_where_numbers_grow_together() -> None:
    """Far beyond the range of doubles; the c's, which have begun, stay far below."""
    machine = machine_of("SEQ(A+ a, B+ b) | C+ c", ANY)
    letters = "AAC" * 1500 + "ABBBC" * 100
    symbols = symbols_of(letters)
    counted = Counted.fresh(machine, Counts.LOG, 1)
    counted.count(in_form(count_log), symbols, [0, len(letters)])
    plain = Counted.fresh(machine, Counts.TEXT, 1)
    plain.advance(in_form(advance_by_state), symbols, [0, int(counted.reached[0])], closes=False)
    assert counted.reached[0] > 1000
    pairs = zip(counted.values()[0], map(Fraction, plain.values()[0]), strict=True)
    assert all(is_close(*pair) for pair in pairs)


@pytest.mark.parametrize("counts", [Counts.EXACT, Counts.LOG])
def test_interrupted_it_has_done_nothing(counts: Counts) -> None:
    counted = Counted.fresh(machine_of("A+ a", ANY), counts, 2)
    kernel = in_form(count_exact if counts is Counts.EXACT else count_log)
    counted.count(kernel, symbols_of("AAAA"), [0, 2, 4], is_interrupted=True)
    assert counted.reached.tolist() == [0, 2]
    assert not counted.store.numbers.any()


# The bound of logarithms: 1e-12 of themselves.

N_MANY = 10**8


def test_28_a_and_then_a_hundred_million_b() -> None:
    """(2^28 - 1) * 10^8 is beyond 2^53: a plain double would lose bits with every b."""
    machine = machine_of("SEQ(A+ a, B b)", ANY)
    counted = Counted.fresh(machine, Counts.LOG, 1)
    counted.count(count_log, symbols_of("A" * 28), [0, 28])
    piece = symbols_of("B").repeat(10**6)
    for _ in range(N_MANY // len(piece)):
        counted.count(count_log, piece, [0, len(piece)])
        assert counted.reached.tolist() == [len(piece)]
    counted.reached[:] = 0
    counted.advance(in_form(advance_by_state), piece[:0], [0, 0], closes=True)
    assert counted.totals() == [(2**28 - 1) * N_MANY]
    (found,) = counted.logarithms()
    assert abs(found - math.log10((2**28 - 1) * N_MANY)) <= 1e-12 * found
