"""The whole tour of `make demo` on Spark, in a session of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tour_finds_what_was_planted_and_prints_the_path_of_its_page_last(java: str, tmp_path: Path) -> None:
    del java
    command = [sys.executable, "-m", "examples.tour", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == str(tmp_path / "out" / "tour.html")
    assert lines[-2].startswith("8 of 8 stops found what was planted and nothing else")
    assert Path(lines[-1]).read_text(encoding="utf-8").count("<iframe") == 8
