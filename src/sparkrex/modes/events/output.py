"""Matches of an event query to result rows: RETURN's expressions, one row per match, or the events, one row each.

Concatenated, the rows of all matches are contiguous by match. So what reads the matches of row patterns reads these,
and only the columns asked for are touched.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.gather import take_or_null
from sparkrex.columns.wrap import wrap, wrap_strings
from sparkrex.matching.matches import Matches
from sparkrex.matching.output import NO_COLUMNS, one_row
from sparkrex.matching.reading import MatchReader
from sparkrex.threads import in_parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.events.plan import EventQuery


def build_events(
    query: EventQuery, matches: EventMatches, numbers: NDArray[np.int64], variables: tuple[str, ...], table: pa.Table,
    order: NDArray[np.int64] | None, evaluator: Evaluator, *, threads: int = 1,
) -> pa.Table:
    """The result. `order[i]` is the table's row of the event at position i, None if they agree.

    `numbers` are those of the matches.
    """
    rows = matches.rows if order is None else order[matches.rows]
    if query.measures is None:
        return _each_event(query, matches, numbers, variables, table, rows, threads)
    n_events = len(rows)
    reader = MatchReader(
        table, Arrangement(rows, np.array([0, n_events], np.int64), n_events),
        Matches(
            start=matches.offsets[:-1], end=matches.offsets[1:], number=numbers,
            labels=2 * matches.labels, label_offsets=matches.offsets,
        ),
        variables, query.dialect, evaluator, threads,
    )
    expressions = [measure.expression for measure in query.measures]
    values = reader.evaluate(expressions, one_row(reader), [measure.span for measure in query.measures])
    if not values:  # a worker of Spark's that is asked for constants only
        return pa.table({NO_COLUMNS: pa.nulls(len(matches), pa.int8())})
    return pa.table(values, names=list(query.output_columns()))


def _each_event(
    query: EventQuery, matches: EventMatches, numbers: NDArray[np.int64], variables: tuple[str, ...], table: pa.Table,
    rows: NDArray[np.int64], threads: int,
) -> pa.Table:
    match_id = np.repeat(numbers, np.diff(matches.offsets))
    names = wrap_strings(variables).cast(pa.string())
    columns = in_parallel(
        [
            partial(take_or_null, names, matches.labels.astype(np.int64)),
            *(partial(take_or_null, table.column(name), rows) for name in query.input_columns),
        ],
        threads, len(rows),
    )
    return pa.table([wrap(match_id), *columns], names=list(query.output_columns()))
