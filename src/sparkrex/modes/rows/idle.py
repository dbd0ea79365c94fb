"""Rows that no match can need, left out before the others are put in order: what people do by hand in a funnel.

A *funnel* is a pattern X1 S1 X2 S2 ... Xk: every X is a variable with a condition, and every S is `N*` or `N*?` of a
variable without one. A row is *idle* if what it says by itself already rules out every X. Leaving idle rows out, any of
them, changes neither the matches nor which of them is preferred:

- A match is given by the rows x1 < x2 < ... < xk that it maps to X1 ... Xk: what lies between two of them is mapped to
  the star between them, which takes any number of any rows. None of these rows is idle. So the rows x1 ... xk are a
  match of all rows exactly if they are one of the rows that are left, provided that no condition sees the others.
- Of two matches that start at the same row, the preferred one has the nearer next x (the farther one where the star is
  greedy) where they first differ; that does not depend on how many rows lie between.
- The search attempts rows in order, and only an x1 starts a match. After a match it goes on at a row that is some x, or
  at the one behind it, and rows behind it that start nothing make no difference.

Nothing may read other rows: neighbours (PREV, NEXT), rows of a star, counts of all rows. Partitions keep their order,
which is that of their first rows, because the first row of each is kept.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import first_of_partitions
from sparkrex.columns.gather import take_or_null
from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.languages.match_recognize.row_pattern import Concatenation, Quantified, Variable
from sparkrex.modes.plan import RowsPerMatch, SkipTo
from sparkrex.modes.rows.conditions import split_conditions
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    MatchStatus,
    is_volatile,
    walk,
)
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.split import Condition
from sparkrex.threads import in_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings

LEAST_ROWS = 1 << 16
"""Fewer rows are not worth looking at twice."""
_SAMPLE_ROWS = 1 << 14
_MOST_KEPT = 0.5
"""If more of the first rows than this are not idle, all rows are kept."""


def without_idle_rows(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> pa.Table | None:
    """The table without idle rows; None if the plan needs them all, or too few rows are idle."""
    if table.num_rows < LEAST_ROWS or settings.chunk_rows is not None or settings.reports or not settings.proofs:
        return None
    tests = tests_of_rows(plan)
    keys = [key.expression for key in plan.partition_by]
    if tests is None or not all(isinstance(key, ColumnAt) for key in keys):
        return None
    sample = table.slice(0, _SAMPLE_ROWS)
    if _needed(tests, sample, evaluator, plan, 1).mean() > _MOST_KEPT:
        return None
    threads = settings.thread_count()
    is_needed = _needed(tests, table, evaluator, plan, threads)
    columns = [table.column(key.column) for key in keys if isinstance(key, ColumnAt)]
    is_needed[first_of_partitions(columns, table.num_rows, threads)] = True
    rows = np.flatnonzero(is_needed)
    taken = in_parallel([partial(_take_ascending, column, rows) for column in table.columns], threads, table.num_rows)
    return pa.table(taken, schema=table.schema)


def _take_ascending(values: pa.ChunkedArray, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Values at ascending rows, chunk by chunk: other than in any order, none has to be copied before."""
    ends = np.cumsum([len(chunk) for chunk in values.chunks])
    cuts = [0, *np.searchsorted(rows, ends).tolist()]
    firsts = [0, *ends[:-1].tolist()]
    taken = [
        chunk for values_here, first, (begin, end) in zip(values.chunks, firsts, pairwise(cuts), strict=True)
        for chunk in take_or_null(values_here, rows[begin:end] - first).chunks
    ]
    return pa.chunked_array(taken, values.type)


def _needed(
    tests: tuple[Condition, ...], table: pa.Table, evaluator: Evaluator, plan: MatchRecognize, threads: int
) -> NDArray[np.bool_]:
    """By row, whether it may be mapped to a variable with a condition."""
    columns = Columns(table, np.array([0, table.num_rows], np.int64))
    _, bitmaps = evaluate_bitmaps(tests, columns, evaluator, plan.source, threads)
    is_needed: NDArray[np.bool_] = bitmaps[0].view(np.bool_)
    for bitmap in bitmaps[1:]:
        is_needed |= bitmap.view(np.bool_)
    return is_needed


def tests_of_rows(plan: MatchRecognize) -> tuple[Condition, ...] | None:
    """What rows alone say of each variable with a condition, if the plan is a funnel that reads no other rows."""
    if (
        plan.rows_per_match is not RowsPerMatch.ONE or plan.partition_gap is not None or plan.timeout is not None
        or plan.possessive
    ):
        return None
    conditions = {condition.variable: condition for condition in split_conditions(plan)}
    steps = steps_of(plan.pattern, frozenset(conditions))
    if steps is None:
        return None
    if plan.skip.to in (SkipTo.FIRST, SkipTo.LAST) and not plan.skip.variables <= steps:
        return None
    read = [*plan.tested(), *(measure.expression for measure in plan.measures)]
    if not all(_reads_only(expression, steps) for expression in read):
        return None
    tests: dict[Expression, Condition] = {}
    for name in sorted(steps):
        row = conditions[name].row
        if row is None or can_fail(row) or is_volatile(row):
            return None
        tests.setdefault(row, Condition(name, row, None))
    return tuple(tests.values())


def steps_of(pattern: RowPattern, defined: frozenset[str]) -> frozenset[str] | None:
    """The variables X of a funnel, None if the pattern is none; `defined` are the variables with a condition."""
    items = pattern.items if isinstance(pattern, Concatenation) else (pattern,)
    steps: set[str] = set()
    for place, item in enumerate(items):
        match item:
            case Variable(name) if place % 2 == 0 and name in defined:
                steps.add(name)
            case Quantified(Variable(name), 0, None) if place % 2 and name not in defined:
                pass
            case _:
                return None
    return frozenset(steps) if len(items) % 2 else None


def _reads_only(expression: Expression, steps: frozenset[str]) -> bool:
    """Whether an expression reads only rows that are mapped to these variables, and is evaluated for no others."""
    for node in walk(expression):
        match node:
            case ColumnAt(target=target):
                # Over all variables, only the match's first row, its last row and the row under test are such rows.
                if target.shift or (target.variables is None and target.offset):
                    return False
                if target.variables is not None and not target.variables <= steps:
                    return False
            case Aggregate(variables=variables):
                if variables is None or not variables <= steps:
                    return False
            case ClassifierAt() | MatchStatus():
                return False
            case Call() if not node.is_deterministic or node.reads_relation:
                return False
    return True
