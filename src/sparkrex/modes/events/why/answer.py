"""Why an event query did not match, from the events to the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.matching.event_order import order_columns
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.located import locate_events
from sparkrex.modes.events.taking_part import key_columns, rows_taking_part
from sparkrex.modes.events.why.case import Case
from sparkrex.modes.events.why.details import apart_of, closest_of, described, last_of
from sparkrex.modes.events.why.runs import RunSearch
from sparkrex.reasons.answer import Share, Start, Status, Why
from sparkrex.reasons.asked import place_of, rows_of_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.events.why.runs import Found
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings


def why_not(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked) -> Why:
    """The answer about the partitions that are asked about."""
    case = case_of(query, rows_of_key(query, table, evaluator, asked), evaluator, settings)
    rows = case.rows
    times = rows.column(order_columns(query)[0])
    at = place_of(query, asked, times, case.offsets)
    kept, begun = _first_events(query, rows, evaluator, settings)
    starts = _starts(case)
    tried = starts[~np.isin(starts, begun)]
    # The start that was asked for comes first, so that the bound leaves out others.
    found = RunSearch(case).search(sorted(tried.tolist(), key=lambda start: start != at))
    shown = _closest(found) if at is None else at
    n_partitions = len(case.offsets) - 1
    keys = {key.name: rows.column(name) for key, name in zip(query.partition_by, key_columns(query), strict=True)}
    return Why(
        source=query.source, pattern=str(query.pattern),
        key=tuple((name, column[0].as_py()) for name, column in keys.items()) if n_partitions == 1 else (),
        n_partitions=n_partitions, starts=_table(case, starts, kept, begun, found, keys, times),
        matches=_matches(case, kept), rows=rows, shares=_shares(case, found),
        shown=() if shown is None else (_start(case, shown, kept, begun, starts, found, times),),
        n_rows=case.rows.num_rows, n_matches=len(kept), n_blocked=len(tried),
        n_skipped=len(np.setdiff1d(begun, kept[:, 0])), is_exact=all(one.is_exact for one in found.values()),
        is_of_events=True,
    )


def case_of(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> Case:
    """All events of a table in order, but those that are NULL in an equivalence test, which take part in nothing."""
    table = table.filter(wrap(rows_taking_part(replace(query, relevant=None), table, evaluator, settings)))
    arrangement = arrange_events(query, table, settings)
    rows = table if arrangement.order is None else table.take(wrap(arrangement.order))
    return Case(query, rows, arrangement.offsets, evaluator, settings)


def _first_events(
    query: EventQuery, rows: pa.Table, evaluator: Evaluator, settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last event of every match and its number, a line each; and the events at which one begins, kept or
    not."""
    query = replace(query, type_column=None, type_names=())  # types that never came are part of the answer
    located = locate_events(query, rows, evaluator, settings)
    kept = np.stack([located.first, located.behind - 1, located.number], axis=1)
    if query.is_non_overlapping:
        located = locate_events(replace(query, is_non_overlapping=False), rows, evaluator, settings)
    return kept, np.unique(located.first)


def _starts(case: Case) -> NDArray[np.int64]:
    """The events that could begin a match by their type."""
    variables = {case.automaton.variable(edge.target) for edge in case.automaton.edges[0]}
    return np.unique(np.concatenate([case.of_type[name] for name in sorted(variables)]))


def _closest(found: dict[int, Found]) -> int | None:
    """The start that came closest: of those that needed the fewest events, the one that missed by least."""
    if not found:
        return None
    return min(found, key=lambda start: (found[start].need, _or_infinite(apart_of(found[start])), start))


def _or_infinite(distance: float | None) -> float:
    return np.inf if distance is None else distance


