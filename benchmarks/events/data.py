"""Seeded event streams: stock ticks as in the paper's section 6, and shipments of goods with alerts about sites."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from benchmarks.data import EPOCH, generator

N_SYMBOLS = 2
FIRST_PRICE = 250
"""Half way between two prices that start a match."""


@lru_cache(maxsize=4)
def stocks(n_per_symbol: int, rising: float) -> pa.Table:
    """(ts, symbol, price, volume): symbols in random turns, each a walk of whole steps that is never clipped.

    A price rises with the probability `rising`; it falls or stays with half of what is left each. So over a long time
    one event in 500 has a price that is a multiple of 500, whatever the probability.
    """
    random = generator(round(1000 * rising))
    n_rows = N_SYMBOLS * n_per_symbol
    symbol = random.permutation(np.repeat(np.arange(1, N_SYMBOLS + 1), n_per_symbol))
    drawn = random.random(n_rows)
    steps = np.where(drawn < rising, 1, np.where(drawn < (1 + rising) / 2, -1, 0))
    price = np.empty(n_rows, np.int64)
    for one in range(1, N_SYMBOLS + 1):
        price[symbol == one] = FIRST_PRICE + np.cumsum(steps[symbol == one])
    return pa.table({
        "ts": np.arange(n_rows), "symbol": symbol, "price": price, "volume": random.integers(1, 1001, n_rows),
    })


N_REGIONS, SITES_OF_REGION = 50, 4
WINDOW_HOURS = 3
ONWARD = 0.8
"""Expected shipments from a site within the window."""
OTHER_ALERTS = 0.1
"""So many alerts, as a share of the contaminated ones, are of another type."""
_WINDOW = WINDOW_HOURS * 3_600_000_000


@lru_cache(maxsize=1)
def shipments(n_shipments: int, n_alerts: int) -> pa.Table:
    """(id, ts, region, kind, type, site, from, to): shipments between sites of a region, alerts about sites, in order.

    All times are uniform over a period in which every site sends `ONWARD` shipments in a window on average, and all
    sites of a region are alike. So a contaminated alert has `ONWARD` ^ k / k! chains of k shipments on average.
    """
    random = generator(2)
    n_other = round(OTHER_ALERTS * n_alerts)
    n_rows = n_shipments + n_alerts + n_other
    period = round(_WINDOW * n_shipments / (N_REGIONS * SITES_OF_REGION) / ONWARD)
    is_alert = np.arange(n_rows) >= n_shipments
    is_other = np.arange(n_rows) >= n_shipments + n_alerts
    region = random.integers(0, N_REGIONS, n_rows)
    site = random.integers(0, SITES_OF_REGION, n_rows)
    to = (site + random.integers(1, SITES_OF_REGION, n_rows)) % SITES_OF_REGION
    ts = EPOCH + random.integers(0, period, n_rows)
    order = np.argsort(ts, kind="stable")
    is_alert, is_other = is_alert[order], is_other[order]
    first_site = (region * SITES_OF_REGION)[order]
    here, there = first_site + site[order], first_site + to[order]
    return pa.table({
        "id": np.arange(n_rows), "ts": pa.array(ts[order], pa.timestamp("us")), "region": region[order],
        "kind": _named(is_alert.astype(np.int32), ["Shipment", "Alert"]),
        "type": _named(is_other.astype(np.int32), ["contaminated", "temperature"], ~is_alert),
        "site": pa.array(here, mask=~is_alert), "from": pa.array(here, mask=is_alert),
        "to": pa.array(there, mask=is_alert),
    })


def _named(
    codes: np.ndarray[tuple[int], np.dtype[np.int32]], names: list[str],
    is_null: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None,
) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=is_null), pa.array(names)).cast(pa.string())
