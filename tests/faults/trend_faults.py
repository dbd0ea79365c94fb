"""Deliberate faults of trend aggregates: each puts one typical mistake into the engine while its context is open.

Streams of tests are short, so that kernels run interpreted, and their parts can be replaced like other functions.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT, Aggregate, absences

from sparkrex.evaluate import joint_keys
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.trends import (
    arranged,
    automaton,
    conjunction,
    engine,
    keeping,
    merge,
    prepared,
    results,
    runner,
    units,
    weights,
)
from sparkrex.modes.trends.kernels import by_event, by_gap, by_open, by_rank, by_state, numbers, places
from sparkrex.modes.trends.kernels.machine import Rows
from sparkrex.modes.trends.kernels.ranks import lower_bound
from sparkrex.modes.trends.symbols import Labels, make_machine
from sparkrex.modes.trends.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray
    from tests.modes.trends.query import Query

    from sparkrex.modes.trends.automaton import Automaton
    from sparkrex.modes.trends.kernels.machine import Machine
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.search import Kept

Context = AbstractContextManager[Any]


@dataclass(frozen=True, slots=True)
class TrendFault:
    """What is done wrong, in words, and how to do it. Queries for which `needs` is false cannot show it.

    `is_of_large_numbers`: a few events do not show it.
    """

    name: str
    inject: Callable[[], Context]
    needs: Callable[[Query], bool] = lambda query: True
    is_of_large_numbers: bool = False


def _all_of(*contexts: Context) -> Context:
    stack = ExitStack()
    for context in contexts:
        stack.enter_context(context)
    return stack


# Faults of predecessors.


def _own_predecessor() -> Context:
    """An event that comes to two states is in the first when the second is reached."""
    def advance(
        store: Any, base: int, machine: Any, shape: Any, weights: Any, fresh: Any, row: int, symbol: int
    ) -> None:
        for place in range(machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]):
            state = machine.symbol_states[place]
            by_state._extend(store, base, machine, shape, weights, fresh, 1, state, row)
            places.add_place(store, base + state - 1, fresh, 1, shape)

    return mock.patch.object(by_state, "_advance_one", advance)


def _ties_are_passed_over() -> Context:
    """Events of one time follow each other."""
    def rows(symbols: Any, tied: Any, has_ties: bool) -> Rows:
        return Rows(symbols, np.zeros_like(tied), False)

    return mock.patch.object(arranged, "Rows", rows)


def _tied_events_lie_inside() -> Context:
    """Definition 3.2 in place of 2.8: all events of a time go on, not only what begins with them."""
    extended = by_event._extend

    def extend(*arguments: Any) -> None:
        if not arguments[-1]:
            extended(*arguments)

    return _all_of(
        mock.patch.object(by_state, "_begin", lambda *arguments: None), mock.patch.object(by_event, "_extend", extend)
    )


def _with_machine(change: Callable[[Machine], Machine]) -> Context:
    return mock.patch.object(prepared, "make_machine", lambda *arguments: change(make_machine(*arguments)))


def _never_closed(machine: Machine) -> Machine:
    return machine._replace(closes=np.zeros_like(machine.closes))


def _closed_without_comparing(machine: Machine) -> Machine:
    return machine._replace(closer_pairs=np.minimum(machine.closer_pairs, -1))


def _closed_by_all(machine: Machine) -> Machine:
    """Whatever can be bound to any variable is relevant."""
    closes = np.zeros_like(machine.closes)
    closes[np.diff(machine.variable_offsets) > 0] = 1
    return machine._replace(closes=closes, closer_pairs=np.full_like(machine.closer_pairs, -1))


def _lengths_are_not_counted() -> Context:
    def made(query: TrendQuery) -> Automaton:
        return automaton.make_automaton(replace(query, minimum_length=1))

    return mock.patch.object(prepared, "make_automaton", made)


def _states_of_a_variable_are_one() -> Context:
    """As in the paper, where a type has one count."""
    def alike(states: list[int], edges: Any, signs: dict[int, Any]) -> dict[int, Any]:
        return {state: signs[state][0] for state in states}

    return mock.patch.object(automaton, "_alike", alike)


# Faults of negation.


def _marks_shifted(by: int) -> Context:
    """A negated trend that begins with the earlier event counts, or one that begins right after it does not."""
    correct = by_event.is_clear

    def is_clear(marks: Any, base: int, needs_open: int, needs_blocked: int, time: int) -> Any:
        return correct(marks, base, needs_open, needs_blocked, time + by)

    return _all_of(mock.patch.object(by_event, "is_clear", is_clear), mock.patch.object(by_gap, "is_clear", is_clear))


def _never_blocked(machine: Machine) -> Machine:
    return machine._replace(edge_open=np.zeros_like(machine.edge_open))


def _ends_never_blocked(machine: Machine) -> Machine:
    return machine._replace(end_open=np.zeros_like(machine.end_open))


def _blocked_on_all_edges(machine: Machine) -> Machine:
    """Appendix C: what has come to the state before is invalid, also for A to A inside a Kleene."""
    everything = int(np.bitwise_or.reduce(machine.edge_open, initial=0))
    negated_of = np.repeat(machine.negated_of, np.diff(machine.edge_offsets))
    between = (machine.edge_sources > 0) & (negated_of < 0)
    return machine._replace(edge_open=np.where(between, everything, machine.edge_open))


def _gaps_joined_too_early() -> Context:
    """Although a negated trend may still begin between them."""
    correct = by_gap._part_gaps

    def part(*arguments: Any) -> Any:
        latest = list(arguments)
        latest[6] = np.full_like(latest[6], -1)
        return correct(*latest)

    return mock.patch.object(by_gap, "_part_gaps", part)


# Faults of comparisons.


def _null_is_a_value() -> Context:
    return mock.patch.object(joint_keys, "_with_null", lambda keys, values: np.where(keys == NULL_KEY, 0, keys))


def _equal_is_not_included() -> Context:
    return _all_of(
        mock.patch.object(by_rank, "upper_bound", lower_bound), mock.patch.object(by_open, "upper_bound", lower_bound)
    )


def _only_the_first_comparison() -> Context:
    """Of several between two events."""
    correct = by_event.meets

    def meets(pairs: Any, pair: int, before: int, after: int) -> Any:
        offsets = pairs.offsets.copy()
        if pair >= 0:
            offsets[pair + 1] = offsets[pair] + 1
        return correct(pairs._replace(offsets=offsets), pair, before, after)

    return mock.patch.object(by_event, "meets", meets)


# Faults of windows and partitions.


def _windows_include_their_end() -> Context:
    correct = units._positions

    def positions(ticks: NDArray[Any], low: Any, high: Any, bounds: NDArray[Any]) -> Any:
        is_real = bounds.dtype == np.float64
        return correct(ticks, low, high, np.nextafter(bounds, np.inf) if is_real else bounds + 1)

    return mock.patch.object(units, "_positions", positions)


def _no_window_before_the_first_event() -> Context:
    """Windows begin with the first that begins at or after it."""
    correct = Windows.first_and_last

    def changed(self: Windows, ticks: NDArray[Any]) -> Any:
        first, last = correct(self, ticks)
        return (np.maximum(first, last.min()), last) if len(last) else (first, last)

    return mock.patch.object(Windows, "first_and_last", changed)


def _null_is_a_partition() -> Context:
    def untouched(query: TrendQuery, table: pa.Table) -> pa.Table:
        return table

    return mock.patch.object(engine, "in_partitions", untouched)


def _unnamed_types(breaks: bool) -> Context:
    """Events that fit no variable all break contiguity, or none does."""
    def is_named(self: Labels, table: pa.Table) -> NDArray[np.bool_]:
        return np.full(table.num_rows, not breaks)

    return mock.patch.object(Labels, "is_named", is_named)


def _groups_have_one_partition() -> Context:
    """The first, of those that are to be merged."""
    class First:
        @staticmethod
        def interpreted(store: Any, order: Any, offsets: Any, shape: Any, merged: Any) -> None:
            for group in range(len(offsets) - 1):
                places.add_place(merged, group, store, order[offsets[group]], shape)

    return mock.patch.object(merge, "merge_places", First)


def _pairs_with_itself() -> Context:
    return mock.patch.object(conjunction, "_pairs", lambda first, second, both: first * second)


# Faults of aggregates.


def _extremes_swapped() -> Context:
    """MIN is MAX, and MAX is MIN."""
    keys, values = weights._Reader.keys, weights.values_of_keys
    return _all_of(
        mock.patch.object(weights._Reader, "keys", lambda self, cell: ~keys(self, cell)),
        mock.patch.object(results, "values_of_keys", lambda found, *rest: values(~found, *rest)),
    )


def _null_is_counted() -> Context:
    """AVG divides by all events, and COUNT counts them."""
    return mock.patch.object(weights._Reader, "valid", lambda self, cell: np.ones(self._n_rows, np.uint8))


def _each_event_once() -> Context:
    """However many trends it is in: sums as of sets of events."""
    correct = numbers.add_product

    def once(target: Any, at: int, source: Any, of: int, weight: Any) -> None:
        single = np.zeros((1, 3), source.dtype)
        single[0, 0] = 1
        correct(target, at, single, 0, weight)  # type: ignore[no-untyped-call]

    return mock.patch.object(places, "add_product", once)


# Faults of numbers.


def _wrapped_at_64_bits() -> Context:
    correct = numbers._add_exact

    def added(target: Any, at: int, source: Any, of: int) -> None:
        correct(target, at, source, of)
        target[at, 1:] = 0

    return mock.patch.object(numbers, "_add_exact", added)


def _overflow_forgotten() -> Context:
    correct = numbers._add_exact

    def added(target: Any, at: int, source: Any, of: int) -> None:
        correct(target, at, source, of)
        target[at, 2] = 0

    return mock.patch.object(numbers, "_add_exact", added)


def _exponents_ignored() -> Context:
    """A number in units of 2^512 is added to one in units of 1."""
    correct = numbers._add_scaled

    def added(target: Any, at: int, high: Any, low: Any, exponent: Any) -> None:
        correct(target, at, high, low, target[at, 2] if target[at, 0] else exponent)

    return mock.patch.object(numbers, "_add_scaled", added)


# Faults of saved states.


def _lost_when_saved(change: Callable[[Kept], Kept]) -> Context:
    correct = keeping.write_kept

    def written(state: Any, feed: Any, rows: Any, found: Any, kept: Kept, *rest: Any) -> None:
        correct(state, feed, rows, found, change(kept), *rest)

    return mock.patch.object(runner, "write_kept", written)


def _lose_entries(kept: Kept) -> Kept:
    return replace(kept, offsets=np.zeros_like(kept.offsets))


def _lose_registers(kept: Kept) -> Kept:
    return replace(kept, registers=np.full_like(kept.registers, -1))


def _lose_clocks(kept: Kept) -> Kept:
    """The last time is counted again."""
    return replace(kept, clock=np.maximum(kept.clock - 1, 0))


def _tied_events_do_not_wait() -> Context:
    """The last events of a feed are searched at once, although others of their time may come."""
    return mock.patch.object(arranged.ArrangedRows, "decided", lambda self, feed: self.offsets[1:].copy())


def _windows_begin_again() -> Context:
    """Windows that are over begin again with rows that come later."""
    correct = keeping.write_kept

    def written(state: Any, feed: Any, *rest: Any) -> None:
        correct(state, feed, *rest)
        state.numbers["last_window"][feed.slots] = keeping.FRESH["last_window"]

    return mock.patch.object(runner, "write_kept", written)


# What queries must have to show a fault.


def _is(semantics: str) -> Callable[[Query], bool]:
    return lambda query: query.semantics == semantics


def _negates(query: Query) -> bool:
    return any(absences(pattern) for pattern in query.patterns)


def _compares(query: Query) -> bool:
    return bool(query.adjacent)


def _has_window(query: Query) -> bool:
    return query.window is not None


def _aggregates(*functions: str) -> Callable[[Query], bool]:
    return lambda query: any(isinstance(item, Aggregate) and item.function in functions for item in query.returned)


def _is_strict(query: Query) -> bool:
    return query.has_strict_ties


TREND_FAULTS = (
    TrendFault("an event is its own predecessor", _own_predecessor, _is(ANY)),
    TrendFault("events of one time follow each other", _ties_are_passed_over, _is_strict),
    TrendFault("events of one time lie inside contiguous trends", _tied_events_lie_inside, _is(CONTIGUOUS)),
    TrendFault("no event is ever closed", lambda: _with_machine(_never_closed), _is(NEXT)),
    TrendFault("an event that fails its comparison closes others", lambda: _with_machine(_closed_without_comparing),
               lambda query: query.semantics == NEXT and _compares(query)),
    TrendFault("events that cannot follow close others", lambda: _with_machine(_closed_by_all), _is(NEXT)),
    TrendFault("the minimal length is not asked for", _lengths_are_not_counted, lambda query: query.least_length > 1),
    TrendFault("all states of a variable are one", _states_of_a_variable_are_one),
    TrendFault("a negated trend that begins with the earlier event blocks", lambda: _marks_shifted(-1), _negates),
    TrendFault("a negated trend that begins right after the earlier event does not block", lambda: _marks_shifted(1),
               _negates),
    TrendFault("nothing between two events blocks", lambda: _with_machine(_never_blocked), _negates),
    TrendFault("what is negated at the end is not looked at", lambda: _with_machine(_ends_never_blocked), _negates),
    TrendFault("a negated trend blocks all that came before it", lambda: _with_machine(_blocked_on_all_edges),
               _negates),
    TrendFault("gaps are joined too early", _gaps_joined_too_early,
               lambda query: _negates(query) and not _compares(query)),
    TrendFault("NULL is compared like a value", _null_is_a_value, _compares),
    TrendFault("equal values do not count in <= and >=", _equal_is_not_included, _compares),
    TrendFault("only the first of several comparisons is tested", _only_the_first_comparison,
               lambda query: len(query.adjacent) > 1),
    TrendFault("windows include their end", _windows_include_their_end, _has_window),
    TrendFault("windows that begin before the first event are left out", _no_window_before_the_first_event,
               _has_window),
    TrendFault("NULL in [..] forms a partition", _null_is_a_partition, lambda query: bool(query.equivalent)),
    TrendFault("events of types that are not named do not break contiguity", lambda: _unnamed_types(False),
               _is(CONTIGUOUS)),
    TrendFault("events that fail their conditions break contiguity", lambda: _unnamed_types(True), _is(CONTIGUOUS)),
    TrendFault("a group has one of its partitions", _groups_have_one_partition,
               lambda query: bool(query.equivalent)),
    TrendFault("trends are paired with themselves", _pairs_with_itself, lambda query: len(query.patterns) > 1),
    TrendFault("MIN and MAX are swapped", _extremes_swapped, _aggregates("MIN", "MAX")),
    TrendFault("AVG divides by events without a value", _null_is_counted, _aggregates("AVG", "COUNT")),
    TrendFault("an event is added once, however many trends it is in", _each_event_once, _aggregates("SUM", "AVG")),
    TrendFault("counts wrap at 64 bits", _wrapped_at_64_bits, is_of_large_numbers=True),
    TrendFault("counts that were too large are given", _overflow_forgotten, is_of_large_numbers=True),
    TrendFault("exponents are ignored where numbers are added", _exponents_ignored, is_of_large_numbers=True),
    TrendFault("entries are not saved", lambda: _lost_when_saved(_lose_entries), _compares),
    TrendFault("marks of negated parts are not saved", lambda: _lost_when_saved(_lose_registers), _negates),
    TrendFault("a time is counted again with every feed", lambda: _lost_when_saved(_lose_clocks),
               lambda query: _negates(query) and _compares(query)),
    TrendFault("events do not wait for others of their time", _tied_events_do_not_wait, _is_strict),
    TrendFault("windows begin again", _windows_begin_again, _has_window),
)
