"""Why a segment search found nothing: each sub-pattern is searched by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.modes.plan import Measure, Skip, SkipTo
from sparkrex.modes.segments.engine import search_results
from sparkrex.modes.segments.why.sub_patterns import sub_patterns, variables_in
from sparkrex.reasons.answer import Part, Why
from sparkrex.reasons.asked import refuse_row, rows_of_key
from sparkrex.scalar.expression import Call
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.why.sub_patterns import SubPattern
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings

_MEASURES = (Measure("first_row", Call("start_index", ())), Measure("last_row", Call("end_index", ())))


def why_not(search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked) -> Why:
    """The answer about the partitions that are asked about."""
    refuse_row(search, asked, "a segment search")
    rows = rows_of_key(search, table, evaluator, asked)
    subs = sub_patterns(search)
    firsts = [_first_segment(search, sub.pattern, rows, evaluator, settings) for sub in subs]
    missing = _minimal(subs, firsts)
    found = [
        Part(sub.pattern.span, str(sub.pattern), first, place in missing)
        for place, (sub, first) in enumerate(zip(subs, firsts, strict=True))
    ]
    nothing = pa.table({"start_row": pa.array([], pa.int64())})
    return Why(
        source=search.source, pattern=str(search.pattern), key=tuple((asked.key or {}).items()), n_partitions=1,
        starts=nothing, matches=nothing, rows=rows, shares=(), shown=(), n_rows=rows.num_rows,
        n_matches=int(found[-1].first is not None), n_blocked=0, n_skipped=0, is_exact=True, parts=tuple(found),
    )


def _minimal(subs: list[SubPattern], firsts: list[tuple[int, int] | None]) -> set[int]:
    """The smallest sub-patterns without a segment. Inside one that has segments nothing is missing."""
    found: set[int] = set()
    pending = [len(subs) - 1]
    while pending:
        place = pending.pop()
        if firsts[place] is None:
            without = [part for part in subs[place].parts if firsts[part] is None]
            pending += without
            if not without:
                found.add(place)
    return found


def _first_segment(
    search: SegmentSearch, pattern: SegmentPattern, rows: pa.Table, evaluator: Evaluator, settings: Settings
) -> tuple[int, int] | None:
    """First and last row, counted from 1, of the first segment of a pattern in the first partition that has one."""
    inside = variables_in(pattern)
    alone = replace(
        search, pattern=pattern, measures=_MEASURES, measured=(), output_names=None,
        skip=None if search.is_plain else Skip(SkipTo.PAST_LAST_ROW),
        definitions=tuple(one for one in search.definitions if one.variable in inside),
        rows_after=search.rows_after if pattern is search.pattern else 0,
    )
    quiet = replace(settings, side_rows=False)
    results = pa.concat_tables(search_results(alone, rows, evaluator, quiet, Stopwatch()))
    if not results.num_rows:
        return None
    first, last = (int(np.asarray(results.column(name))[0]) for name in ("first_row", "last_row"))
    return first + 1, last + 1
