"""A double bottom that was found, and the gain against the length of runs, as a picture."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

from benchmarks.sqlts_search.patterns import DOUBLE_BOTTOM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from benchmarks.sqlts_search.comparing import Compared

AROUND = 10
"""Rows before and behind the match that are shown."""


def draw(
    path: Path, table: pa.Table | None, found: Compared | None, by_length: Mapping[int, Sequence[Compared]],
    wanted: int,
) -> None:
    """What there is of both."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    picture, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.6), layout="constrained")
    if table is not None and found is not None and found.n_matches:
        _draw_match(left, table, found)
    if by_length:
        lengths = list(by_length)
        for place, one in enumerate(next(iter(by_length.values()))):
            right.plot(lengths, [row[place].ratio() for row in by_length.values()], marker="o", label=one.pattern)
        right.axhline(wanted, color="grey", linewidth=0.8, linestyle="--", label=f"{wanted}x")
        right.set_xscale("log")
        right.set_yscale("log")
        right.set_xlabel("length of runs, L")
        right.set_title("tests of the naive search by test of OPS")
        right.grid(alpha=0.3)
        right.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=90)
    pyplot.close(picture)


def _draw_match(plot: Any, table: pa.Table, found: Compared) -> None:
    """The match of a middling length: its elements in colours, named."""
    lengths = found.begins[:, -1] - found.begins[:, 0]
    begins = found.begins[np.argsort(lengths)[len(lengths) // 2]]
    dates, prices = table.column("date").to_numpy(), table.column("price").to_numpy()
    shown = slice(max(0, begins[0] - AROUND), begins[-1] + AROUND)
    plot.plot(dates[shown], prices[shown], color="lightgrey")
    for place, (element, (begin, end)) in enumerate(zip(DOUBLE_BOTTOM.elements, pairwise(begins), strict=True)):
        # From the row before: a condition is about the step that leads to a row.
        rows = slice(max(begin - 1, 0), end)
        name = ("*" if element.is_star else "") + element.name
        plot.plot(
            dates[rows], prices[rows], color=f"C{place}", marker=".", label=f"{name} ({end - begin})"
        )
    plot.set_title(f"{found.pattern}: {dates[begins[0]]} to {dates[begins[-1] - 1]}")
    plot.tick_params(axis="x", labelrotation=30)
    plot.grid(alpha=0.3)
    plot.legend(fontsize=8)
