"""Which events of a stream any pattern of a workload may use.

Types that are told by their name are looked up in one pass over the type column, however many there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.events.taking_part import key_columns
from sparkrex.modes.plan import columns_of
from sparkrex.modes.workload.conditions import named_type
from sparkrex.scalar.expression import Call
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings


def relevant_parts(plan: WorkloadPlan) -> tuple[dict[str, list[str]], list[Expression]] | None:
    """What an event must be to take part: names by type column, and other conditions; None if all events may."""
    names: dict[str, dict[str, None]] = {}
    others: dict[Expression, None] = {}
    for query in plan.queries:
        if query.relevant is None:
            return None
        for condition in _options(query.relevant):
            named = named_type(condition)
            if named is None:
                others[condition] = None
            else:
                names.setdefault(named[0], {})[named[1]] = None
    return {column: list(values) for column, values in names.items()}, list(others)


def taking_part(plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
    """The rows that can influence a match."""
    keep = rows_taking_part(plan, table, evaluator, settings)
    return table if keep.all() else table.filter(wrap(keep))


def rows_taking_part(
    plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> NDArray[np.bool_]:
    """By row whether it can influence a match: of types that a pattern names, without NULL in an equivalence test."""
    n_rows = table.num_rows
    keep = np.ones(n_rows, np.bool_)
    parts = relevant_parts(plan)
    if parts is not None:
        keep[:] = False
        for column, values in parts[0].items():
            kind = pa.binary() if is_binary(table.column(column).type) else pa.string()
            known = pa.array(values, pa.string()).cast(kind)
            found = pc.is_in(table.column(column).cast(kind), value_set=known)
            keep |= numpy_of(plain(found))
        for condition in parts[1]:
            used = columns_of([condition])
            read = table.select([name for name in table.column_names if name in used])
            columns = Columns(read, np.array([0, n_rows], np.int64))
            conditions = [Condition("an event", condition, None)]
            _, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, plan.source, settings.thread_count())
            keep |= bitmaps[0].view(np.bool_)
    for name in key_columns(plan.queries[0]):
        if table.column(name).null_count:
            keep &= numpy_of(plain(table.column(name).is_valid()))
    return keep


def is_binary(kind: pa.DataType) -> bool:
    """Whether values of a type are bytes: a name is compared with them as UTF-8."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)


def _options(condition: Expression) -> tuple[Expression, ...]:
    return condition.operands if isinstance(condition, Call) and condition.function == "or" else (condition,)
