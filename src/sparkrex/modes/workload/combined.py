"""The runner of a whole workload: patterns that share by their plan, each of the others by the event matcher."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gaps import kept_rows
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError, RexError
from sparkrex.matching.event_order import order_columns
from sparkrex.matching.waking import NEVER, holds_nothing
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner
from sparkrex.modes.events.silent import lasting_of
from sparkrex.modes.events.taking_part import rows_taking_part as rows_of_query
from sparkrex.modes.workload.choose import Chosen, choose, settled_plan
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.naming import NamingEvaluator, inside
from sparkrex.modes.workload.output import build_workload
from sparkrex.modes.workload.plan import ERROR
from sparkrex.modes.workload.state import FRESH, Layout, WorkloadState, taken_over
from sparkrex.modes.workload.taking_part import rows_taking_part
from sparkrex.modes.workload.waiting import order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.matching.silent import Lasting
    from sparkrex.matching.state import State
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.modes.workload.runner import PastStops
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """The matches of a pattern that a feed decides, in the frame that they are in, with their numbers."""

    pattern: int
    frame: Frame
    matches: EventMatches
    numbers: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Stop:
    """A pattern that has too many events under a Kleene, and the event at which it stopped."""

    pattern: int
    frame: Frame
    row: int


@dataclass(frozen=True, eq=False, slots=True)
class Detected:
    """What a feed decides: matches by pattern, in the order of the plan, and which patterns stopped.

    `seconds` of the processor went into partial matches of the shared plan.
    """

    parts: list[Part]
    stops: list[Stop]
    seconds: float = 0.0


class WorkloadRunner:
    """See `matching.runner`. The shared plan is found by the first rows, and kept in the state; or it is settled, as on
    streams."""

    def __init__(
        self, plan: WorkloadPlan, evaluator: Evaluator, settings: Settings,
        on_progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.plan, self.evaluator, self.settings = plan, NamingEvaluator(evaluator, plan), settings
        self.on_progress = on_progress
        self.compiled = compile_plan(plan)
        self.own: dict[int, EventRunner] = {}
        for number in self.compiled.own:
            with inside(plan.patterns[number]):
                query = replace(plan.queries[number], relevant=None)  # others are not fed
                matcher = NfabMatcher(query, self.evaluator, settings)
            self.own[number] = EventRunner(query, matcher, settings.thread_count())

    @property
    def refusal(self) -> str | None:
        """It takes partitions in pieces."""
        return None

    @cached_property
    def layout(self) -> Layout:
        """The patterns, as states have them."""
        names = [pattern.name for pattern in self.plan.patterns]
        return Layout(
            tuple((form.name, len(form.clauses)) for form in self.compiled.forms),
            tuple(names[number] for number in self.own),
        )

    @cached_property
    def settled(self) -> Chosen:
        """The plan that is given."""
        return settled_plan(self.plan, self.compiled, self.evaluator, self.settings)

    def open(self) -> WorkloadState:
        """The state before the first feed."""
        return WorkloadState.fresh_of(self.layout)

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The events of the matches that this feed decides."""
        return build_workload(self.plan, self.decide(state, feed), is_with_stops=True)

    def decide(self, state: State, feed: Feed, *, at_once: bool = False, past: PastStops | None = None) -> Detected:
        """The matches that this feed decides; see `runner` for `at_once` and `past`. Changes the state."""
        assert isinstance(state, WorkloadState)  # one of ours
        parts: dict[int, Part] = {}
        stops: list[Stop] = []
        seconds = 0.0
        if self.plan.partition_gap is not None:
            # In Spark's workers rows that cannot take part come too, because they end silence.
            feed = _kept(feed, rows_taking_part(self.plan, feed.table, self.evaluator, self.settings))
        if self.compiled.shared:
            chosen = self.chosen(state, feed)
            self._follow_plan(state, feed, chosen)
            decided = chosen.runner.decide(state, feed, at_once=at_once, past=past)
            state.numbers["plan"][feed.slots[~feed.closes]] = chosen.number
            numbers = self.compiled.numbers
            for place, number in enumerate(numbers):
                parts[number] = Part(number, decided.frame, decided.matches[place], decided.numbers[place])
            seconds = decided.seconds
            stops = [Stop(numbers[place], decided.frame, row) for place, row in decided.stops]
            if stops and self.plan.options.on_overflow == ERROR:
                raise overflow_error(self.plan, stops[0], feed)
        for (number, runner), own in zip(self.own.items(), state.own, strict=True):
            own.n_numbered = None if state.n_numbered is None else 0
            with inside(self.plan.patterns[number]):
                found = runner.decide(own, self._own_feed(number, feed))
            # Matches of one last event come in the same order by either matcher: Spark may share less than memory.
            matches = found.matches.reordered(order_of(found.matches)) if len(found.matches) > 1 else found.matches
            parts[number] = Part(number, found.frame, matches, found.numbers)
        every = [self._since_birth(state, parts[number]) for number in sorted(parts)]
        return Detected(every if state.n_numbered is None else _numbered(state, every), stops, seconds)

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`: what any of the patterns waits for."""
        assert isinstance(state, WorkloadState)  # one of ours
        found = np.full(len(slots), NEVER)
        if self.compiled.shared:
            found = self.settled.runner.wakes(state, slots, horizon)
        for runner, own in zip(self.own.values(), state.own, strict=True):
            found = np.minimum(found, runner.wakes(own, slots, horizon))
        return found

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `matching.runner.Waking`."""
        assert isinstance(state, WorkloadState)  # one of ours
        found = holds_nothing(state, slots)
        for runner, own in zip(self.own.values(), state.own, strict=True):
            found &= runner.forgets(own, slots)
        return found

    def lasting(self) -> list[Lasting]:
        """See `matching.runner.Waking`. Patterns have texts of their own, so it names them instead of a place."""
        record = FRESH.dtype.itemsize
        return [
            replace(one, why=f"pattern {named.name}: {one.why}", span=None)
            for named, query in zip(self.plan.patterns, self.plan.queries, strict=True)
            for one in lasting_of(query, record)
        ]

    def takes_over(self, state: State, stays: Collection[str], schema: pa.Schema) -> WorkloadState:
        """See `matching.runner.TakingOver`."""
        assert isinstance(state, WorkloadState)  # one of ours
        return taken_over(state, self.layout, stays, schema)

    def _follow_plan(self, state: State, feed: Feed, chosen: Chosen) -> None:
        """Partial matches of slots that another plan has made are made anew."""
        if not chosen.number:
            return  # who changes such a plan takes a new state
        assert isinstance(state, WorkloadState)  # one of ours
        state.reach(int(feed.slots.max(initial=-1)) + 1)
        known = feed.slots[~feed.opens]
        others = known[state.numbers["plan"][known] != chosen.number]
        if len(others):
            chosen.runner.remake(state, others)

    def _since_birth(self, state: State, part: Part) -> Part:
        """The matches that begin after their pattern has come to a running stream."""
        born = state.born.get(self.plan.patterns[part.pattern].name)
        if born is None or not len(part.matches):
            return part
        frame, matches = part.frame, part.matches
        rows = frame.arrangement.input_rows(matches.rows[matches.offsets[:-1]])
        times = ints_of(plain(frame.table.column(order_columns(self.plan.queries[0])[0]).take(wrap(rows))))
        keep = times > born
        return replace(part, matches=matches.selected(keep), numbers=part.numbers[keep])

    def chosen(self, state: State, feed: Feed) -> Chosen:
        """The plan in use; the first rows decide which, unless it is settled."""
        if self.plan.trees is not None:
            return self.settled
        if state.plan is None:
            statistics = estimate(
                self.compiled, feed.table, feed.arrangement, self.evaluator, self.settings, self.plan.options.seed
            )
            chosen = choose(self.plan, self.compiled, statistics, self.evaluator, self.settings, self.on_progress)
            if not feed.table.num_rows:
                return chosen
            state.plan = chosen
        found: Chosen = state.plan
        return found

    def _own_feed(self, number: int, feed: Feed) -> Feed:
        """The rows of a feed that can take part in one pattern."""
        return _kept(feed, rows_of_query(self.plan.queries[number], feed.table, self.evaluator, self.settings))


def _numbered(state: State, parts: list[Part]) -> list[Part]:
    """All matches numbered in one row."""
    found = []
    for part in parts:
        first, state.n_numbered = state.n_numbered or 0, (state.n_numbered or 0) + len(part.matches)
        found.append(replace(part, numbers=1 + np.arange(first, state.n_numbered)))
    return found


def _kept(feed: Feed, keep: NDArray[np.bool_]) -> Feed:
    table, arrangement = kept_rows(feed.table, feed.arrangement, keep)
    return replace(feed, table=table, arrangement=arrangement)


def overflow_error(plan: WorkloadPlan, stop: Stop, feed: Feed) -> RexError:
    """The error of a pattern that has too many events under a Kleene."""
    named = plan.patterns[stop.pattern]
    error = ExecutionError(
        "REX418", f"the pattern {named.name} has more than max_kleene = {plan.options.max_kleene} events of a Kleene's "
        "type in a window", named.query.source, named.query.pattern.span or named.query.span,
        hint='shorten WITHIN, add conditions, raise max_kleene=, or let it stop: on_overflow="stop"',
        command_hint="shorten WITHIN, add conditions, raise --max-kleene, or let it stop: --on-overflow stop",
    )
    error.slot = int(feed.slots[stop.frame.place_of(stop.row)])
    return error
