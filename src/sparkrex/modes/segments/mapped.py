"""A plain query that no segments stand for: every mapping of rows to its variables is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.operators.mapped_reader import MappedReader
from sparkrex.modes.segments.operators.mappings import find_mappings, variables_of
from sparkrex.modes.segments.operators.output import Counted, measured_table, with_index

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


def run_mapped(
    search: SegmentSearch, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray],
    evaluator: Evaluator, settings: Settings, watch: Stopwatch,
) -> pa.Table:
    """The result over whole partitions. `table` is in input order."""
    table = with_index(table, arrangement, Counted.whole(arrangement))
    matches = mapped_matches(search, table, arrangement, evaluator, settings)
    watch.lap("find", {"matches": len(matches)})
    reader = MappedReader(table, arrangement, matches, variables_of(search), search.dialect, evaluator)
    result = measured_table(search, reader, partition_columns)
    watch.lap("measures", {"rows": result.num_rows})
    return result


def mapped_matches(
    search: SegmentSearch, table: pa.Table, arrangement: Arrangement, evaluator: Evaluator, settings: Settings
) -> Matches:
    """Every match; see `find_mappings`."""
    limit = settings.max_segments
    try:
        return find_mappings(search, table, arrangement, evaluator, limit)
    except TooManySegmentsError:
        raise ExecutionError(
            "REX408", f"there are more ways to map rows to variables than max_segments = {limit:,}", search.source,
            search.pattern.span or search.span, hint="say more in DEFINE, or raise the setting max_segments",
        ) from None
