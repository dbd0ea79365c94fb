"""The figures as a picture: latency, throughput and peak state, one line of plots per figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib

from benchmarks.trends.figures import ALL, COUNTING, Measured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.trends.figures import Figure, Point

LOOKS = dict(zip(ALL, (("C0", "o"), ("C9", "P"), ("C1", "s"), ("C2", "^"), ("C3", "v"), ("C4", "x")), strict=True))
"""Colour and marker of each approach."""


def draw(figures: Sequence[Figure], path: Path) -> None:
    """Logarithmic scales; a line ends where its approach dies."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    picture, axes = pyplot.subplots(
        len(figures), 3, figsize=(13, 2.6 * len(figures)), layout="constrained", squeeze=False
    )
    titles = ("latency, ms", "throughput, M events/s", "peak state, KiB")
    for figure, line in zip(figures, axes, strict=True):
        for place, (title, plot) in enumerate(zip(titles, line, strict=True)):
            for approach, (color, marker) in LOOKS.items():
                measured = ((point, point.measured.get(approach)) for point in figure.points)
                found = [(point.x, _values(point, one)[place]) for point, one in measured if isinstance(one, Measured)]
                if found and (place < 2 or approach != COUNTING):
                    x, y = zip(*found, strict=True)
                    plot.plot(x, y, color=color, marker=marker, markersize=4, label=approach)
            plot.set_yscale("log")
            if figure.axis != "selectivity":
                plot.set_xscale("log")
            plot.set_xlabel(figure.axis, fontsize=8)
            plot.set_title(f"{figure.name}: {title}" + (f"\n{figure.title}" if not place else ""), fontsize=9)
            plot.grid(alpha=0.3)
        line[0].legend(fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=90)
    pyplot.close(picture)


def _values(point: Point, found: Measured) -> tuple[float, float, float]:
    return 1000 * found.seconds, point.n_events / found.seconds / 1e6, max(found.n_bytes, 1) / 1024
