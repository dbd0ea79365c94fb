"""Whether this process is compiling a kernel now: for those who show what a query waits for. Does not load Numba."""

from __future__ import annotations

from threading import Lock

ONCE = "compiling, once"
"""What to say meanwhile: the next process finds the code in the cache."""

_lock = Lock()
_n_running = 0


def is_compiling() -> bool:
    """Whether a kernel is being compiled, in any thread."""
    return _n_running > 0


def note_start() -> None:
    """A compilation starts."""
    global _n_running
    with _lock:
        _n_running += 1


def note_end() -> None:
    """A compilation ends."""
    global _n_running
    with _lock:
        _n_running -= 1
