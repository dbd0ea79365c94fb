"""The answer to Query 2 without SparkRex: a loop over alerts that counts chains by the site they have reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
import pyarrow.compute as pc

from benchmarks.events.data import N_REGIONS, SITES_OF_REGION, WINDOW_HOURS

if TYPE_CHECKING:
    import pyarrow as pa

MOST_HOPS = 32
"""Longer chains are not counted; there would be one in 10^40 alerts."""

Answer = tuple[dict[int, int], tuple[int, ...]]
"""The number of chains by their shipments; sums over all of alert, shipments, numbers of shipments, last site."""


def chains_by_hand(stream: pa.Table) -> Answer:
    """All chains of the stream, which is in order of time inside a region."""
    order = np.argsort(stream.column("region").to_numpy(), kind="stable")
    names = ("ts", "region", "site", "from", "to", "id")
    columns = tuple(np.asarray(pc.fill_null(stream.column(name).cast("int64"), -1))[order] for name in names)
    is_start = np.asarray(pc.fill_null(pc.equal(stream.column("type"), "contaminated"), False))[order]
    lengths, sums = _count(columns, is_start, WINDOW_HOURS * 3_600_000_000, N_REGIONS * SITES_OF_REGION)
    return {hops: int(n) for hops, n in enumerate(lengths.tolist()) if n}, tuple(sums.tolist())


@numba.njit(cache=True)
def _count(columns, is_start, window, n_sites):  # type: ignore[no-untyped-def]
    """Chains by number of shipments, and the sums of an Answer. NULLs in columns are -1."""
    ts, region, site, origin, target, number = columns
    lengths = np.zeros(MOST_HOPS, np.int64)
    sums = np.zeros(4, np.int64)
    # Of the chains of an alert that have reached a site: how many, and the sum of the numbers of their shipments.
    n_at = np.zeros((MOST_HOPS, n_sites), np.int64)
    sum_at = np.zeros((MOST_HOPS, n_sites), np.int64)
    for alert in range(ts.shape[0]):
        if not is_start[alert]:
            continue
        n_at[0, site[alert]] = 1
        row = alert + 1
        while row < ts.shape[0] and region[row] == region[alert] and ts[row] - ts[alert] <= window:
            if origin[row] >= 0:
                for hops in range(MOST_HOPS - 1, 0, -1):
                    n = n_at[hops - 1, origin[row]]
                    total = sum_at[hops - 1, origin[row]] + n * number[row]
                    n_at[hops, target[row]] += n
                    sum_at[hops, target[row]] += total
                    lengths[hops] += n
                    sums[0] += n * number[alert]
                    sums[1] += n * hops
                    sums[2] += total
                    sums[3] += n * target[row]
            row += 1
        n_at[0, site[alert]] = 0
        for passed in range(alert + 1, row):
            if origin[passed] >= 0:
                n_at[:, target[passed]] = 0
                sum_at[:, target[passed]] = 0
    return lengths, sums
