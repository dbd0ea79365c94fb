"""The runner of a whole workload: patterns that share by their plan, each of the others by the event matcher."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sparkrex.columns.gaps import kept_rows
from sparkrex.errors import ExecutionError, RexError
from sparkrex.matching.state import State
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner
from sparkrex.modes.events.taking_part import rows_taking_part as rows_of_query
from sparkrex.modes.workload.choose import Chosen, choose
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.naming import NamingEvaluator, inside
from sparkrex.modes.workload.output import build_workload
from sparkrex.modes.workload.plan import ERROR
from sparkrex.modes.workload.runner import new_state
from sparkrex.modes.workload.taking_part import rows_taking_part
from sparkrex.modes.workload.waiting import order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed, Frame
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


class WorkloadState(State):
    """The state of the patterns that share, and beside it one for each of the others."""

    own: list[State]

    @staticmethod
    def of(shared: State, own: list[State]) -> WorkloadState:
        """The states put together."""
        found = WorkloadState(shared.fresh)
        found.__dict__.update(shared.__dict__)
        found.own = own
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept."""
        return State.nbytes.fget(self) + sum(state.nbytes for state in self.own)  # type: ignore[attr-defined,no-any-return]

    def mark(self) -> None:
        """See `State`."""
        super().mark()
        for state in self.own:
            state.mark()

    def forget_mark(self) -> None:
        """See `State`."""
        super().forget_mark()
        for state in self.own:
            state.forget_mark()

    def undo(self) -> None:
        """See `State`."""
        super().undo()
        for state in self.own:
            state.undo()

    def select(self, slots: NDArray[np.int64]) -> WorkloadState:
        """Some slots as a state of their own."""
        return WorkloadState.of(super().select(slots), [state.select(slots) for state in self.own])

    @staticmethod
    def merge(states: Sequence[Any]) -> WorkloadState:
        """The slots of several states, numbered one after the other."""
        own = [State.merge(parts) for parts in zip(*(state.own for state in states), strict=True)]
        return WorkloadState.of(State.merge(states), own)

    def snapshot(self, fingerprint: str) -> bytes:
        """Everything as bytes: every state behind its length."""
        parts = [super().snapshot(fingerprint), *(state.snapshot(fingerprint) for state in self.own)]
        return b"".join(len(part).to_bytes(8, "little") + part for part in parts)

    def restore(self, data: bytes, fingerprint: str) -> WorkloadState:
        """The state that was saved; this one is a fresh one of the same plan."""
        parts, at = [], 0
        while at < len(data):
            end = at + 8 + int.from_bytes(data[at : at + 8], "little")
            parts.append(data[at + 8 : end])
            at = end
        own = [state.restore(part, fingerprint) for state, part in zip(self.own, parts[1:], strict=True)]
        return WorkloadState.of(super().restore(parts[0], fingerprint), own)


class WorkloadRunner:
    """See `matching.runner`. The shared plan is found by the first rows, and kept in the state."""

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

    def open(self) -> WorkloadState:
        """The state before the first feed."""
        return WorkloadState.of(new_state(), [runner.open() for runner in self.own.values()])

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
            decided = self.chosen(state, feed).runner.decide(state, feed, at_once=at_once, past=past)
            numbers = self.compiled.numbers
            for place, number in enumerate(numbers):
                parts[number] = Part(number, decided.frame, decided.matches[place], decided.numbers[place])
            seconds = decided.seconds
            stops = [Stop(numbers[place], decided.frame, row) for place, row in decided.stops]
            if stops and self.plan.options.on_overflow == ERROR:
                raise overflow_error(self.plan, stops[0], feed)
        for (number, runner), own in zip(self.own.items(), state.own, strict=True):
            with inside(self.plan.patterns[number]):
                found = runner.decide(own, self._own_feed(number, feed))
            # Matches of one last event come in the same order by either matcher: Spark may share less than memory.
            matches = found.matches.reordered(order_of(found.matches)) if len(found.matches) > 1 else found.matches
            parts[number] = Part(number, found.frame, matches, found.numbers)
        return Detected([parts[number] for number in sorted(parts)], stops, seconds)

    def chosen(self, state: State, feed: Feed) -> Chosen:
        """The plan in use; the first rows decide which."""
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
