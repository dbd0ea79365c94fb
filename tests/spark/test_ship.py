"""`rex.ship`: executors that are processes of their own, with a Python that lacks the package, are sent it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.sample import V_SHAPES
from tests.spark.test_shipping import lend_packages

import sparkrex
from sparkrex.spark.package import archive

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(__file__).parents[2]
_DRIVER = (
    "import sys; sys.path[:0] = [{root!r}, {source!r}]; from tests.spark.shipped_job import main; "
    "main({way!r}, {master!r})"
)


@pytest.fixture
def ship(java: str, bare_python: Path, tmp_path: Path) -> Callable[[str, str], subprocess.CompletedProcess[str]]:
    """A function that runs the job with workers of the bare Python; the driver alone has the package."""
    del java

    def run(way: str, master: str) -> subprocess.CompletedProcess[str]:
        source = str(Path(sparkrex.__file__).parents[1])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "SPARK"))}
        driver = _DRIVER.format(root=str(_ROOT), source=source, way=way, master=master)
        return subprocess.run(
            [sys.executable, "-c", driver], check=False, capture_output=True, text=True, timeout=200,
            env={**kept, "PYSPARK_PYTHON": str(bare_python), "SPARK_WORKER_DIR": str(tmp_path / "work")},
        )

    return run


@pytest.mark.parametrize("way", ["classic", "connect"])
def test_executors_are_sent_the_package(
    ship: Callable[[str, str], subprocess.CompletedProcess[str]], bare_python: Path, way: str
) -> None:
    lend_packages(bare_python)
    ended = ship(way, "local-cluster[2,1,1024]")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert list(map(tuple, found["v shapes"])) == V_SHAPES
    assert found["rises"] == [["a", 3, 2], ["a", 4, 2], ["b", 2, 2]]
    assert found["places"]
    assert all(".zip/sparkrex/" in place for (place,) in found["places"])


def test_what_must_be_there_is_named(
    ship: Callable[[str, str], subprocess.CompletedProcess[str]], bare_python: Path
) -> None:
    lend_packages(bare_python, without=("numba", "duckdb", "_duckdb"))
    ended = ship("classic", "local[1]")
    assert ended.returncode == 1
    error = ended.stderr[ended.stderr.index("error[REX413]") :]
    assert f"Spark's workers run {bare_python}, which lacks numba, duckdb\n" in error


def test_the_archive_is_the_package() -> None:
    content = archive()
    assert archive() == content  # its name follows from it
    root = Path(sparkrex.__file__).parent
    sources = {path.relative_to(root.parent).as_posix() for path in root.rglob("*.py")}
    names = zipfile.ZipFile(BytesIO(content)).namelist()
    data = {"modes/segments/planner/weights.json", "spark/proven_functions.txt", "py.typed"}
    assert sources | {f"sparkrex/{name}" for name in data} == set(names)
