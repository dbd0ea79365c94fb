"""Real events: minute bars of stocks and readings of traffic sensors, of some types each.

- stocks: a ticker is a type. The attribute is `diff`, the change of the close since the ticker's bar before. 40 tickers
  are taken, evenly spread over all levels of activity, from a bar in half an hour to one a minute.
- traffic: a sensor is a type; attributes are the average speed and the number of vehicles. All sensors report every
  five minutes, so rates are equal, and none is rare enough for a Kleene. 40 sensors are taken, evenly spread over
  their average speeds.

Both are on a grid of times, so that many events are at the same time: they are ordered by `id`.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.workload.domain import Domain, choose_pool, selectivity
from benchmarks.workload.drawing import Rules
from benchmarks.workload.pattern import Condition, Window
from benchmarks.workload.stream import Stream

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

N_TYPES, POOL_SIZE = 40, 80
LEAST_BARS = 13
FILES = {"stocks": "nasdaq.parquet", "traffic": "aarhus_traffic.parquet"}
LOOSER: dict[str, Any] = {"least_matches": 0.05, "most_matches": 20.0, "independent": False}
"""Comparisons of changes hold for a third of all pairs: with one match in a window next to nothing would be left.
Stocks have one attribute, so conditions have to read it again."""
RULES = {
    "stocks": Rules(window=Window(15), **LOOSER), "traffic": Rules(window=Window(60), **LOOSER)
}
ATTRIBUTES = {"stocks": ("diff",), "traffic": ("avg_speed", "vehicle_count")}
IN_ORDER = {"ties": "order", "tie_break": "id"}


def is_there(name: str, folder: Path) -> bool:
    """Whether the folder has the data set."""
    return (folder / FILES[name]).exists()


def load(name: str, folder: Path, days: int | None = None) -> tuple[Domain, Stream]:
    """The domain and the events of its types; of traffic the first days only."""
    read = {"stocks": _read_stocks, "traffic": _read_traffic}[name]
    table = read(folder / FILES[name], days)
    stream = Stream(table.append_column("id", pa.array(np.arange(table.num_rows))), IN_ORDER)
    return measured_domain(name, stream, RULES[name].window.size), stream


def measured_domain(name: str, stream: Stream, minutes: float) -> Domain:
    """Rates and selectivities as they are in a stream."""
    counts = stream.counts()
    candidates = [
        Condition(left, right, attribute, selectivity(stream, left, right, attribute, minutes))
        for left, right in permutations(counts, 2)
        for attribute in ATTRIBUTES[name]
    ]
    return Domain(
        name, {kind: number / stream.minutes for kind, number in counts.items()}, choose_pool(candidates, POOL_SIZE),
        {kind: number / stream.n_events for kind, number in counts.items()},
    )


def _read_stocks(path: Path, _: int | None) -> pa.Table:
    table = pq.read_table(path, columns=["ticker", "tstamp", "close"])
    tickers = table.column("ticker").combine_chunks().dictionary_encode()
    codes = tickers.indices.to_numpy()
    close = table.column("close").to_numpy()
    order = np.argsort(codes, kind="stable")
    diff = np.full(len(codes), np.nan)
    is_next = np.diff(codes[order], prepend=-1) == 0
    diff[order[is_next]] = np.round(np.diff(close[order], prepend=0.0)[is_next], 4)
    counts = np.bincount(codes)
    by_activity = [code for code in np.argsort(counts, kind="stable").tolist() if counts[code] >= LEAST_BARS]
    kept = np.isin(codes, _spread(by_activity)) & ~np.isnan(diff)
    return _in_order(table.column("tstamp"), tickers.cast(pa.string()), {"diff": pa.array(diff)}, kept)


def _read_traffic(path: Path, days: int | None) -> pa.Table:
    table = pq.read_table(path, columns=["sensor", "tstamp", "avg_speed", "vehicle_count"])
    if days is not None:
        first = pc.min(table.column("tstamp"))
        table = table.filter(pc.less(table.column("tstamp"), pc.add(first, pa.scalar(days * 86_400, pa.duration("s")))))
    sensor = table.column("sensor").to_numpy()
    numbers, codes = np.unique(sensor, return_inverse=True)
    speeds = np.bincount(codes, table.column("avg_speed").to_numpy()) / np.bincount(codes)
    kept = np.isin(codes, _spread(np.argsort(speeds, kind="stable").tolist()))
    names = pa.array([f"S{number}" for number in numbers.tolist()]).take(pa.array(codes))
    attributes = {name: table.column(name) for name in ATTRIBUTES["traffic"]}
    return _in_order(table.column("tstamp"), names, attributes, kept)


def _spread(ranked: list[int]) -> list[int]:
    return [ranked[round(place)] for place in np.linspace(0, len(ranked) - 1, N_TYPES)]


def _in_order(times: Any, kinds: Any, attributes: dict[str, Any], kept: NDArray[np.bool_]) -> pa.Table:
    """The events that are kept, in order of time."""
    table = pa.table({"ts": times.cast(pa.timestamp("us")), "kind": kinds, **attributes}).filter(pa.array(kept))
    table = table.sort_by([("ts", "ascending"), ("kind", "ascending")]).combine_chunks()
    return table.set_column(1, "kind", table.column("kind").dictionary_encode()).unify_dictionaries().combine_chunks()
