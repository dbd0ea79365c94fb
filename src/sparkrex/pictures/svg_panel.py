"""One panel as SVG: axes, bands, the line, and the rows of matches on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.pictures import layout as geometry
from sparkrex.pictures.downsampling import kept_points, merged_bands
from sparkrex.pictures.layout import far_pixels, fits, pixels, shortened, text_width
from sparkrex.pictures.palette import stroke_class, variable_class
from sparkrex.pictures.picture import Style
from sparkrex.pictures.svg_lanes import draw_boxes, draw_lanes
from sparkrex.pictures.svg_paths import LEAST_BAND, marks_alone, points_alone, polyline, strokes, text_of
from sparkrex.pictures.ticks import ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.pictures.layout import Place
    from sparkrex.pictures.picture import Panel, Picture


NO_VALUE = 11
"""Where rows without a y axis stand above the end of the plot: below the numbers of their matches."""
FEW = 80
"""Rows that no line joins and that are dots; more are strokes, which keep apart."""


@dataclass(frozen=True, eq=False, slots=True)
class PanelDrawing:
    picture: Picture
    panel: Panel
    place: Place

    def parts(self) -> Iterator[str]:
        """From the back to the front."""
        panel, place = self.panel, self.place
        if panel.title:
            # In diffs a match that moved is there twice, and in trend queries there are none.
            is_counted = panel.boxes is None and len(self.picture.kinds) == 1
            found = f"\u00a0· {panel.n_matches:,} match{'' if panel.n_matches == 1 else 'es'}" if is_counted else ""
            yield (
                f'<text class="p" x="{geometry.LEFT}" y="{place.top + 13:.0f}">{text_of(shortened(panel.title, 700))}'
                f'<tspan class="n" font-weight="400">{found}</tspan></text>'
            )
        yield from self._x_axis()
        yield from self._y_axis()
        yield from self._bands()
        # Lines may lead to rows beyond a range; an inner picture cuts them off.
        left, top, width = geometry.LEFT - 4, place.plot_top - 4, geometry.PLOT_RIGHT - geometry.LEFT + 8
        box = f"{left} {top:.1f} {width} {place.plot_bottom - top + 4:.1f}"
        yield (
            f'<svg x="{left}" y="{top:.1f}" width="{width}" height="{place.plot_bottom - top + 4:.1f}" viewBox="{box}">'
        )
        yield from self._series()
        yield from self._marks()
        yield "</svg>"
        yield from draw_lanes(self.picture, panel, place)
        yield from draw_boxes(self.picture, panel, place)

    def _range(self) -> tuple[float, float]:
        """What the y axis shows: all values, and some room."""
        if self.picture.y is not None and self.picture.y.categories:
            return -0.5, len(self.picture.y.categories) - 0.5
        picture, panel = self.picture, self.panel
        inside = (panel.x >= picture.low) & (panel.x <= picture.high)
        known = panel.y[np.isfinite(panel.y) & inside]
        if not len(known):
            return 0.0, 1.0
        low, high = float(known.min()), float(known.max())
        room = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
        return low - room, high + room

    def _up(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = self._range()
        top, bottom = self.place.plot_top, self.place.plot_bottom
        if self.picture.y is None:
            return np.full(len(y), bottom - NO_VALUE)
        return bottom - (y - low) / (high - low) * (bottom - top)

    def _x_axis(self) -> Iterator[str]:
        picture, place = self.picture, self.place
        most = int((geometry.PLOT_RIGHT - geometry.LEFT) / 84)
        reached = -np.inf
        name = shortened(picture.x.name, 200) + " →"
        for tick in ticks(picture.x, picture.low, picture.high, most):
            x = float(pixels(self.picture, tick.at))
            yield f'<path class="g" d="M{x:.1f} {place.plot_top:.0f}V{place.axis:.0f}"/>'
            half = max(text_width(tick.text), text_width(tick.below)) / 2
            if x - half < reached or x + half > geometry.WIDTH:
                continue
            reached = x + half + 8
            yield f'<text class="n m" x="{x:.1f}" y="{place.axis + 13:.0f}">{text_of(tick.text)}</text>'
            if tick.below and x + half + 8 < geometry.PLOT_RIGHT - text_width(name):
                yield f'<text class="n m" x="{x:.1f}" y="{place.axis + 25:.0f}">{text_of(tick.below)}</text>'
        yield f'<path class="f" d="M{geometry.LEFT} {place.axis:.1f}H{geometry.PLOT_RIGHT}"/>'
        yield (
            f'<text class="n e" x="{geometry.PLOT_RIGHT}" y="{place.axis + 25:.0f}">'
            f"{text_of(name)}</text>"
        )

    def _y_axis(self) -> Iterator[str]:
        place, axis = self.place, self.picture.y
        if axis is None:
            return
        low, high = self._range()
        most = 12 if axis.categories else int((place.plot_bottom - place.plot_top) / 30)
        for tick in ticks(axis, low, high, most):
            y = float(self._up(np.array([tick.at]))[0])
            yield f'<path class="g" d="M{geometry.LEFT} {y:.1f}H{geometry.PLOT_RIGHT}"/>'
            yield (
                f'<text class="n e" x="{geometry.LEFT - 6}" y="{y + 4:.1f}">{text_of(shortened(tick.text, 64))}</text>'
            )
        middle = (place.plot_top + place.plot_bottom) / 2
        yield (
            f'<text class="n m" transform="translate(13 {middle:.0f}) rotate(-90)">'
            f"{text_of(shortened(axis.name, place.plot_bottom - place.plot_top))}</text>"
        )

    def _bands(self) -> Iterator[str]:
        """Where matches are, a column of colour; those that touch are one. Their numbers stand above, if there is room.
        """
        bands, place = self.panel.bands, self.place
        left, right = pixels(self.picture, bands.first), pixels(self.picture, bands.last)
        height = place.plot_bottom - place.plot_top
        for kind in np.unique(bands.kind).tolist():
            own = np.flatnonzero(bands.kind == kind)
            groups = merged_bands(left[own], right[own], LEAST_BAND)
            begins = np.flatnonzero(np.diff(groups, prepend=-1))
            for low, high in zip(
                left[own][begins].tolist(), np.maximum.reduceat(right[own], begins).tolist(), strict=True
            ):
                yield (
                    f'<rect class="b k{kind}" x="{low:.1f}" y="{place.plot_top:.1f}" width="{max(high - low, 1):.1f}" '
                    f'height="{height:.1f}"/>'
                )
        reached = -np.inf
        for low, high, text in zip(left.tolist(), right.tolist(), bands.texts, strict=True):
            if text and low >= reached and fits(text, high - low):
                yield f'<text class="n" x="{low + 3:.1f}" y="{place.plot_top + 11:.1f}">{text_of(text)}</text>'
                reached = low + text_width(text) + 8

    def _series(self) -> Iterator[str]:
        panel = self.panel
        kept = kept_points(panel.x, panel.y, self.picture.low, self.picture.high, geometry.WIDTH - geometry.LEFT)
        x, y = far_pixels(self.picture, panel.x[kept]), self._up(panel.y[kept])
        if not self.picture.is_line:
            places = np.unique(np.round(np.column_stack((x, y))[np.isfinite(y)], 1), axis=0)
            if len(places) <= FEW:
                yield "".join(f'<circle class="c" cx="{at:.1f}" cy="{up:.1f}" r="2"/>' for at, up in places.tolist())
                return
            shapes = "".join(f"M{at:.1f} {up - 3:.1f}v6" for at, up in places.tolist())
            yield f'<path class="l" d="{shapes}"/>'
            return
        yield f'<path class="l" d="{polyline(x, y)}"/>'
        alone = points_alone(y)
        yield "".join(f'<circle class="c" cx="{x[at]:.1f}" cy="{y[at]:.1f}" r="1.2"/>' for at in alone.tolist())

    def _marks(self) -> Iterator[str]:
        """The rows of matches: coloured pieces of the line, dots where rows are far enough from each other."""
        marks, panel = self.panel.marks, self.panel
        if not len(marks):
            return
        x, y = far_pixels(self.picture, panel.x[marks.point]), self._up(panel.y[marks.point])
        is_sparse = self.picture.style is Style.SPARSE
        inside = (panel.x[marks.point] >= self.picture.low) & (panel.x[marks.point] <= self.picture.high)
        drawn = np.append(-1, np.arange(len(marks) - 1))
        joined = marks.joins & np.isfinite(y) & np.isfinite(y[drawn]) & (inside | inside[drawn])
        if is_sparse:
            # From event to event, behind their dots.
            lines = "".join(
                f"M{x[at - 1]:.1f} {y[at - 1]:.1f}L{x[at]:.1f} {y[at]:.1f}" for at in np.flatnonzero(joined).tolist()
            )
            yield f'<path class="t ks0" d="{lines}"/>' if lines else ""
        else:
            for number in np.unique(marks.variable[joined]).tolist():
                own = np.flatnonzero(joined & (marks.variable == number))
                yield f'<path class="r {stroke_class(number)}" d="{strokes(x, y, own)}"/>'
        spacing = (x.max() - x.min()) / max(len(marks), 1) if len(marks) > 1 else 99.0
        gaps = np.abs(np.diff(x))[marks.joins[1:]]
        gap = float(np.median(gaps)) if len(gaps) else float(spacing)
        if is_sparse or gap >= 4 or not joined.any():
            radius = 3.2 if is_sparse or gap >= 9 else 2.0
            shown = np.flatnonzero(np.isfinite(y) & inside)
        else:
            radius, shown = 2.0, marks_alone(marks.joins, np.isfinite(y) & inside)
        seen = set()
        for at in shown.tolist():
            spot = (round(float(x[at]), 1), round(float(y[at]), 1), int(marks.variable[at]))
            if spot not in seen:
                seen.add(spot)
                yield f'<circle class="o {variable_class(spot[2])}" cx="{spot[0]}" cy="{spot[1]}" r="{radius}"/>'
