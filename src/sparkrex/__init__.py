"""SparkRex finds patterns in rows: SQL:2016 MATCH_RECOGNIZE, segments, events and trends, on Spark and in memory.

    >>> import pyarrow as pa, sparkrex as rex
    >>> ticks = pa.table({"ts": [1, 2, 3, 4], "price": [9.0, 7.0, 6.0, 8.0]})
    >>> rex.sql('''SELECT * FROM ticks MATCH_RECOGNIZE (
    ...              ORDER BY ts
    ...              MEASURES FIRST(DOWN.ts) AS fell_at, MIN(DOWN.price) AS low
    ...              PATTERN (STRT DOWN+ UP+)
    ...              DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))''', ticks=ticks).to_pylist()
    [{'fell_at': 2, 'low': 6.0}]
"""

from __future__ import annotations

from typing import Any

from sparkrex.api import (
    aggregate,
    compile,
    decompress,
    diff,
    drain,
    events,
    explain,
    failed,
    late,
    match,
    matches,
    plot,
    progress,
    regions,
    register_table_function,
    ship,
    sql,
    state,
    trends,
    why,
    workload,
)
from sparkrex.errors import (
    AnalysisError,
    ExecutionError,
    InternalError,
    ParseError,
    RexError,
    UnsupportedError,
)
from sparkrex.explanation import Explanation
from sparkrex.query import Query
from sparkrex.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "AnalysisError", "ExecutionError", "Explanation", "InternalError", "ParseError", "Query", "RexError", "Settings",
    "UnsupportedError", "__version__", "aggregate", "compile", "decompress", "diff", "drain", "events", "explain",
    "failed", "late", "match", "matches", "plot", "progress", "regions", "register_table_function", "ship", "sql",
    "state", "trends", "why", "workload",
]


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext sparkrex` calls: cells that begin with `%%rex` are queries then."""
    from sparkrex.notebook import register

    register(shell)
