"""What a picture does not show, in words: nothing is left out in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.pictures.panels import Made


@dataclass(frozen=True, slots=True)
class Shown:
    """How much there is: partitions asked for, answers in all and in the panels.

    `is_part` where SQL around the pattern may drop or join what it finds, `has_range` where only a range is drawn.
    """

    n_partitions: int
    n_answers: int
    n_answers_shown: int
    what: str = "matches"
    is_part: bool = False
    has_range: bool = False


def notes_of(made: Sequence[Made], shown: Shown) -> tuple[str, ...]:
    """One sentence each."""
    notes = []
    if not made:
        notes.append("No rows: the table is empty.")
    elif not shown.n_answers_shown and not any(_n_windows(one) for one in made):
        notes.append(f"No {shown.what} {'in this range' if shown.has_range else 'found'}.")
    if shown.n_partitions > len(made):
        notes.append(
            f"{len(made)} of {shown.n_partitions:,} partitions, and {shown.n_partitions - len(made):,} more; "
            "key= chooses, panels= says how many."
        )
    thinned = [one for one in made if one.is_thinned]
    if thinned:
        n_rows, n_points = sum(one.panel.n_rows for one in thinned), sum(len(one.panel.x) for one in thinned)
        notes.append(f"{n_rows:,} rows are drawn as {n_points:,} points with all extremes; between= shows a range.")
    boxes = [one.panel.boxes for one in made if one.panel.boxes is not None]
    if sum(one.n_windows for one in boxes) > sum(map(len, boxes)):
        notes.append(
            f"{sum(map(len, boxes)):,} of {sum(one.n_windows for one in boxes):,} windows are drawn: everywhere those "
            "with the least and the greatest value."
        )
    n_merged = sum(one.n_merged for one in made)
    if n_merged:
        notes.append(f"{n_merged:,} matches are too near each other to be told apart, and drawn together.")
    if any(one.lacks_marks for one in made):
        notes.append("The rows of some matches are not coloured one by one.")
    if shown.is_part:
        notes.append("All matches of the pattern are drawn, before the SQL around it.")
    return tuple(notes)


def _n_windows(one: Made) -> int:
    return 0 if one.panel.boxes is None else len(one.panel.boxes)