def _start(
    case: Case, place: int, kept: NDArray[np.int64], begun: NDArray[np.int64], starts: NDArray[np.int64],
    found: dict[int, Found], times: pa.ChunkedArray,
) -> Start:
    """One start in detail."""
    low = case.begin_of(place)
    start = Start(place - low + 1, (str(case.query.order_by[0].column), times[place].as_py()), Status.BLOCKED)
    if place in begun:
        numbers = np.flatnonzero(kept[:, 0] == place)
        if not len(numbers):
            return replace(start, status=Status.SKIPPED)
        first, last, number = kept[numbers[0]].tolist()
        return replace(start, status=Status.MATCH, match=number, match_rows=(first - low + 1, last - low + 1))
    if place not in starts:
        return replace(start, status=Status.NO_START)
    one = found[place]
    return replace(
        start, need=one.need, n_blockers=len(one.blockers), is_exact=one.is_exact,
        last=described(case, place, one, last_of(one)), closest=described(case, place, one, closest_of(one)),
    )


def _shares(case: Case, found: dict[int, Found]) -> tuple[Share, ...]:
    """The variables that stood in the way, most often first."""
    shares = []
    for number, name in enumerate(case.variables):
        blocked = [
            [blocking.missed_by for (_, variable, _), blocking in one.blockers.items() if variable == number]
            for one in found.values()
        ]
        apart = [distance for several in blocked for distance in several if not np.isnan(distance)]
        n_starts = sum(map(bool, blocked))
        if n_starts:
            shares.append(Share(name, n_starts, min(apart, default=None)))
    return tuple(sorted(shares, key=lambda share: -share.n_starts))


def _table(
    case: Case, starts: NDArray[np.int64], kept: NDArray[np.int64], begun: NDArray[np.int64],
    found: dict[int, Found], keys: dict[str, pa.ChunkedArray], times: pa.ChunkedArray,
) -> pa.Table:
    """What became of every start."""
    is_kept, is_begun = np.isin(starts, kept[:, 0]), np.isin(starts, begun)
    lines: list[dict[str, Any]] = []
    for place, keeps, begins in zip(starts.tolist(), is_kept.tolist(), is_begun.tolist(), strict=True):
        low = case.begin_of(place)
        status = Status.MATCH if keeps else Status.SKIPPED if begins else Status.BLOCKED
        line: dict[str, Any] = {"start_row": place - low + 1, "status": status.value}
        one = found.get(place)
        if one is not None:
            line |= {"need": one.need, "is_exact": one.is_exact, "blockers": len(one.blockers)}
            for which, key in (("last", last_of(one)), ("closest", closest_of(one))):
                if key is not None:
                    row, variable, barrier = key
                    line |= {
                        f"{which}_row": row - low + 1, f"{which}_variable": case.variables[variable],
                        f"{which}_barrier": barrier.value,
                    }
            line["missed_by"] = apart_of(one)
        lines.append(line)
    own = pa.schema([
        ("start_row", pa.int64()), ("status", pa.string()), ("need", pa.int64()), ("is_exact", pa.bool_()),
        ("blockers", pa.int64()), ("last_row", pa.int64()), ("last_variable", pa.string()),
        ("last_barrier", pa.string()), ("closest_row", pa.int64()), ("closest_variable", pa.string()),
        ("closest_barrier", pa.string()), ("missed_by", pa.float64()),
    ])
    of_starts = wrap(starts)
    columns: dict[str, Any] = {
        name if name not in own.names else f"{name}_key": column.take(of_starts)
        for name, column in {str(case.query.order_by[0].column): times, **keys}.items()
    }
    told = pa.Table.from_pylist(lines, schema=own)
    return pa.table({**columns, **{name: told.column(name) for name in own.names}})


def _matches(case: Case, kept: NDArray[np.int64]) -> pa.Table:
    """The matches: number in the partition, partition, first and last row, counted from 1 in their partition."""
    place = np.searchsorted(case.offsets, kept[:, 0], side="right") - 1
    low = case.offsets[place]
    return pa.table({
        "match": wrap(kept[:, 2].copy()), "partition": wrap(place + 1), "first_row": wrap(kept[:, 0] - low + 1),
        "last_row": wrap(kept[:, 1] - low + 1),
    })
