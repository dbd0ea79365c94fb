"""What a difference of two times in a named unit counts."""

from __future__ import annotations

from enum import Enum


class Units(Enum):
    """How many units lie between two times: dialects do not agree what a unit is."""

    WHOLE = "whole"
    """Units that have passed; a month has when the day and the time of the day have come again."""
    WHOLE_TO_LAST_DAY = "whole to last day"
    """The same, but the last day of a short month stands for the days that it lacks."""
    BEGUN = "begun"
    """Units that begin after the first time and not after the second."""
