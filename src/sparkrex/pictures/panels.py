"""A panel of one partition: its rows and its matches, few enough for a page.

`Budget` is what one panel may have. Points are chosen by column (see `downsampling`); rows of matches are kept beside
them as long as there is room, so that a match can be looked at from near. Matches beyond the budget are drawn together
with their neighbours, and no longer coloured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.pictures.downsampling import POINTS_PER_COLUMN, kept_points, lanes, merged_bands
from sparkrex.pictures.picture import Bands, Boxes, Marks, Panel, Stretches, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.located import Pieces
    from sparkrex.pictures.positions import Positions

_PAGE_POINTS, _PAGE_MARKS, _PAGE_BANDS, _PAGE_BOXES = 10_000, 7_000, 2_400, 1_800
"""Of all panels of a page; together with what surrounds them they stay below a megabyte."""

_MOST_LETTERS = 100
"""Of what is written on a match."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How many columns, rows of matches, bands and windows one of several panels may have."""

    columns: int
    marks: int
    bands: int
    boxes: int

    @staticmethod
    def share(n_panels: int) -> Budget:
        """Of a page with so many panels."""
        n = max(n_panels, 1)
        return Budget(
            max(_PAGE_POINTS // POINTS_PER_COLUMN // n, 60), max(_PAGE_MARKS // n, 200), max(_PAGE_BANDS // n, 60),
            max(_PAGE_BOXES // n, 60),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Series:
    """Rows in the order of the search, and where they stand. `x` has no NaN; `y` is NaN where there is no value."""

    x: Positions
    y: Positions


@dataclass(frozen=True, eq=False, slots=True)
class Spans:
    """Matches by the positions of their ends, with what is written on each, and its kind (see `Picture.kinds`)."""

    first: Positions
    last: Positions
    texts: Sequence[str]
    kind: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    @staticmethod
    def none() -> Spans:
        """No match."""
        return Spans(np.empty(0), np.empty(0), (), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False, slots=True)
class Made:
    """A panel, how many of its matches are drawn together with others, and whether rows of matches had to go."""

    panel: Panel
    n_merged: int
    lacks_marks: bool

    @property
    def is_thinned(self) -> bool:
        """Whether there are rows without a point."""
        return len(self.panel.x) < self.panel.n_rows


def make_panel(
    title: str, series: Series, spans: Spans, pieces: Pieces, style: Style, domain: tuple[float, float],
    budget: Budget, boxes: Boxes | None = None,
) -> Made:
    """The panel of a partition. Pieces are of matches by their place in `spans`, and of rows of the series."""
    order, rank = _in_order_of_x(series.x)
    x, y = (series.x, series.y) if order is None else (series.x[order], series.y[order])
    kept = kept_points(x, y, *domain, budget.columns)
    bands, band_of = _bands(spans, domain, budget.bands)
    pieces, owner = _of_bands(pieces, band_of, bands)
    rows, piece, is_complete = _rows_of_pieces(pieces, kept if order is None else order[kept], budget.marks)
    at = rows if rank is None else rank[rows]
    points = np.union1d(kept, at)
    band = owner[piece]
    joins = np.zeros(len(rows), np.bool_)
    same = piece[1:] == piece[:-1] if style is Style.OVERLAPPING else band[1:] == band[:-1]
    joins[1:] = same
    marks = Marks(np.searchsorted(points, at), pieces.variable[piece], band, joins)
    panel = Panel(
        title, len(x), len(spans), x[points], y[points], bands, marks,
        _stretches(pieces.begin(budget.marks), owner[: budget.marks], series.x, style), boxes,
    )
    n_merged = int(bands.n_merged[bands.n_merged > 1].sum())
    return Made(panel, n_merged, not is_complete)


def _in_order_of_x(x: Positions) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """The order of rows on the x axis, and the place of each row in it; None if they are in order."""
    if not len(x) or (x[1:] >= x[:-1]).all():
        return None, None
    order = np.argsort(x, kind="stable")
    rank = np.empty(len(x), np.int64)
    rank[order] = np.arange(len(x))
    return order, rank


def _bands(spans: Spans, domain: tuple[float, float], most: int) -> tuple[Bands, NDArray[np.int64]]:
    """The bands, and the band of each match."""
    order = np.lexsort((spans.last, spans.first))
    first, last, kind = spans.first[order], spans.last[order], spans.kind[order]
    group = np.arange(len(spans))
    if len(spans) > most:
        least = (domain[1] - domain[0]) / most
        # Bands of different kinds are never one.
        for one in np.unique(kind).tolist():
            own = np.flatnonzero(kind == one)
            together = merged_bands(first[own], last[own], least)
            begins = np.flatnonzero(np.diff(together, prepend=-1))
            group[own] = own[begins[together]]
    leaders, group = np.unique(group, return_inverse=True)
    low, high = first[leaders], np.full(len(leaders), -np.inf)
    np.maximum.at(high, group, last)
    n_merged = np.bincount(group, minlength=len(leaders)).astype(np.int64)
    texts = tuple(
        spans.texts[order[leader]][:_MOST_LETTERS] if n == 1 else f"{n:,} matches"
        for leader, n in zip(leaders.tolist(), n_merged.tolist(), strict=True)
    )
    band_of = np.empty(len(spans), np.int64)
    band_of[order] = group
    return Bands(low, high, n_merged, lanes(low, high), kind[leaders], texts), band_of


def _of_bands(pieces: Pieces, band_of: NDArray[np.int64], bands: Bands) -> tuple[Pieces, NDArray[np.int64]]:
    """The pieces of matches that are bands of their own, in the order of these, and the band of each."""
    if not len(pieces):
        return pieces, np.empty(0, np.int64)
    band = band_of[pieces.match]
    alone = np.flatnonzero(bands.n_merged[band] == 1)
    chosen = alone[np.argsort(band[alone], kind="stable")]
    return pieces.selected(chosen), band[chosen]


def _rows_of_pieces(
    pieces: Pieces, kept: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Rows to mark and the piece of each: all, or both ends of every piece and what is drawn between them.

    Pieces for which there is no room have none; whether all have some is the third.
    """
    n_pieces = len(pieces)
    pieces = pieces.begin(most)
    lengths = pieces.last - pieces.first + 1
    if n_pieces <= most and int(lengths.sum()) <= most:
        piece = np.repeat(np.arange(len(pieces)), lengths)
        within = np.arange(len(piece)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return pieces.first[piece] + within, piece, True
    kept = np.sort(kept)
    low, high = np.searchsorted(kept, pieces.first, "right"), np.searchsorted(kept, pieces.last, "left")
    between = np.maximum(high - low, 0)
    ends = 1 + (lengths > 1)
    n_shown = int(np.searchsorted(np.cumsum(between + ends), most, "right"))
    rows: list[int] = []
    inner = kept.tolist()  # thousands of short slices: lists are faster than arrays
    for first, last, begin, end in zip(
        pieces.first[:n_shown].tolist(), pieces.last[:n_shown].tolist(), low.tolist(), high.tolist(), strict=False
    ):
        rows.append(first)
        rows += inner[begin:end]
        if last > first:
            rows.append(last)
    return np.array(rows, np.int64), np.repeat(np.arange(n_shown), (between + ends)[:n_shown]), n_shown == n_pieces


def _stretches(pieces: Pieces, band: NDArray[np.int64], x: Positions, style: Style) -> Stretches:
    """Where lanes have which colour. Runs meet halfway between two rows."""
    first, last = x[pieces.first], x[pieces.last]
    if style is Style.RUNS and len(band):
        follows = band[1:] == band[:-1]
        middle = (last[:-1] + first[1:]) / 2
        first[1:][follows], last[:-1][follows] = middle[follows], middle[follows]
    return Stretches(band, pieces.variable, np.minimum(first, last), np.maximum(first, last))
