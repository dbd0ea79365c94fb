"""`make demo`: two MATCH_RECOGNIZE queries over 300,000 generated prices on Spark, their results and a picture of them.

    python -m examples.demo [--memory] [--out out]

The prices hold planted shapes, so the answer is known: a V (a long fall, then a long climb) and a W (a double bottom).
Results go to Parquet and the picture to a PNG below `out/`. With --memory the same queries run without Spark.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SEED = 7
N_SYMBOLS = 60
TICKS_PER_SYMBOL = 5_000
SHAPES = ("V", "W", "V")
OPENING = np.datetime64("2026-11-02T09:30:00", "us")

# A statement: the clause finds falls and climbs of at least six ticks, the SQL around it keeps the deep ones.
V_SHAPES = """
SELECT symbol, fell_at, bottom_at, back_at, low, round(100 * (top - low) / top, 1) AS drop_percent
FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  MEASURES
    STRT.ts         AS fell_at,
    LAST(DOWN.ts)   AS bottom_at,
    LAST(UP.ts)     AS back_at,
    STRT.price      AS top,
    MIN(DOWN.price) AS low
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST UP
  PATTERN (STRT DOWN{6,} UP{6,})
  DEFINE
    DOWN AS price < PREV(price),
    UP   AS price > PREV(price))
WHERE (top - low) / top > 0.02
"""

# The clause alone, for DataFrame.transform: every row of a W with its part in it. The second bottom must come within
# one percent of the first, which only the match so far can tell.
DOUBLE_BOTTOMS = """
  PARTITION BY symbol
  ORDER BY ts
  MEASURES
    MATCH_NUMBER() AS w,
    CLASSIFIER()   AS part
  ALL ROWS PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (STRT FALL{6,} RISE{6,} FALL_AGAIN{6,} LEVEL RISE_AGAIN{5,})
  DEFINE
    FALL       AS price < PREV(price),
    RISE       AS price > PREV(price),
    FALL_AGAIN AS price < PREV(price),
    LEVEL      AS price > PREV(price) AND abs(LAST(FALL_AGAIN.price) / LAST(FALL.price) - 1) < 0.01,
    RISE_AGAIN AS price > PREV(price)
