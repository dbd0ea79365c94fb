"""Matches in windows as rows: each match once, whichever rows of the window have it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.located import Located, Pieces, number_in_partitions
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.plan import Measure
from sparkrex.modes.rows.proven import find_facts
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.windows.choose import choose_search
from sparkrex.modes.windows.engine import WindowSearch
from sparkrex.modes.windows.kernels.forest import labels_of
from sparkrex.scalar.expression import EACH_ROW, ClassifierAt
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.modes.windows.found import Found
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.settings import Settings

_MOST_LABELS = 1 << 24
"""Rows of matches whose variables are looked up; matches that overlap may have the square of the rows."""


def locate_in_frames(
    plan: PatternWindow, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> Located:
    """The matches that rows see in their frames: one for each first and last row, without those that are empty."""
    facts = find_facts(plan.search, table, settings)
    classifier = (Measure("classifier", ClassifierAt(EACH_ROW)),)
    search, widened = add_relation_columns(replace(plan.search, measures=classifier), table, evaluator)
    plan = replace(plan, search=search, measures=search.measures, calls=(), functions=())
    arrangement, partition_columns = arrange_rows(plan, widened, evaluator, settings.thread_count())
    choice = choose_search(plan, widened.slice(0, 0), evaluator, settings, facts)
    searching = WindowSearch(plan, choice, evaluator, settings, Stopwatch())
    found, _ = searching.find(widened, arrangement, partition_columns)
    matches = _distinct(found)
    names = [key.name for key in plan.partition_by]
    place = np.searchsorted(arrangement.offsets, matches.start, side="right") - 1
    return Located(
        table, arrangement, tuple(zip(names, partition_columns, strict=True)), plan.search_variables(),
        matches.start, matches.end, number_in_partitions(place), Pieces.of_matches(matches),
    )


def _distinct(found: Found) -> Matches:
    matches = found.matches
    forest = found.forest
    bounds = np.stack((matches.start, matches.end), axis=1)
    _, first = np.unique(bounds, axis=0, return_index=True)
    kept = first[matches.end[first] > matches.start[first]]
    chosen = matches.take(kept)
    if forest is None or chosen.n_mapped > _MOST_LABELS:
        return chosen
    labels = np.empty(chosen.n_mapped, np.int16)
    labels_of(forest.nodes, forest.heads[kept], chosen.label_offsets, labels)
    return replace(chosen, labels=labels)
