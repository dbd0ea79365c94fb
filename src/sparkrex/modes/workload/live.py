"""Patterns of one group that are fed chunk by chunk, while their plan changes.

A plan is replaced between two feeds. The new one is first fed with the events of the last window (`history`), and what
it decides of them is thrown away: the old plan has given it. Every match that is still under way has all its events
there, and so has every window that a leading negation looks through (`reach`); what waits for its window to end waits
on. So nothing is found twice, and nothing is lost.

Matches are numbered here: a pattern keeps its numbers when plans change. An added pattern gives only matches whose
first event came after it. So what came before cannot stop it: patterns that had stopped stay so, from the event on at
which they did, and in the past no other does.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.event_order import order_columns
from sparkrex.matching.feed import Feed
from sparkrex.matching.state import ROWS
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.runner import number_within
from sparkrex.modes.events.taking_part import key_columns
from sparkrex.modes.workload.choose import Chosen, extend_plan, improve_plan, run_by, search_plan
from sparkrex.modes.workload.combined import Detected, Part, WorkloadRunner
from sparkrex.modes.workload.counts import keep_stopped
from sparkrex.modes.workload.drift import drifted
from sparkrex.modes.workload.engine import partition_of
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.horizon import before, number_of
from sparkrex.modes.workload.overflow import NEVER
from sparkrex.modes.workload.reach import still_needed
from sparkrex.modes.workload.taking_part import taking_part
from sparkrex.modes.workload.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.history import History
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree
    from sparkrex.modes.workload.runner import GroupRunner
    from sparkrex.modes.workload.state import WorkloadState
    from sparkrex.settings import Settings

ARRIVAL = "rex_arrival"
"""A column with the number of an event, in the order in which events came."""
WORTHWHILE = 0.9
"""A new plan is worth a switch if it costs this share of the old one at most."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A change of plan: after how many chunks, why, and the costs of the old and the new plan as things are now."""

    n_chunks: int
    reason: str
    cost_before: float
    cost: float


