"""Event streams of the benchmark: real ones from a folder of Parquet files, else look-alikes; more or fewer events."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.data import generator
from benchmarks.trends.generate import generated
from benchmarks.trends.workload import SECOND

if TYPE_CHECKING:
    from pathlib import Path

_READ = {
    "activity": ["subject", "tstamp", "posture", "heart_rate"],
    "flights": ["tstamp", "event_type", "carrier", "tailnum", "distance", "air_time"],
    "nasdaq": ["ticker", "tstamp", "close"],
}
_SERIES = {"activity": "subject", "flights": "tailnum", "nasdaq": "ticker", "cluster": "mapper"}


def is_real(name: str, folder: Path) -> bool:
    """Whether the folder has the data set."""
    return (folder / f"{name}.parquet").exists()


@lru_cache(maxsize=4)
def load(name: str, folder: Path, share: int = 1) -> pa.Table:
    """A data set in order of time, texts dictionary-encoded; of its series only one in `share`."""
    table = _read(name, folder) if is_real(name, folder) else generated(name)
    if share > 1:
        codes = table.column(_SERIES[name]).combine_chunks()
        codes = codes if isinstance(codes, pa.DictionaryArray) else codes.dictionary_encode()
        table = table.filter(pa.array(codes.indices.to_numpy() % share == 0)).combine_chunks()
    return table


def _read(name: str, folder: Path) -> pa.Table:
    table = pq.read_table(folder / f"{name}.parquet", columns=_READ[name])
    if name == "nasdaq":
        table = table.append_column("sector", pc.utf8_slice_codeunits(table.column("ticker"), 0, 1))
    if name == "flights":
        table = _without_ties(table.filter(table.column("tailnum").is_valid()))
    for place, column in enumerate(table.schema):
        if pa.types.is_string(column.type):
            table = table.set_column(place, column.name, table.column(column.name).dictionary_encode())
    return table.unify_dictionaries().combine_chunks()


def _without_ties(table: pa.Table) -> pa.Table:
    """Without flights of an aircraft in the minute of another: what we compare with takes events to have an order."""
    aircraft = table.column("tailnum").combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    minutes = table.column("tstamp").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    _, first = np.unique(minutes * (aircraft.max() + 1) + aircraft, return_index=True)
    return table.take(pa.array(np.sort(first)))


def events(name: str, folder: Path, n_events: int) -> pa.Table:
    """So many events of a data set: drawn from all of it, or all of it several times, one after the other."""
    table = load(name, folder)
    n_rows = table.num_rows
    if n_events <= n_rows:
        drawn = generator(n_events).choice(n_rows, n_events, replace=False)
        return table.take(pa.array(np.sort(drawn))).combine_chunks()
    rows = np.arange(n_events) % n_rows
    place = table.column_names.index("tstamp")
    times = table.column("tstamp").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    later = times[rows] + np.arange(n_events) // n_rows * (times[-1] - times[0] + 60 * SECOND)
    columns = [
        pa.array(later).cast(pa.timestamp("us")) if number == place else column.combine_chunks().take(pa.array(rows))
        for number, column in enumerate(table.columns)
    ]
    return pa.table(columns, names=table.column_names)


def in_parts(flights: pa.Table, n_parts: int) -> pa.Table:
    """Flights with the column `part`, into which aircraft are put by turns; those of a minute microseconds apart."""
    aircraft = flights.column("tailnum").combine_chunks().indices.to_numpy()
    times = flights.column("tstamp").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    apart = np.arange(len(times)) - np.searchsorted(times, times)
    place = flights.column_names.index("tstamp")
    return flights.set_column(place, "tstamp", pa.array(times + apart).cast(pa.timestamp("us"))).append_column(
        "part", pa.array(aircraft % n_parts)
    )


def typed_events(n_events: int) -> pa.Table:
    """(ts, kind): random A, B and C, one per tick, types dictionary-encoded."""
    codes = generator(14).integers(0, 3, n_events, dtype=np.int32)
    kinds = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["A", "B", "C"]))
    return pa.table({"ts": np.arange(n_events), "kind": kinds})


def one_company(n_events: int) -> pa.Table:
    """(tstamp, close): the ticks of one company, a random walk in cents."""
    steps = generator(15).integers(-30, 31, n_events)
    return pa.table({"tstamp": np.arange(n_events), "close": (1_000_000 + np.cumsum(steps)) / 100})


def selective_factor(bars: pa.Table, selectivity: float) -> float:
    """The f for which `close > later close * f` holds for such a share of pairs of a company's bars, by a sample."""
    random = generator(16)
    company = bars.column("ticker").combine_chunks().indices.to_numpy()
    order = np.argsort(company, kind="stable")
    company, close = company[order], bars.column("close").to_numpy()[order]
    earlier = random.integers(0, len(close), 200_000)
    end = np.searchsorted(company, company[earlier], side="right")
    later = earlier + 1 + (random.random(len(earlier)) * (end - earlier - 1)).astype(np.int64)
    is_pair = later < end
    ratios = close[earlier[is_pair]] / close[later[is_pair]]
    return float(np.round(np.quantile(ratios, 1 - selectivity), 6))
