"""Matches of event queries as rows of the whole stream, in which those that no match can use are again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import partition_named
from sparkrex.matching.located import Located, Pieces, number_in_partitions
from sparkrex.matching.unknown_types import warn_of_unknown_types
from sparkrex.modes.events.engine import arrange_events, arrange_for_search
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner
from sparkrex.modes.events.taking_part import key_columns, rows_taking_part

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.settings import Settings

_ROW = "rex_input_row"


def locate_events(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> Located:
    """The events of every match, and the variable of each."""
    warn_of_unknown_types(query.type_column, query.type_names, table)
    keep = rows_taking_part(query, table, evaluator, settings)
    fed = replace(query, relevant=None)
    runner = EventRunner(fed, NfabMatcher(fed, evaluator, settings), settings.thread_count())
    numbered = table.append_column(_ROW, wrap(np.arange(table.num_rows)))
    rows, own, ranking = arrange_for_search(query, runner.matcher, numbered, keep, evaluator, settings)
    feed = Feed.whole(rows, own)
    names = [key.name for key in query.partition_by]
    with partition_named(feed, names, key_columns(query)):
        decided = runner.decide(runner.open(), feed)
    matches = (decided if ranking is None else ranking.rank(query, decided)).matches
    whole = arrange_events(query, table, settings)
    position = np.arange(table.num_rows)
    if whole.order is not None:
        position = np.empty(table.num_rows, np.int64)
        position[whole.order] = np.arange(table.num_rows)
    input_row = numpy_of(plain(rows.column(_ROW)))
    at = position[input_row[own.input_rows(matches.rows)]]
    match = np.repeat(np.arange(len(matches)), np.diff(matches.offsets))
    first, last = at[matches.offsets[:-1]], at[matches.offsets[1:] - 1]
    place = np.searchsorted(whole.offsets, first, side="right") - 1
    keys = tuple(zip(names, (table.column(name) for name in key_columns(query)), strict=True))
    return Located(
        table, whole, keys, runner.matcher.variables, first, last + 1, number_in_partitions(place),
        Pieces.of_rows(match, at, matches.labels.astype(np.int64)),
    )
