"""What an event query keeps of keys whose rows come no more: see `matching.silent`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.matching.silent import Lasting
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.modes.events.plan import EventQuery


def lasting_of(query: EventQuery, record: int) -> list[Lasting]:
    """Runs that time does not end; `record` are the bytes of a slot's numbers and of a run."""
    window = query.window
    if window is None:
        why, span = "without WITHIN a run waits for its next event for ever", query.pattern.span
    elif window.unit is WindowUnit.EVENTS:
        why, span = "WITHIN counts events, and time does not end such a window", window.span
    else:
        return []
    remedies = ("WITHIN with a length of time", "the setting partition_gap")
    return [Lasting("open runs and their events", why, remedies, record, None, span)]
