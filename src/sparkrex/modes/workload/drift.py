"""Whether rates or selectivities have changed so much that a plan should be found anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.modes.workload.compiled import Compiled
    from sparkrex.modes.workload.planner.statistics import Statistics

LEAST_EVENTS = 30
"""A rate that is known by fewer events changes by chance."""
LEAST_SHARE = 0.05
"""A selectivity below this is known by few hits among the pairs that are drawn."""


def drifted(
    compiled: Compiled, old: Statistics, new: Statistics, factor: float, n_rows: int
) -> str | None:
    """What has changed by the factor or more, in words; None if nothing has."""
    for label, leaf in enumerate(compiled.symbols.leaves):
        length = n_rows if leaf.counts_events else new.span
        least = LEAST_EVENTS / max(length, 1e-300)
        before, now = max(old.rate(label), least), max(new.rate(label), least)
        if max(before, now) >= factor * min(before, now):
            return f"the rate of an event went from {old.rate(label):.3g} to {new.rate(label):.3g}"
    for key in range(len(compiled.symbols.conditions)):
        before, now = max(old.selectivity(key), LEAST_SHARE), max(new.selectivity(key), LEAST_SHARE)
        if max(before, now) >= factor * min(before, now):
            return f"the selectivity of a condition went from {old.selectivity(key):.3g} to {new.selectivity(key):.3g}"
    return None
