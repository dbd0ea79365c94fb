"""The picture of a query: its matches on the rows that it searched, partition by partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.matching.located import Located, LocatedWindows, Pieces
from sparkrex.pictures.notes import Shown, notes_of
from sparkrex.pictures.options import choose_x, choose_y
from sparkrex.pictures.panels import Budget, Made, Spans, make_panel
from sparkrex.pictures.partitions import (
    chosen_partitions,
    cut_to_range,
    domain_of,
    read_partitions,
    spans_of,
    within,
)
from sparkrex.pictures.picture import Axis, Picture, Style
from sparkrex.pictures.windows import boxes_of, window_places
from sparkrex.pipeline import locate_answers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sparkrex.modes.plan import Plan
    from sparkrex.pictures.options import Options
    from sparkrex.pictures.partitions import Partition
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.settings import Settings

_STYLES = {"events": Style.SPARSE, "segments": Style.OVERLAPPING}


def picture_of_query(
    query: ParsedQuery, tables: Mapping[str, object], settings: Settings, options: Options
) -> Picture:
    """The picture of the last relation of a statement."""
    return picture_of_answers(query, *locate_answers(query, tables, settings, options.axes()), options)


def picture_of_answers(
    query: ParsedQuery, plan: Plan, found: Located | LocatedWindows, options: Options
) -> Picture:
    """The picture of answers that have been found."""
    x = choose_x(options, plan, found.table)
    y = choose_y(options, plan, found.table, x)
    title = options.title or " ".join(query.patterns()[-1].split())
    around = query.statement.bare_relation is None
    return _Drawing(found, x, y, _STYLES.get(plan.mode, Style.RUNS), options, title).draw(is_part=around)


@dataclass(frozen=True, eq=False, slots=True)
class _Drawing:
    found: Located | LocatedWindows
    x: str | None
    y: str | None
    style: Style
    options: Options
    title: str

    def draw(self, *, is_part: bool) -> Picture:
        place = self.found.place if isinstance(self.found, Located) else window_places(self.found)
        chosen, n_asked = chosen_partitions(self.found, place, self.options)
        x, y, partitions = read_partitions(self.found, chosen, self.x, self.y)
        kind = pa.int64() if self.x is None else self.found.table.schema.field(self.x).type
        domain = domain_of([partition.series for partition in partitions], x, kind, self.options.between)
        budget = Budget.share(len(partitions))
        made = [
            self._panel(self.found, place, number, partition, x, domain, budget)
            for number, partition in zip(chosen.tolist(), partitions, strict=True)
        ]
        shown = Shown(
            n_partitions=n_asked, n_answers=len(place), n_answers_shown=sum(one.panel.n_matches for one in made),
            what="windows" if isinstance(self.found, LocatedWindows) else "matches", is_part=is_part,
            has_range=self.options.between is not None,
        )
        variables = self.found.variables if isinstance(self.found, Located) else ()
        return Picture(
            self.title, x, y, self.style, variables, tuple(one.panel for one in made), notes_of(made, shown),
            low=domain[0], high=domain[1],
        )

    def _panel(
        self, found: Located | LocatedWindows, place: NDArray[np.int64], number: int, partition: Partition, x: Axis,
        domain: tuple[float, float], budget: Budget,
    ) -> Made:
        own = np.flatnonzero(place == number)
        if isinstance(found, LocatedWindows):
            series = within(partition.series, domain) if self.options.between is not None else partition.series
            boxes = boxes_of(found, own, x, domain, budget.boxes)
            return make_panel(
                partition.title, series, Spans.none(), Pieces.none(), self.style, domain, budget, boxes
            )
        spans, pieces = spans_of(found, own, partition)
        series = partition.series
        if self.options.between is not None:
            series, spans, pieces = cut_to_range(series, spans, pieces, domain)
        return make_panel(partition.title, series, spans, pieces, self.style, domain, budget)
