"""A job in a process of its own that is killed, the driver or a Python worker, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark.processes import descendants, python_workers

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

N_KILLS = int(os.environ.get("SPARKREX_KILLS", "20"))
_PATIENCE = 600
"""Seconds that a job may take for its next step."""
_ROOT = Path(__file__).parents[2]


@dataclass
class Job:
    """A process that runs a module of tests over a folder, and another one when it has been killed."""

    module: str
    folder: Path
    arguments: tuple[str, ...] = ()
    n_drivers: int = 0
    n_workers: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> subprocess.Popen[bytes]:
        """Unless it runs, or has ended by itself."""
        if self._process is None or self._process.poll():
            environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": sys.executable}
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", self.module, str(self.folder), *self.arguments], cwd=_ROOT, env=environment,
                    stdout=log, stderr=log,
                )
        return self._process

    def has_ended(self) -> bool:
        """Whether it has done all there is. One that was killed starts again."""
        return self.start().poll() == 0

    def n_begun(self, name: str) -> int:
        """How many batches of a query have begun."""
        return len(list((self.folder / f"{name}_checkpoint" / "offsets").glob("[0-9]*")))

    def has_begun(self, name: str, n_batches: int) -> bool:
        """Whether so many batches of a query have begun."""
        return self.n_begun(name) >= n_batches

    def kill(self, draw: random.Random) -> None:
        """The driver with all that it has started, or a Python worker."""
        process = self.start()
        workers = python_workers(process.pid)
        if workers and draw.random() < 0.6:
            self.n_workers += 1
            _kill([draw.choice(workers)])
        else:
            self.n_drivers += 1
            self.end()

    def forget_commit(self, name: str) -> None:
        """As if it had been killed when a query had written its last batch but not said so; it starts again then."""
        commits = self.folder / f"{name}_checkpoint" / "commits"
        max(commits.glob("[0-9]*"), key=lambda path: int(path.name)).unlink()
        self._process = None

    def told(self) -> str:
        """What has been killed."""
        return f"killed: {self.n_drivers} drivers, {self.n_workers} workers"

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        """Until something is so; the log says why it never is."""
        ends = time.monotonic() + _PATIENCE
        while not is_so():
            assert time.monotonic() < ends, f"{what}: {(self.folder / 'log').read_text()[-2000:]}"
            time.sleep(0.05)

    def end(self) -> None:
        """Nothing of it is left."""
        if self._process is not None:
            _kill([self._process.pid, *descendants(self._process.pid)])
            self._process.wait()


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
