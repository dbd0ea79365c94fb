"""The process that searches: requests come in by standard input, answers go out by standard output.

It is a process of its own because of Ctrl-C, the one way to end a kernel that runs: the server sends it the signal when
nobody waits for an answer any more, and the engine raises KeyboardInterrupt on the main thread, as in every command.
Between two requests the signal means nothing: it came too late.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import IO, TYPE_CHECKING, Any

from sparkrex.studio.asked import Asked
from sparkrex.studio.frames import framed, read_frame

if TYPE_CHECKING:
    from collections.abc import Callable

CANCELLED = b'{"cancelled":true}'
"""The answer that nobody waits for."""


class Interrupts:
    """Lets a signal interrupt what answers a request, once, and nothing else."""

    def __init__(self) -> None:
        self.is_busy = False
        signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, *_: object) -> None:
        if self.is_busy:
            self.is_busy = False
            raise KeyboardInterrupt


def answer_requests(
    requests: IO[bytes], answers: IO[bytes], answer: Callable[[Asked], Any], interrupts: Interrupts
) -> None:
    """Answer until the server has gone."""
    while (frame := read_frame(requests)) is not None:
        given = json.loads(frame)
        given["view"] = given["view"] and tuple(given["view"])
        try:
            interrupts.is_busy = True
            found = json.dumps(answer(Asked(**given)), separators=(",", ":")).encode()
            interrupts.is_busy = False
        except KeyboardInterrupt:
            found = CANCELLED
        answers.write(framed(found))
        answers.flush()


def main() -> None:
    """What the server starts. The first message has the tables, by name; whatever prints goes to standard error."""
    interrupts = Interrupts()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tables = read_frame(requests)
    if tables is None:
        return
    from sparkrex.studio.searches import Searches

    answer_requests(requests, answers, Searches(json.loads(tables)).answer, interrupts)


if __name__ == "__main__":
    main()
