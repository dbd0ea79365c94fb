"""Segments found as rows: the segment of each match, and those of the variables that MEASURES reads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import partition_named
from sparkrex.matching.located import Located, Pieces, number_in_partitions
from sparkrex.modes.segments.engine import Arranged, arrange_search
from sparkrex.modes.segments.find import find_results
from sparkrex.modes.segments.mapped import mapped_matches
from sparkrex.modes.segments.operators.arguments import with_argument_columns
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.mappings import variables_of
from sparkrex.modes.segments.planning import Mapped, plan_search, warn_of_candidates
from sparkrex.modes.segments.runner import naming_slots
from sparkrex.stopwatch import Stopwatch
from sparkrex.threads import run_aside

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.modes.segments.operators.contract import Segments
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.settings import Settings


def locate_segments(search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings) -> Located:
    """The segments that the search gives, in the order of its answer."""
    arranged = arrange_search(search, table, evaluator, settings, Stopwatch())
    stops: list[Callable[[], None]] = []

    def stop() -> None:
        for give_up in stops:
            give_up()

    feed = Feed.whole(arranged.table, arranged.arrangement)
    with partition_named(feed, arranged.key_names, list(arranged.keys)):
        found = run_aside(partial(_find, arranged, evaluator, settings, stops.append), stop)
    own = arranged.arrangement
    keys = tuple(
        (name, arranged.table.column(key)) for name, key in zip(arranged.key_names, arranged.keys, strict=True)
    )
    if isinstance(found, tuple):
        variables, matches = found
        pieces = Pieces.of_matches(matches)
        named = pieces.selected(pieces.variable < len(variables) - 1)  # the last one stands for those not told apart
        return Located(table, own, keys, variables, matches.start, matches.end, matches.number, named)
    place = np.searchsorted(own.offsets, found.start, side="right") - 1
    variables = tuple(dict.fromkeys(_written_name(name, search) for name in found.bindings))
    numbers = [variables.index(_written_name(name, search)) for name in found.bindings]
    return Located(
        table, own, keys, variables, found.start, found.end + 1, number_in_partitions(place), _pieces(found, numbers)
    )


def _find(
    arranged: Arranged, evaluator: Evaluator, settings: Settings, on_stop: Callable[[Callable[[], None]], None]
) -> Segments | tuple[tuple[str, ...], Matches]:
    """The segments; or, where every mapping is tried, the variables by label and the matches."""
    search, table = with_argument_columns(arranged.search, arranged.table, evaluator)
    own = arranged.arrangement
    with naming_slots(own.offsets):
        planned = plan_search(
            search, Columns(Columns(table, own.offsets, own.order).ordered, own.offsets), evaluator, settings
        )
        if isinstance(planned, Mapped):
            return variables_of(planned.search), mapped_matches(planned.search, table, own, evaluator, settings)
        on_stop(planned.series.give_up)
        warn_of_candidates(planned)
        planned.series.limit_steps(settings.max_steps)
        _, found = find_results(planned, settings, Builder, (own.offsets[:-1], own.offsets[1:]))
        return found


def _written_name(name: str, search: SegmentSearch) -> str:
    """What the user calls a variable: rules that make segments of rows double its name (`rewrite.searches`)."""
    written = [*(definition.variable for definition in search.definitions), *(union.name for union in search.subsets)]
    if name in written:
        return name
    return next((one for one in written if name == one * 2 or name.startswith(f"{one * 2}_")), name)


def _pieces(found: Segments, numbers: list[int]) -> Pieces:
    """Every variable's segment is a piece; in the order of matches, then of rows."""
    match, variable, first, last = [], [], [], []
    for number, (low, high) in zip(numbers, found.bindings.values(), strict=True):
        has_one = np.flatnonzero(low >= 0)
        match.append(has_one)
        variable.append(np.full(len(has_one), number))
        first.append(low[has_one])
        last.append(high[has_one])
    if not match:
        return Pieces.none()
    of_all = [np.concatenate(part) for part in (match, variable, first, last)]
    order = np.lexsort((of_all[1], of_all[3], of_all[2], of_all[0]))
    return Pieces(*(part[order] for part in of_all))
