"""Warnings, at the line of the user's own code."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


_told: set[str] = set()


def warn_once(message: str, about: str) -> None:
    """Warn, unless there was a warning about the same thing."""
    if about not in _told:
        _told.add(about)
        warn_user(message)


def warn_user(message: str) -> None:
    """Warn at the line that called into the package."""
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("sparkrex", "pyspark"):
        frame = frame.f_back
        level += 1
    warnings.warn(message, stacklevel=level)
