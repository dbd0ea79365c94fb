"""All cold waves at once, and time and memory over the length of one series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import sparkrex as rex
from benchmarks.memory import peak_of
from benchmarks.segments.templates import cld_wave, limit_sell
from benchmarks.segments.timing import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WAVE = {"fall": 18, "r2": 0.9}
SELL = {"rise": 1.3, "fall": 0.9, "window": 30}
SIZES = (10_000, 100_000, 1_000_000)


@dataclass(frozen=True, slots=True)
class Growth:
    """Seconds and peak MB of a query over one series of each size."""

    query: str
    sizes: tuple[int, ...]
    seconds: list[float]
    megabytes: list[float]
    rows: list[int]


def query(clause: str) -> Callable[[pa.Table], pa.Table]:
    """The whole query, text to table, on one thread."""
    compiled = rex.compile(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", settings={"threads": 1})
    return lambda table: compiled(t=table)


def time_cold_waves(table: pa.Table, repeat: int = 9) -> tuple[list[float], int]:
    """Warm seconds with rewriting, sampling and planning, the query being parsed; and matches."""
    run = query(cld_wave(WAVE))
    run(table)
    measured = [once(lambda: run(table)) for _ in range(repeat)]
    return [seconds for _, seconds in measured], measured[0][0].num_rows


def measure_growth(weather: pa.Table, prices: pa.Table, sizes: tuple[int, ...]) -> Iterator[Growth]:
    """Series are put one behind the other, as one series with a day for each row."""
    for name, clause, table, series in (
        ("cld_wave", cld_wave(WAVE), weather, "city"), ("limit_sell", limit_sell(SELL), prices, "ticker"),
    ):
        run = query(clause)
        run(_one_series(table, series, 2_000))
        growth = Growth(name, sizes, [], [], [])
        for size in sizes:
            long = _one_series(table, series, size)
            again = partial(run, long)
            result, peak = peak_of(again)
            growth.megabytes.append(peak)
            growth.rows.append(result.num_rows)
            growth.seconds.append(median(once(again)[1] for _ in range(3)))
        yield growth


def _one_series(table: pa.Table, series: str, n_rows: int) -> pa.Table:
    rows = np.arange(n_rows) % table.num_rows
    value = next(name for name in table.column_names if name not in (series, "tstamp"))
    days = pa.array(np.arange(n_rows, dtype=np.int32), pa.int32()).cast(pa.date32())
    return pa.table({
        series: pa.array(["one"]).take(pa.array(np.zeros(n_rows, np.int64))), "tstamp": days,
        value: table.column(value).combine_chunks().take(pa.array(rows)),
    })
