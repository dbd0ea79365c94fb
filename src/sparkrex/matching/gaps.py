"""The setting `partition_gap`: a row that long after the row of its key before it begins a new partition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.columns.gaps import cut_at_gaps, gap_in
from sparkrex.errors import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sparkrex.columns.arrange import Arrangement, SortKey
    from sparkrex.modes.plan import Plan


def gap_of(plan: Plan, kind: pa.DataType) -> int | None:
    """The gap in the integers of the first ORDER BY column's type, None without one; an error if that is no time."""
    if plan.partition_gap is None:
        return None
    gap = gap_in(kind, plan.partition_gap)
    if gap is None:
        key = plan.order_by[0]
        raise _unordered(plan, f"{key.column or 'the first key of ORDER BY'} is of type {kind}")
    return gap


def check_gap_order(plan: Plan) -> None:
    """Fail if a plan with a gap has no first ORDER BY column that ascends."""
    if plan.partition_gap is None:
        return
    if not plan.order_by:
        raise _unordered(plan, "there is no ORDER BY")
    if plan.order_by[0].is_descending:
        raise _unordered(plan, f"{plan.order_by[0].column or 'its first key'} is descending")


def end_at_gaps(plan: Plan, arrangement: Arrangement, sort_keys: Sequence[SortKey]) -> Arrangement:
    """An arrangement by the keys of a plan, whose partitions also end at gaps, if the plan has one."""
    if plan.partition_gap is None:
        return arrangement
    times = sort_keys[0].values
    gap = gap_of(plan, times.type)
    assert gap is not None  # the plan has one
    return replace(arrangement, offsets=cut_at_gaps(arrangement.offsets, times, gap, arrangement.order))


def _unordered(plan: Plan, why: str) -> AnalysisError:
    span = plan.order_by[0].expression.span if plan.order_by else None
    return AnalysisError(
        "REX217", f"setting partition_gap needs rows in order of time: {why}", plan.source, span or plan.span,
        hint="order by a timestamp or a date first, ascending, or leave the setting out",
        command_hint="order by a timestamp or a date first, ascending, or leave --set partition_gap out",
    )
