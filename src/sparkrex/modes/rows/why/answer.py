"""Why a row pattern did not match, from the rows to the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.matching.row_values import arrange_rows, row_values
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.rows.why.by_prefixes import blocked_by_prefixes
from sparkrex.modes.rows.why.by_rows import CannotWalkError, blocked_by_rows
from sparkrex.modes.rows.why.case import Case
from sparkrex.modes.rows.why.details import look_closer
from sparkrex.modes.rows.why.matched import find_matched
from sparkrex.modes.rows.why.places import NEVER
from sparkrex.modes.rows.why.states import TooManyStatesError
from sparkrex.reasons.answer import Share, Start, Status, Why
from sparkrex.reasons.asked import place_of, rows_of_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.why.blocked import Blocked
    from sparkrex.modes.rows.why.matched import Matched
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings


def why_not(plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked) -> Why:
    """The answer about the partitions that are asked about."""
    # Window functions and subqueries are about the whole input, so they come first.
    plan, table = add_relation_columns(plan, table, evaluator)
    table = rows_of_key(plan, table, evaluator, asked)
    arrangement, keys = arrange_rows(plan, table, evaluator, settings.thread_count())
    order, offsets = arrangement.order, arrangement.offsets
    rows = table if order is None else table.take(wrap(order))
    times = row_values([plan.order_by[0].expression], rows, evaluator)[0] if plan.order_by else None
    at = place_of(plan, asked, times, offsets)
    matched = find_matched(plan, rows, offsets, evaluator, settings)
    case = Case(plan, rows, offsets, matched.numbers(offsets), evaluator, settings)
    tried = matched.tried
    blocked = _blocked(case, tried)
    time_name = "" if not plan.order_by else plan.order_by[0].column or str(plan.order_by[0].expression)
    key_columns = {
        key.name: column if order is None else column.take(wrap(order))
        for key, column in zip(plan.partition_by, keys, strict=True)
    }
    place = _closest(blocked, tried) if at is None else at
    shown = () if place is None else (_start(case, matched, blocked, place, times, time_name),)
    is_one = len(offsets) == 2
    return Why(
        source=plan.source, pattern=str(plan.pattern),
        key=tuple((name, column[0].as_py()) for name, column in key_columns.items()) if is_one else (),
        n_partitions=len(offsets) - 1, starts=_table(case, matched, blocked, key_columns, times, time_name),
        matches=_matches(case, matched), rows=rows, shares=_shares(case, blocked), shown=shown, n_rows=case.n_rows,
        n_matches=len(matched.matches), n_blocked=int(tried.sum()), n_skipped=int((matched.skips >= 0).sum()),
        is_exact=bool(blocked.is_exact.all()),
    )


def _blocked(case: Case, tried: NDArray[np.bool_]) -> Blocked:
    try:
        return blocked_by_rows(case, tried)
    except (CannotWalkError, TooManyStatesError):
        return blocked_by_prefixes(case, tried)


def _closest(blocked: Blocked, tried: NDArray[np.bool_]) -> int | None:
    """The start that came closest: of those that needed the fewest rows, the one that missed by least."""
    starts = np.flatnonzero(tried)
    if not len(starts):
        return None
    near = starts[blocked.need[starts] == blocked.need[starts].min()]
    apart = blocked.close[near]
    return int(near[0] if np.isnan(apart).all() else near[np.nanargmin(apart)])


def _start(
    case: Case, matched: Matched, blocked: Blocked, place: int, times: pa.ChunkedArray | None, time_name: str
) -> Start:
    """One start in detail."""
    low = int(case.offsets[np.searchsorted(case.offsets, place, side="right") - 1])
    start = Start(
        place - low + 1, None if times is None else (time_name, times[place].as_py()), Status.BLOCKED,
    )
    number = int(max(matched.starts[place], matched.skips[place]))
    if number >= 0:
        found = matched.matches
        status = Status.MATCH if matched.starts[place] >= 0 else Status.SKIPPED
        first, last = int(found.start[number]) - low + 1, int(found.end[number]) - low
        return replace(start, status=status, match=int(found.number[number]), match_rows=(first, last))
    found_here = look_closer(case, blocked, place)
    return replace(
        start, need=None if found_here.need == NEVER else found_here.need, n_blockers=found_here.n_blockers,
        is_exact=found_here.is_exact, last=found_here.last, closest=found_here.closest,
    )


def _shares(case: Case, blocked: Blocked) -> tuple[Share, ...]:
    """The variables that stood in the way, most often first."""
    order = np.argsort(-blocked.starts_of_variable, kind="stable").tolist()
    return tuple(
        Share(
            case.variables[number], int(blocked.starts_of_variable[number]),
            _or_none(blocked.apart_of_variable[number]),
        )
        for number in order if blocked.starts_of_variable[number]
    )


def _or_none(distance: float) -> float | None:
    return None if np.isnan(distance) else float(distance)


def _table(
    case: Case, matched: Matched, blocked: Blocked, keys: dict[str, pa.ChunkedArray], times: pa.ChunkedArray | None,
    time_name: str,
) -> pa.Table:
    """What became of every start."""
    n_rows, tried = case.n_rows, matched.tried
    low = np.repeat(case.offsets[:-1], np.diff(case.offsets))
    number = np.maximum(matched.starts, matched.skips)
    of_match = np.append(matched.matches.number, 0)[number]
    names = pa.array([*case.variables], pa.string())
    status = np.select([matched.starts >= 0, matched.skips >= 0], [0, 1], 2).astype(np.int8)
    labels = pa.array([Status.MATCH.value, Status.SKIPPED.value, Status.BLOCKED.value])

    def variable(numbers: NDArray[np.int32]) -> pa.Array:
        return names.take(wrap(numbers.astype(np.int64), ~tried | (numbers < 0)))

    own = {
        "start_row": wrap(np.arange(n_rows) - low + 1), "status": labels.take(wrap(status.astype(np.int64))),
        "match": wrap(of_match, number < 0), "need": wrap(blocked.need, ~tried | (blocked.need >= NEVER)),
        "is_exact": pa.array(blocked.is_exact), "blockers": wrap(blocked.count, ~tried),
        "last_row": wrap(blocked.last_row - low + 1, ~tried | (blocked.last_variable < 0)),
        "last_variable": variable(blocked.last_variable),
        "closest_row": wrap(blocked.close_row - low + 1, ~tried | (blocked.close_variable < 0)),
        "closest_variable": variable(blocked.close_variable),
        "missed_by": pa.array(np.where(tried, blocked.close, np.nan), pa.float64(), from_pandas=True),
    }
    columns: dict[str, Any] = {name if name not in own else f"{name}_key": column for name, column in keys.items()}
    if times is not None and time_name not in columns:
        columns[time_name if time_name not in own else f"{time_name}_key"] = times
    return pa.table({**columns, **own})


def _matches(case: Case, matched: Matched) -> pa.Table:
    """The matches: number, first and last row, counted from 1 in their partition."""
    found = matched.matches
    low = case.offsets[np.searchsorted(case.offsets, found.start, side="right") - 1]
    return pa.table({
        "match": wrap(found.number), "partition": wrap(np.searchsorted(case.offsets, found.start, side="right")),
        "first_row": wrap(found.start - low + 1), "last_row": wrap(found.end - low),
    })
