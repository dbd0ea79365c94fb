"""Deliberate faults of the event matcher: each puts one typical mistake into it while its context is open."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events import pattern as event_pattern
from sparkrex.modes.events import runner
from sparkrex.modes.events.kernels import merge as kernel
from sparkrex.modes.events.kernels.arguments import Apart, Reads
from sparkrex.modes.events.nfab import automaton, conditions, equivalence, frame, kept, matcher
from sparkrex.modes.events.nfab.kept import Kept
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.modes.events.pattern import absences
from sparkrex.modes.events.plan import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.matching.state import State
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.events.nfab.matcher import Feeding, Found
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.source import Source

Context = AbstractContextManager[Any]


@dataclass(frozen=True, slots=True)
class EventFault:
    """What is done wrong, in words, and how to do it. Queries for which `needs` is false cannot show it."""

    name: str
    inject: Callable[[], Context]
    needs: Callable[[EventQuery], bool] = lambda query: True


# Faults of the automaton: it is another one.


def _with_automaton_changed(change: Callable[[Automaton], Automaton]) -> Context:
    compiled = automaton.compile_automaton

    def changed(pattern: EventPattern, source: Source) -> Automaton:
        return change(compiled(pattern, source))

    return mock.patch.object(matcher, "compile_automaton", changed)


def _no_takes(compiled: Automaton) -> Automaton:
    edges = tuple(tuple(replace(edge, is_take=False) for edge in of_state) for of_state in compiled.edges)
    return replace(compiled, edges=edges)


def _all_but_first_take(compiled: Automaton) -> Automaton:
    start, *others = compiled.edges
    edges = tuple(tuple(replace(edge, is_take=True) for edge in of_state) for of_state in others)
    return replace(compiled, edges=(start, *edges))


def _copies_skipped() -> Context:
    """A{1,3}: from the first copy to the third, which then counts as the last."""
    joined = automaton.compile_automaton

    def changed(pattern: EventPattern, source: Source) -> Automaton:
        compiled = joined(pattern, source)
        edges = [list(of_state) for of_state in compiled.edges]
        for state, of_state in enumerate(compiled.edges):
            for edge in of_state:
                variable = compiled.variable(edge.target)
                edges[state] += [
                    later for later in compiled.edges[edge.target]
                    if edge.is_take and later.is_take and later not in of_state
                    and compiled.variable(later.target) == variable
                ]
        return replace(compiled, edges=tuple(map(tuple, edges)))

    return mock.patch.object(matcher, "compile_automaton", changed)


# Faults of conditions.


def _first_condition_for_all() -> Context:
    by_variable = conditions.edge_conditions

    def changed(query: EventQuery, *rest: Any) -> Any:
        return by_variable(replace(query, take=query.begin), *rest)

    return mock.patch.object(matcher, "edge_conditions", changed)


def _arrays_are_left_untested() -> Context:
    return mock.patch.object(conditions, "leaves_of", lambda *given: [])


# Faults of windows and ties.


def _window_exclusive(name: str) -> Context:
    correct = getattr(Times, name)

    def changed(self: Times) -> NDArray[np.int64]:
        if self.window is None:
            return correct(self)  # type: ignore[no-any-return]
        size, window = self.size, self.window
        smaller = None if size is None else np.nextafter(size, -1) if isinstance(size, np.floating) else size - 1
        self.size, self.window = smaller, replace(window, size=float(window.size) - 1)
        try:
            return correct(self)  # type: ignore[no-any-return]
        finally:
            self.size, self.window = size, window

    return mock.patch.object(Times, name, changed)


def _ties_not_seen() -> Context:
    return mock.patch.object(Times, "ties", lambda self: np.arange(len(self.values)))


def _nulls_form_a_partition() -> Context:
    return mock.patch.object(event_engine, "taking_part", _not_dropped)


def _not_dropped(query: EventQuery, table: pa.Table, *rest: Any) -> pa.Table:
    return table


# Faults of merging.


def _merged_whatever_is_read_later() -> Context:
    def nothing_read(compiled: Automaton, *rest: Any) -> Reads:
        return Reads(np.zeros(len(compiled.edges) + 1, np.int64), np.empty((0, 3), np.int64))

    return mock.patch.object(frame, "merge_reads", nothing_read)


def _aggregates_not_compared() -> Context:
    reads_of = equivalence.merge_reads

    def changed(*given: Any) -> Reads:
        offsets, reads = reads_of(*given)
        is_left = np.isin(reads[:, 0], (kernel.INT_AT, kernel.FLOAT_AT))
        lengths = [int(is_left[begin:end].sum()) for begin, end in pairwise(offsets.tolist())]
        return Reads(np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), reads[is_left])

    return mock.patch.object(frame, "merge_reads", changed)


def _apart_by_nothing(name: str) -> Context:
    """Runs are merged whatever a negation reads of them: of one field of `FeedArrays.apart`."""
    correct = frame.FeedArrays.what_keeps_apart

    def changed(self: frame.FeedArrays, *given: Any) -> Apart:
        found = correct(self, *given)
        part = getattr(found, name)
        nothing: dict[str, Any] = {name: np.zeros_like(part) if isinstance(part, np.ndarray) else False}
        return found._replace(**nothing)

    return mock.patch.object(frame.FeedArrays, "what_keeps_apart", changed)


# Faults of what is done with complete matches.


def _negation_sees_nothing_before() -> Context:
    around = event_pattern.around_absences
    return mock.patch.object(
        event_pattern, "around_absences", lambda pattern: [([], before + behind) for before, behind in around(pattern)]
    )


def _matches_are_repeated() -> Context:
    return mock.patch.object(matcher, "first_occurrences", lambda matches: np.ones(len(matches), np.bool_))


def _overlaps_are_kept() -> Context:
    def changed(
        matches: EventMatches, is_open: NDArray[np.bool_], *rest: Any
    ) -> tuple[EventMatches, EventMatches]:
        return matches.selected(~is_open), matches.selected(is_open)

    return mock.patch.object(matcher, "first_of_overlapping", changed)


# Faults of saved states.


def _lost_when_saved(change: Callable[[Kept], Kept]) -> Context:
    put_into = kept.put_into

    def changed(state: State, slots: NDArray[np.int64], left: Kept, first: NDArray[np.int64]) -> None:
        put_into(state, slots, change(left), first)

    return mock.patch.object(runner, "put_into", changed)


def _lose_undecided(left: Kept) -> Kept:
    nothing = Kept.nothing(len(left.blocked))
    return replace(left, waiting=nothing.waiting, undecided=nothing.undecided, undecided_place=nothing.undecided_place)


def _lose_runs(left: Kept) -> Kept:
    nothing = Kept.nothing(len(left.blocked))
    return replace(left, runs=nothing.runs, run_offsets=nothing.run_offsets)


def _start_again() -> Context:
    """All rows held back are fed to the runs a second time."""
    find = NfabMatcher.find

    def changed(self: NfabMatcher, frame: Columns, feeding: Feeding) -> Found:
        return find(self, frame, replace(feeding, n_held=np.zeros_like(feeding.n_held)))

    return mock.patch.object(NfabMatcher, "find", changed)


def _negates(query: EventQuery) -> bool:
    return bool(absences(query.pattern))


def _skips_to_next(query: EventQuery) -> bool:
    return query.strategy is Strategy.NEXT


def _is_ambiguous(query: EventQuery) -> bool:
    return not automaton.compile_automaton(query.pattern, query.source).is_unambiguous


def _has_optional_copies(query: EventQuery) -> bool:
    return _skips_to_next(query) and re.search(r"\{[01],[3-9]\}", str(query.pattern)) is not None


EVENT_FAULTS = (
    EventFault("a take does not count when it is decided whether to ignore",
               lambda: _with_automaton_changed(_no_takes), _skips_to_next),
    EventFault("every edge counts as a take", lambda: _with_automaton_changed(_all_but_first_take), _skips_to_next),
    EventFault("copies of {n,m} are skipped", _copies_skipped, _has_optional_copies),
    EventFault("later events are tested as the first one is", _first_condition_for_all),
    EventFault("what is said of a whole array is not tested", _arrays_are_left_untested,
               lambda query: bool(query.leave)),
    EventFault("the window is exclusive", lambda: _window_exclusive("window_first"),
               lambda query: query.window is not None),
    EventFault("an end negation does not reach the window's last moment", lambda: _window_exclusive("window_last"),
               _negates),
    EventFault("strict ties are not seen", _ties_not_seen, lambda query: query.has_strict_ties),
    EventFault("a NULL in an equivalence test forms a partition", _nulls_form_a_partition,
               lambda query: bool(query.partition_by)),
    EventFault("runs are merged whatever is read later", _merged_whatever_is_read_later),
    EventFault("runs are merged without comparing aggregates", _aggregates_not_compared),
    EventFault("runs are merged whatever has come behind their last event", lambda: _apart_by_nothing("gap_offsets"),
               _negates),
    EventFault("runs are merged wherever they began", lambda: _apart_by_nothing("by_start"),
               lambda query: _negates(query) or query.is_non_overlapping),
    EventFault("a middle negation reaches back as at the start", _negation_sees_nothing_before, _negates),
    EventFault("one match is given for every way to read it", _matches_are_repeated, _is_ambiguous),
    EventFault("matches overlap", _overlaps_are_kept, lambda query: query.is_non_overlapping),
    EventFault("undecided matches are not saved", lambda: _lost_when_saved(_lose_undecided), _negates),
    EventFault("runs are not saved", lambda: _lost_when_saved(_lose_runs)),
    EventFault("rows held back are fed again", _start_again),
)
