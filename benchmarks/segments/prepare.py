"""A query over a table up to where planning begins, and the runs of its plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.ordered import Columns
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.modes.segments.operators.arrays import together
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.execute import find_segments
from sparkrex.modes.segments.operators.leaves import Generator
from sparkrex.modes.segments.operators.series import Series
from sparkrex.modes.segments.operators.unary import Filter
from sparkrex.modes.segments.plan import SegmentSearch
from sparkrex.modes.segments.planner.containment_sample import with_containments
from sparkrex.modes.segments.planner.cost import CostModel
from sparkrex.modes.segments.planner.optimizer import optimize
from sparkrex.modes.segments.planner.statistics import collect
from sparkrex.modes.segments.planner.weights import shipped_weights
from sparkrex.modes.segments.planning import Planned, plan_search
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.scalar.expression import ColumnAt
from sparkrex.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.conditions import SegmentConditions
    from sparkrex.modes.segments.operators.contract import Operator
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.planner.physical_plan import Op, Physical

LIMIT_SEGMENTS = 30_000_000
"""More in one operator counts as a time-out: about a gigabyte."""
PAIR = np.int64(1) << np.int64(32)


class Found(NamedTuple):
    """Matches, in any order, and how many conditions were tested to find them."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    n_tested: int = 0

    def pairs(self) -> NDArray[np.int64]:
        """Distinct (start, end) in order, a number each: to compare answers, outside of what is timed."""
        return np.unique(self.start * PAIR + self.end)


@dataclass(eq=False)
class Prepared:
    """A rewritten query over ordered rows. Nothing that one run computed is left for the next."""

    columns: Columns
    logical: Logical
    series: Series
    conditions: SegmentConditions
    host: DuckDbHost

    def fresh(self) -> None:
        """Forget indexes and windows' bounds."""
        self.series = Series(self.series.columns, self.series.offsets)
        self.conditions.series = self.series
        self.conditions.forget()

    def model(self, sample_series: int = 5) -> CostModel:
        """Sampled statistics and the costs that follow."""
        weights = shipped_weights()
        statistics = collect(self.logical, self.series, self.conditions, weights, sample_series)
        sampled = with_containments(statistics, self.logical, self.series, self.conditions, weights)
        return CostModel(self.logical, sampled, weights)

    def optimized(self, sample_series: int = 5, without: frozenset[Op] = frozenset()) -> Physical:
        """The optimizer's plan."""
        return optimize(self.model(sample_series), without)

    def run(self, plan: Physical) -> Found:
        """The matches of a plan."""
        self.fresh()
        return self.run_on(plan)

    def run_on(self, plan: Physical) -> Found:
        """The same with the windows' bounds and columns that planning left, as the engine does."""
        operator = Builder(self.series, self.conditions, LIMIT_SEGMENTS).build(plan)
        found = together(list(find_segments(operator, self.series, self.logical.windows)))
        return Found(found.start, found.end, n_tested(operator))


def n_tested(operator: Operator) -> int:
    """Conditions evaluated in and below an operator; windows do not count."""
    operators: dict[int, Operator] = {}
    pending = [operator]
    while pending:
        one = pending.pop()
        if id(one) not in operators:
            operators[id(one)] = one
            pending += one.children
    leaves = (one for one in operators.values() if isinstance(one, Generator | Filter))
    return sum(one.n_tested for one in leaves if one.condition is not None)


def prepare(clause: str, table: pa.Table, settings: Settings | None = None) -> Prepared:
    """Parse, analyze, put in order, rewrite."""
    settings = settings or Settings(threads=1)
    query = parse_query(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", "spark")
    statement = query.statement
    host = DuckDbHost(statement.source, statement.dialect, query.dialect_name, settings)
    host.register("t", table)
    search, used, evaluator = prepare_relation(query, statement.relations[0], query.clauses[0], host)
    assert isinstance(search, SegmentSearch)
    keys = [_column(used, key.expression) for key in search.partition_by]
    order = [SortKey(_column(used, k.expression), k.is_descending, k.nulls_first) for k in search.order_by]
    arrangement = arrange(keys, order, used.num_rows, 1)
    columns = Columns(Columns(used, arrangement.offsets, arrangement.order).ordered, arrangement.offsets)
    planned = plan_search(search, columns, evaluator, replace(settings, planner="sm_left"))
    assert isinstance(planned, Planned)  # templates are in segments
    return Prepared(columns, planned.logical, planned.series, planned.conditions, host)


def _column(table: pa.Table, key: Any) -> pa.ChunkedArray:
    assert isinstance(key, ColumnAt)  # as in all templates
    return table.column(key.column)
