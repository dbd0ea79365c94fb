"""What is below the line of a panel: lanes of matches with their variables, and windows as boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.pictures import layout as geometry
from sparkrex.pictures.layout import fits, pixels, shortened, text_width
from sparkrex.pictures.palette import variable_class
from sparkrex.pictures.picture import Axis, Style
from sparkrex.pictures.svg_paths import merged_bars, text_of
from sparkrex.pictures.ticks import number_step, number_text, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.pictures.layout import Place
    from sparkrex.pictures.picture import Panel, Picture


def draw_lanes(picture: Picture, panel: Panel, place: Place) -> Iterator[str]:
    """Each match in a lane of its own where several overlap, in the colours of its variables."""
    bands, stretches = panel.bands, panel.stretches
    for number, name in enumerate(place.lane_names):
        yield (
            f'<text class="n e" x="{geometry.LEFT - 6}" y="{place.lane_top(number) + 10:.1f}">'
            f"{text_of(shortened(name, 64))}</text>"
        )
    left, right = pixels(picture, bands.first), pixels(picture, bands.last)
    for lane in range(min(int(bands.lane.max()) + 1 if len(bands) else 0, geometry.MOST_LANES)):
        own = np.flatnonzero(bands.lane == lane)
        for low, high, kind in merged_bars(left[own], right[own], bands.kind[own]):
            yield _bar(f"w k{kind}", low, high, place.lane_top(lane))
    n_match_lanes = len(place.lane_names)
    # Of matches that reach beyond a range, some stretches lie behind its ends.
    is_shown = (stretches.last >= picture.low) & (stretches.first <= picture.high)
    lane_of = np.where((bands.lane[stretches.band] < geometry.MOST_LANES) & is_shown, bands.lane[stretches.band], -1)
    if picture.style is Style.OVERLAPPING:
        n_match_lanes -= len(picture.variables)
        lane_of = np.where(is_shown, n_match_lanes + stretches.variable, -1)
    yield from _stretches(picture, panel, place, lane_of)
    if place.n_hidden_lanes:
        lanes = "lane" if place.n_hidden_lanes == 1 else "lanes"
        yield (
            f'<text class="n" x="{geometry.LEFT}" y="{place.axis - 4:.1f}">'
            f"and {place.n_hidden_lanes:,} more {lanes} of overlapping matches</text>"
        )


def _stretches(picture: Picture, panel: Panel, place: Place, lane_of: NDArray[np.int64]) -> Iterator[str]:
    stretches = panel.stretches
    left, right = pixels(picture, stretches.first), pixels(picture, stretches.last)
    for lane in np.unique(lane_of[lane_of >= 0]).tolist():
        top = place.lane_top(lane)
        own = np.flatnonzero(lane_of == lane)
        own = own[np.argsort(left[own], kind="stable")]
        for number in np.unique(stretches.variable[own]).tolist():
            mine = own[stretches.variable[own] == number]
            for low, high, _ in merged_bars(left[mine], right[mine], np.zeros(len(mine), np.int64)):
                least = 3.0 if picture.style is Style.SPARSE else 1.5
                yield _bar(f"s {variable_class(number)}", low, max(high, low + least), top)
        if picture.style is Style.OVERLAPPING:
            continue  # the lane has the name
        reached = -np.inf
        for at, following in zip(own.tolist(), np.append(own[1:], -1).tolist(), strict=True):
            name = picture.variables[stretches.variable[at]]
            room = right[at] - left[at]
            if picture.style is Style.SPARSE:
                room = (left[following] if following >= 0 else geometry.PLOT_RIGHT) - left[at] - 4
            if left[at] >= reached and fits(name, room):
                yield f'<text x="{left[at] + 3:.1f}" y="{top + 10:.1f}">{text_of(name)}</text>'
                reached = left[at] + text_width(name) + 4


def _bar(kind: str, low: float, high: float, top: float) -> str:
    return (
        f'<rect class="{kind}" x="{low:.1f}" y="{top:.1f}" width="{max(high - low, 1.5):.1f}" '
        f'height="{geometry.LANE}" rx="1.5"/>'
    )


def draw_boxes(picture: Picture, panel: Panel, place: Place) -> Iterator[str]:
    """Windows as boxes as high as their values, with the value on top where there is room."""
    boxes = panel.boxes
    if boxes is None:
        return
    known = boxes.value[np.isfinite(boxes.value)]
    low = min(0.0, float(known.min())) if len(known) else 0.0
    high = max(float(known.max()), low + 1e-300) if len(known) else 1.0
    high = high if high > low else low + 1.0
    bottom, top = place.boxes_bottom, place.boxes_top
    # Counts are whole, and so are their ticks.
    grain = 1.0 if (known == np.floor(known)).all() else 0.0
    for tick in ticks(Axis(boxes.name, grain=grain), low, high, 3):
        y = bottom - (tick.at - low) / (high - low) * (bottom - top)
        yield f'<path class="g" d="M{geometry.LEFT} {y:.1f}H{geometry.PLOT_RIGHT}"/>'
        yield f'<text class="n e" x="{geometry.LEFT - 6}" y="{y + 4:.1f}">{text_of(shortened(tick.text, 56))}</text>'
    yield (
        f'<text class="n m" transform="translate(13 {(top + bottom) / 2:.0f}) rotate(-90)">'
        f"{text_of(shortened(boxes.name, bottom - top))}</text>"
    )
    left, right = pixels(picture, boxes.first), pixels(picture, boxes.last)
    zero = bottom - (0 - low) / (high - low) * (bottom - top)
    step = number_step(low, high, 3)
    reached = -np.inf
    for begin, end, value in zip(left.tolist(), right.tolist(), boxes.value.tolist(), strict=True):
        if end < begin or not np.isfinite(value):
            continue
        y = bottom - (value - low) / (high - low) * (bottom - top)
        yield (
            f'<rect class="w v0" x="{begin:.1f}" y="{min(y, zero):.1f}" width="{max(end - begin, 1):.1f}" '
            f'height="{max(abs(zero - y), 1):.1f}"/>'
            f'<path class="vs0" d="M{begin:.1f} {y:.1f}H{max(end, begin + 1):.1f}"/>'
        )
        text = number_text(value, 1.0 if value == int(value) else step / 10)
        if begin >= reached and fits(text, end - begin):
            yield f'<text x="{begin + 3:.1f}" y="{max(y - 3, top - 3):.1f}">{text_of(text)}</text>'
            reached = begin + text_width(text) + 8
