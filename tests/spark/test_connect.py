"""Spark Connect, in a process of its own: one process has either a classic session or a Connect client."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_connect(java: str) -> None:
    """`connect_checks.py` passes."""
    del java
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "tests/spark/connect_checks.py"],
        cwd=_ROOT, env={**_without_pytest(), "PYSPARK_PYTHON": sys.executable}, capture_output=True, text=True,
        timeout=580, check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is None or int(passed[1]) >= 25
    assert "skipped" not in done.stdout


def _without_pytest() -> dict[str, str]:
    """The environment without what the pytest around this one has set."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "SPARK_"))}
