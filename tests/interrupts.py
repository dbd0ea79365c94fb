"""Ctrl-C in the middle of a search, whatever the machine: it comes once a kernel is known to run, not after some time.

`interrupted` runs a program in a process of its own; `interrupt_when_busy` is for a search in this process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import sparkrex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_BUSY = 0.3
"""Seconds for which a thread is in one call of the package: no Python runs there, so it is a kernel."""
_LONG = 3.0
"""Seconds after which a search is in the middle of what it does step by step in Python."""
_FOLDER = str(Path(sparkrex.__file__).parent)


@contextmanager
def interrupt_when_busy(inside: str | None = None) -> Iterator[None]:
    """Interrupt this process when some thread has been in a kernel for a while, or has searched for long.

    Only a thread that is `inside` a function of this name counts, if there is one.
    """
    # A process that was started in the background may ignore it.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    is_over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(is_over, inside), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()
        signal.signal(signal.SIGINT, handler)


def _watch(is_over: threading.Event, inside: str | None) -> None:
    begin = time.monotonic()
    since: dict[tuple[int, int, int], float] = {}
    while not is_over.wait(0.02):
        now = time.monotonic()
        calls = {
            (number, id(frame), frame.f_lasti) for number, frame in sys._current_frames().items()
            if _is_ours(frame) and (inside is None or _is_inside(frame, inside))
        }
        since = {call: since.get(call, now) for call in calls}
        is_busy = any(now - first >= _BUSY for first in since.values())
        if is_busy or (calls and now - begin >= _LONG):
            os.kill(os.getpid(), signal.SIGINT)
            return


def _is_ours(frame: FrameType) -> bool:
    """Whether it is the package that runs, and not just waits for its threads."""
    path = frame.f_code.co_filename
    return _FOLDER in path and not path.endswith("threads.py")


def _is_inside(frame: FrameType | None, name: str) -> bool:
    while frame is not None:
        if frame.f_code.co_name == name:
            return True
        frame = frame.f_back
    return False


def interrupted(program: str, timeout: float = 120) -> str:
    """What a program prints. It interrupts itself inside `with interrupt_when_busy():`."""
    prelude = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n" \
        "from tests.interrupts import interrupt_when_busy\n"
    found = subprocess.run(
        [sys.executable, "-c", prelude + program], stdout=subprocess.PIPE, text=True, timeout=timeout, check=False,
    )
    return found.stdout
