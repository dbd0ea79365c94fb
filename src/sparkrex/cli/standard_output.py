"""Standard output, which may be a terminal, a pipe whose reader has gone, a full disk, or closed.

Standard error is for what a person should know; whether that arrives changes nothing.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from sparkrex.cli.failures import Failed, ReaderGone

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_terminal() -> bool:
    """Whether people see what is written, at once."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns_of_terminal() -> int:
    """How many columns it has; `COLUMNS` says so too, and 80 is the guess for one that does not know."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def write_text(text: str) -> None:
    """Write, and see that it arrives."""
    with _told():
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:  # a terminal of an older kind
            sys.stdout.write(text.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding))
        sys.stdout.flush()


@contextmanager
def bytes_written() -> Iterator[IO[bytes]]:
    """Standard output for bytes, which have arrived at the end of the block."""
    with _told():
        if not hasattr(sys.stdout, "buffer"):  # a test's
            written = io.BytesIO()
            yield written
            sys.stdout.write(written.getvalue().decode())
            return
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line on standard error; if nobody can read that, nobody has to."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def _told() -> Iterator[None]:
    """Around writing: why it was not possible."""
    if sys.stdout is None:
        raise Failed("standard output is closed, so the result cannot be printed; --output PATH writes it")
    try:
        yield
    except BrokenPipeError:
        _forget_output()
        raise ReaderGone from None
    except OSError as error:
        _forget_output()
        raise Failed(f"standard output cannot be written: {error}") from error


def _forget_output() -> None:
    """Let what standard output still holds go nowhere: Python writes it once more at its end."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  of no path
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
