"""The line that shows what runs: on a terminal only, and gone when it is over."""

from __future__ import annotations

import io
import itertools
import os
import pty
import re
import select
import time

import pytest

from sparkrex.cli.progress import Progress
from sparkrex.kernels import compiling


def test_a_stream_that_is_no_terminal_stays_empty() -> None:
    stream = io.StringIO()
    progress = Progress(stream)
    with progress.stage("run", lambda: pytest.fail("not asked")):
        time.sleep(0.25)
    assert stream.getvalue() == ""
    assert progress.seconds["run"] > 0.2


def test_a_terminal_shows_stage_time_and_detail_and_is_clean_at_the_end() -> None:
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w", encoding="utf-8") as terminal:
        with Progress(terminal).stage("run", lambda: "stage 3: 7 of 9 tasks"):
            time.sleep(0.25)
        shown = everything(reader)
    os.close(reader)
    drawn = re.findall(r"\r\x1b\[K([|/-])  run  \d\.\d s  stage 3: 7 of 9 tasks", shown)
    assert drawn[:2] == ["|", "/"]
    assert shown.endswith("\r\x1b[K")


def test_a_terminal_says_when_kernels_are_compiled() -> None:
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w", encoding="utf-8") as terminal:
        with Progress(terminal).stage("run"):
            time.sleep(0.25)
            compiling.note_start()
            time.sleep(0.25)
            compiling.note_end()
            time.sleep(0.25)
        shown = everything(reader)
    os.close(reader)
    drawn = ["compiling" in line for line in shown.split("\r\x1b[K") if line]
    assert [said for said, _ in itertools.groupby(drawn)] == [False, True, False]
    assert "run  0." in shown
    assert "s  compiling, once" in shown


def everything(reader: int) -> str:
    """What was written to a terminal so far; one read may give a part of it."""
    shown = b""
    while select.select([reader], [], [], 0.5)[0]:
        shown += os.read(reader, 10_000)
    return shown.decode()


def test_a_stage_that_comes_twice_is_one_line_of_the_summary_also_after_a_failure() -> None:
    progress = Progress(io.StringIO())
    with progress.stage("plan"):
        pass
    with pytest.raises(ValueError, match="oops"), progress.stage("run"):
        raise ValueError("oops")
    with progress.stage("plan"):
        pass
    assert re.fullmatch(r"plan \d\.\d\d s, run \d\.\d\d s; \d\.\d\d s in all", progress.summary())
