"""Times of `arrange` by itself: layouts of keys and order, beside np.lexsort over the same keys as integers.

    python -m benchmarks.ordering [--rows 5000000] [--threads 2] [--rounds 7]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.threads import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_MICROSECONDS = 1_800_000_000_000_000


@dataclass(frozen=True)
class Layout:
    """A partition key, as a number and as the column that the query names, and a time, row by row."""

    name: str
    number: NDArray[np.int64]
    column: pa.Array
    ts: NDArray[np.int64]


def layouts(n_rows: int, seed: int = 20261115) -> Iterator[Layout]:
    """The layouts of the goals, and those at the edges: one key, very many, rows in order, wide keys and times."""
    random = np.random.default_rng(seed)
    ts = _MICROSECONDS + np.arange(n_rows) * 1_000
    shuffled = random.permutation(n_rows)
    symbol = random.integers(0, 1_000, n_rows)
    names = pa.array([f"SYM{number:04d}" for number in range(1_000)])
    many = random.integers(0, max(n_rows // 5, 1), n_rows)
    wide = random.integers(-(1 << 62), 1 << 62, 1_000)[symbol]
    one = np.zeros(n_rows, np.int64)
    in_order = np.lexsort((ts, symbol))
    year = _MICROSECONDS + random.integers(0, 365 * 86_400_000_000, n_rows)
    yield Layout("int key, time order", symbol, pa.array(symbol), ts)
    yield Layout("int key, shuffled", symbol[shuffled], pa.array(symbol[shuffled]), ts[shuffled])
    yield Layout("string key, time order", symbol, names.take(pa.array(symbol)), ts)
    yield Layout("string key, shuffled", symbol[shuffled], names.take(pa.array(symbol[shuffled])), ts[shuffled])
    yield Layout("rows / 5 int keys, time order", many, pa.array(many), ts)
    yield Layout("rows / 5 int keys, shuffled", many[shuffled], pa.array(many[shuffled]), ts[shuffled])
    yield Layout("one key, time order", one, pa.array(one), ts)
    yield Layout("one key, shuffled", one, pa.array(one), ts[shuffled])
    yield Layout("by key and time", symbol[in_order], pa.array(symbol[in_order]), ts[in_order])
    yield Layout("string, by key and time", symbol[in_order], names.take(pa.array(symbol[in_order])), ts[in_order])
    yield Layout("64-bit int key, time order", wide, pa.array(wide), ts)
    yield Layout("int key, random time of a year", symbol, pa.array(symbol), year)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--threads", type=int, default=available_threads())
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    print(
        f"{arguments.rows} rows, {arguments.threads} threads, in ms: best and median of {arguments.rounds}; "
        "least CPU time per thread, which a busy machine disturbs less"
    )
    for layout in layouts(arguments.rows):
        key, order = pa.chunked_array([layout.column]), pa.chunked_array([pa.array(layout.ts, pa.timestamp("us"))])

        def ours(key: pa.ChunkedArray = key, order: pa.ChunkedArray = order) -> Any:
            return arrange([key], [SortKey(order, False, True)], len(key), arguments.threads)

        def lexsort(layout: Layout = layout) -> Any:
            return np.lexsort((layout.ts, layout.number))

        ours()
        runs = [timed(ours) for _ in range(arguments.rounds)]
        plain = min(timed(lexsort)[0] for _ in range(2))
        best = min(wall for wall, _ in runs)
        cpu = min(cpu for _, cpu in runs) / arguments.threads
        print(
            f"{layout.name:32} {best:7.1f} {median(wall for wall, _ in runs):7.1f}   cpu {cpu:7.1f}"
            f"   lexsort {plain:7.1f} = {plain / best:5.1f}x", flush=True,
        )


def timed(task: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds of one run: by the clock, and of all threads together."""
    begin, cpu = time.perf_counter(), time.process_time()
    task()
    return (time.perf_counter() - begin) * 1e3, (time.process_time() - cpu) * 1e3


if __name__ == "__main__":
    main()