"""


@dataclass(frozen=True)
class Planted:
    """A shape set into the prices of a symbol, and when it is at its (last) bottom."""

    symbol: str
    kind: str
    bottom: datetime


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.demo")
    parser.add_argument("--memory", action="store_true", help="run in memory, without Spark")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for results (default: out)")
    arguments = parser.parse_args()
    folder = arguments.out / ("memory" if arguments.memory else "spark")
    folder.mkdir(parents=True, exist_ok=True)

    table, planted = make_ticks()
    names = ("ticks.parquet", "v_shapes.parquet", "double_bottoms.parquet")
    ticks, v_shapes, double_bottoms = (folder / name for name in names)
    pq.write_table(table, ticks)
    print(f"{table.num_rows:,} ticks of {N_SYMBOLS} symbols, {len(planted)} shapes planted: {ticks}")
    if arguments.memory:
        run_in_memory(ticks, v_shapes, double_bottoms)
    else:
        run_on_spark(ticks, v_shapes, double_bottoms, folder)

    title = "V shapes, by rex.sql (each half of a W is one, too)"
    is_right = report(title, V_SHAPES, v_shapes, "bottom_at", bottoms(planted, "V"))
    is_right &= report("Double bottoms, by rex.match", DOUBLE_BOTTOMS, double_bottoms, "ts", bottoms(planted, "W"))
    picture = folder / "matches.png"
    draw(table, pq.read_table(v_shapes), pq.read_table(double_bottoms), picture)
    print(f"\nResults: {v_shapes}\n         {double_bottoms}\nPicture: {picture}")
    return 0 if is_right else 1


def run_on_spark(ticks: Path, v_shapes: Path, double_bottoms: Path, folder: Path) -> None:
    """Both queries on a local Spark: DataFrames in, lazy DataFrames out, written by Spark."""
    with timed("Spark started"):
        spark = start_spark(folder)
    try:
        frame = spark.read.parquet(str(ticks))
        with timed("V shapes found and written (the first query ever compiles its kernels)"):
            rex.sql(V_SHAPES, ticks=frame).write.mode("overwrite").parquet(str(v_shapes))
        with timed("double bottoms found and written"):
            frame.transform(rex.match(DOUBLE_BOTTOMS)).write.mode("overwrite").parquet(str(double_bottoms))
    finally:
        spark.stop()


def run_in_memory(ticks: Path, v_shapes: Path, double_bottoms: Path) -> None:
    """The same queries without Spark: a path in, pyarrow tables out."""
    with timed("V shapes found and written"):
        pq.write_table(rex.sql(V_SHAPES, ticks=ticks), v_shapes)
    with timed("double bottoms found and written"):
        pq.write_table(rex.match(DOUBLE_BOTTOMS)(ticks), double_bottoms)


def start_spark(folder: Path) -> SparkSession:
    """A session of this process alone; what Java prints goes to a log in the folder."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2]").appName("SparkRex demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str((folder / "warehouse").absolute()))
    )
    # Java inherits standard error when it starts, and keeps it.
    own = os.dup(2)
    with (folder / "spark.log").open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        return builder.getOrCreate()
    finally:
        os.dup2(own, 2)
        os.close(own)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took."""
    start = time.perf_counter()
    yield
    print(f"{what} in {time.perf_counter() - start:.1f} s")


def make_ticks() -> tuple[pa.Table, list[Planted]]:
    """The ticks of all symbols in time order, the same on every machine, and the shapes planted in them."""
    random = np.random.default_rng(SEED)
    parts, planted = [], []
    for number in range(N_SYMBOLS):
        symbol = f"{'ABCDEFGHIJKLMNOPQRST'[number // 3]}{'XYZ'[number % 3]}"
        step = np.sort(random.choice(6 * 3_600_000_000, TICKS_PER_SYMBOL, replace=False))
        ts = OPENING + step.astype("timedelta64[us]")
        # A slow walk under a quick jitter: the price hardly ever moves six times in a row in one direction.
        walk = np.cumsum(random.normal(0.0, 0.0004, TICKS_PER_SYMBOL))
        price = random.uniform(20.0, 400.0) * np.exp(walk + random.uniform(-0.003, 0.003, TICKS_PER_SYMBOL))
        part = TICKS_PER_SYMBOL // len(SHAPES)
        for place, kind in enumerate(SHAPES):
            shape = make_shape(random, kind)
            start = place * part + int(random.integers(20, part - len(shape) - 20))
            price[start : start + len(shape)] = price[start] * shape
            bottom = start + int(np.flatnonzero(shape == shape.min())[-1])
            planted.append(Planted(symbol, kind, ts[bottom].item()))
        parts.append(pa.table({"symbol": [symbol] * TICKS_PER_SYMBOL, "ts": ts, "price": np.round(price, 4)}))
    return pa.concat_tables(parts).sort_by("ts"), planted


def make_shape(random: np.random.Generator, kind: str) -> np.ndarray[Any, Any]:
    """Prices of a shape, relative to its first: straight legs of 8 to 16 ticks, 3 to 6 percent deep."""
    depth = random.uniform(0.03, 0.06)
    turns = {"V": [0.0, -depth, 0.0], "W": [0.0, -depth, -depth / 2, -depth, 0.0]}[kind]
    legs = [
        np.linspace(high, low, int(random.integers(8, 17)), endpoint=False)
        for high, low in itertools.pairwise(turns)
    ]
    return 1.0 + np.concatenate([*legs, [turns[-1]]])


def bottoms(planted: list[Planted], kind: str) -> set[tuple[str, datetime]]:
    """Where the shapes of one kind are at their bottoms."""
    return {(shape.symbol, shape.bottom) for shape in planted if shape.kind == kind}


def report(title: str, query: str, path: Path, time_column: str, planted: set[tuple[str, datetime]]) -> bool:
    """Print a query, how its result begins, and whether every planted bottom is in it."""
    found = pq.read_table(path).sort_by([("symbol", "ascending"), (time_column, "ascending")])
    hits = planted & set(zip(found["symbol"].to_pylist(), found[time_column].to_pylist(), strict=True))
    print(f"\n{title}\n{query}\n{aligned(found.slice(0, 6))}\n... {found.num_rows:,} rows in all")
    print(f"{len(hits)} of the {len(planted)} planted shapes are among them.")
    return hits == planted


def aligned(table: pa.Table) -> str:
    """A table as text: numbers to the right, everything else to the left."""
    columns = [[name, *map(shown, table[name].to_pylist())] for name in table.column_names]
    right = [any(isinstance(value, int | float) for value in table[name].to_pylist()) for name in table.column_names]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in zip(*columns, strict=True)
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def shown(value: Any) -> str:
    """One value as text."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return f"{value:%H:%M:%S}"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def draw(ticks: pa.Table, v_shapes: pa.Table, double_bottoms: pa.Table, path: Path) -> None:
    """The price of one symbol with the matches on it, and below one V and one W from near."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import dates, pyplot

    symbol = "DY"
    price, falls, rows = (
        table.filter(pc.equal(table["symbol"], symbol)).sort_by(column).to_pylist()
        for table, column in ((ticks, "ts"), (v_shapes, "fell_at"), (double_bottoms, "ts"))
    )
    part_of = {row["ts"]: row["part"] for row in rows}
    ws = [list(group) for _, group in itertools.groupby(rows, lambda row: row["w"])]
    # Each half of a W is a V as well; the picture shows it once.
    vs = [between(price, v["fell_at"], v["back_at"]) for v in falls if v["bottom_at"] not in part_of]

    figure, axes = pyplot.subplot_mosaic([["day", "day"], ["V", "W"]], figsize=(12, 7.5), height_ratios=[1.2, 1])
    plot(axes["day"], price, color="0.6", linewidth=0.7)
    for kind, colour, matches in (("V", "tab:orange", vs), ("W", "tab:green", ws)):
        for match in matches:
            plot(axes["day"], match, color=colour, linewidth=2)
            low = min(match, key=lambda row: row["price"])
            axes["day"].annotate(
                kind, (low["ts"], low["price"]), (0, -12), textcoords="offset points", ha="center", color=colour
            )
        times = [row["ts"] for row in price]
        first, last = (times.index(matches[0][end]["ts"]) for end in (0, -1))
        plot(axes[kind], price[max(0, first - 20) : last + 21], color="0.7", linewidth=0.8)
    axes["day"].set_title(f"{symbol}, {len(price):,} ticks: {len(vs)} V shapes and {len(ws)} double bottom")
    axes["day"].margins(x=0.01, y=0.1)
    plot(axes["V"], vs[0], marker="o", markersize=4, color="tab:orange")
    axes["V"].set_title("the first V shape, its rows as dots")
    for part in dict.fromkeys(row["part"] for row in ws[0]):
        own = [row for row in ws[0] if row["part"] == part]
        plot(axes["W"], own, marker="o", markersize=4, linestyle="", label=part)
    axes["W"].set_title("the double bottom, its rows by CLASSIFIER()")
    axes["W"].legend(fontsize="small")
    for name, axis in axes.items():
        locator = dates.HourLocator() if name == "day" else dates.MinuteLocator()  # type: ignore[no-untyped-call]
        axis.xaxis.set_major_locator(locator)
        axis.xaxis.set_major_formatter(dates.DateFormatter("%H:%M"))  # type: ignore[no-untyped-call]
        axis.set_ylabel("price")
        axis.set_xlabel(f"{OPENING.item():%d %B %Y}")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def between(rows: list[dict[str, Any]], first: datetime, last: datetime) -> list[dict[str, Any]]:
    """The rows of a span of time."""
    return [row for row in rows if first <= row["ts"] <= last]


def plot(axis: Any, rows: list[dict[str, Any]], **style: Any) -> None:
    """Prices over time."""
    axis.plot([row["ts"] for row in rows], [row["price"] for row in rows], **style)


if __name__ == "__main__":
    sys.exit(main())
