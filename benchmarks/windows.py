"""Row patterns in windows beside MATCH_RECOGNIZE with SKIP TO NEXT ROW, on the same patterns.

    python -m benchmarks.windows [--rows 1000000] [--repeat 7]

Both find the same matches; a window gives every row its values, MATCH_RECOGNIZE a row for each match. They take turns,
and the ratio is the median of those of neighbouring runs, the window's time over the other's; answers are compared.
Last come matches of all rows behind each row, which only the window answers in linear time: half of the rows, then all.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex

_PARTS = "{frame} AFTER MATCH SKIP TO NEXT ROW PATTERN ({pattern}) DEFINE {define}"
_FRAME = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
QUERIES = {
    "V shape": (
        "S DOWN+ UP+", "DOWN AS p < PREV(p), UP AS p > PREV(p)",
        {"first": "FIRST(S.p)", "low": "LAST(DOWN.p)", "last": "LAST(UP.p)", "n": "count(*)"},
    ),
    "A+": ("A+", "A AS p > 20", {"last": "LAST(A.p)", "n": "count(*)", "total": "sum(A.v)", "most": "max(A.p)"}),
}
"""Pattern, conditions and measures of each."""


def table_of(n_rows: int) -> pa.Table:
    """Prices of 1,000 symbols in order of time; runs above 20 have about twenty rows."""
    chance = np.random.default_rng(7)
    n_symbols = min(1000, n_rows)
    keys = np.repeat(np.arange(n_symbols), -(-n_rows // n_symbols))[:n_rows]
    return pa.table({
        "k": keys, "ts": np.arange(n_rows), "p": np.round(chance.random(n_rows) * 400, 2),
        "v": chance.integers(0, 99, n_rows),
    })


def texts(pattern: str, define: str, measures: dict[str, str]) -> tuple[str, str]:
    """The query over a window, and that of MATCH_RECOGNIZE; both add up what they find."""
    listed = ", ".join(f"{text} AS {name}" for name, text in measures.items())
    head = f"PARTITION BY k ORDER BY ts MEASURES {listed} "
    sums = ", ".join(f"sum({name}) AS {name}" for name in measures)
    called = ", ".join(f"{name} OVER w AS {name}" for name in measures)
    window = head + _PARTS.format(frame=_FRAME, pattern=pattern, define=define)
    relation = head + _PARTS.format(frame="", pattern=pattern, define=define)
    return (
        f"SELECT {sums} FROM (SELECT {called} FROM t WINDOW w AS ({window}))",
        f"SELECT {sums} FROM t MATCH_RECOGNIZE ({relation})",
    )


def timed(query: str, table: pa.Table) -> tuple[float, list[dict[str, Any]]]:
    """Seconds of one run, and its answer."""
    begin = time.perf_counter()
    answer = rex.sql(query, t=table, dialect="duckdb").to_pylist()
    return time.perf_counter() - begin, answer


def agree(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> bool:
    """Whether two answers are equal, sums of doubles up to rounding."""
    return all(
        np.isclose(float(a), float(b), rtol=1e-9)
        for x, y in zip(one, other, strict=True) for a, b in zip(x.values(), y.values(), strict=True)
    )


def main() -> None:
    """Print a line for each pattern."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    table = table_of(options.rows)
    for name, parts in QUERIES.items():
        window, relation = texts(*parts)
        ratios, seconds = [], []
        is_right = agree(timed(window, table)[1], timed(relation, table)[1])
        for _ in range(options.repeat):
            ours, theirs = timed(window, table)[0], timed(relation, table)[0]
            ratios.append(ours / theirs)
            seconds.append(ours)
        print(f"{name}: {statistics.median(seconds):.2f} s, {statistics.median(ratios):.2f} of MATCH_RECOGNIZE, "
              f"answers {'equal' if is_right else 'DIFFER'}")
    window, _ = texts("A+", "A AS p >= 0", QUERIES["A+"][2])
    one = table.set_column(0, "k", pa.array(np.zeros(options.rows, np.int64)))
    timed(window, one.slice(0, 10_000))
    half, whole = timed(window, one.slice(0, options.rows // 2))[0], timed(window, one)[0]
    print(f"A+ of all rows behind: {whole:.2f} s, {whole / half:.2f} times that of half of the rows")


if __name__ == "__main__":
    main()
