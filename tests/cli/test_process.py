"""The command as a process: exit codes and streams as a shell sees them."""

from __future__ import annotations

import signal
import subprocess
import sys
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


def test_standard_output_that_takes_nothing(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    for redirected, code, said in (
        ("| true", 0, ""), ("> /dev/full", 3, "standard output cannot be written"), (">&-", 3, "output is closed"),
    ):
        done = in_shell(f"set -o pipefail; rex run {query} -t {ticks} {redirected}")
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    query, ticks = write_inputs(tmp_path)
    out = tmp_path / "out.csv"
    for number, code, said in ((signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")):
        # The signal comes while the file is written: from inside of it, so that no time has to be guessed.
        done = python(
            "import os, signal\n"
            "from sparkrex.cli import files, main\n"
            "def write(result, file, kind):\n"
            "    file.write(b'half')\n"
            "    file.flush()\n"
            f"    os.kill(os.getpid(), {int(number)})\n"
            "    signal.pause()\n"
            "files.write_columns = write\n"
            f"import sys; sys.argv = ['rex', 'run', {query!r}, '-t', {ticks!r}, '-o', {str(out)!r}]\n"
            "main.start()\n"
        )
        assert (done.returncode, done.stderr) == (code, f"{said}\n")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["q.sql", "ticks.parquet"]


def in_shell(line: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `rex` is this one."""
    start = f"rex() {{ {sys.executable} -c 'from sparkrex.cli.main import start; start()' \"$@\"; }}; "
    return subprocess.run(["bash", "-c", start + line], capture_output=True, text=True, timeout=300, check=False)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
