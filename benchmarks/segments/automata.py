"""The automaton of each template, ordered by hand: cheap conditions first, windows as early as possible.

Nested AFA takes the conditions on a group first, as if the group matched anything, and then looks inside it; in a
template without groups outside of Kleene closures it is the same as AFA.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.segments import afa
from benchmarks.segments.afa import NO_REGISTER, OWN_START, REGISTERS, Chain, Data
from benchmarks.segments.prefix_sums import prefix_sums
from benchmarks.segments.prepare import Found
from sparkrex.columns.values import floats_of, plain
from sparkrex.modes.segments.aggregates.contract import NOTHING_NULL
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.kernels.co_moments import next_changes
from sparkrex.modes.segments.operators.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.segments.prepare import Prepared
    from benchmarks.segments.templates import Parameters

NESTED = ("head_shldr", "rebound", "cld_wave", "limit_sell")
"""Templates with groups that nested AFA looks into last."""
_VALUES = {
    "rebound": "confirmed", "cld_wave": "temp", "rptd_pttrn": "rides", "OpenCEP_Q1": "peak", "OpenCEP_Q2": "peak",
}
_REGRESSIONS = ("v_shape", "head_shldr", "outlier", "rebound", "cld_wave", "rptd_pttrn")
_SYMBOL = "GOOG"
Test = tuple[int, float] | tuple[int, float, int]
"""A condition, its threshold, and the stage whose first row it begins with, if not its own."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of a chain; see `afa.Chain`."""

    tests: tuple[Test, ...] = ()
    low: int = 1
    high: int = -1
    gap: int = 0
    group: tuple[int, int, int] | None = None
    """First stage of a window over several, its lower bound if it ends here, its upper bound."""
    inner: int = -1


def _chain(stages: Sequence[Stage]) -> Chain:
    n = len(stages)
    still = [sum(stage.low - 1 + stage.gap for stage in stages[k + 1 :]) for k in range(n)]
    groups = [stage.group or (0, 1, -1) for stage in stages]
    tests = [(test[0], test[1], test[2] if len(test) > 2 else k) for k, s in enumerate(stages) for test in s.tests]

    def whole(values: Sequence[int]) -> NDArray[np.int64]:
        return np.array(values, np.int64)

    return Chain(
        whole([s.low for s in stages]), whole([s.high for s in stages]), whole([s.gap for s in stages]), whole(still),
        whole([g[0] for g in groups]), whole([g[1] for g in groups]), whole([g[2] for g in groups]),
        whole(np.cumsum([0, *(len(s.tests) for s in stages)]).tolist()), whole([t[0] for t in tests]),
        whole([t[2] for t in tests]), np.array([t[1] for t in tests], np.float64), whole([s.inner for s in stages]),
        whole([_merging(stages, k) for k in range(n)]),
    )


def _merging(stages: Sequence[Stage], k: int) -> int:
    """What the automaton remembers of where it was, in stage k, beside the match's first row."""
    remembered: set[int] = set()
    for place in range(k, len(stages)):
        stage = stages[place]
        remembered |= {test[2] if len(test) > 2 else place for test in stage.tests}
        remembered |= {stage.group[0]} if stage.group is not None else set()
        if place == k and (stage.low > 1 or stage.high >= 0 or stage.inner >= 0):
            remembered.add(k)
    remembered = {place for place in remembered if 0 < place <= k}
    return REGISTERS if remembered - {k} else OWN_START if remembered else NO_REGISTER


def _chains(name: str, p: Parameters, is_nested: bool) -> list[list[Stage]]:
    """The chains of a template, the root first."""
    down, up = (afa.R2_AT_MOST, -0.7), (afa.R2_AT_LEAST, 0.7)
    match name:
        case "v_shape":
            return [[Stage((down,), 15), Stage(((afa.R2_AT_LEAST, p["up"]),), 15)]]
        case "head_shldr":
            r1, r2 = p["r1"], p["r2"]
            up_neck = ((afa.RATIO_ABOVE, r1), up)
            down_neck = ((afa.DROP_ABOVE, r1), down)
            if is_nested:
                return [
                    [Stage((up,), 3, 10), Stage(((afa.RATIO_ABOVE, r2),), 5, 19, inner=0),
                     Stage(((afa.DROP_ABOVE, r2),), 5, 19, inner=1), Stage((down,), 3, 10)],
                    [Stage((down,), 3, 10), Stage(up_neck, 3, 10)],
                    [Stage(down_neck, 3, 10), Stage((up,), 3, 10)],
                ]
            return [[
                Stage((up,), 3, 10), Stage((down,), 3, 10),
                Stage((up_neck[0], (afa.RATIO_ABOVE, r2, 1), up), 3, 10), Stage(down_neck, 3, 10),
                Stage(((afa.DROP_ABOVE, r2, 3), up), 3, 10), Stage((down,), 3, 10),
            ]]
        case "outlier":
            return [[Stage((up,)), Stage(((afa.OUTLIER_ABOVE, p["z"]),), 1, 1), Stage((up,))]]
        case "rebound":
            fall, rise = (afa.RATIO_BELOW, p["fall"]), (afa.RATIO_ABOVE, p["rise"])
            if is_nested:
                return [[Stage((up,)), Stage((rise,), inner=0)], [Stage((fall, down)), Stage((up,))]]
            return [[Stage((up,)), Stage((fall, down)), Stage(((*rise, 1), up))]]
        case "cld_wave":
            fall, down = (afa.CHANGE_BELOW, -p["fall"]), (afa.R2_AT_MOST, -p["r2"])
            inside = [Stage(), Stage((fall, down), 1, 5)]
            if is_nested:
                return [[Stage(((afa.TREND_AT_LEAST, 3.0),), inner=0)], [*inside, Stage()]]
            return [[*inside, Stage(((afa.TREND_AT_LEAST, 3.0, 0),))]]
        case "rptd_pttrn":
            rise, fall = (afa.RATIO_ABOVE, p["ratio"]), (afa.RATIO_BELOW, 1 / p["ratio"])
            stages = []
            for time in range(p["k"]):
                begins, ends = (5 * time, 1, 49), (5 * time, 49, 49)
                stages += [
                    Stage(group=begins), Stage((rise, up), 21, 21, group=begins), Stage((), 5, 5, group=begins),
                    Stage((fall, down), 21, 21, group=begins), Stage(group=ends),
                ]
            return [stages]
        case _:
            is_symbol = (afa.IS_CODE, 1.0)
            return [[
                Stage((is_symbol,), 1, 1), Stage(), Stage((is_symbol, (afa.ABOVE, 0.0, 0)), 1, 1), Stage(),
                Stage((is_symbol, (afa.ABOVE, 0.0, 2)), 1, 1),
            ]]


