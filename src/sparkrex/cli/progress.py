"""What a command is doing: the time of each stage, and on a terminal a line that shows the one that runs."""

from __future__ import annotations

import itertools
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from sparkrex.kernels.compiling import ONCE, is_compiling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REDRAWN_EVERY = 0.1
ERASED = "\r\x1b[K"
"""What takes the line away; before anything else is written to the terminal while a stage runs."""


class Progress:
    """Times stages one after another. Draws on `stream` if it is a terminal that can, else stays silent.

    Standard error that is closed is no stream at all.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.seconds: dict[str, float] = {}
        self._stream = stream

    @contextmanager
    def stage(self, name: str, detail: Callable[[], str] = lambda: "") -> Iterator[None]:
        """Time what runs inside; `detail` says how far it is and is called from another thread."""
        start = time.perf_counter()
        done = threading.Event()
        artist: threading.Thread | None = None
        if self._stream is not None and self._stream.isatty() and os.environ.get("TERM") != "dumb":
            # A descriptor of its own: while Spark starts, standard error belongs to Spark's log.
            terminal = os.fdopen(os.dup(self._stream.fileno()), "w", encoding=self._stream.encoding, errors="replace")
            artist = threading.Thread(target=_draw, args=(terminal, name, detail, start, done), daemon=True)
            artist.start()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            if artist is not None:
                done.set()
                artist.join()

    def summary(self) -> str:
        """`read 0.02 s, plan 0.10 s, ...; 1.30 s in all`."""
        stages = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in self.seconds.items())
        return f"{stages}; {sum(self.seconds.values()):.2f} s in all"


def _draw(terminal: TextIO, name: str, detail: Callable[[], str], start: float, done: threading.Event) -> None:
    with terminal:
        for wheel in itertools.cycle("|/-\\"):
            waits_for = ONCE if is_compiling() else ""
            parts = [wheel, name, f"{time.perf_counter() - start:.1f} s", detail(), waits_for]
            n_columns = os.get_terminal_size(terminal.fileno()).columns
            line = "  ".join(filter(None, parts))
            terminal.write(ERASED + (line[: n_columns - 1] if n_columns else line))  # one that wraps stays
            terminal.flush()
            if done.wait(_REDRAWN_EVERY):
                break
        terminal.write(ERASED)
