"""WITHIN: how far two events of a partition may be apart."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from tests.modes.events.strategies import Stream


def spans_at_most(stream: Stream, first: int, last: int) -> bool:
    """Whether the event at `last` is at most a window after the one at `first`; without WITHIN, always."""
    window = stream.query.window
    if window is None:
        return True
    if window.unit is WindowUnit.EVENTS:
        return bool(last - first <= window.size)
    distance = stream.times[last] - stream.times[first]
    if window.unit is WindowUnit.TIME:
        return bool(distance / timedelta(microseconds=1) <= window.size)
    return bool(distance <= window.size)
