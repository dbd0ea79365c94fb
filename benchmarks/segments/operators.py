"""Figures 8 to 10: when which operator wins. Times over a parameter, on a year of prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.segments.prepare import LIMIT_SEGMENTS, Found, Prepared, prepare
from benchmarks.segments.templates import clause
from benchmarks.segments.timing import typical
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.contract import Spaces
from sparkrex.modes.segments.planner.physical_plan import Op, Physical
from sparkrex.modes.segments.planner.rule_planners import plan_by_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

HEAD = "PARTITION BY ticker ORDER BY tstamp"
YEAR = 252


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds of two operators at each value of a parameter."""

    figure: str
    parameter: str
    values: tuple[float, ...]
    seconds: dict[str, list[float]]
    wrong: bool


def _down(window: int, alpha: float = 0.7) -> str:
    return clause(
        HEAD, "DN & W", f"SEGMENT DN AS linear_reg_r2_signed(DN.tstamp, DN.price) <= -{alpha}",
        f"SEGMENT W AS window(1, {window})",
    )


def _vee(alpha: float) -> str:
    return clause(
        HEAD, "(DN UP) & W", f"SEGMENT DN AS linear_reg_r2_signed(DN.tstamp, DN.price) <= -{alpha}",
        f"SEGMENT UP AS linear_reg_r2_signed(UP.tstamp, UP.price) >= {alpha}", "SEGMENT W AS window(1, 60)",
    )


def _no_drop(window: int) -> str:
    return clause(
        HEAD, "~(FALL W) & WINDOW", "SEGMENT W AS true", "SEGMENT FALL AS last(FALL.price) / first(FALL.price) < 0.95",
        f"SEGMENT WINDOW AS window(1, {window})",
    )


def measure_operators(table: pa.Table, *, is_quick: bool) -> Iterator[Curve]:
    """All curves. Space sizes are the number of first rows and of last rows that are searched in each series."""
    windows = (5, 20, 60) if is_quick else (2, 5, 10, 20, 40, 80, 160, 252)
    alphas = (0.5, 0.9) if is_quick else (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
    spaces = (1, 252) if is_quick else (1, 4, 16, 64, 252)
    full = YEAR
    leaves = {"SegGenFilter": "SegGenFilter", "SegGenIndexing": "SegGenIndexing"}
    joins = {"SortMergeConcat": "sm_left", "RightProbeConcat": "pr_left"}
    nots = {"MaterializeNot": "sm_left", "ProbeNot": "sm_left_pnot"}
    yield _curve(table, "8a", "window", windows, leaves, lambda x: (_down(int(x)), full))
    yield _curve(table, "8b", "first rows", spaces, leaves, lambda x: (_down(20), int(x)))
    yield _curve(table, "9a", "R2 threshold", alphas, joins, lambda x: (_vee(x), full))
    yield _curve(table, "9b", "first rows", spaces, joins, lambda x: (_vee(0.5), int(x)))
    yield _curve(table, "10a", "window, 1 first row", windows, nots, lambda x: (_no_drop(int(x)), 1))
    yield _curve(table, "10b", "window, all first rows", windows, nots, lambda x: (_no_drop(int(x)), full))


def _curve(
    table: pa.Table, figure: str, parameter: str, values: Sequence[float], operators: Mapping[str, str],
    make: Callable[[float], tuple[str, int]],
) -> Curve:
    seconds: dict[str, list[float]] = {name: [] for name in operators}
    is_wrong = False
    for value in values:
        text, n_first = make(value)
        prepared = prepare(text, table)
        answers = []
        for name, planner in operators.items():
            run = partial(_find, prepared, _plan(prepared, planner), n_first)
            answers.append(run().pairs())
            seconds[name].append(typical(run))
        is_wrong |= not np.array_equal(answers[0], answers[1])
        prepared.host.close()
    return Curve(figure, parameter, tuple(values), seconds, is_wrong)


def _plan(prepared: Prepared, name: str) -> Physical:
    if name in ("SegGenFilter", "SegGenIndexing"):
        return Physical(Op(name), prepared.logical)
    return plan_by_rule(prepared.logical, name)


def _find(prepared: Prepared, plan: Physical, n_first: int) -> Found:
    """The plan over the first so many rows of every series, to any last row."""
    prepared.fresh()
    operator = Builder(prepared.series, prepared.conditions, LIMIT_SEGMENTS).build(plan)
    first, last = prepared.series.offsets[:-1], prepared.series.offsets[1:] - 1
    found = operator.find(Spaces(first, np.minimum(first + n_first - 1, last), first, last))
    return Found(found.start, found.end)
