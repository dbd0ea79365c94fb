"""The `nfab` matcher: event queries by an automaton whose runs share their histories.

`kernels.nfab` runs all partitions of a feed, each thread a range of them. What is left to do here: ends of matches that
a negation behind them leaves open wait in the state until their window has passed; of overlapping matches only the
first is kept; what no run can reach any more is thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.errors import ExecutionError
from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.kernels import backtrack as nfab_backtrack
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import nfab as kernel
from sparkrex.modes.events.kernels.absence import status_of
from sparkrex.modes.events.kernels.matches import recheck, recheck_ends, revive
from sparkrex.modes.events.nfab.absences import plan_absences
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.nfab.conditions import edge_conditions
from sparkrex.modes.events.nfab.contract import EventBuffer, EventMatches
from sparkrex.modes.events.nfab.describe import automaton_lines, state_name
from sparkrex.modes.events.nfab.frame import FeedArrays, frame_of
from sparkrex.modes.events.nfab.interrupt import run_until_interrupted
from sparkrex.modes.events.nfab.lookup import STRATEGIES
from sparkrex.modes.events.nfab.overlap import by_last_event, first_occurrences, first_of_overlapping
from sparkrex.modes.events.nfab.reduce import reduce_states
from sparkrex.modes.events.nfab.search import Options, Search, Share, room_to_move
from sparkrex.modes.events.nfab.state import NfabState, loaded, no_ends, no_nodes, no_runs, saved
from sparkrex.modes.events.nfab.writing import Writer, matches_of, repeated, resized, room_for_matches
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.scalar.expression import ColumnAt, references

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.nfab.state import Ends, Nodes, Runs
    from sparkrex.settings import Settings

LEAST_ROWS = 1 << 14
"""Fewer rows than this are not worth a thread of their own."""

_STRATEGIES = {
    Strategy.STRICT: codes.CONTIGUITY, Strategy.PARTITION: codes.CONTIGUITY, Strategy.NEXT: codes.NEXT,
    Strategy.ANY: codes.ANY,
}


@dataclass(slots=True)
class _Found:
    """What a search gave: matches, which of them are undecided, and what is still under way."""

    matches: EventMatches
    is_open: NDArray[np.bool_]
    runs: Runs = field(default_factory=no_runs)
    nodes: Nodes = field(default_factory=no_nodes)
    ends: Ends = field(default_factory=no_ends)
    blocked: int = -1


class NfabMatcher:
    """Immutable but for `statistics`, which are of the last feed (see `kernels.codes`), and `looks_up`, which says
    before the first feed whether runs are looked up by what they await (see `physical.nfab.lookup`).

    `constructs` false only runs the automaton, for measurements.
    """

    name = "nfab"

    def __init__(self, query: EventQuery, evaluator: Evaluator, settings: Settings, *, constructs: bool = True) -> None:
        self.query = query
        self.evaluator = evaluator
        self.settings = settings
        self.constructs = constructs
        self.variables = ep.positive_variables(query.pattern)
        negated = [event.variable for event in ep.absences(query.pattern)]
        written = compile_automaton(query.pattern, query.source)
        self._written = (written, edge_conditions(query, written, negated))
        self.automaton, self.conditions = reduce_states(*self._written)
        self.statistics = np.zeros(codes.N_STATISTICS, np.int64)
        self._tables = self._automaton_tables()
        self.absences = plan_absences(query, self.automaton)
        around = ep.around_absences(query.pattern)
        self._reaches_back = any(all(map(ep.allows_empty, before)) for before, _ in around)
        self._may_be_undecided = any(all(map(ep.allows_empty, behind)) for _, behind in around)
        self._prunes = query.is_non_overlapping and not self._may_be_undecided
        # Where equalities partition the stream, all runs of a partition await the same.
        self.looks_up = (
            query.strategy in STRATEGIES and not query.equal_by and settings.event_algorithm != "backtrack"
        )

    def open(self) -> NfabState:
        """The state before the first feed."""
        return NfabState()

    def snapshot(self, state: NfabState) -> bytes:
        """The state as bytes that `restore` reads."""
        return saved(state)

    def restore(self, data: bytes) -> NfabState:
        """The state that was saved."""
        return loaded(data)

    def describe(self) -> list[str]:
        """The automaton with the formula of every edge."""
        return automaton_lines(self.query, *self._written, looks_up=self.looks_up)

    def feed(self, state: NfabState, columns: Columns, *, opens: bool, closes: bool) -> EventMatches:
        """The matches that this feed decides. See the contract of matchers; changes `state`."""
        if opens:
            state.clear()
        frame = frame_of(state, columns)
        if self.settings.event_algorithm == "backtrack" and not closes:
            return self._wait(state, frame)
        arrays = self._arrays(frame)
        pieces = partition_ranges(frame, self.settings.thread_count(), LEAST_ROWS) or [(0, 0)]
        is_backtrack = self.settings.event_algorithm == "backtrack"
        taken = np.zeros(len(pieces), np.int64)  # what they may take, they may take together

        def task(begin: int, end: int, budget: NDArray[np.int64]) -> tuple[_Found, NDArray[np.int64]]:
            share = Share(taken, pieces.index((begin, end)), self.settings.max_event_memory - earlier.size())
            if is_backtrack:
                return self._backtrack(arrays, frame, begin, end, share, budget)
            return self._search(state, arrays, frame, begin, end, share, budget, closes=closes)

        earlier = self._decide_ends(state, arrays, frame, closes=closes)
        results = run_until_interrupted(task, pieces, self._budget)
        self.statistics = np.sum([counts for _, counts in results], axis=0)
        found = _Found(
            EventMatches.joined([part.matches for part, _ in results]),
            np.concatenate([part.is_open for part, _ in results]),
            results[-1][0].runs, results[-1][0].nodes, results[-1][0].ends, results[-1][0].blocked,
        )
        del results  # the buffer is large
        if len(earlier):
            found.matches = EventMatches.joined([earlier, found.matches])
            found.is_open = np.concatenate((np.zeros(len(earlier), np.bool_), found.is_open))
        if len(state.undecided):
            found = self._with_earlier(state, arrays, frame, found, closes=closes)
        if not self.automaton.is_unambiguous:
            keep = first_occurrences(found.matches)
            found.matches, found.is_open = found.matches.selected(keep), found.is_open[keep]
        if self.query.is_non_overlapping and not self._prunes:
            decided, undecided = self._not_overlapping(state, arrays, frame, found)
        elif found.is_open.any():
            decided, undecided = found.matches.selected(~found.is_open), found.matches.selected(found.is_open)
        else:
            decided, undecided = found.matches, EventMatches.none()
        if closes:
            state.clear()
        else:
            self._hold_back(state, arrays, frame, found, undecided)
        return decided

    def feed_compressed(self, columns: Columns) -> EventBuffer:
        """All matches of whole partitions in compressed form. Negation and overlaps need matches, not the buffer."""
        arrays = self._arrays(columns)

        def task(begin: int, end: int, budget: NDArray[np.int64]) -> Search:
            share = Share(np.zeros(1, np.int64), 0, self.settings.max_event_memory)
            return self._run(NfabState(), arrays, columns, begin, end, share, budget, closes=True, keeps_buffer=True)

        (search,) = run_until_interrupted(task, [(0, len(columns.offsets) - 1)], self._budget)
        self.statistics = search.statistics
        return EventBuffer(*search.nodes, *search.ends)

    def _arrays(self, frame: Columns) -> FeedArrays:
        return FeedArrays(
            self.query, self.automaton, self.conditions, self.absences, frame, self.evaluator, self.settings,
            looks_up=self.looks_up,
        )

    # -- searching -----------------------------------------------------------------------------------------------

    def _search(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, begin: int, end: int, share: Share,
        budget: NDArray[np.int64], *, closes: bool,
    ) -> tuple[_Found, NDArray[np.int64]]:
        is_last = end == len(frame.offsets) - 1
        search = self._run(
            state, arrays, frame, begin, end, share, budget, closes=closes or not is_last, keeps_buffer=False
        )
        matches, is_open = matches_of(search.writer.output)
        return _Found(matches, is_open, search.runs, search.nodes, search.undecided, search.blocked), search.statistics

    def _run(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, begin: int, end: int, share: Share,
        budget: NDArray[np.int64], *, closes: bool, keeps_buffer: bool,
    ) -> Search:
        options = Options(
            _STRATEGIES[self.query.strategy], self.settings.event_algorithm == "merging",
            self.constructs and not keeps_buffer, self._prunes, keeps_buffer, self.query.is_non_overlapping,
        )
        search = Search(
            arrays, self._tables, options, frame.offsets[begin : end + 1], share, budget, closes=closes
        )
        if begin == 0 and state.held is not None:
            labels, records = self._revived(state, arrays, frame)
            nodes, state.nodes = state.nodes, no_nodes()
            search.go_on(state.n_seen, state.blocked, state.runs, labels, records, nodes, state.ends)
        status, where = search.run()
        self._check(status, where, frame, search.failed_row)
        return search

    def _revived(
        self, state: NfabState, arrays: FeedArrays, frame: Columns
    ) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """The labels of the first events of the runs that wait, and their records, which are of this frame."""
        n_runs = len(state.runs[0])
        ints, floats = repeated(arrays.initial[0], n_runs + 1), repeated(arrays.initial[1], n_runs + 1)
        labels = np.zeros(n_runs, np.int64)
        if n_runs:
            failed = revive(
                state.runs[1], state.nodes, arrays.path(), arrays.context.columns, ints, floats, labels
            )
            if failed >= 0:
                self._check(codes.OVERFLOW, int(state.runs[2][failed]), frame)
        return labels, (ints, floats)

    def _backtrack(
        self, arrays: FeedArrays, frame: Columns, begin: int, end: int, share: Share, budget: NDArray[np.int64],
    ) -> tuple[_Found, NDArray[np.int64]]:
        options = (np.int64(_STRATEGIES[self.query.strategy]), self.constructs)
        status, where, output, statistics = nfab_backtrack.search(
            frame.offsets[begin : end + 1], True, self._tables, arrays.events, options,
            (share.taken, np.int64(share.own), np.int64(share.most)), arrays.absences, arrays.path(),
            arrays.tests, arrays.context.machine(), arrays.context.columns, arrays.initial,
            room_for_matches(share.most), budget,
        )
        self._check(status, int(where), frame)
        matches, is_open = matches_of(output)
        del output
        matches = by_last_event(matches)
        if self._prunes:
            decided, _ = first_of_overlapping(matches, is_open, frame.offsets, arrays.ties, -1)
            matches, is_open = decided, np.zeros(len(decided), np.bool_)
        return _Found(matches, is_open), statistics

    def _wait(self, state: NfabState, frame: Columns) -> EventMatches:
        """One run at a time needs the whole partition: those that are complete are searched, the open one waits."""
        open_from = int(frame.offsets[-2]) if len(frame.offsets) > 1 else 0
        decided = EventMatches.none()
        if open_from > 0:
            whole = Columns(frame.ordered.slice(0, open_from), frame.offsets[:-1])
            decided = self.feed(NfabState(), whole, opens=True, closes=True)
        self._check_open_rows(frame.n_rows - open_from, open_from)
        state.clear()
        state.held = frame.ordered.slice(open_from)
        return decided

    # -- what a feed leaves open ---------------------------------------------------------------------------------

    def _decide_ends(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, *, closes: bool
    ) -> EventMatches:
        """The matches of ends that waited for rows and are there now; those that still wait are left in the state."""
        if not len(state.ends[0]):
            return EventMatches.none()

        def task(_begin: int, _end: int, budget: NDArray[np.int64]) -> EventMatches:
            return self._decide(state, arrays, frame, budget, is_open=not closes and len(frame.offsets) == 2)

        (decided,) = run_until_interrupted(task, [(0, 1)], self._budget)
        return decided

    def _decide(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, budget: NDArray[np.int64], *, is_open: bool
    ) -> EventMatches:
        states = np.zeros(len(state.ends[0]), np.int64)
        low, high = frame.offsets[0], frame.offsets[1]
        error = recheck_ends(
            state.ends, state.nodes, is_open, (np.int64(0), low, high), arrays.absences, arrays.ties, arrays.path(),
            arrays.tests, arrays.context.machine(), arrays.context.columns, arrays.initial, budget, states,
        )
        self._check(status_of.py_func(error) if error < 0 else codes.DONE, 0, frame)
        node, first, last = (array[states == codes.KEPT] for array in state.ends)
        still = states == codes.UNDECIDED
        state.ends = (state.ends[0][still], state.ends[1][still], state.ends[2][still])
        if not len(node):
            return EventMatches.none()
        ends = (node, last, first, np.zeros(len(node), np.uint8))
        # What waits is there beside the matches.
        spare = self.settings.max_event_memory - state.size_of_runs() - sum(array.nbytes for array in ends)
        writer = Writer(spare, budget)
        if writer.write(ends, len(node), state.nodes, spare) > 0:
            label = int(state.nodes[1][node[writer.last_end]])
            self._check(codes.TOO_MANY_MATCHES, self._tables[5].tolist().index(label), frame, int(first[0]))
        return matches_of(writer.output)[0]

    def _with_earlier(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, found: _Found, *, closes: bool
    ) -> _Found:
        """Matches that waited for rows, judged again, in front of the new ones."""
        waiting = state.undecided
        states = np.zeros(len(waiting), np.int64)
        is_open = not closes and len(frame.offsets) == 2
        bounds = (np.int64(0), frame.offsets[0], frame.offsets[1])

        def task(_begin: int, _end: int, budget: NDArray[np.int64]) -> int:
            return recheck(  # type: ignore[no-any-return]  # compiled
                waiting.rows, waiting.labels, waiting.offsets, is_open, bounds, arrays.absences,
                arrays.ties, arrays.path(), arrays.tests, arrays.context.machine(), arrays.context.columns,
                arrays.initial, budget, states,
            )

        (error,) = run_until_interrupted(task, [(0, 1)], self._budget)
        self._check(status_of.py_func(error) if error < 0 else codes.DONE, 0, frame)
        kept = states != codes.REFUSED
        return _Found(
            EventMatches.joined([waiting.selected(kept), found.matches]),
            np.concatenate((states[kept] == codes.UNDECIDED, found.is_open)), found.runs, found.nodes, found.ends,
            found.blocked,
        )

    def _not_overlapping(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, found: _Found
    ) -> tuple[EventMatches, EventMatches]:
        decided, waits = first_of_overlapping(
            found.matches, found.is_open, frame.offsets, arrays.ties, state.blocked
        )
        found.blocked = state.blocked if len(frame.offsets) == 2 else -1
        if len(decided):
            last = int(decided.rows[decided.offsets[1:] - 1].max())
            found.blocked = last if last >= frame.offsets[-2] else -1
        return decided, waits

    def _hold_back(
        self, state: NfabState, arrays: FeedArrays, frame: Columns, found: _Found, undecided: EventMatches
    ) -> None:
        n_rows = frame.n_rows
        low = int(frame.offsets[-2]) if len(frame.offsets) > 1 else 0
        bound = int(arrays.window_first[-1]) if n_rows > low else low
        runs = found.runs
        is_alive = runs[2] >= bound
        state_of, node, start, last = (array[is_alive].copy() for array in runs)
        end_node, end_first, end_last = (array.copy() for array in found.ends)
        # In place, and then cut to what is left, so that the room which the search had is given back.
        n_nodes = kernel.compact(
            room_to_move(len(found.nodes[0])), node, len(node), end_node, len(end_node), found.nodes,
            len(found.nodes[0]), np.int64(bound),
        )
        nodes, found.nodes = [resized(array, n_nodes) for array in found.nodes], no_nodes()
        lowest = min([n_rows, *(int(rows.min()) for rows in (nodes[0], undecided.rows) if len(rows))])
        needed = [lowest, bound if self._reaches_back else lowest]
        if found.blocked >= 0 and (lowest <= found.blocked or _is_tied(arrays, found.blocked, n_rows - 1)):
            needed.append(found.blocked)
        else:
            found.blocked = -1  # all that may still match starts behind it
        keep = max(low, min(needed))
        self._check_open_rows(n_rows - keep, keep)
        state.held = frame.ordered.slice(keep)
        state.n_seen = n_rows - keep
        state.runs = (state_of, node, start - keep, last - keep)
        nodes[0] -= keep
        nodes[4] -= keep
        state.nodes = (nodes[0], nodes[1], nodes[2], nodes[3], nodes[4])
        state.ends = (end_node, end_first - keep, end_last - keep)
        state.undecided = undecided.moved(-keep)
        state.blocked = found.blocked - keep if found.blocked >= 0 else -1

    def _budget(self) -> NDArray[np.int64]:
        return np.array([0, self.settings.max_steps, 0], np.int64)

    # -- errors --------------------------------------------------------------------------------------------------

    def _check_open_rows(self, n_open: int, row: int) -> None:
        if n_open > self.settings.max_open_rows:
            error = ExecutionError(
                "REX406",
                f"runs wait over {n_open:,} events, more than max_open_rows = {self.settings.max_open_rows:,}",
                None, None, hint="raise max_open_rows, or bound the pattern with WITHIN",
            )
            error.row = row
            raise error

    def _check(self, status: int, where: int, frame: Columns, row: int = -1) -> None:
        """The error of a search that could not go on; `where` is a row, or a state with a `row` of its partition."""
        query = self.query
        if status == codes.DONE:
            return
        if status in (codes.OVERFLOW, codes.DIVISION_BY_ZERO):
            is_overflow = status == codes.OVERFLOW
            error = ExecutionError(
                "REX405" if is_overflow else "REX404",
                "a number in WHERE is out of the range of 64 bits" if is_overflow else "division by zero in WHERE",
                query.source, query.span,
                hint="cast to double" if is_overflow else "guard it with CASE or NULLIF",
            )
            error.row = where
            raise error
        if status == codes.TOO_MANY_STEPS:
            raise ExecutionError(
                "REX403", f"the search took more than {self.settings.max_steps:,} steps at one event", query.source,
                query.span,
                hint="shorten WITHIN, add a predicate or an equivalence test, or raise the setting max_steps",
            )
        part = {
            codes.TOO_MANY_RUNS: "runs that wait", codes.TOO_MANY_NODES: "the shared buffer of events",
            codes.TOO_MANY_MATCHES: "the matches",
        }[status]
        at = f" behind {state_name(self.automaton, where)}" if where else ""
        error = ExecutionError(
            "REX410",
            f"{part}{at} need more than max_event_memory = {self.settings.max_event_memory:,} bytes", query.source,
            query.span, hint=self._memory_hint(),
        )
        if row >= 0:
            error.row = row
        raise error

    def _memory_hint(self) -> str:
        hint = "shorten WITHIN, add a predicate or an equivalence test, or raise the setting max_event_memory"
        if self.query.strategy is Strategy.ANY and self.query.measures is not None and _only_aggregates(self.query):
            hint += "; RETURN only aggregates: trend aggregation will need no matches for that"
        return hint

    def _automaton_tables(self) -> tuple[NDArray[Any], ...]:
        edges = self.automaton.edges
        numbers = {variable: number for number, variable in enumerate(self.variables)}
        return (
            np.concatenate(([0], np.cumsum([len(of_state) for of_state in edges]))).astype(np.int64),
            np.array([edge.target for of_state in edges for edge in of_state], np.int64),
            np.array([number for of_state in self.conditions.edges for number in of_state], np.int64),
            np.array([edge.is_take for of_state in edges for edge in of_state], np.uint8),
            np.array([any(edge.is_take for edge in of_state) for of_state in edges], np.uint8),
            np.array([-1, *(numbers[position.variable] for position in self.automaton.positions)], np.int64),
            np.array(self.conditions.accepts, np.int64),
        )


def _is_tied(arrays: FeedArrays, row: int, other: int) -> bool:
    return len(arrays.ties) > 0 and bool(arrays.ties[row] == arrays.ties[other])


def _only_aggregates(query: EventQuery) -> bool:
    return not any(
        isinstance(node, ColumnAt) for measure in query.measures or () for node in references(measure.expression)
    )
