"""A worker that is killed in the middle of a job costs time, never rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_a_killed_worker_changes_no_answer(java: str, tmp_path: Path) -> None:
    """In a process of its own: retries are a property of the master, and the shared session has none."""
    del java
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.kill_worker", str(tmp_path)],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable}, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers = json.loads(done.stdout)
    assert len(answers["alive"]) > 100
    assert sorted(path.name for path in tmp_path.iterdir()) == ["died in a function", "died while matching"]
    assert answers["function"] == answers["alive"]
    assert answers["matching"] == answers["alive"]
