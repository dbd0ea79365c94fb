"""When a run looks at its plan, and when a better one is worth a switch. Seconds are given here, not measured."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sparkrex.modes.workload.compiled import Compiled
from sparkrex.modes.workload.symbols import Leaf, Symbols
from sparkrex.modes.workload.watch import LOOK_SHARE, Watch
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, Literal

N_ROWS = 2000


def _watch() -> Watch:
    symbols = Symbols()
    for name in "AB":
        symbols.leaf(Leaf(Call("eq", (ColumnAt(EACH_ROW, "kind"), Literal(name))), ()))
    return Watch(Compiled(symbols=symbols))


def _feed(watch: Watch, n_a: int, *, n_rows: int = N_ROWS, passed: float = N_ROWS, planned: float = 1.0) -> None:
    """So many A in some rows, the others are B."""
    kinds = pa.chunked_array([["A"] * n_a, ["B"] * (n_rows - n_a)], pa.string())
    watch.add(pa.table({"kind": kinds}), passed, planned, 2 * planned, 2.0)


def test_a_rate_that_doubles_is_a_reason() -> None:
    watch = _watch()
    _feed(watch, 400)
    for _ in range(5):
        _feed(watch, 500)
        assert watch.reason is None
    for _ in range(3):
        _feed(watch, 1600)
    assert watch.reason == "the rate of an event went from 0.25 to 0.58"


def test_all_events_may_come_twice_as_often() -> None:
    watch = _watch()
    _feed(watch, 1000)
    _feed(watch, 1000, passed=N_ROWS / 2)
    assert watch.reason == "the rate of an event went from 0.5 to 1"


def test_few_events_say_nothing() -> None:
    watch = _watch()
    _feed(watch, 2)
    _feed(watch, 25)
    assert watch.reason is None


def test_dictionaries_of_types_are_counted_whatever_their_order() -> None:
    watch = _watch()
    first = pa.chunked_array([pa.array(["A", "B", None] * 500).dictionary_encode()])
    second = pa.chunked_array([pa.array(["B", "A", None] * 500).dictionary_encode()] * 2)
    for kinds in (first, second):
        watch.add(pa.table({"kind": kinds}), float(len(kinds)), 1.0, 1.0, 1.5)
    assert watch.reason is None


def test_small_chunks_are_looked_at_together() -> None:
    watch = _watch()
    _feed(watch, 400)
    for _ in range(9):
        _feed(watch, 100, n_rows=100, passed=100.0, planned=0.1)
    assert watch.reason is None
    _feed(watch, 100, n_rows=100, passed=100.0, planned=0.1)
    assert watch.reason is not None


def test_the_first_feed_costs_nothing() -> None:
    watch = _watch()
    _feed(watch, 400, planned=1e9)
    assert watch.allowance() == 0.0


def test_a_look_takes_a_share_of_what_is_expected() -> None:
    watch = _watch()
    _feed(watch, 400)
    _feed(watch, 1600)
    # One drift in 2,000 rows that took a second: the next 2,000 are expected to take one too.
    assert watch.allowance() == pytest.approx(LOOK_SHARE)
    assert watch.is_due
    assert watch.estimated(0.01, watch.reason)
    watch.improved(0.06)
    assert watch.reason is None
    # The next time it is known how long that takes, and that is too long.
    watch.reason = "something"
    assert not watch.is_due


def test_a_drift_that_stays_is_looked_at_later() -> None:
    watch = _watch()
    _feed(watch, 400)
    _feed(watch, 1600)
    watch.improved(1.5 * LOOK_SHARE)
    watch.reason = "something"
    assert not watch.is_due
    _feed(watch, 1600)
    _feed(watch, 1600)
    assert watch.is_due


def test_what_nobody_counts_is_estimated_every_so_often() -> None:
    watch = _watch()
    _feed(watch, 400)
    due = []
    for _ in range(12):
        _feed(watch, 400)
        due.append(watch.is_due)
        if due[-1]:
            assert not watch.estimated(0.1, None)
    assert due == [False] * 4 + [True] + [False] * 4 + [True] + [False] * 2


def test_an_estimate_without_a_reason_has_a_budget() -> None:
    watch = _watch()
    _feed(watch, 400)
    watch.estimated(10.0, None)
    for _ in range(12):
        _feed(watch, 400)
        assert not watch.is_due


def test_a_switch_must_save_more_than_it_takes() -> None:
    watch = _watch()
    _feed(watch, 400)
    for _ in range(5):
        _feed(watch, 400)
    # 5 seconds so far, and as many to come.
    assert watch.pays(0.5, 2.4)
    assert not watch.pays(0.5, 2.6)
