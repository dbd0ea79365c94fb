"""The demo's data: prices with planted V shapes and a short click stream. The same on every machine and every run."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

SYMBOLS = ("ACME", "BOLT", "CROW", "DUNE", "ECHO", "FLUX")
TICKS_PER_SYMBOL = 600
V_SHAPES_PER_SYMBOL = 2
OPENING = datetime(2026, 11, 2, 9, 30)


def ticks(seed: int = 7) -> tuple[pa.Table, list[tuple[str, datetime]]]:
    """Ticks of all symbols in time order, and where each planted V begins to fall."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    planted: list[tuple[str, datetime]] = []
    for number, symbol in enumerate(SYMBOLS):
        prices, starts = _prices_with_v_shapes(random, level=40.0 + 25.0 * number)
        times = [OPENING + timedelta(seconds=30 * tick + number) for tick in range(TICKS_PER_SYMBOL)]
        rows += [{"symbol": symbol, "ts": ts, "price": price} for ts, price in zip(times, prices, strict=True)]
        planted += [(symbol, times[start]) for start in starts]
    rows.sort(key=lambda row: row["ts"])
    return pa.Table.from_pylist(rows), planted


def _prices_with_v_shapes(random: np.random.Generator, level: float) -> tuple[list[float], list[int]]:
    """A price that zigzags, so that it never falls twice in a row, but for the V shapes set into it."""
    zigzag = np.where(np.arange(TICKS_PER_SYMBOL) % 2 == 0, 0.0, 0.2) + random.uniform(0.0, 0.05, TICKS_PER_SYMBOL)
    prices = level + zigzag
    starts = []
    part = TICKS_PER_SYMBOL // V_SHAPES_PER_SYMBOL
    for number in range(V_SHAPES_PER_SYMBOL):
        length = int(random.integers(5, 11))
        depth = level * float(random.uniform(0.04, 0.12))
        # An odd row is a peak of the zigzag: the fall starts there and the climb ends at another peak.
        start = number * part + int(random.integers(20, part - 2 * length - 20)) // 2 * 2 + 1
        way = np.concatenate([np.linspace(0.0, depth, length + 1), np.linspace(depth, 0.0, length + 1)[1:]])
        prices[start : start + 2 * length + 1] = prices[start] - way
        starts.append(start + 1)
    return [round(float(price), 2) for price in prices], starts


CLICKS = """
ann  09:00 search    ben  09:01 view      ann  09:02 view      ann  09:03 cart      ben  09:04 cart
ann  09:05 pay       ben  09:06 view      ben  09:07 search    cid  09:08 cart      ben  09:09 leave
cid  09:10 view      cid  09:11 pay       ann  09:20 view      ann  09:21 cart      ann  09:22 leave
dee  09:30 search    dee  09:31 view      dee  09:32 leave     cid  09:40 cart      cid  09:41 leave
"""


def clicks() -> pa.Table:
    """What four visitors of a shop did, in time order."""
    words = CLICKS.split()
    rows = []
    for user, clock, event in zip(words[0::3], words[1::3], words[2::3], strict=True):
        hour, minute = map(int, clock.split(":"))
        rows.append({"visitor": user, "ts": OPENING.replace(hour=hour, minute=minute), "event": event})
    return pa.Table.from_pylist(rows)
