"""The `nfab` matcher: event queries by an automaton whose runs share their histories.

`kernels.nfab` runs all partitions of a frame, each thread a range of them. What is left to do here: of overlapping
matches only the first is kept, where undecided ones may be among them; and it is found out which rows are held back.
What waits between feeds is given and returned as `Kept`: the matcher itself never changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import partition_ranges
from sparkrex.errors import ExecutionError
from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.kernels import backtrack as nfab_backtrack
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.absence import status_of
from sparkrex.modes.events.kernels.arguments import Automaton, Memory, Options, Partitions
from sparkrex.modes.events.kernels.matches import recheck
from sparkrex.modes.events.nfab.absences import plan_absences
from sparkrex.modes.events.nfab.any_order import compile_any_order
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.nfab.conditions import edge_conditions
from sparkrex.modes.events.nfab.contract import EventBuffer, EventMatches
from sparkrex.modes.events.nfab.describe import automaton_lines, state_name
from sparkrex.modes.events.nfab.frame import FeedArrays
from sparkrex.modes.events.nfab.interrupt import run_until_interrupted
from sparkrex.modes.events.nfab.kept import Kept, Left, kept_of, lowest_rows, no_ends, no_nodes, no_runs
from sparkrex.modes.events.nfab.lookup import STRATEGIES
from sparkrex.modes.events.nfab.overlap import by_last_event, first_occurrences, first_of_overlapping
from sparkrex.modes.events.nfab.reduce import reduce_states
from sparkrex.modes.events.nfab.search import Bounds, Search, Share, Ways
from sparkrex.modes.events.nfab.writing import matches_of, room_for_matches
from sparkrex.modes.events.plan import EventQuery, Strategy
from sparkrex.scalar.expression import ColumnAt, references

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.nfab.kept import Part
    from sparkrex.settings import Settings

LEAST_ROWS = 1 << 14
"""Fewer rows than this are not worth a thread of their own."""

_STRATEGIES = {
    Strategy.STRICT: codes.CONTIGUITY, Strategy.PARTITION: codes.CONTIGUITY, Strategy.NEXT: codes.NEXT,
    Strategy.ANY: codes.ANY,
}


@dataclass(frozen=True, eq=False, slots=True)
class Feeding:
    """What a frame is fed with beside its rows: what is under way, by partition how many rows are from before and
    whether it ends here, and the horizon (see `matching.feed`). Matches come `in_order` unless nobody sees it."""

    kept: Kept
    n_held: NDArray[np.int64]
    closes: NDArray[np.bool_]
    horizon: pa.Scalar | None = None
    in_order: bool = True

    @staticmethod
    def whole(n_partitions: int) -> Feeding:
        """Partitions that begin and end here."""
        return Feeding(Kept.nothing(n_partitions), np.zeros(n_partitions, np.int64), np.ones(n_partitions, np.bool_))


@dataclass(slots=True)
class Found:
    """What a frame decides: matches, partition by partition. What is under way behind it, and by partition the first
    row to hold back. What was counted (see `kernels.codes`)."""

    matches: EventMatches
    kept: Kept
    first_held: NDArray[np.int64]
    statistics: NDArray[np.int64]


@dataclass(slots=True)
class _Searched:
    """What the search of a range gave: matches, which of them are undecided, and what is still under way."""

    matches: EventMatches
    is_open: NDArray[np.bool_]
    left: Left
    statistics: NDArray[np.int64]


class NfabMatcher:
    """Immutable but for `looks_up`, which says before the first feed whether runs are looked up by what they await
    (see `nfab.lookup`).

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
        compiled = compile_any_order if ep.has_any_order(query.pattern) else compile_automaton
        written = compiled(query.pattern, query.source)
        self._written = (written, edge_conditions(query, written, negated))
        self.automaton, self.conditions = reduce_states(*self._written)
        self._tables = self._automaton_tables()
        self.absences = plan_absences(query, self.automaton)
        around = ep.around_absences(query.pattern)
        self._reaches_back = any(all(map(ep.allows_empty, before)) for before, _ in around)
        self._may_be_undecided = any(all(map(ep.allows_empty, behind)) for _, behind in around)
        self._prunes = query.is_non_overlapping and not self._may_be_undecided
        # Where equalities partition the stream, all runs of a partition await the same.
        self.looks_up = query.strategy in STRATEGIES and not query.equal_by and not self._backtracks

    @property
    def _backtracks(self) -> bool:
        return self.settings.matcher == "backtrack"

    def describe(self) -> list[str]:
        """The automaton with the formula of every edge."""
        return automaton_lines(self.query, *self._written, looks_up=self.looks_up)

    def find(self, frame: Columns, feeding: Feeding) -> Found:
        """The matches that these rows decide, and what they leave. The nodes of `feeding.kept` are gone then."""
        arrays = self._arrays(frame)
        kept = feeding.kept
        low, high = frame.offsets[:-1].copy(), frame.offsets[1:].copy()
        bounds = Bounds(
            low, high, low + feeding.n_held, arrays.times.open_from(feeding.closes, feeding.horizon),
            kept.blocked.copy(),
        )
        pieces = partition_ranges(frame, self.settings.thread_count(), LEAST_ROWS) or [(0, 0)]
        taken = np.zeros(len(pieces), np.int64)  # what they may take, they may take together
        parts = [None if self._backtracks else kept.part(*piece) for piece in pieces]

        def task(begin: int, end: int, budget: NDArray[np.int64]) -> _Searched:
            number = pieces.index((begin, end))
            share = Share(taken, number, self.settings.max_event_memory)
            part, parts[number] = parts[number], None
            if part is None:
                return self._backtrack(arrays, frame, begin, end, share, budget)
            search = self._search(arrays, bounds.part(begin, end), part, share, budget, in_order=feeding.in_order)
            matches, is_open = matches_of(search.writer.output)
            return _Searched(matches, is_open, search.left(begin), search.statistics)

        results = run_until_interrupted(task, pieces, self._budget)
        matches = EventMatches.joined([part.matches for part in results])
        is_open = np.concatenate([part.is_open for part in results])
        if len(kept.undecided):
            matches, is_open = self._with_earlier(arrays, bounds, kept, matches, is_open)
        if len(kept.undecided) or len(kept.waiting.node):
            matches, is_open = _by_partition(matches, is_open, high)
        if not self.automaton.is_unambiguous:
            keep = first_occurrences(matches)
            matches, is_open = matches.selected(keep), is_open[keep]
        undecided = EventMatches.none()
        if self.query.is_non_overlapping and not self._prunes:
            matches, undecided = first_of_overlapping(
                matches, is_open, frame.offsets, arrays.events.ties, bounds.blocked
            )
        left = kept_of([part.left for part in results], undecided, undecided.places(high), bounds.blocked, high)
        statistics = np.sum([part.statistics for part in results], axis=0)
        tied = arrays.times.first_tied(feeding.horizon)
        return Found(matches, left, self._first_held(left, bounds, arrays, tied), statistics)

    def find_compressed(self, columns: Columns) -> EventBuffer:
        """All matches of whole partitions in compressed form. Negation and overlaps need matches, not the buffer."""
        arrays = self._arrays(columns)
        low, high = columns.offsets[:-1].copy(), columns.offsets[1:].copy()
        n_partitions = len(low)
        bounds = Bounds(low, high, low.copy(), high.copy(), np.full(n_partitions, -1))

        def task(begin: int, end: int, budget: NDArray[np.int64]) -> Search:
            share = Share(np.zeros(1, np.int64), 0, self.settings.max_event_memory)
            part = Kept.nothing(n_partitions).part(begin, end)
            return self._search(arrays, bounds, part, share, budget, keeps_buffer=True)

        (search,) = run_until_interrupted(task, [(0, n_partitions)], self._budget)
        return EventBuffer(*search.nodes, *search.ends)

    def _arrays(self, frame: Columns) -> FeedArrays:
        return FeedArrays(
            self.query, self.automaton, self.conditions, self.absences, frame, self.evaluator, self.settings,
            looks_up=self.looks_up,
        )

    def _search(
        self, arrays: FeedArrays, bounds: Bounds, part: Part, share: Share, budget: NDArray[np.int64], *,
        keeps_buffer: bool = False, in_order: bool = True,
    ) -> Search:
        """A search that is done."""
        options = self._options(keeps_buffer=keeps_buffer)
        ways = Ways(self.query.is_non_overlapping, not self.automaton.is_unambiguous, in_order)
        search = Search(arrays, self._tables, options, ways, bounds, part, share, budget)
        self._check(*search.run(), search.failed_row)
        return search

    def _options(self, *, keeps_buffer: bool = False) -> Options:
        most_edges = max(1, int(np.diff(self._tables.edge_offsets).max(initial=0)))
        constructs = self.constructs and not keeps_buffer
        return Options(
            np.int64(_STRATEGIES[self.query.strategy]), self.settings.matcher != "basic",
            self._prunes and constructs, keeps_buffer, constructs, np.int64(most_edges),
        )

    def _backtrack(
        self, arrays: FeedArrays, frame: Columns, begin: int, end: int, share: Share, budget: NDArray[np.int64],
    ) -> _Searched:
        """One run at a time: of whole partitions, so that nothing is left."""
        status, where, output, statistics = nfab_backtrack.search(
            frame.offsets[begin : end + 1].copy(), arrays.plan(self._tables, self._options()),
            Memory(share.taken, np.int64(share.own), np.int64(share.most)), arrays.absences, arrays.initial,
            room_for_matches(share.most), budget,
        )
        self._check(status, int(where))
        matches, is_open = matches_of(output)
        del output
        matches = by_last_event(matches)
        if self._prunes:
            blocked = np.full(len(frame.offsets) - 1, -1)
            matches, _ = first_of_overlapping(matches, is_open, frame.offsets, arrays.events.ties, blocked)
            is_open = np.zeros(len(matches), np.bool_)
        return _Searched(matches, is_open, Left(begin, no_runs(), no_nodes(), no_ends()), statistics)

    # -- what a feed leaves open ---------------------------------------------------------------------------------

    def _with_earlier(
        self, arrays: FeedArrays, bounds: Bounds, kept: Kept, matches: EventMatches, is_open: NDArray[np.bool_]
    ) -> tuple[EventMatches, NDArray[np.bool_]]:
        """Matches that waited for rows, judged again, in front of the new ones."""
        waiting = kept.undecided
        states = np.zeros(len(waiting), np.int64)
        partitions = Partitions(
            bounds.low, bounds.high, bounds.unseen, bounds.open_from, bounds.blocked, kept.run_offsets, kept.runs,
            np.empty((0, 0), np.int64), np.empty((0, 0)),
        )

        def task(_begin: int, _end: int, budget: NDArray[np.int64]) -> int:
            return recheck(  # type: ignore[no-any-return]  # compiled
                kept.undecided_place, (waiting.rows, waiting.labels, waiting.offsets), partitions, arrays.absences,
                arrays.events.ties, arrays.values(), arrays.initial, budget, states,
            )

        (error,) = run_until_interrupted(task, [(0, 1)], self._budget)
        if error < 0:
            self._check(status_of.py_func(error), int(waiting.rows[waiting.offsets[int((states < 0).argmax())]]))
        stays = states != codes.REFUSED
        return (
            EventMatches.joined([waiting.selected(stays), matches]),
            np.concatenate((states[stays] == codes.UNDECIDED, is_open)),
        )

    def _first_held(
        self, left: Kept, bounds: Bounds, arrays: FeedArrays, tied: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """By partition the first row that is needed again: by what is under way, by a negation that reaches back, to
        know what a match may not overlap; and the last row, if the next one may be tied with it.

        Where nothing that may still match overlaps the last match, it is forgotten.
        """
        low, high = bounds.low, bounds.high
        needed = lowest = lowest_rows(left, high)
        if self._reaches_back:
            needed = np.minimum(lowest, bounds.open_from)
        blocked = left.blocked
        overlaps = (blocked >= 0) & (lowest <= blocked)
        ties = arrays.events.ties
        if len(ties):
            # A run that began at the time of the match's last event overlaps it, and so does one that is yet to.
            earliest = np.minimum(lowest, tied)
            is_there = (blocked >= 0) & (earliest < high)
            overlaps |= is_there & (ties[blocked] == ties[np.minimum(earliest, len(ties) - 1)])
        left.blocked = np.where(overlaps, blocked, -1)
        needed = np.where(overlaps, np.minimum(needed, blocked), needed)
        return np.maximum(low, np.minimum(needed, tied))

    def _budget(self) -> NDArray[np.int64]:
        return np.array([0, self.settings.max_steps, 0], np.int64)

    # -- errors --------------------------------------------------------------------------------------------------

    def _check(self, status: int, where: int, row: int = -1) -> None:
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
            error = ExecutionError(
                "REX403", f"the search took more than {self.settings.max_steps:,} steps at one event", query.source,
                query.span,
                hint="shorten WITHIN, add a predicate or an equivalence test, or raise the setting max_steps",
            )
            error.row = where
            raise error
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
            hint += "; if you only want totals over all matches, rex.trends gives them without listing a match"
        return hint

    def _automaton_tables(self) -> Automaton:
        edges = self.automaton.edges
        numbers = {variable: number for number, variable in enumerate(self.variables)}
        return Automaton(
            np.concatenate(([0], np.cumsum([len(of_state) for of_state in edges]))).astype(np.int64),
            np.array([edge.target for of_state in edges for edge in of_state], np.int64),
            np.array([number for of_state in self.conditions.edges for number in of_state], np.int64),
            np.array([edge.is_take for of_state in edges for edge in of_state], np.uint8),
            np.array([any(edge.is_take for edge in of_state) for of_state in edges], np.uint8),
            np.array([-1, *(numbers[position.variable] for position in self.automaton.positions)], np.int64),
            np.array(self.conditions.accepts, np.int64),
        )


def _by_partition(
    matches: EventMatches, is_open: NDArray[np.bool_], high: NDArray[np.int64]
) -> tuple[EventMatches, NDArray[np.bool_]]:
    """The matches partition by partition: those that waited were written in front of others."""
    place = matches.places(high)
    if (place[1:] >= place[:-1]).all():
        return matches, is_open
    order = np.argsort(place, kind="stable")
    return matches.reordered(order), is_open[order]


def _only_aggregates(query: EventQuery) -> bool:
    return not any(
        isinstance(node, ColumnAt) for measure in query.measures or () for node in references(measure.expression)
    )
