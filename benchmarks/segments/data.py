"""The data sets of the templates: real ones from a folder of Parquet files, else look-alikes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.segments.generate import generated

DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
YEAR = 252
_SERIES = {"sp500": "ticker", "covid": "county", "weather": "city", "nasdaq": "ticker"}
_READ = {
    "sp500": ["ticker", "tstamp", "price"], "covid": ["county", "tstamp", "confirmed"],
    "weather": ["city", "tstamp", "temp"], "taxi": ["tstamp", "rides"], "nasdaq": ["ticker", "tstamp", "peak"],
}
FEWER_ROWS = 1_500
"""Of the taxi's only series, if not all series are asked for."""


@cache
def load(name: str, folder: Path | None, n_series: int | None) -> pa.Table:
    """A data set by the name that templates use; `sp500_year` has the last 252 days of each ticker."""
    if name == "sp500_year":
        return _last_rows(load("sp500", folder, n_series), "ticker", YEAR)
    path = folder / f"{name}.parquet" if folder is not None else None
    if path is None or not path.exists():
        return generated(name, n_series)
    table = pq.read_table(path, columns=_READ[name])
    return table if n_series is None else _some_series(table, name, n_series)


def _some_series(table: pa.Table, name: str, n_series: int) -> pa.Table:
    if name not in _SERIES:
        return table.slice(0, FEWER_ROWS)
    names = pc.unique(table.column(_SERIES[name])).to_pylist()
    # Spread over the alphabet; the OpenCEP queries ask for GOOG.
    chosen = names[:: max(1, len(names) // n_series)][:n_series]
    if name == "nasdaq":
        chosen = ["GOOG", *chosen]
    return table.filter(pc.is_in(table.column(_SERIES[name]), pa.array(chosen))).combine_chunks()


def _last_rows(table: pa.Table, series: str, n_rows: int) -> pa.Table:
    """The last rows of every series; series are one after the other."""
    codes = table.column(series).combine_chunks().dictionary_encode().indices.to_numpy()
    ends = np.append(np.flatnonzero(np.diff(codes)), len(codes) - 1)
    end_of_row = np.repeat(ends, np.diff(ends, prepend=-1))
    return table.filter(pa.array(end_of_row - np.arange(len(codes)) < n_rows)).combine_chunks()
