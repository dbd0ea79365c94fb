"""Arguments in, exit code out. Every command is defined in a module of its own, and listed here.

Exit codes: 0 it went well; 1 the query is wrong; 2 the command is; 3 the query met data, files or a Spark that it could
not work with; 70 a fault of ours; 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import traceback
import warnings
from signal import SIGINT, SIGTERM
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, NoReturn

import sparkrex as rex
from sparkrex.cli.cancelling import WORDS
from sparkrex.cli.check import CHECK
from sparkrex.cli.command import add_commands
from sparkrex.cli.completion import COMPLETION
from sparkrex.cli.failures import Failed, ReaderGone, Stopped, UsageError
from sparkrex.cli.plot import PLOT
from sparkrex.cli.profile import PROFILE
from sparkrex.cli.progress import ERASED
from sparkrex.cli.run import RUN
from sparkrex.cli.show import EXPLAIN, VERSION
from sparkrex.cli.standard_output import say, write_text
from sparkrex.cli.studio import STUDIO
from sparkrex.cli.warmup import WARMUP
from sparkrex.cli.why import WHY
from sparkrex.cli.workload import WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    RUN,
    CHECK,
    EXPLAIN,
    WHY,
    PLOT,
    STUDIO,
    WORKLOAD,
    WARMUP,
    PROFILE,
    COMPLETION,
    VERSION,
)
"""In the order of `rex --help`."""

OK, WRONG_QUERY, USAGE, FAILED, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 70, 130
_SIGNALS = 128
"""From here on an exit code is a signal's."""


def start() -> NoReturn:
    """What the installed script calls: run one command, and end the process with its exit code."""
    code = main()
    if code >= _SIGNALS:
        # Threads that were given up may still run kernels. Python would wait for some, and take the others' objects
        # away from under them, of which DuckDB complains.
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with contextlib.suppress(OSError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; argparse itself exits with 2, or with 0 after --help."""
    usual_form, warnings.formatwarning = warnings.formatwarning, _written_warning
    terminated = _Terminated()
    try:
        with terminated:
            try:
                code = _run(arguments)
            finally:
                if sys.stdout is not None:
                    write_text("")  # what is printed by now has not arrived yet
    except KeyboardInterrupt:
        return complain(*((WORDS[SIGTERM], _SIGNALS + SIGTERM) if terminated else (WORDS[SIGINT], INTERRUPTED)))
    except ReaderGone:
        return OK
    except Failed as error:
        return complain(str(error), FAILED)
    finally:
        warnings.formatwarning = usual_form
    return code


class _Terminated:
    """Turns SIGTERM into KeyboardInterrupt, so that nothing is left half done; true if it came."""

    def __init__(self) -> None:
        self._came = False

    def __bool__(self) -> bool:
        return self._came

    def __enter__(self) -> None:
        self._before = signal.signal(SIGTERM, self._interrupt) if current_thread() is main_thread() else None

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(SIGTERM, self._before)

    def _interrupt(self, *_: object) -> None:
        self._came = True
        raise KeyboardInterrupt


def _run(arguments: Sequence[str] | None) -> int:
    parsed = make_parser().parse_args(arguments)
    try:
        parsed.run(parsed)
    except UsageError as error:
        return complain(f"{parsed.called}: error: {error}", USAGE)
    except rex.RexError as error:
        if isinstance(error, rex.InternalError) and error.__cause__ is not None:
            traceback.print_exception(error.__cause__)  # for the report that the message asks for
        return complain(error.for_command(), exit_code(error))
    except Failed as error:
        return complain(str(error), INTERNAL if error.is_internal else FAILED)
    except Stopped as stopped:
        return complain(str(stopped), _SIGNALS + stopped.signal)
    except ReaderGone:
        raise
    except Exception:
        traceback.print_exc()
        return complain("rex: this is a fault of SparkRex, please report it with the lines above", INTERNAL)
    return OK


def _written_warning(message: Warning | str, *_: object, **__: object) -> str:
    """A warning without the line of Python that gave it, which is ours; a terminal may show a stage in that line."""
    return f"{ERASED if sys.stderr.isatty() else ''}warning: {message}\n"


def exit_code(error: rex.RexError) -> int:
    """Who must act: the author of the query, of the command, of the data, or of SparkRex."""
    if error.code == "REX217":  # an unknown dialect or setting: they stand in the command, not in the query
        return USAGE
    if isinstance(error, rex.InternalError):
        return INTERNAL
    return FAILED if isinstance(error, rex.ExecutionError) else WRONG_QUERY


def complain(text: str, code: int) -> int:
    """Print a message for the user and pass the code on."""
    say(text)
    return code


def make_parser() -> argparse.ArgumentParser:
    """All commands with their arguments."""
    parser = argparse.ArgumentParser(
        prog="rex", description="SQL with patterns over files: MATCH_RECOGNIZE, MATCH_EVENTS, MATCH_TRENDS."
    )
    parser.add_argument("--version", action="version", version=f"rex {rex.__version__}")
    add_commands(parser, COMMANDS, "COMMAND")
    return parser


if __name__ == "__main__":
    start()
