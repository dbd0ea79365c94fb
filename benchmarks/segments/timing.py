"""How long a call takes: short ones repeated, endless ones given up."""

from __future__ import annotations

import signal
import statistics
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from numba.core.compiler_lock import global_compiler_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")
SHORT, REPEATED = 0.005, 0.05
"""Calls under so many seconds are repeated until they took so many together."""
WAITING = 0.05
"""Seconds after which to look again whether something is still compiled."""
LONG = 0.5
"""Calls of more seconds are not repeated; those between three times."""


class TimeOutError(Exception):
    """The call took too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what runs inside after so long, as soon as the kernel that is running then returns.

    Compiling is not stopped: LLVM's locks would be held for ever.
    """

    def stop(*_: Any) -> None:
        if global_compiler_lock.is_locked():  # type: ignore[no-untyped-call]
            signal.setitimer(signal.ITIMER_REAL, WAITING)
        else:
            raise TimeOutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except SystemError as error:
        raise _first_cause(error) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _first_cause(error: BaseException) -> BaseException:
    """What is behind the error that Numba makes of an exception that comes while it calls Python."""
    while error.__cause__ is not None or error.__context__ is not None:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]  # one of them is there
    return error


def once(run: Callable[[], Result]) -> tuple[Result, float]:
    """Result and seconds of one call."""
    begin = perf_counter()
    result = run()
    return result, perf_counter() - begin


def typical(run: Callable[[], Any], first: float | None = None) -> float:
    """The median of some calls; `first` is what the first one took."""
    seconds = [once(run)[1] if first is None else first]
    if seconds[0] < SHORT:
        while sum(seconds) < REPEATED:
            seconds.append(once(run)[1])
    elif seconds[0] < LONG:
        seconds += [once(run)[1] for _ in range(2)]
    return statistics.median(seconds)
