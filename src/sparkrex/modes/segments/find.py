"""Run a planned search over its rows: the segments found, and those of them that count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.operators.arrays import StepsSpentError, TooManySegmentsError, no_segments, together
from sparkrex.modes.segments.operators.execute import find_segments
from sparkrex.modes.segments.operators.output import choose_results
from sparkrex.modes.segments.operators.rows_after import with_rows_after
from sparkrex.modes.segments.planner.logical import Neither, Repeat
from sparkrex.modes.segments.planning import count_candidates, nodes_of
from sparkrex.modes.segments.rewrite.text import logical_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.segments.operators.build import Builder
    from sparkrex.modes.segments.operators.contract import Rows, Segments
    from sparkrex.modes.segments.planning import Planned
    from sparkrex.settings import Settings


def find_results(
    planned: Planned, settings: Settings, builder: Callable[..., Builder], starts: tuple[Rows, Rows],
    ends: tuple[Rows, Rows] | None = None,
) -> tuple[Segments, Segments]:
    """The segments from these starts that count, and the same as MEASURES reads them (see `choose_results`).

    With `ends`, those that end there, before rows are added that follow the pattern's segment.
    """
    return choose_results(planned.search, _find_in_blocks(planned, settings, builder, starts, ends))


def _find_in_blocks(
    planned: Planned, settings: Settings, builder: Callable[..., Builder], starts: tuple[Rows, Rows],
    ends: tuple[Rows, Rows] | None,
) -> Segments:
    search = planned.search
    operator = builder(planned.series, planned.conditions, settings.max_segments).build(planned.plan.physical)
    parts_found: list[Segments] = []
    n_found = 0
    try:
        for part in find_segments(operator, planned.series, planned.logical.windows, starts, ends):
            parts_found.append(part)
            n_found += len(part)
            if n_found > settings.max_segments:
                raise TooManySegmentsError
    except TooManySegmentsError:
        raise ExecutionError(
            "REX408", f"a part of the pattern has more segments than max_segments = {settings.max_segments:,}",
            search.source, search.pattern.span or search.span, notes=(_largest(planned, settings.max_segments),),
            hint="bound it by a window, or raise the setting max_segments",
        ) from None
    except StepsSpentError:
        raise ExecutionError(
            "REX403", f"the search took more than {settings.max_steps:,} steps a row", search.source,
            search.pattern.span or search.span,
            hint="bound the pattern by a window, or raise the setting max_steps",
        ) from None
    found = together(parts_found) if parts_found else no_segments(search.measured)
    return with_rows_after(found, planned.series.offsets, search.rows_after)


def _largest(planned: Planned, limit: int) -> str:
    """Where the most segments are possible, and how many: a Not or a repetition, if there is one."""
    nodes = list(nodes_of(planned.logical))
    suspects = [node for node in nodes if isinstance(node, Neither | Repeat)] or nodes
    sizes = {}
    for node in suspects:
        sizes[count_candidates(planned.series, node)] = node
    made = "" if max(sizes) > limit else ", each in many ways"
    return f"{logical_text(sizes[max(sizes)])} may have up to {max(sizes):,} segments{made}"
