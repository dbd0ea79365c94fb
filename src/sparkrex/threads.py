"""A plain thread pool over ranges of rows or partitions.

Kernels and NumPy release the GIL, so threads are enough; Numba's own threading layer breaks in forked Spark workers.

Ctrl-C is a KeyboardInterrupt of the main thread, which Python raises between two steps of its own code: not while a
kernel runs there. So the main thread never runs a kernel that may take long. It waits, which can be interrupted, while
other threads work; then it sets a flag, `stop`, that such kernels look at every few steps and return, and raises at
once. What goes over the mapped rows of matches, of which overlapping matches have far more than the input has rows, is
called for some matches at a time (`spread_slices`). What does not look at a flag takes time linear in rows and comes to
its end by itself; nobody waits for it, because the threads are daemons. A flag costs one byte read every few steps;
calls in slices would have to save and restore the state of every search.

A Spark worker gets no Ctrl-C: Spark ends the process of a task that is cancelled.
"""

from __future__ import annotations

import ctypes
import os
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from threading import Event, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Result = TypeVar("Result")

SLICE = 1 << 21
"""Rows of matches between two looks at whether anybody still waits: well under a second of any kernel's work."""

LEAST = 1 << 16
"""Fewer items than this are not worth a second thread."""
_PATIENCE = 1.0
"""Seconds that a task which was given up has to end before the interrupt is raised: it may still use a connection."""


def available_threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ranges(n_items: int, threads: int, least: int | None = None) -> list[tuple[int, int]]:
    """About equal ranges that cover `n_items`, one a thread, none below `least` items unless it is the only one."""
    pieces = max(1, min(threads, n_items // (least or LEAST)))
    cuts = [n_items * piece // pieces for piece in range(pieces + 1)]
    return list(pairwise(cuts))


def spread(
    task: Callable[[int, int], Result], pieces: Sequence[tuple[int, int]], stop: Callable[[], None] | None = None
) -> list[Result]:
    """`task(begin, end)` for every range, each on a thread of its own; results in the order of the ranges.

    With `stop` even a single range has a thread: the task may take long, and `stop()` makes it return soon.
    """
    if len(pieces) == 1 and stop is None:
        return [task(*pieces[0])]
    return _run([partial(task, *piece) for piece in pieces], len(pieces), stop)


def spread_slices(task: Callable[[int, int], None], pieces: Sequence[tuple[int, int]], offsets: Any) -> None:
    """`task` for every range, a slice of it at a time: `offsets`, an array, say where each item's work begins."""
    stopped = Event()

    def run(begin: int, end: int) -> None:
        while begin < end and not stopped.is_set():
            low = begin
            begin = max(low + 1, int(offsets[: end + 1].searchsorted(offsets[low] + SLICE, "right")) - 1)
            task(low, begin)

    if len(pieces) == 1:
        run(*pieces[0])  # comes back to Python between slices
    else:
        spread(run, pieces, stopped.set)


def in_parallel(tasks: Sequence[Callable[[], Result]], threads: int, n_items: int) -> list[Result]:
    """The results of tasks that treat `n_items` items each, at most `threads` at a time; in the order of the tasks."""
    threads = min(threads, len(tasks))
    if threads < 2 or n_items < LEAST:
        return [task() for task in tasks]
    return _run(tasks, threads, None)


def run_aside(task: Callable[[], Result], stop: Callable[[], None]) -> Result:
    """The result of a task of many kernels and loops, on a thread of its own while the main thread waits for Ctrl-C.

    Interrupted, `stop()` makes long kernels return, and between two steps of Python the task ends with an exception.
    """
    if current_thread() is not main_thread():
        return task()
    context = copy_context()
    results: list[Result] = []
    failures: list[BaseException] = []
    is_over = Event()  # a thread whose join was interrupted counts as ended

    def work() -> None:
        try:
            results.append(context.run(task))
        except BaseException as error:
            failures.append(error)
        finally:
            is_over.set()

    worker = Thread(target=work, daemon=True)
    try:
        worker.start()
        is_over.wait()
    except BaseException:
        stop()
        if worker.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_GivenUpError))
            is_over.wait(_PATIENCE)
        raise
    if failures:
        raise failures.pop()
    return results.pop()


class _GivenUpError(BaseException):
    """Nobody waits for the task any more. Not an Exception, because nobody should handle it."""


def _run(tasks: Sequence[Callable[[], Result]], threads: int, stop: Callable[[], None] | None) -> list[Result]:
    """The results of tasks, at most `threads` at a time. Interrupted, it stops those that run and starts no other."""
    results: dict[int, Result] = {}
    failures: dict[int, BaseException] = {}
    pending = list(enumerate(tasks))[::-1]

    def work() -> None:
        while pending and not failures:
            try:
                number, task = pending.pop()
            except IndexError:  # another thread took the last one
                return
            try:
                results[number] = task()
            except BaseException as error:
                failures[number] = error

    workers = [Thread(target=work, daemon=True) for _ in range(threads)]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except BaseException:
        pending.clear()
        if stop is not None:
            stop()
        raise
    if failures:
        raise failures[min(failures)]
    return [results[number] for number in range(len(tasks))]
