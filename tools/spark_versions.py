"""Runs the Spark tests of `make test` on the versions of Spark beside the locked one, each in its own environment.

Usage: `spark_versions.py [VERSION ...]`, for instance 3.5; without one, all. Environments are kept in
`.spark-versions`, and made anew when the lock changes. Everything in them but Spark is as locked.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".spark-versions"
LOCK = ROOT / "requirements.lock"
VERSIONS = {
    # Spark Connect is refused on 3.5, so it goes without that extra; setuptools has the distutils that it imports.
    "3.5": ("pyspark~=3.5.0", "setuptools<81"),
    "4.0": ("pyspark~=4.0.0",),
    "4.1": ("pyspark~=4.1.0",),
    "4.2": ("pyspark~=4.2.0",),
}
LOCKED = (
    "duckdb", "hypothesis", "llvmlite", "numba", "numpy", "pandas", "pyarrow", "pytest", "pytest-xdist",
    "sqlglot",
)
# Of the Javas that `tools/java.py` may find, these versions do not start on the newest.
NEWEST_JAVA = {"3.5": 21, "4.0": 21}
TESTS = ("tests/spark/test_smoke.py", "tests/spark/test_cases.py")


def locked_requirements() -> list[str]:
    """What every environment has, as the lock pins it, markers and all."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    pins = [line.rstrip(" \\") for line in lines if re.match(r"[\w-]+==", line)]
    return [pin for pin in pins if pin.split("==")[0] in LOCKED]


def make_environment(version: str) -> Path:
    """The Python of a version's environment, which is made if it is not there."""
    folder = FOLDER / version
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = "\n".join([*locked_requirements(), *VERSIONS[version]])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, ROOT / "tools" / "install.py", *wanted.split("\n")], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def java_version() -> int:
    """The version of the Java that Spark will use."""
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else "java"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'version "(\d+)', shown.stderr)
    return int(found[1]) if found else 0


def run_tests(version: str) -> bool:
    """Whether the tests pass on a version."""
    python = make_environment(version)
    print(f"Spark {version}", flush=True)
    # Its own Spark, not that of the locked environment; its workers run its Python.
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    environment |= {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "PYSPARK_PYTHON": str(python)}
    # Its warnings are not ours to mend.
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "-n", "0", "-W", "default", *TESTS]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def main(versions: list[str]) -> int:
    """Run the tests on every version asked for; 1 if they fail on any, 2 if one is unknown."""
    unknown = [version for version in versions if version not in VERSIONS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(VERSIONS)}")
        return 2
    java = java_version()
    wanted = versions or list(VERSIONS)
    left_out = [version for version in wanted if java > NEWEST_JAVA.get(version, java)]
    failed = [version for version in wanted if version not in left_out and not run_tests(version)]
    if left_out:
        print(f"not run on Spark {', '.join(left_out)}: set JAVA_HOME to Java 17 or 21 (this is {java})")
    if failed:
        print(f"failed on Spark {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
