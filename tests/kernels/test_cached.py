"""Where compiled code is kept: one folder for all processes of a user, for a package in a zip too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import sparkrex

PACKAGE = Path(sparkrex.__file__).parent
pytestmark = pytest.mark.slow  # every test starts processes that compile
# Compiles or loads one kernel; says where its code lies, whether it was compiled, and what a listener was told.
CALL = """
import json
import numpy as np
from sparkrex.kernels import compiling
from sparkrex.kernels.navigate import unfold
told = []
compiling_start = compiling.note_start
from sparkrex.kernels import cached
cached.note_start = lambda: (compiling_start(), told.append(compiling.is_compiling()))
unfold(np.array([0, 2]), np.array([5]), 0, 1, np.empty(2, np.int64), np.empty(2, np.int64))
stats = unfold.dispatcher.stats
print(json.dumps({
    "folder": stats.cache_path, "compiled": sum(stats.cache_misses.values()), "told": told,
    "is_compiling": compiling.is_compiling(), "file": compiling.__file__,
}))
"""


# One row more than there is room for, in a kernel and in a part of one.
OVERRUN = """
import numpy as np
from sparkrex.kernels.copying import copy_values
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.navigate import unfold

@njit(nogil=True)
def copy(source, target):
    copy_values(source, 0, 2, target, 0)

room = np.empty(2, np.int64)[:1]
for run in (lambda: unfold(np.array([0, 2]), np.array([5]), 0, 1, room, room), lambda: copy(np.arange(2), room)):
    try:
        run()
        print("ran over the end")
    except IndexError as error:
        print(error)
"""


def start(path: Path, code: str = CALL, **environment: str) -> subprocess.Popen[str]:
    own = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_BOUNDSCHECK")
    inherited = {name: value for name, value in os.environ.items() if name not in own}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**inherited, "PYTHONPATH": str(path), **environment},
    )


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    told: dict[str, Any] = json.loads(out)
    return told


def call(path: Path, **environment: str) -> dict[str, Any]:
    return answer(start(path, **environment))


@pytest.fixture
def zipped(tmp_path: Path) -> Path:
    archive = tmp_path / "sparkrex.whl"
    with zipfile.ZipFile(archive, "w") as archived:
        for file in PACKAGE.rglob("*.py"):
            archived.write(file, file.relative_to(PACKAGE.parent))
    return archive


def test_the_users_folder_serves_every_copy_of_the_package(tmp_path: Path, zipped: Path) -> None:
    first = call(zipped, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert first["file"].startswith(str(zipped))
    assert Path(first["folder"]).parent == tmp_path / "cache" / "sparkrex"
    assert (first["compiled"], first["told"], first["is_compiling"]) == (1, [True], False)
    second = call(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (second["folder"], second["compiled"], second["told"]) == (first["folder"], 0, [])


def test_without_other_settings_it_is_below_the_home_folder(tmp_path: Path) -> None:
    assert Path(call(PACKAGE.parent, HOME=str(tmp_path))["folder"]).parent == tmp_path / ".cache" / "sparkrex"


def test_numbas_own_setting_comes_first(tmp_path: Path) -> None:
    told = call(PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path / "own"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert Path(told["folder"]).parent == tmp_path / "own"
    assert not (tmp_path / "cache").exists()


def test_a_folder_that_cannot_be_written_is_replaced_by_a_temporary_one(tmp_path: Path) -> None:
    blocked, temporary = tmp_path / "a file", tmp_path / "tmp"
    blocked.write_text("")
    temporary.mkdir()
    environment = {"XDG_CACHE_HOME": str(blocked), "TMPDIR": str(temporary)}
    first = call(PACKAGE.parent, **environment)
    assert temporary in Path(first["folder"]).parents
    second = call(PACKAGE.parent, **environment)
    assert (second["folder"], second["compiled"]) == (first["folder"], 0)


def test_other_sources_have_another_folder(tmp_path: Path, zipped: Path) -> None:
    # A kernel contains those it calls: a change in any of their files must not find the old code.
    before = call(zipped, XDG_CACHE_HOME=str(tmp_path / "cache"))
    with zipfile.ZipFile(zipped, "a") as archived:
        archived.writestr("sparkrex/kernels/another.py", "")
    after = call(zipped, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert after["folder"] != before["folder"]
    assert after["compiled"] == 1


@pytest.mark.slow
def test_code_that_checks_bounds_has_another_folder(tmp_path: Path) -> None:
    plain = call(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path))
    checked = call(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    assert checked["folder"] == plain["folder"] + "-checked"
    assert checked["compiled"] == 1
    assert call(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path), NUMBA_BOUNDSCHECK="0")["compiled"] == 0


def test_checks_of_bounds_find_what_runs_over_the_end(tmp_path: Path) -> None:
    process = start(PACKAGE.parent, OVERRUN, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_BOUNDSCHECK="1")
    out, err = process.communicate(timeout=300)
    assert out.splitlines() == ["index is out of bounds"] * 2, err


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_do_no_harm(tmp_path: Path) -> None:
    processes = [start(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path)) for _ in range(3)]
    assert len({answer(process)["folder"] for process in processes}) == 1
    assert call(PACKAGE.parent, XDG_CACHE_HOME=str(tmp_path))["compiled"] == 0
