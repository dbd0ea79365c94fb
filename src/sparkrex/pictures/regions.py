"""Matches as regions of time: where each begins and ends, and what to call it. Grafana and others draw such tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import python_value
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.faults import faults_reported
from sparkrex.matching.located import Located
from sparkrex.pictures.options import Options, choose_x
from sparkrex.pipeline import locate_answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.query import Query

START, END, LABEL = "start", "end", "label"


def regions_of(query: Query, tables: Any, named: Mapping[str, object], args: Any, x: str | None) -> pa.Table:
    """A row for each match: its first and its last value of `x`, and its partition and number as a label."""
    parsed, arrow = query.bound_in_memory(tables, named, args, "regions()")
    with faults_reported(query.text):
        plan, found = locate_answers(parsed, arrow, query.settings, () if x is None else (x,))
    column = choose_x(Options(x=x), plan, found.table)
    if column is None:
        raise AnalysisError(
            "REX201", "the rows are not ordered by a time or a number that regions could begin and end at", None, None,
            hint='name the column: x="ts"',
        )
    if not isinstance(found, Located):
        raise UnsupportedError(
            "REX301", "trend queries have no matches", None, None,
            hint="their result has window_start and window_end, which are regions as they are",
        )
    ends = [found.first, np.maximum(found.behind - 1, found.first)]
    start, end = (take_or_null(found.table.column(column), found.arrangement.input_rows(at)) for at in ends)
    return pa.table({START: start, END: end, LABEL: pa.array(_labels(found), pa.string())})


def _labels(found: Located) -> list[str]:
    rows = wrap(found.arrangement.input_rows(found.first))
    keys = [column.take(rows) for _, column in found.keys]
    return [
        " ".join([*(_text(python_value(key[place])) for key in keys), f"#{number}"])
        for place, number in enumerate(found.number.tolist())
    ]


def _text(value: object) -> str:
    return "NULL" if value is None else str(value)
