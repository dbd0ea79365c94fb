"""Workers whose Python lacks the package: a few lines that say what to set."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_DRIVER = (
    "import sys; sys.path[:0] = [{root!r}, {source!r}]; from tests.spark.bare_workers import main; "
    "main({way!r}, {sent!r})"
)


def lend_packages(bare_python: Path, without: tuple[str, ...] = ()) -> None:
    """Let a Python import what this one imports, but not this package, nor what is named."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    theirs = bare_python.parents[1] / "lib" / version / "site-packages"
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("_editable_impl_sparkrex", "sparkrex", *without)) and entry.suffix != ".pth":
            (theirs / entry.name).symlink_to(entry)


def run(way: str, python: Path, sent: str = "") -> subprocess.CompletedProcess[str]:
    """The script, with workers that run this Python."""
    import sparkrex

    source = str(Path(sparkrex.__file__).parents[1])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-c", _DRIVER.format(root=str(_ROOT), source=source, way=way, sent=sent)], check=False,
        capture_output=True, text=True, env={**environment, "PYSPARK_PYTHON": str(python)},
    )


def told_by(ended: subprocess.CompletedProcess[str]) -> str:
    """What the script says as it fails."""
    assert ended.returncode == 1
    return ended.stderr


def test_workers_of_this_machine_are_asked_before_any_job(java: str, bare_python: Path) -> None:
    del java
    told = told_by(run("asks", bare_python))
    error = told[told.index("error[REX413]") :]
    assert f"Spark's workers run {bare_python}, which lacks sparkrex, pyarrow" in error
    assert "hint: set PYSPARK_PYTHON (or spark.pyspark.python" in error
    assert "--py-files" in error
    assert len(error.strip().split("\n")) == 2


def test_a_worker_says_that_it_lacks_the_package(java: str, bare_python: Path) -> None:
    del java
    lend_packages(bare_python)
    told = told_by(run("runs", bare_python))
    assert "error[REX413]: Spark's workers run" in told
    assert "lacks sparkrex" in told
    assert "hint: set PYSPARK_PYTHON (or spark.pyspark.python" in told
    # In front of the message are frames of the driver and of PySpark, 39 lines in all on 4.3; it was 143.
    assert "ModuleNotFoundError" not in told
    assert len(told[told.index("error[REX413]") :].strip().split("\n")) <= 3


@pytest.mark.slow
def test_a_wheel_that_is_sent_is_found(java: str, bare_python: Path, tmp_path: Path) -> None:
    """Spark puts zips on the path of workers, but no wheels."""
    import sparkrex

    del java
    lend_packages(bare_python)
    package = Path(sparkrex.__file__).parent
    wheel = shutil.make_archive(str(tmp_path / "sent"), "zip", package.parent, package.name)
    sent = Path(wheel).rename(tmp_path / "sparkrex-0.1.0-py3-none-any.whl")
    ended = run("runs", bare_python, str(sent))
    assert ended.returncode == 0, ended.stderr
