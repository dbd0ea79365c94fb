"""Which aggregates there are, by name, in any case; the paper's other spellings; users' own.

`find` is what analysis and execution ask. `aggregate` is what users call:

    import numpy as np
    import sparkrex as rex

    @rex.aggregate
    class roughness:
        "How far the values wander, over how far they get."
        def scan(self, x):
            return np.abs(np.diff(x)).sum() / abs(x[-1] - x[0]) if len(x) > 1 and x[-1] != x[0] else None
        def index(self, x):
            return x, np.concatenate([[0.0], np.abs(np.diff(x)).cumsum()])
        def lookup(self, index, start, end):
            x, way = index
            return np.divide(way[end] - way[start], np.abs(x[end] - x[start]))  # x / 0 is not finite, hence NULL
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.contract import Cost, CostClass, SegmentAggregate
from sparkrex.modes.segments.aggregates.correlation import Corr
from sparkrex.modes.segments.aggregates.ends import EndValue
from sparkrex.modes.segments.aggregates.extremes import Extreme, Median, Range
from sparkrex.modes.segments.aggregates.mann_kendall import MannKendall
from sparkrex.modes.segments.aggregates.outlier import ZscoreOutlier
from sparkrex.modes.segments.aggregates.profile import profile
from sparkrex.modes.segments.aggregates.regression import Regression
from sparkrex.modes.segments.aggregates.spread import Spread
from sparkrex.modes.segments.aggregates.sums import Avg, Count, Sum
from sparkrex.modes.segments.aggregates.ticks import EqualUpDownTicks
from sparkrex.modes.segments.aggregates.user_defined import UserDefined
from sparkrex.modes.segments.kernels.gathered import R2, R2_SIGNED, SLOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from sparkrex.modes.segments.aggregates.contract import Weights

    Shipped: TypeAlias = tuple[SegmentAggregate, Weights]

_BUILT_IN: tuple[SegmentAggregate, ...] = (
    Count(),
    Sum(),
    Avg(),
    Extreme("min", is_max=False),
    Extreme("max", is_max=True),
    Range(),
    Median(),
    Spread("stddev", is_sample=True, is_root=True),
    Spread("stddev_pop", is_sample=False, is_root=True),
    Spread("var", is_sample=True, is_root=False),
    Spread("var_pop", is_sample=False, is_root=False),
    EndValue("first"),
    EndValue("last"),
    Regression("linear_reg_r2", R2),
    Regression("linear_reg_r2_signed", R2_SIGNED),
    Regression("linear_reg_slope", SLOPE),
    MannKendall(),
    EqualUpDownTicks(),
    Corr(),
    ZscoreOutlier(),
)
ALIASES = {
    "linear_regression_r2": "linear_reg_r2",
    "linear_regression_r2_signed": "linear_reg_r2_signed",
    "linear_regression_slope": "linear_reg_slope",
    "mann_kandall_test": "mann_kendall_test",
    "equalupdownticks": "equal_up_down_ticks",
    "zscoreoutlier": "zscore_outlier",
    "mean": "avg",
    "stddev_samp": "stddev",
    "var_samp": "var",
    "variance": "var",
}
"""Other spellings: the paper's own, and SQL's."""

_OF_THE_STANDARD = ("count", "sum", "avg", "min", "max", "median", "stddev", "stddev_pop", "var", "var_pop")

_OF_PATTERNS = (
    "window", "prev", "next", "final", "running", "classifier", "match_number", "match_sequence_number",
    "match_status", "match_rowtime", "start_index", "end_index",
)

_aggregates: dict[str, SegmentAggregate] = {aggregate.name: aggregate for aggregate in _BUILT_IN}
_weights: dict[str, Weights] = {}


def find(name: str) -> SegmentAggregate | None:
    """The aggregate of that name or alias, in any case."""
    lower = name.lower()
    return _aggregates.get(ALIASES.get(lower, lower))


def is_of_segments(name: str) -> bool:
    """Whether it is none that every host of SQL has: in MEASURES, too, it is computed here."""
    found = find(name)
    return found is not None and found.name not in _OF_THE_STANDARD


def names() -> list[str]:
    """The names of all aggregates, built in and registered."""
    return sorted(_aggregates)


def user_defined() -> dict[str, int]:
    """Users' aggregates and how many columns each takes."""
    return {name: _aggregates[name].arity for name in sorted(_weights)}


def weights(name: str) -> Weights | None:
    """What registering measured, for a user's aggregate."""
    return _weights.get(name.lower())


@overload
def aggregate(definition: type, /) -> type: ...
@overload
def aggregate(*, name: str | None = None, cost: str | Cost = "linear") -> Callable[[type], type]: ...
def aggregate(
    definition: type | None = None, /, *, name: str | None = None, cost: str | Cost = "linear"
) -> type | Callable[[type], type]:
    """Register a class as an aggregate over segments, and profile it.

    `scan(self, x, ...)` takes the values of one segment, an array for each column, rows with a NULL left out, and gives
    a number or None. With `index(self, x, ...)`, over whole columns, and `lookup(self, index, start, end)`, over arrays
    of segments, first and last rows as positions in those columns, segments share work. `cost` says how the time of
    `scan` grows with the segment: constant, linear or quadratic; or a `Cost` for all three.
    """

    def register(definition: type) -> type:
        found = UserDefined(name or definition.__name__, definition(), _cost(definition, cost))
        built_in = {one.name for one in _BUILT_IN}
        if found.name in built_in or found.name in ALIASES or found.name in _OF_PATTERNS:
            raise ValueError(f"{found.name} is built in")
        try:
            _weights[found.name] = profile(found)
        except ExecutionError as error:
            raise error.__cause__ or error from None  # as the class raised it: there is no query yet
        _aggregates[found.name] = found
        return definition

    return register if definition is None else register(definition)


def shipped(wanted: Iterable[str]) -> tuple[Shipped, ...]:
    """Those of the wanted aggregates that are users' own, to be installed in another process."""
    return tuple((_aggregates[name], _weights[name]) for name in sorted(wanted) if name in _weights)


def install(others: Iterable[Shipped]) -> None:
    """Know users' aggregates that another process has registered, and what it measured."""
    for found, measured in others:
        _weights[found.name] = measured
        _aggregates[found.name] = found


def forget(name: str) -> None:
    """Take a user's aggregate out again."""
    lower = name.lower()
    if lower in _weights:
        del _aggregates[lower], _weights[lower]


def _cost(definition: Any, cost: str | Cost) -> Cost:
    if isinstance(cost, Cost):
        return cost
    scan = CostClass(cost)
    has_index = hasattr(definition, "index")
    return Cost(scan, CostClass.LINEAR, CostClass.CONSTANT) if has_index else Cost(scan)
