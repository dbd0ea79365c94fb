"""Ctrl-C and SIGTERM while a stream runs: asked for, not raised.

An exception in the middle of a call to Spark would leave the call's answer to the next one. The first signal asks the
stream to end with the batch that runs, the second one to end at once; any more raise KeyboardInterrupt after all.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


class Stop:
    """What signals have asked for while it was entered. Only the main thread can enter it."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.is_urgent = False

    def __enter__(self) -> Stop:
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, _: FrameType | None) -> None:
        # No lock: the main thread may hold it.
        if self.is_urgent:
            raise KeyboardInterrupt
        self.is_urgent = self.signal is not None
        self.signal = self.signal or number
