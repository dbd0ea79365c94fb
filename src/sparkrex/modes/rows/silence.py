"""Variables that the next row of an open partition cannot be mapped to, whatever it is, because it comes so late.

`ts - PREV(ts) <= INTERVAL '30' MINUTE` compares a row with the one before it. That one is known: it is the last row of
the partition so far. Rows to come are behind the horizon, so once the horizon is further from the last row than the
bound allows, the next row breaks it. So a session that ends by silence ends when the silence is long enough, and does
not wait for a row that may never come. Of the rows behind the next one nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.evaluate.bounds import as_bounds
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context, values_in_rows
from sparkrex.kernels import path as p
from sparkrex.matching.waking import horizon_number
from sparkrex.modes.rows.deadlines import moment_behind
from sparkrex.modes.rows.runs import find_differences
from sparkrex.scalar.split import Condition, conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.scalar.expression import ColumnAt, Expression

_SOME = "rex_some"
_LARGEST = np.iinfo(np.int64).max


def find_silences(problem: Problem) -> dict[str, list[Moment]]:
    """By variable, the bounds on how far a row that is mapped to it may be behind the row before it: a moment there.

    Only variables with such a bound, and bounds whose other side is a column, or one and an interval.
    """
    key = problem.plan.order_by[0] if problem.plan.order_by else None
    if key is None or key.is_descending or problem.lookahead:
        return {}
    found: dict[str, list[Moment]] = {}

    def is_time(column: ColumnAt) -> bool:
        return bool(pa.types.is_timestamp(problem.sample.schema.field(column.column).type))

    for condition in problem.conditions:
        if condition.row is not None:
            moments = [
                moment for conjunct in conjuncts(condition.row) for one in as_bounds(conjunct, is_time)
                for moment in _moments(one, key.expression, problem)
            ]
            if moments:
                found[condition.variable] = moments
    return found


def _moments(conjunct: Expression, key: Expression, problem: Problem) -> Iterator[Moment]:
    """The bounds in a conjunct on the distance of a row from the one before it."""
    try:
        condition = (Condition(_SOME, None, conjunct),)
        none = Columns(problem.sample, np.zeros(1, np.int64))
        code = Context(condition, (_SOME,), none, problem.evaluator, 1).bytecode
    except CannotCompileError:
        return
    before = (p.CURRENT, 0, -1, 0)
    targets = list(code.targets)
    for one in find_differences(code, _SOME):
        if code.int_columns[one.column] == key and targets[one.target] == before:
            moment = moment_behind(code.int_columns[one.limit], one.constant, problem.sample)
            if moment is not None:
                yield moment


def barred_variables(
    silences: Mapping[str, list[Moment]], variables: tuple[str, ...], frame: Columns, partitions: Partitions,
    evaluator: Evaluator,
) -> NDArray[np.uint8]:
    """For each partition and variable, whether the next row cannot be mapped to it."""
    barred = np.zeros((len(partitions.ends), max(len(variables), 1)), np.uint8)
    if not silences or partitions.horizon is None or not partitions.horizon.is_valid:
        return barred
    horizon = horizon_number(partitions.horizon)
    low, high = partitions.offsets[:-1], partitions.offsets[1:]
    places = np.flatnonzero((high > low) & ~partitions.ends)
    for number, name in enumerate(variables):
        for moment in silences.get(name, ()):
            last = high[places] - 1
            if moment.limit is None:
                column = plain(frame.ordered.column(moment.column))
                values, is_known = ints_of(column)[last], np.asarray(column.is_valid())[last]
            else:
                column = values_in_rows(moment.limit, frame.ordered.take(wrap(last)), evaluator)
                values, is_known = ints_of(column), np.asarray(column.is_valid())
            # Of the difference of two times 64 bits may be too few; of what is far apart nothing is said.
            is_known &= (values < _LARGEST - abs(moment.distance)) & (values > abs(moment.distance) - _LARGEST)
            barred[places, number] |= is_known & (np.where(is_known, values, 0) + moment.distance <= horizon)
    return barred
