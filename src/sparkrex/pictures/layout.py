"""Where things are: how high panels are, and what is beside what. Pixels, and no colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.pictures.picture import Style

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.pictures.picture import Panel, Picture

WIDTH = 960
LEFT, RIGHT = 74, 18
PLOT_RIGHT = WIDTH - RIGHT
LANE, LANE_GAP = 13, 3
BOXES = 84
MOST_LANES = 8
"""Lanes that are drawn; matches that overlap still others are counted."""
_NARROW, _WIDE = frozenset("iljtf.,:;|!'()[]{} I"), frozenset("mwMW@%#")
_TITLE, _LEGEND, _NOTE, _PANEL_TITLE, _HIDDEN, _AXIS, _BETWEEN = 30, 20, 16, 20, 14, 32, 12


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of a panel, from above to below: plot, boxes of windows, lanes, axis."""

    top: float
    plot_top: float
    plot_bottom: float
    boxes_top: float
    boxes_bottom: float
    lanes_top: float
    lane_names: tuple[str, ...]
    n_hidden_lanes: int
    axis: float
    bottom: float

    def lane_top(self, lane: int) -> float:
        """Where a lane begins."""
        return self.lanes_top + lane * (LANE + LANE_GAP)


@dataclass(frozen=True, slots=True)
class Layout:
    """All of a picture."""

    legend: float
    panels: tuple[Place, ...]
    notes: float
    height: float


def lay_out(picture: Picture) -> Layout:
    """Where everything goes, from above to below."""
    has_legend = bool(picture.variables) or len(picture.kinds) > 1
    at = _TITLE + (_LEGEND if has_legend else 0.0) + 4
    places = []
    for panel in picture.panels:
        places.append(_place(picture, panel, at))
        at = places[-1].bottom + _BETWEEN
    height = at + _NOTE * len(picture.notes) + 8
    return Layout(_TITLE + 6, tuple(places), at + 10, height)


def _place(picture: Picture, panel: Panel, top: float) -> Place:
    plot_top = top + (_PANEL_TITLE if panel.title else 4)
    bottom = plot_top + _plot_height(picture)
    boxes_top = boxes_bottom = bottom
    if panel.boxes is not None:
        boxes_top, boxes_bottom = bottom + 16, bottom + 16 + BOXES
    names, n_hidden = lanes_of(picture, panel)
    lanes_top = boxes_bottom + (6 if names else 0)
    axis = lanes_top + len(names) * (LANE + LANE_GAP) + (_HIDDEN if n_hidden else 0)
    return Place(top, plot_top, bottom, boxes_top, boxes_bottom, lanes_top, names, n_hidden, axis, axis + _AXIS)


def _plot_height(picture: Picture) -> float:
    if picture.y is None:
        return 34
    n_panels = len(picture.panels)
    return 290 if n_panels == 1 else 190 if n_panels <= 3 else 130


def lanes_of(picture: Picture, panel: Panel) -> tuple[tuple[str, ...], int]:
    """The lanes of a panel by name: those of matches, then, where variables overlap, one for each; and how many lanes
    of matches there is no room for."""
    n_lanes = int(panel.bands.lane.max()) + 1 if len(panel.bands) else 0
    n_shown = min(n_lanes, MOST_LANES)
    names = ["matches", *[""] * (n_shown - 1)] if n_shown else []
    if picture.style is Style.OVERLAPPING and n_shown:
        names += list(picture.variables)
    return tuple(names), n_lanes - n_shown


def pixels(picture: Picture, x: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """From the left, of positions on the x axis; what is beyond it is at its end."""
    return np.clip(far_pixels(picture, x), LEFT, PLOT_RIGHT)


def far_pixels(picture: Picture, x: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """The same, and what is beyond the axis is where it would be if that went on."""
    share = (np.asarray(x, np.float64) - picture.low) / (picture.high - picture.low)
    found: NDArray[np.float64] = LEFT + share * (PLOT_RIGHT - LEFT)
    return found


def text_width(text: str) -> float:
    """Pixels of a text, about, and rather too many: no font can be asked here."""
    return sum(4.0 if one in _NARROW else 8.6 if one in _WIDE or one.isupper() else 6.9 if one < "\u2e80" else 11.0
               for one in text)


def fits(text: str, width: float) -> bool:
    """Whether a text has room."""
    return text_width(text) + 4 <= width


def shortened(text: str, width: float) -> str:
    """As much of a text as has room."""
    if text_width(text) <= width:
        return text
    length = len(text)
    while length > 1 and text_width(text[:length]) > width - 8:
        length -= 1
    return text[:length] + "…"
