"""Whatever goes wrong below the public functions and is not an error of ours is a fault of ours, and is said to be one.

Inside `faults_reported` all input has been checked, so an exception of another kind means that SparkRex is wrong, not
the query; except where the query is nested more deeply than Python goes, or where Spark or Ctrl-C ended it.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING

from sparkrex.errors import InternalError, RexError, UnsupportedError, is_from_spark
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class CallersError(Exception):
    """Carries what a function of the caller raised through our code; it is the cause of this."""


def called_back(function: Callable[..., None]) -> Callable[..., None]:
    """A function that the caller gave, so that `faults_reported` tells its errors from ours."""

    def called(*given: object) -> None:
        try:
            function(*given)
        except Exception as error:
            raise CallersError from error

    return called


@contextmanager
def faults_reported(text: str) -> Iterator[None]:
    """Around the work on a query: anything unexpected comes out as an `InternalError`."""
    try:
        yield
    except (RexError, MemoryError, Warning, CallersError):  # a warning, where the caller has warnings raised
        raise
    except RecursionError as error:
        raise UnsupportedError(
            "REX106", "the query is nested too deeply, or has an expression of hundreds of operators", Source(text),
            _deepest(text),
            hint="compute a part of it in a subquery, use IN for many alternatives, or raise sys.setrecursionlimit",
            command_hint="compute a part of it in a subquery, or use IN for many alternatives",
        ) from error
    except Exception as error:
        # What Spark, or the way to it, says in its own words is no fault of ours: the session has ended.
        if is_from_spark(error):
            raise
        if "KeyboardInterrupt" in str(error) or str(error) == "Query interrupted":
            # DuckDB met Ctrl-C while it ran, or while it asked Python for a table, and says so in its own way.
            raise KeyboardInterrupt from error
        raise InternalError(
            "REX901", f"{type(error).__name__}: {error}", None, None,
            hint="this is a fault of SparkRex; please report it with the query and the traceback",
        ) from error


def _deepest(text: str) -> Span:
    """Where most parentheses are open."""
    open_now = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    place = open_now.index(max(open_now))
    return Span(place, place + 1)