class LiveGroup:
    """One plan after the other over the same open partitions."""

    def __init__(
        self, plan: WorkloadPlan, evaluator: Evaluator, settings: Settings, born: Mapping[str, int], *,
        history: History, is_adaptive: bool, drift: float,
        on_progress: Callable[[int, float], None] | None = None,
    ) -> None:
        """`born` has the number of the event behind which each pattern was added; its matches begin after it.

        `history` has what came before. Who feeds adds to it.
        """
        self.settings, self.is_adaptive, self.drift, self.on_progress = settings, is_adaptive, drift, on_progress
        self.plan = plan
        self.runner = WorkloadRunner(plan, evaluator, settings, on_progress)
        self.state: WorkloadState = self.runner.open()
        self.born = {pattern.name: born[pattern.name] for pattern in plan.patterns}
        self.switches: list[Switch] = []
        self._history = history
        self._horizon: pa.Scalar | None = None
        self._slots: dict[tuple[Any, ...], int] = {}
        self._n_matches: dict[str, NDArray[np.int64]] = {}
        self._stopped: dict[str, dict[int, int]] = {}
        self._marked: dict[str, Any] | None = None
        self._n_chunks = 0
        self._time: float | None = None
        self._begin_watch()
        self._see_history(stays=())

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept of open partitions."""
        return self.state.nbytes

    def mark(self) -> None:
        """Remember how it is, until `undo` or `forget_mark`. Costs what is written until then, and little else."""
        self.state.mark()
        self._marked = {
            name: copy(value) if isinstance(value, list | dict | Watch) and value is not self._slots else value
            for name, value in self.__dict__.items()
        } | {"n_slots": len(self._slots)}

    def forget_mark(self) -> None:
        """It need not be as it was any more."""
        if self._marked is not None:
            self._marked["state"].forget_mark()
            self._marked = None

    def undo(self) -> None:
        """It is as it was when it was marked."""
        assert self._marked is not None  # who undoes has marked it
        marked, self._marked = self._marked, None
        n_slots = marked.pop("n_slots")
        self.__dict__.update(marked)
        self.state.undo()
        while len(self._slots) > n_slots:
            self._slots.popitem()

    def change(self, plan: WorkloadPlan, evaluator: Evaluator, born: Mapping[str, int]) -> None:
        """The patterns from now on. Those that stay keep their trees; a new one takes what adds least to the plan."""
        stays = {name for name, since in self.born.items() if born.get(name) == since}
        old, old_state = self.runner, self.state
        trees = self._trees()
        self.plan, self.runner = plan, WorkloadRunner(plan, evaluator, self.settings, self.on_progress)
        self.born = {pattern.name: born[pattern.name] for pattern in plan.patterns}
        self._n_matches = {name: counts for name, counts in self._n_matches.items() if name in stays}
        self._stopped = {name: events for name, events in self._stopped.items() if name in stays}
        kept = {}
        for number, (name, at) in enumerate(self._clauses()):
            if name in stays and (name, at) in trees:
                kept[number] = trees[name, at]
        before_change: Chosen | None = old_state.plan
        chosen = None
        if before_change is not None and self.runner.compiled.shared:
            multitree = extend_plan(self.runner.compiled, self._estimated(), plan.options, kept)
            chosen = Chosen(self._run_by(multitree), multitree)
            self._note(chosen, "the patterns changed", before_change.multitree.cost)
        self._begin_watch()
        self._begin(chosen, old, old_state, stays)

    def feed(self, table: pa.Table, last: pa.Scalar | None) -> Detected:
        """The matches that a chunk decides; `last` is the latest time so far."""
        self._horizon = None if last is None else before(last)
        since = thread_time()
        detected = self._feed(table, closes=False)
        self._n_chunks += 1
        if self.is_adaptive and self.state.plan is not None:
            self._follow(table, last, detected.seconds, thread_time() - since)
        return detected

    def replan(self, method: str | None = None) -> None:
        """Find a plan by the last window, by the method of the workload or another, and use it."""
        chosen: Chosen | None = self.state.plan
        if chosen is None:
            return
        options = self.plan.options if method is None else replace(self.plan.options, method=method)
        optimized = search_plan(self.runner.compiled, options, self._estimated(), self.on_progress)
        found = Chosen(self._run_by(optimized.multitree), optimized.multitree, optimized)
        self._note(found, "asked for", chosen.multitree.cost)
        self._begin_watch()
        self._begin(found, self.runner, self.state, self.born)

    def finish(self, empty: pa.Table) -> Detected:
        """The matches that the end decides; `empty` is a chunk without rows."""
        self._horizon = None
        return self._feed(empty, closes=True)

    def _feed(self, table: pa.Table, *, closes: bool) -> Detected:
        feed = self._feed_of(table, closes=closes)
        with partition_of(self.plan, feed):
            detected = self.runner.decide(self.state, feed, at_once=True)
        for stop in detected.stops:
            slot = int(feed.slots[stop.frame.place_of(stop.row)])
            arrival = int(_arrivals(stop.frame.table, stop.frame.arrangement)[stop.row])
            name = self.plan.patterns[stop.pattern].name
            self._stopped[name] = self._stopped.get(name, {}) | {slot: arrival}
        parts = [self._own_matches(part, feed.slots) for part in detected.parts]
        return replace(detected, parts=parts)

    def _feed_of(self, table: pa.Table, *, closes: bool) -> Feed:
        """The rows of a chunk, and slots without rows in it for which time has passed."""
        rows = taking_part(self.plan, table, self.runner.evaluator, self.settings)
        arrangement = arrange_events(self.plan.queries[0], rows, self.settings)
        offsets = arrangement.offsets if rows.num_rows else np.zeros(1, np.int64)
        touched, opens = self._slots_of(rows, arrangement)
        idle = np.setdiff1d(np.arange(len(self._slots)), touched)
        if not closes:
            idle = idle[self._holds(idle)]
        slots = np.concatenate((touched, idle))
        end = np.full(len(idle), offsets[-1], np.int64)
        return Feed(
            rows, Arrangement(arrangement.order, np.concatenate((offsets, end)), arrangement.n_rows), slots,
            np.concatenate((opens, np.zeros(len(idle), np.bool_))), np.full(len(slots), closes), self._horizon,
        )

    def _slots_of(self, rows: pa.Table, arrangement: Arrangement) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The slot of every partition, and whether it is a new one."""
        if not rows.num_rows:
            return np.empty(0, np.int64), np.empty(0, np.bool_)
        first = arrangement.input_rows(arrangement.offsets[:-1])
        # Patterns may name the same keys in another order, and the first of them may go.
        keys = sorted(key_columns(self.plan.queries[0]))
        values = [rows.column(name).take(wrap(first)).to_pylist() for name in keys]
        found = list(zip(*values, strict=True)) if keys else [()] * len(first)
        slots, opens = np.empty(len(found), np.int64), np.zeros(len(found), np.bool_)
        for place, key in enumerate(found):
            known = tuple("NaN" if one != one else one for one in key)
            opens[place] = known not in self._slots
            slots[place] = self._slots.setdefault(known, len(self._slots))
        return slots, opens

    def _holds(self, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which slots hold rows, so that the time that has passed may decide something."""
        holds = np.zeros(len(slots), np.bool_)
        for state in (self.state, *self.state.own):
            known = slots < state.n_slots
            holds[known] |= state.tables[ROWS].lengths(slots[known]) > 0
        return holds

    def _own_matches(self, part: Part, slots: NDArray[np.int64]) -> Part:
        """Those that begin after the pattern was added, numbered by this run."""
        name = self.plan.patterns[part.pattern].name
        matches = part.matches
        if len(matches):
            arrivals = _arrivals(part.frame.table, part.frame.arrangement)
            matches = matches.selected(arrivals[matches.rows[matches.offsets[:-1]]] > self.born[name])
        place = matches.places(part.frame.end)
        counts = self._n_matches.get(name, np.zeros(0, np.int64))
        counts = np.concatenate((counts, np.zeros(max(0, len(self._slots) - len(counts)), np.int64)))
        numbers = number_within(place, counts[slots])
        counts[slots] += np.bincount(place, minlength=len(slots))
        self._n_matches[name] = counts
        return Part(part.pattern, part.frame, matches, numbers)

    # Plans.

    def _begin(
        self, chosen: Chosen | None, old: WorkloadRunner, old_state: WorkloadState, stays: Collection[str]
    ) -> float:
        """Go on with a plan in a state of its own, which has seen the last window; gives the seconds of that search.

        Patterns that the event matcher answers go on as they are. One that has stopped stays so.
        """
        own = {old.plan.patterns[number].name: state for number, state in zip(old.own, old_state.own, strict=True)}
        self.state = self.runner.open()
        self.state.plan = chosen
        seconds = self._see_history(stays)
        names = [self.plan.patterns[number].name for number in self.runner.own]
        for place, name in enumerate(names):
            if name in own and name in stays:
                self.state.own[place] = own[name]
        forms = [form.name for form in self.runner.compiled.forms]
        keep_stopped(self.state, {forms.index(name): list(events) for name, events in self._stopped.items()})
        return seconds

    def _see_history(self, stays: Collection[str]) -> float:
        """Feed the last window; what it decides has been given. How many seconds partial matches took."""
        table = self._history.table
        if table is None:
            return 0.0
        # Other groups keep single events of long ago: they would stand beside each other, and count as neighbours.
        table = table.filter(wrap(still_needed(self.plan.queries, table, self.settings)))
        feed = self._feed_of(table, closes=False)
        opens, past = np.ones(len(feed.slots), np.bool_), self._past_stops(feed, stays)
        with partition_of(self.plan, feed):
            return self.runner.decide(self.state, replace(feed, opens=opens), at_once=True, past=past).seconds

    def _past_stops(self, feed: Feed, stays: Collection[str]) -> dict[int, NDArray[np.int64]]:
        """Where patterns stopped, in a feed of the past, which gives nothing of those that are new."""
        arrivals, offsets = _arrivals(feed.table, feed.arrangement), feed.arrangement.offsets
        found = {}
        for number, form in enumerate(self.runner.compiled.forms):
            found[number] = np.full(len(feed.slots), NEVER if form.name in stays else -1)
            for slot, arrival in self._stopped.get(form.name, {}).items():
                for place in np.flatnonzero(feed.slots == slot).tolist():
                    rows = offsets[place] + np.flatnonzero(arrivals[offsets[place] : offsets[place + 1]] == arrival)
                    found[number][place] = rows[0] if len(rows) else -1
        return found

    def _clauses(self) -> list[tuple[str, int]]:
        """The clauses of the patterns that share, as plans number them: names, and which clause it is."""
        return [(form.name, at) for form in self.runner.compiled.forms for at in range(len(form.clauses))]

    def _trees(self) -> dict[tuple[str, int], Tree]:
        """The local plans in use."""
        chosen: Chosen | None = self.state.plan
        return {} if chosen is None else dict(zip(self._clauses(), chosen.trees(), strict=True))

    def _estimated(self, most: int | None = None) -> Statistics:
        """Statistics of the last chunks, of so many rows at most."""
        table = pa.concat_tables(self._history.recent)
        table = table if most is None else table.slice(max(0, table.num_rows - most))
        rows = taking_part(self.plan, table, self.runner.evaluator, self.settings)
        arrangement = arrange_events(self.plan.queries[0], rows, self.settings)
        return estimate(
            self.runner.compiled, rows, arrangement, self.runner.evaluator, self.settings, self.plan.options.seed
        )

    def _begin_watch(self) -> None:
        """Take the next rows for those that the plan was made for."""
        self._watch = Watch(self.runner.compiled)
        self._known: Statistics | None = None

    def _follow(self, table: pa.Table, last: pa.Scalar | None, planned: float, seconds: float) -> None:
        """See what came. A search has a thread of its own, whose seconds are not in those of the feed."""
        now = None if last is None else number_of(last)
        if self._time is None and table.num_rows:
            self._time = number_of(pc.min(table.column(order_columns(self.plan)[0])))
        passed = None if now is None or self._time is None else now - self._time
        self._time = now
        self._watch.add(table, passed, planned, seconds + planned, self.drift)

    def adapt(self) -> None:
        """Improve the plan if things have changed, and use the better one if that is worth it; see `watch`."""
        chosen: Chosen | None = self.state.plan
        watch = self._watch
        if not self.is_adaptive or chosen is None or not watch.is_due:
            return
        since = thread_time()
        n_rows = min(watch.since_drift, sum(part.num_rows for part in self._history.recent))
        compiled, statistics = self.runner.compiled, self._estimated(n_rows)
        known = self._known or chosen.multitree.statistics
        reason = watch.reason or drifted(compiled, known, statistics, self.drift, n_rows)
        if not watch.estimated(thread_time() - since, reason):
            return
        since = thread_time()
        present, optimized = improve_plan(
            compiled, self.plan.options, statistics, chosen.trees(), watch.allowance(), self.on_progress
        )
        watch.improved(thread_time() - since)
        self._known = statistics
        gain = 1.0 - optimized.cost / present
        if optimized.cost >= WORTHWHILE * present or not watch.pays(gain, self._switch_seconds()):
            return
        assert reason is not None  # else it would not have been improved
        since = thread_time()
        found = Chosen(self._run_by(optimized.multitree), optimized.multitree, optimized)
        self._note(found, reason, present)
        planned = self._begin(found, self.runner, self.state, self.born)
        watch.switch_seconds = thread_time() - since + planned

    def _switch_seconds(self) -> float:
        """How long a switch takes: as the last one, or else about two estimates, and the last window once more."""
        if self._watch.switch_seconds is not None:
            return self._watch.switch_seconds
        table = self._history.table
        n_rows = 0 if table is None else table.num_rows
        return self._watch.row_seconds() * n_rows + 2.0 * self._watch.estimate_seconds

    def _run_by(self, multitree: Multitree) -> GroupRunner:
        return run_by(self.plan, self.runner.compiled, multitree, self.runner.evaluator, self.settings)

    def _note(self, chosen: Chosen, reason: str, cost_before: float) -> None:
        self.switches.append(Switch(self._n_chunks, reason, cost_before, chosen.multitree.cost))


def _arrivals(table: pa.Table, arrangement: Arrangement) -> NDArray[np.int64]:
    """By row of an arrangement the number of its event."""
    arrivals: NDArray[np.int64] = numpy_of(plain(table.column(ARRIVAL)))
    return arrivals if arrangement.order is None else arrivals[arrangement.order]
