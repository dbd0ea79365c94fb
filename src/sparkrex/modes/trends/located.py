"""Windows of a trend query over the rows of their groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.matching.located import LocatedWindows
from sparkrex.modes.trends.engine import arrange_trends, trend_results
from sparkrex.modes.trends.plan import Returned
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.settings import Settings


def locate_windows(
    query: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> LocatedWindows:
    """What the query returns of every window that has trends; groups are known even if it does not return them."""
    groups = [Returned(f"rex_group_{number}", name) for number, name in enumerate(query.group_by)]
    asked = replace(query, items=(*groups, *query.items), output_names=None)
    result = pa.concat_tables(trend_results(asked, table, evaluator, settings, Stopwatch()))
    start, end, *columns = result.columns
    names = query.output_columns()[2:]
    shown = [number for number, item in enumerate(query.items) if not isinstance(item.value, str)]
    values = pa.table(
        [columns[len(groups) + number] for number in shown], names=[names[number] for number in shown]
    )
    by_group = replace(query, partition_by=tuple(key for key in query.partition_by if key.name in query.group_by))
    keys = tuple((key, table.column(key)) for key in query.group_by)
    return LocatedWindows(
        table, arrange_trends(by_group, table, settings), keys, start, end, tuple(columns[: len(groups)]), values
    )