@dataclass(eq=False)
class Automaton:
    """A template's automaton over the rows of a prepared query."""

    name: str
    parameters: Parameters
    prepared: Prepared
    is_nested: bool = False
    shares: bool = True
    """Whether aggregates are looked up in indexes."""
    chains: tuple[Chain, ...] = field(init=False)

    def __post_init__(self) -> None:
        table = self.prepared.columns.table
        self.codes = np.zeros(0, np.int64)
        if self.name.startswith("OpenCEP"):
            self.codes = np.array([name == _SYMBOL for name in table.column("ticker").to_pylist()], np.int64)
        is_chain = self.name not in ("limit_sell", "OpenCEP_Q2", "AFA_Q1", "AFA_Q2")
        found = _chains(self.name, self.parameters, self.is_nested) if is_chain else []
        self.chains = tuple(map(_chain, found))

    def run(self) -> Found:
        """Indexes, windows, matches."""
        old = self.prepared.series
        series = Series(old.columns, old.offsets)
        first_ends, last_ends, _, _ = series.bounds(self.prepared.logical.windows)
        reach = int((last_ends - np.arange(len(last_ends))).max(initial=0))
        data = self._data(series, reach + 1)
        counter = np.zeros(1, np.int64)
        p = self.parameters
        match self.name:
            case "limit_sell":
                found = afa.match_limit_sell(first_ends, last_ends, data, p["rise"], p["fall"], self.is_nested, counter)
            case "OpenCEP_Q2":
                found = afa.match_falling_pairs(first_ends, last_ends, reach, data, 1.0, counter)
            case "AFA_Q1":
                found = afa.match_zigzag(first_ends, last_ends, data, p["ratio"], 5, afa.EQUAL_TICKS, counter)
            case "AFA_Q2":
                found = afa.match_zigzag(first_ends, last_ends, data, p["ratio"], 0, afa.NOT_BELOW, counter)
            case _:
                inside = self.chains[1:] or self.chains  # Numba wants the type of what it will not read
                found = afa.match_chain(self.chains[0], inside, first_ends, last_ends, reach, data, counter)
        return Found(found[:, 0], found[:, 1], int(counter[0]))

    def _data(self, series: Series, longest: int) -> Data:
        column = self.prepared.columns.table.column(_VALUES.get(self.name, "price"))
        values = np.ascontiguousarray(floats_of(plain(column)))
        times, changes = np.zeros(0), np.zeros(len(values), np.int64)
        sums, statistics, ties = np.zeros((0, 10)), np.zeros((0, 1), np.int32), np.zeros((0, 1), np.int32)
        outliers, net = np.zeros(0), np.zeros(0, np.int64)
        if self.name in _REGRESSIONS:
            stamps = series.columns["tstamp"].values
            if self.shares:
                sums = prefix_sums(stamps, values, series.offsets)
            next_changes(values, NOTHING_NULL, series.offsets, changes)
            times = (stamps - stamps[0]).astype(np.float64)
        if self.name == "cld_wave" and self.shares:
            table = _index("mann_kendall_test", (values,), series, longest)
            statistics, ties = table.statistics, table.ties
        if self.name == "outlier":
            scores, is_null = _index("zscore_outlier", (values,), series, longest, self.parameters["context"])
            outliers = np.where(is_null, np.nan, scores)
        if self.name == "AFA_Q1" and self.shares:
            net, _ = _index("equal_up_down_ticks", (values,), series, longest)
        return Data(times, values, self.codes, changes, sums, statistics, ties, outliers, net, np.full(7, -1.0))


def _index(name: str, columns: tuple[NDArray[Any], ...], series: Series, longest: int, *constants: int) -> Any:
    aggregate = find(name)
    assert aggregate is not None  # built in
    if constants:
        aggregate = aggregate.bound(constants)
    return aggregate.index(columns, (None,) * len(columns), series.partitions, longest)
