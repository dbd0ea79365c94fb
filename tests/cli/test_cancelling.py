"""Ctrl-C while Spark works: a call is told by Spark, other code by Python."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from sparkrex.cli.cancelling import Cancelling
from sparkrex.cli.failures import Stopped


def _call(until: threading.Event) -> None:
    """A call to Spark: fails when its job is cancelled."""
    assert until.wait(30)
    raise RuntimeError("job cancelled")


def in_py4j(until: threading.Event) -> None:
    """The same from a module of Py4J's."""
    names = {"__name__": "py4j.java_gateway", "call": _call}
    exec("def send(until): call(until)", names)
    send = names["send"]
    assert callable(send)
    send(until)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_call_is_cancelled_and_its_block_cleans_up(number: signal.Signals) -> None:
    cancelled, cleaned = threading.Event(), []
    before = signal.getsignal(number)
    with pytest.raises(Stopped) as stopped, Cancelling(cancelled.set):
        threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        try:
            in_py4j(cancelled)
        except RuntimeError as error:
            cleaned.append(str(error))
            raise
    assert stopped.value.signal == number
    assert cleaned == ["job cancelled"]
    assert signal.getsignal(number) is before


def test_jobs_that_begin_later_are_cancelled_too() -> None:
    calls: list[float] = []
    cancelled = threading.Event()

    def cancel() -> None:
        calls.append(time.monotonic())
        if len(calls) == 3:
            cancelled.set()

    with pytest.raises(Stopped), Cancelling(cancel):
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        in_py4j(cancelled)
    assert len(calls) >= 3


def test_other_code_is_interrupted_as_usual() -> None:
    with pytest.raises(Stopped) as stopped, Cancelling(lambda: None):
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    assert isinstance(stopped.value.__cause__, KeyboardInterrupt)


def test_work_that_is_done_stays_done() -> None:
    with Cancelling(lambda: None) as cancelling:
        pass
    assert cancelling.signal is None
