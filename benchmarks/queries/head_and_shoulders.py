"""Head and shoulders: three peaks, the middle one the highest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.expected import Array, ordered, plain_loop
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES STRT.ts AS began_at, LAST(D3.ts) AS ended_at, LAST(U1.price) AS left_shoulder, LAST(U2.price) AS head,
    LAST(U3.price) AS right_shoulder
  PATTERN (STRT U1+ D1+ U2+ D2+ U3+ D3+)
  DEFINE U1 AS price > PREV(price), D1 AS price < PREV(price), U2 AS price > PREV(price),
    D2 AS price < PREV(price) AND LAST(U2.price) > LAST(U1.price), U3 AS price > PREV(price),
    D3 AS price < PREV(price) AND LAST(U3.price) < LAST(U2.price))"""


@plain_loop
def three_peaks(price: Array, offsets: Array) -> Array:
    """First row, row after the last, and the rows of the three peaks."""
    found = np.empty((len(price), 5), np.int64)
    peaks = np.empty(3, np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start, stop = offsets[part], offsets[part + 1]
        while start < stop:
            row, is_match = start, True
            for number in range(3):
                # A row is never both a rise and a fall, so each run is taken whole or the match fails.
                foot = row
                while row + 1 < stop and price[row + 1] > price[row]:
                    row += 1
                peak = row
                while row + 1 < stop and price[row + 1] < price[row]:
                    row += 1
                peaks[number] = peak
                is_match = is_match and foot < peak < row
            if is_match and price[peaks[1]] > price[peaks[0]] and price[peaks[1]] > price[peaks[2]]:
                found[n_found] = (start, row + 1, peaks[0], peaks[1], peaks[2])
                n_found += 1
                start = row + 1
            else:
                start += 1
    return found[:n_found]


def expected(table: pa.Table) -> Answer:
    """The same by a loop over rises and falls."""
    rows = ordered(table, "symbol")
    price, time = rows["price"], rows["ts"]
    found = three_peaks(price, rows.offsets)
    return {
        "symbol": rows["symbol"][found[:, 0]], "began_at": time[found[:, 0]], "ended_at": time[found[:, 1] - 1],
        "left_shoulder": price[found[:, 2]], "head": price[found[:, 3]], "right_shoulder": price[found[:, 4]],
    }


QUERIES = (Query("head_and_shoulders", "head and shoulders", ticks, SQL, expected, reads_match=True),)
