"""A query, its files, and the `rex` command as a user starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))
"""

TICKS = pa.table(
    {
        "symbol": ["a", "a", "a", "a", "b", "b", "b"],
        "ts": [1, 2, 3, 4, 1, 2, 3],
        "price": [9.0, 7.5, 8.0, 8.5, 3.0, 2.0, 2.5],
    }
)

ANSWER = [
    {"symbol": "a", "fell_at": 2, "back_at": 4, "low": 7.5},
    {"symbol": "b", "fell_at": 2, "back_at": 3, "low": 2.0},
]


def write_inputs(folder: Path) -> tuple[str, str]:
    """The query and the table as files: the arguments `q.sql` and `ticks=...` of a command."""
    query, ticks = folder / "q.sql", folder / "ticks.parquet"
    query.write_text(QUERY, encoding="utf-8")
    pq.write_table(TICKS, ticks)
    return str(query), f"ticks={ticks}"


def rex(*arguments: str, text: str | None = None, scratch: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as the installed script does; `scratch` is its folder for logs."""
    command = [sys.executable, "-c", "from sparkrex.cli.main import start; start()", *arguments]
    environment = os.environ | ({"TMPDIR": str(scratch)} if scratch else {})
    return subprocess.run(
        command, input=text, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def started(*arguments: str, scratch: Path) -> subprocess.Popen[str]:
    """The command, running, as the leader of a group of its own: signals to the group do not reach the test."""
    command = [sys.executable, "-c", "from sparkrex.cli.main import start; start()", *arguments]
    return subprocess.Popen(
        command, env=os.environ | {"TMPDIR": str(scratch)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )
