"""Watching whether a plan still fits: what comes, what that costs, and what it is worth to look more closely.

To watch must cost next to nothing, because most plans go on fitting. So there are three steps, each dearer than the
one before:

1. Events are counted by type, over the last rows. A count says nothing by chance: rates below 30 events are one.
2. When a rate has drifted, or many rows have come since, all statistics are estimated and the plan is improved. This
   may take a small share of what the plan is going to cost before things change again. They are taken to stay for as
   long as they stayed on average so far, or since the last change: a search that does not pay yet is made later, if
   nothing changes until then. What changes too fast to be followed is not followed.
3. The better plan is used if what it saves in that time is more than the switch takes.

Seconds are of the processor. What a plan costs is the time in which partial matches are made: all else, reading rows
and giving matches, is the same under any plan, and with a good plan it is most of the time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import numpy_of
from sparkrex.modes.workload.conditions import named_type
from sparkrex.modes.workload.drift import LEAST_EVENTS
from sparkrex.modes.workload.history import RECENT_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.workload.compiled import Compiled

MIN_ROWS = 1_000
"""Fewer new rows are not looked at: they say little of rates."""
LOOK_SHARE = 0.05
"""Of the seconds that depend on the plan, the share that may go into finding a better one."""
CLAUSE_SECONDS = 5e-4
"""About how long it takes to plan a clause anew, until that is measured."""
WATCH_SHARE = 0.02
"""Of all seconds, the share that may go into estimates without a reason."""


@dataclass(frozen=True, eq=False, slots=True)
class Fed:
    """Some feeds: rows, time that passed in the stream, events by type, seconds that depend on the plan, and all."""

    n_rows: int
    passed: float
    counts: NDArray[np.int64]
    planned: float
    seconds: float

    def __add__(self, other: Fed) -> Fed:
        return Fed(
            self.n_rows + other.n_rows, self.passed + other.passed, self.counts + other.counts,
            self.planned + other.planned, self.seconds + other.seconds,
        )


class Watch:
    """What is known of the rows that one set of patterns was fed with."""

    def __init__(self, compiled: Compiled) -> None:
        self._types: dict[str, list[str]] = {}
        for leaf in compiled.symbols.leaves:
            named = named_type(leaf.type)
            if named is not None and named[1] not in self._types.setdefault(named[0], []):
                self._types[named[0]].append(named[1])
        self._is_timed = not all(leaf.counts_events for leaf in compiled.symbols.leaves)
        self._recent: deque[Fed] = deque()
        self._new: Fed | None = None
        self._before: tuple[NDArray[np.int64], float] | None = None
        self._n_rows = self._since_look = self._n_drifts = 0
        self.since_drift = 0
        """Rows since rates drifted: those before them were others."""
        self._seconds = self._estimating = 0.0
        self.reason: str | None = None
        """What has drifted; None if nothing has since the plan was last improved."""
        self.estimate_seconds = 0.0
        """How long the last estimate took."""
        self._improve_seconds = CLAUSE_SECONDS * len(compiled.clauses())
        self.switch_seconds: float | None = None
        """How long the last switch took."""

    def __copy__(self) -> Watch:
        """One that goes on by itself."""
        found = Watch.__new__(Watch)
        found.__dict__.update(self.__dict__, _recent=self._recent.copy())
        return found

    def add(self, rows: pa.Table, passed: float | None, planned: float, seconds: float, drift: float) -> None:
        """One more feed; `passed` is the time since the one before, None if it cannot be told.

        The first feed says what rates the plan was made for. Its seconds do not count: kernels are compiled in it.
        """
        length = passed if self._is_timed and passed is not None else float(rows.num_rows)
        fed = Fed(rows.num_rows, length, self._counted(rows), planned, seconds)
        if self._before is None:
            self._before = fed.counts, fed.passed
            return
        self._new = fed = fed if self._new is None else self._new + fed
        if fed.n_rows < MIN_ROWS:
            return
        self._new = None
        self._recent.append(fed)
        while sum(one.n_rows for one in self._recent) - self._recent[0].n_rows >= RECENT_ROWS:
            self._recent.popleft()
        self._n_rows += fed.n_rows
        self.since_drift += fed.n_rows
        self._since_look += fed.n_rows
        self._seconds += fed.seconds
        reason = self._drifted(drift)
        if reason is not None:
            self.reason = reason
            self._n_drifts += 1
            # Rows from before would make several drifts of one, as they go.
            self._recent = deque([fed])
            self.since_drift = fed.n_rows
        if reason is not None or self.since_drift < RECENT_ROWS:
            self._before = self._now()  # of more rows it is known better

    @property
    def is_due(self) -> bool:
        """Whether to estimate statistics: there is a reason to improve the plan, and time; or the last one was long
        ago, for selectivities may have drifted, which nobody counts.
        """
        if self.reason is not None:
            return self.allowance() > self.estimate_seconds + self._improve_seconds
        return (
            self._since_look >= RECENT_ROWS and self.allowance() > self.estimate_seconds
            and self._estimating + self.estimate_seconds <= WATCH_SHARE * self._seconds
        )

    def allowance(self) -> float:
        """How many seconds a look may take: a share of what the plan will take until things change."""
        return LOOK_SHARE * self._expected()

    def estimated(self, seconds: float, reason: str | None) -> bool:
        """Statistics were estimated. Whether the plan is to be improved: for this reason, if there is time."""
        self.estimate_seconds, self.reason = seconds, reason
        self._estimating += seconds
        self._since_look = 0
        return reason is not None and self.allowance() > self._improve_seconds

    def improved(self, seconds: float) -> None:
        """The plan was improved as far as that goes now, whether or not it is worth a switch."""
        self._improve_seconds = seconds
        self.reason = None

    def pays(self, gain: float, switch_seconds: float) -> bool:
        """Whether a plan that saves a share of the present one's cost saves more seconds than a switch takes."""
        return gain * self._expected() > switch_seconds

    def row_seconds(self) -> float:
        """How many seconds a row takes."""
        return sum(fed.seconds for fed in self._recent) / max(1, sum(fed.n_rows for fed in self._recent))

    def _expected(self) -> float:
        """How many seconds that depend on the plan there will be before things change."""
        planned = sum(fed.planned for fed in self._recent) / max(1, sum(fed.n_rows for fed in self._recent))
        return planned * max(self.since_drift, self._n_rows / max(1, self._n_drifts))

    def _now(self) -> tuple[NDArray[np.int64], float]:
        counts: NDArray[np.int64] = np.sum([fed.counts for fed in self._recent], axis=0)
        return counts, sum(fed.passed for fed in self._recent)

    def _drifted(self, drift: float) -> str | None:
        assert self._before is not None  # there was a feed
        (old, before), (new, now) = self._before, self._now()
        if min(before, now) <= 0.0 or not len(old):
            return None
        least = LEAST_EVENTS / min(before, now)
        old_rates, new_rates = old / before, new / now
        low, high = np.maximum(np.sort([old_rates, new_rates], axis=0), least)
        worst = int(np.argmax(high / low))
        if high[worst] < drift * low[worst]:
            return None
        return f"the rate of an event went from {old_rates[worst]:.3g} to {new_rates[worst]:.3g}"

    def _counted(self, rows: pa.Table) -> NDArray[np.int64]:
        """How many events each type has that is told by its name."""
        parts = [np.empty(0, np.int64)]
        for column, names in self._types.items():
            values = rows.column(column)
            encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
            found: dict[str, int] = {}
            for chunk in encoded.chunks:
                codes = numpy_of(chunk.indices.drop_null())
                for name, n_events in zip(
                    chunk.dictionary.to_pylist(), np.bincount(codes, minlength=len(chunk.dictionary)), strict=True
                ):
                    text = name.decode(errors="replace") if isinstance(name, bytes) else name
                    found[text] = found.get(text, 0) + int(n_events)
            parts.append(np.array([found.get(name, 0) for name in names], np.int64))
        return np.concatenate(parts)
