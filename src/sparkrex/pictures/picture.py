"""What is drawn, as values: axes, panels, points, matches. Nothing here knows of queries, nor of pixels.

Every array is as small as a page may be: `downsampling` has been there before. A position on the x axis is a double:
of times seconds since `Axis.origin`, which is the beginning of a day, so that microseconds stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Scale(Enum):
    """What the numbers of an axis mean."""

    NUMBER = "number"
    TIME = "time"
    CATEGORY = "category"


@dataclass(frozen=True, slots=True)
class Axis:
    """`origin` is what position 0 means: seconds since 1970 of times, nothing else. `categories` are by position.

    `grain` is the least distance between two values, if there is one: 1 of integers, a day of dates.
    """

    name: str
    scale: Scale = Scale.NUMBER
    origin: int = 0
    categories: tuple[str, ...] = ()
    grain: float = 0.0


class Style(Enum):
    """How the rows of a match hang together."""

    RUNS = "runs"
    """Rows next to each other: pieces of the line."""
    SPARSE = "sparse"
    """Single rows with others between them."""
    OVERLAPPING = "overlapping"
    """Stretches of several variables that may have rows in common: a lane for each variable."""


@dataclass(frozen=True, eq=False, slots=True)
class Bands:
    """Matches, or several that are too near each other to be told apart, in order of `first`.

    Both ends are positions on the x axis. `n_merged` is how many matches a band stands for, `lane` keeps apart those
    that overlap, `kind` is 0 but in diffs (see `Picture.kinds`), and `texts` are what is written on them.
    """

    first: NDArray[np.float64]
    last: NDArray[np.float64]
    n_merged: NDArray[np.int64]
    lane: NDArray[np.int64]
    kind: NDArray[np.int64]
    texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False, slots=True)
class Marks:
    """Rows that a match maps to a variable: `point` counts the points of the panel, `band` its bands.

    `joins` says which follow the mark before in the same match.
    """

    point: NDArray[np.int64]
    variable: NDArray[np.int64]
    band: NDArray[np.int64]
    joins: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.point)


@dataclass(frozen=True, eq=False, slots=True)
class Stretches:
    """What lanes are coloured by: stretches of bands that belong to one variable, by positions on the x axis."""

    band: NDArray[np.int64]
    variable: NDArray[np.int64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.band)


@dataclass(frozen=True, eq=False, slots=True)
class Boxes:
    """Windows with a value each: both ends, the value (NaN: none that can be drawn), and what it is in words.

    `n_windows` is how many there are, if not all are here.
    """

    name: str
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    value: NDArray[np.float64]
    texts: tuple[str, ...]
    n_windows: int

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """One partition. Points are in order of `x`, `y` is NaN where the line has a gap. `n_rows` is how many rows it has.
    """

    title: str
    n_rows: int
    n_matches: int
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    bands: Bands
    marks: Marks
    stretches: Stretches
    boxes: Boxes | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Picture:
    """All panels, which share the x axis and the variables. `notes` say what is left out, in words.

    `kinds` are what bands are of a kind, with a colour each; one kind alone needs no name.
    """

    title: str
    x: Axis
    y: Axis | None
    style: Style
    variables: tuple[str, ...]
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]
    kinds: tuple[str, ...] = ("match",)
    low: float = 0.0
    high: float = 1.0

    @property
    def is_line(self) -> bool:
        """Whether points are joined: values of categories are not."""
        return self.y is not None and self.y.scale is not Scale.CATEGORY
