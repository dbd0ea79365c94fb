"""Ctrl-C and SIGTERM while Spark works: its jobs are cancelled, and whoever waits for them is told by Spark itself.

An exception in the middle of a call to Spark would leave the call's answer to the next one, and Py4J prints what it
thinks of that. So the first signal is only noted while such a call waits: a thread cancels the jobs until the command
has left the block, and the call fails as for any other reason, so that what was half done is taken back. Elsewhere, and
for a second signal, KeyboardInterrupt is raised as usual.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

from sparkrex.cli.failures import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

_AGAIN_AFTER = 0.2
"""Seconds; the next job may have begun meanwhile."""
_CALLS = ("py4j", "grpc")
"""Packages by which Spark is called."""
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Cancelling:
    """Cancels by `cancel` what a signal interrupts; then Stopped is raised in the place of Spark's own error."""

    def __init__(self, cancel: Callable[[], None]) -> None:
        self.signal: int | None = None
        self._cancel = cancel
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._cancel_until_left, daemon=True)

    def __enter__(self) -> Cancelling:
        self._before = {number: signal.signal(number, self._ask) for number in WORDS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        if self._thread.is_alive():
            self._thread.join()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self.signal is not None and error is not None:
            raise Stopped(WORDS[signal.Signals(self.signal)], self.signal) from error

    def _ask(self, number: int, frame: FrameType | None) -> None:
        is_first, self.signal = self.signal is None, self.signal or number
        if is_first:
            self._thread.start()
        if not is_first or not _is_in_call(frame):
            raise KeyboardInterrupt

    def _cancel_until_left(self) -> None:
        while True:
            with contextlib.suppress(Exception):  # the session may be ending
                self._cancel()
            if self._left.wait(_AGAIN_AFTER):
                return


def _is_in_call(frame: FrameType | None) -> bool:
    """Whether a call to Spark waits for its answer."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] in _CALLS:
            return True
        frame = frame.f_back
    return False
