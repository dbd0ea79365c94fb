"""Strings as conditions: equality, LIKE and IN over log lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import generator, timestamps
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY host ORDER BY ts
  MEASURES ASKED.ts AS asked_at, LAST(FAILED.line) AS last_error, DONE.ts AS done_at, count(FAILED.*) AS n_errors
  PATTERN (ASKED FAILED+ DONE)
  DEFINE ASKED AS line LIKE 'GET %', FAILED AS line LIKE 'error%' AND level <> 'debug',
    DONE AS level IN ('ok', 'done'))"""

LINES = np.array(["GET /home", "GET /cart", "error: timeout", "error: refused", "error", "reply 200", "reply 204"])
LEVELS = np.array(["debug", "info", "warn", "ok", "done"])


def make(n_rows: int) -> pa.Table:
    """Log lines of 500 hosts."""
    random = generator(14)
    return pa.table(
        {
            "host": pa.array(np.array([f"host-{number}" for number in range(500)])[random.integers(0, 500, n_rows)]),
            "ts": timestamps(np.arange(n_rows) * 1_000),
            "level": pa.array(LEVELS[random.integers(0, len(LEVELS), n_rows)]),
            "line": pa.array(LINES[random.integers(0, len(LINES), n_rows)]),
        }
    )


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression over classes of rows: a row may be DONE and another thing at once."""
    rows = ordered(table, "host")
    line, level = rows["line"].astype("U16"), rows["level"].astype("U8")
    is_get, is_error = np.char.startswith(line, "GET "), np.char.startswith(line, "error") & (level != "debug")
    is_done = (level == "ok") | (level == "done")
    text = letters(
        ("G", is_get & is_done), ("g", is_get), ("E", is_error & is_done), ("e", is_error), ("d", is_done)
    )
    found = search("[Gg]([Ee]+)[GEd]", text, rows.offsets)
    first, last_error, last = found[:, 0, 0], found[:, 1, 1] - 1, found[:, 0, 1] - 1
    return {
        "host": rows["host"][first], "asked_at": rows["ts"][first], "last_error": line[last_error],
        "done_at": rows["ts"][last], "n_errors": last_error - first,
    }


QUERIES = (Query("strings", "strings as conditions", make, SQL, expected),)
