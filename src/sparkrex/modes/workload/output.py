"""Matches of many patterns as one table: a row for every event, with the pattern's name, the match and the variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.wrap import wrap, wrap_strings
from sparkrex.modes.events.output import build_events
from sparkrex.modes.events.pattern import positive_variables

if TYPE_CHECKING:
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.combined import Detected, Part
    from sparkrex.modes.workload.plan import WorkloadPlan


def build_workload(plan: WorkloadPlan, detected: Detected, *, is_with_stops: bool = False) -> pa.Table:
    """The events of all matches, pattern by pattern.

    With stops, a pattern that stopped has a row of its own behind its matches: match and variable are NULL, the event
    is that at which it stopped.
    """
    tables: list[pa.Table] = []
    parts = detected.parts
    while parts:
        # Patterns that share have one frame: their events are gathered at once.
        n_alike = next((n for n, part in enumerate(parts) if part.frame is not parts[0].frame), len(parts))
        tables.append(_events(plan, parts[:n_alike]))
        parts = parts[n_alike:]
    if is_with_stops and detected.stops:
        tables += [_stop(plan, stop.pattern, stop.frame, stop.row) for stop in detected.stops]
    if not tables:
        raise AssertionError("a plan has patterns")
    return pa.concat_tables(tables)


def build_returned(plan: WorkloadPlan, part: Part, evaluator: Evaluator) -> pa.Table:
    """What a pattern with RETURN gives."""
    query = plan.patterns[part.pattern].query
    return build_events(
        query, part.matches, part.numbers, positive_variables(query.pattern), part.frame.table,
        part.frame.arrangement.order, evaluator,
    )


def _events(plan: WorkloadPlan, parts: list[Part]) -> pa.Table:
    names: list[str] = []
    pattern, match_id, variable, rows = [], [], [], []
    for part in parts:
        variables = positive_variables(plan.patterns[part.pattern].query.pattern)
        n_events = len(part.matches.rows)
        pattern.append(np.full(n_events, part.pattern, np.int64))
        match_id.append(np.repeat(part.numbers, np.diff(part.matches.offsets)))
        variable.append(part.matches.labels.astype(np.int64) + len(names))
        rows.append(part.matches.rows)
        names += variables
    frame = parts[0].frame
    order = frame.arrangement.order
    places = np.concatenate(rows).astype(np.int64)
    places = places if order is None else order[places]
    known = wrap_strings(tuple(one.name for one in plan.patterns)).cast(pa.string())
    columns = [
        take_or_null(known, np.concatenate(pattern)), wrap(np.concatenate(match_id).astype(np.int64)),
        take_or_null(wrap_strings(tuple(names)).cast(pa.string()), np.concatenate(variable)),
        *(take_or_null(frame.table.column(name), places) for name in plan.input_columns),
    ]
    return pa.table(columns, names=list(plan.output_columns()))


def _stop(plan: WorkloadPlan, pattern: int, frame, row: int) -> pa.Table:  # type: ignore[no-untyped-def]
    order = frame.arrangement.order
    place = np.array([row if order is None else order[row]], np.int64)
    columns = [
        pa.array([plan.patterns[pattern].name]), pa.nulls(1, pa.int64()), pa.nulls(1, pa.string()),
        *(take_or_null(frame.table.column(name), place) for name in plan.input_columns),
    ]
    return pa.table(columns, names=list(plan.output_columns()))
