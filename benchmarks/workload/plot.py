"""The figures as a picture: gains over the base in plan cost and in throughput, one line of plots per figure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import matplotlib

from benchmarks.workload.adaptive import ADAPTIVE, STATIC
from benchmarks.workload.gains import Gains

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.workload.adaptive import Adapted
    from benchmarks.workload.figures import Figure

TITLES = {"plan cost": Gains.cost_gain, "throughput": Gains.throughput_gain}
MARKERS = "os^vPXD*<>h"


def draw_figures(
    path: Path, figures: Sequence[Figure], adapted: Mapping[str, Mapping[int, Sequence[Adapted]]]
) -> None:
    """Medians of all workloads; gains on a logarithmic scale."""
    matplotlib.use("agg")
    from matplotlib import pyplot

    n_lines = len(figures) + len(adapted)
    picture, axes = pyplot.subplots(n_lines, 2, figsize=(12, 3 * n_lines), layout="constrained", squeeze=False)
    for figure, line in zip(figures, axes, strict=False):
        for (title, gain), plot in zip(TITLES.items(), line, strict=True):
            for place, method in enumerate(figure.methods):
                y = [median(gain(one, method) for one in found) for found in figure.points.values()]
                plot.plot(list(figure.points), y, marker=MARKERS[place % len(MARKERS)], markersize=4, label=method)
            plot.set_yscale("log")
            plot.set_xlabel(figure.axis, fontsize=8)
            plot.set_title(f"{figure.title}\n{figure.data}: gain in {title}", fontsize=9)
            plot.grid(alpha=0.3)
        line[0].legend(fontsize=6)
    for (name, by_rate), line in zip(adapted.items(), axes[len(figures) :], strict=True):
        for run in (STATIC, ADAPTIVE):
            y = [median(one.gain(run) for one in found) for found in by_rate.values()]
            line[1].plot(list(by_rate), y, marker="o", markersize=4, label=run)
        line[1].set_xscale("log")
        line[1].set_xlabel("events between changes", fontsize=8)
        line[1].set_title(f"Figure 13: changing rates\n{name}: gain in throughput", fontsize=9)
        line[1].legend(fontsize=6)
        line[1].grid(alpha=0.3)
        line[0].set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=90)
    pyplot.close(picture)
