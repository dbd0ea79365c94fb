"""Shapes of SVG from pixels: lines with gaps, strokes, bars that are one where they cannot be told apart; and texts."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
LEAST_BAND = 0.75
"""Pixels: what is narrower, or nearer to the next one, is drawn as one."""


def text_of(value: str) -> str:
    """A text for XML, whatever is in it: characters that XML cannot have are shown as what they are not."""
    return escape(_NOT_XML.sub("\ufffd", value))


def polyline(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """A path through points, with a gap wherever `y` is NaN."""
    parts: list[str] = []
    is_open = False
    last = ""
    for at, up in zip(x.tolist(), y.tolist(), strict=True):
        if up != up:
            is_open = False
            continue
        spot = f"{at:.1f} {up:.1f}"
        if not is_open:
            parts.append(f"M{spot}")
        elif spot != last:
            parts.append(f"L{spot}")
        is_open, last = True, spot
    return "".join(parts)


def strokes(x: NDArray[np.float64], y: NDArray[np.float64], ends: NDArray[np.int64]) -> str:
    """The strokes that end at these marks, each from the mark before."""
    parts: list[str] = []
    before = -2
    for at in ends.tolist():
        if at - 1 != before:
            parts.append(f"M{x[at - 1]:.1f} {y[at - 1]:.1f}")
        parts.append(f"L{x[at]:.1f} {y[at]:.1f}")
        before = at
    return "".join(parts)


def points_alone(y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Points with a gap on both sides, which no line shows."""
    known = np.isfinite(y)
    padded = np.concatenate(([False], known, [False]))
    return np.flatnonzero(known & ~padded[:-2] & ~padded[2:])


def marks_alone(joins: NDArray[np.bool_], shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Marks that no stroke begins or ends at."""
    following = np.append(joins[1:], False)
    return np.flatnonzero(shown & ~joins & ~following)


def merged_bars(
    left: NDArray[np.float64], right: NDArray[np.float64], kind: NDArray[np.int64]
) -> Iterator[tuple[float, float, int]]:
    """Bars, those of one kind that are too near each other as one; wide ones stay apart."""
    begin = end = 0.0
    last: int | None = None
    for low, high, one in zip(left.tolist(), right.tolist(), kind.tolist(), strict=True):
        is_near = last == one and low - end < LEAST_BAND and high - low < 3 and low - begin < 3
        if last is not None and not is_near:
            yield begin, end, last
        if last is None or not is_near:
            begin, last, end = low, one, high
        end = max(end, high)
    if last is not None:
        yield begin, end, last
