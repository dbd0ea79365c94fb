"""The command as a process: exit codes and streams as a shell sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from tests.cli.commands import ANSWER, QUERY, rex, write_inputs

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run(tmp_path: Path) -> None:
    _, ticks = write_inputs(tmp_path)
    done = rex("run", "-", "-t", ticks, "-o", str(tmp_path / "out.parquet"), text=QUERY)
    assert (done.returncode, done.stdout) == (0, "")
    assert "result  2 rows" in done.stderr
    assert "\r" not in done.stderr
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == ANSWER


def test_a_wrong_query(tmp_path: Path) -> None:
    _, ticks = write_inputs(tmp_path)
    done = rex("run", "-", "-t", ticks, "-o", str(tmp_path / "out.parquet"), text=QUERY.replace("FIRST(", "FIRTS("))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[REX")
    assert "Traceback" not in done.stderr


def test_a_wrong_command(tmp_path: Path) -> None:
    assert rex("run", str(tmp_path / "none.sql"), "-o", str(tmp_path / "out.parquet")).returncode == 2
