"""What a stream keeps of ten million keys that never return, batch by batch.

    python benchmarks/streaming_state.py [--keys N] [--batches N] [--svg FILE]

Every row is the first and last one of its key. A match begins with it and waits ten seconds for another. The query is
run in three ways: plain, so that nothing is kept of a key once its match is decided; with MATCH_NUMBER(), which has to
remember every key; and with that and `partition_gap`, which bounds how long. Of each batch are shown the seconds (with
the batch without data that follows it), the keys that are open or remembered, and the bytes of state. The exit code
says whether every match came that time had decided.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

import sparkrex as rex
from benchmarks.machine import describe_machine
from benchmarks.streams.files import SECOND, WARM_UP, Files, stream_session, times_of
from benchmarks.tables import show

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.streams.files import Batch

QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES A.ts AS a, COUNT(B.x) AS n{} PATTERN (A B?) WITHIN INTERVAL '10' SECOND DEFINE B AS x > A.x)"""
NUMBER = "MATCH_NUMBER()"
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": (QUERY.format(""), {}),
    NUMBER: (QUERY.format(f", {NUMBER} AS m"), {}),
    f"{NUMBER}, partition_gap": (QUERY.format(f", {NUMBER} AS m"), {"partition_gap": "1 minute"}),
}
_LINES = 10


def rows_of_new_keys(first: int, n_rows: int) -> pa.Table:
    """A row for each key."""
    at = first + np.arange(n_rows)
    x = np.random.default_rng(first).random(n_rows)
    return pa.table({"k": at, "ts": pa.array(times_of(at), pa.timestamp("us", "UTC")), "x": x})


def n_decided(n_keys: int) -> int:
    """The matches whose ten seconds have passed at the watermark that all rows leave."""
    times = times_of(np.arange(n_keys))
    watermark = (times[-1] - SECOND) // 1000 * 1000
    return int(np.count_nonzero(times + 10 * SECOND <= watermark + 1))


def lines_of(name: str, batches: Sequence[Batch], n_rows: int) -> list[list[str]]:
    """Some of the batches as lines of a table, the last one among them."""
    step = -(-len(batches) // _LINES)
    return [
        [name, f"{(place + 1) * n_rows:,}", f"{batch.seconds:.2f}", f"{batch.metrics['open_keys']:,}",
         f"{batch.metrics['state_bytes'] / 1e6:.1f}"]
        for place, batch in enumerate(batches) if (len(batches) - 1 - place) % step == 0
    ]


def growth(batches: Sequence[Batch]) -> float:
    """Seconds of the last quarter of all batches by those of the first one, without the first batches."""
    seconds = [batch.seconds for batch in batches[WARM_UP:]]
    quarter = max(len(seconds) // 4, 1)
    return median(seconds[-quarter:]) / median(seconds[:quarter])


def draw(found: Mapping[str, Sequence[Batch]], n_rows: int, path: Path) -> None:
    """Seconds, keys and bytes by the keys that were seen."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    picture, axes = pyplot.subplots(1, 3, figsize=(13, 3.2), layout="constrained")
    plots: tuple[tuple[str, Callable[[Batch], float]], ...] = (
        ("seconds a batch", lambda batch: batch.seconds),
        ("keys open or remembered, millions", lambda batch: batch.metrics["open_keys"] / 1e6),
        ("state, MB", lambda batch: batch.metrics["state_bytes"] / 1e6),
    )
    for (title, value), plot in zip(plots, axes, strict=True):
        for name, batches in found.items():
            seen = [(place + 1) * n_rows / 1e6 for place in range(len(batches))]
            plot.plot(
                seen[WARM_UP:], [value(batch) for batch in batches[WARM_UP:]], marker="o", markersize=3, label=name,
            )
        plot.set_title(title, fontsize=9)
        plot.set_xlabel("keys seen, millions", fontsize=8)
        plot.set_ylim(bottom=0)
        plot.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path)
    pyplot.close(picture)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(prog="python benchmarks/streaming_state.py")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), metavar="WAY")
    parser.add_argument("--svg", type=Path, help="draw them into this file, such as docs/streaming-state.svg")
    options = parser.parse_args(arguments)
    print(describe_machine(), flush=True)
    n_rows = options.keys // options.batches
    spark = stream_session()
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(4 * options.batches))
    folder = Path(tempfile.mkdtemp())
    found: dict[str, Sequence[Batch]] = {}
    lines = [["query", "keys seen", "seconds a batch", "keys kept", "state MB"]]
    is_right = True
    try:
        files = Files(spark, folder, n_rows, options.batches, rows_of_new_keys, options.keys)
        files.write()
        for name in options.ways:
            text, settings = WAYS[name]
            found[name] = batches = files.run(rex.sql(text, ticks=files.stream(), settings=settings))
            last = batches[-1].metrics
            given = sum(batch.metrics["rows_out"] for batch in batches)
            is_right &= given == n_decided(options.batches * n_rows)
            lines += lines_of(name, batches, n_rows)
            print(f"{name}: {last['state_bytes'] / max(last['open_keys'], 1):.0f} bytes for each of "
                  f"{last['open_keys']:,} keys; the last quarter of the batches took {growth(batches):.2f} times the "
                  f"first; {given:,} matches", flush=True)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    show(lines)
    if options.svg:
        draw(found, n_rows, options.svg)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
